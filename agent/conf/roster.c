// SPDX-License-Identifier: GPL-2.0
#include <string.h>
#include <sys/socket.h>

#include "roster.h"

/* 0: there is no address */
static u8 roster_len(const struct nl_ip *ip)
{
	if (!ip->family)
		return 0;
	return ip->family == AF_INET6 ? 16 : 4;
}

void roster_of(const struct nl_group *g, struct gagg_roster *roster)
{
	memset(roster, 0, sizeof(*roster));
	for (uint32_t i = 0; i < g->n_members; i++) {
		const struct nl_member *m = &g->members[i];

		gagg_roster_enter(roster, m->rank, (u8)m->roles, m->addr.addr,
				  roster_len(&m->addr));
		if (m->local)
			roster->here |= GAGG_BIT(m->rank);
	}
	roster->multicast = g->multicast.addr;
	roster->multicast_len = roster_len(&g->multicast);
}
