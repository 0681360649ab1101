// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "roster.h"

void roster_of(const struct nl_group *g, struct gagg_roster *roster)
{
	memset(roster, 0, sizeof(*roster));
	for (uint32_t i = 0; i < g->n_members; i++) {
		const struct nl_member *m = &g->members[i];

		gagg_roster_enter(roster, m->rank, (u8)m->roles, m->addr.addr,
				  nl_ip_len(&m->addr));
		if (m->local)
			roster->here |= GAGG_BIT(m->rank);
	}
	roster->multicast = g->multicast.addr;
	roster->multicast_len = nl_ip_len(&g->multicast);
}
