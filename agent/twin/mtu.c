// SPDX-License-Identifier: GPL-2.0
/*
 * Do a group's datagrams fit the network between this host and the others? They are never
 * fragmented, and a small HELLO passes where chunks do not.
 */
#define _GNU_SOURCE 1
#include <ifaddrs.h>
#include <stdio.h>
#include <unistd.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "group.h"
#include "mtu.h"
#include "multicast.h"
#include "port.h"
#include "../gaggd/log.h"

/* bytes of a datagram with all headers */
static u32 mtu_needed(const struct group *g, u32 lanes)
{
	return gagg_wire_needs(lanes, g->geom.v6);
}

/*
 * @mtu, if it is that of an interface. ICMP messages about a path are ignored (RFC 4821, section
 * 2). Otherwise the MTU of the interface with the address @from, or 0.
 */
static int own_mtu(int fd, int mtu, const union address *from)
{
	struct ifaddrs *all, *i;
	int own = 0;

	if (getifaddrs(&all))
		return 0;
	for (i = all; i && own != mtu; i = i->ifa_next) {
		struct ifreq r = { .ifr_mtu = 0 };

		snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", i->ifa_name);
		if (ioctl(fd, SIOCGIFMTU, &r))
			continue;
		if (r.ifr_mtu == mtu ||
		    (i->ifa_addr && i->ifa_addr->sa_family == from->sa.sa_family &&
		     address_equal((const union address *)i->ifa_addr, from)))
			own = r.ifr_mtu;
	}
	freeifaddrs(all);
	return own;
}

/* what fits to a node, or to all; 0: not known */
static u32 mtu_to_address(const struct group *g, const union address *to, struct mtu_seen *seen)
{
	union address from = g->node[g->geom.self];
	bool v6 = to->sa.sa_family == AF_INET6;
	socklen_t len = v6 ? sizeof(to->in6) : sizeof(to->in), optlen = sizeof(int);
	int fd = socket(to->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), mtu = 0;

	if (fd < 0)
		return 0;
	if (v6)
		from.in6.sin6_port = 0;
	else
		from.in.sin_port = 0;
	/* nothing is sent */
	if (bind(fd, &from.sa, len) ||
	    (to == &g->all && multicast_leave_by(fd, &from, to)) ||
	    connect(fd, &to->sa, len) ||
	    getsockopt(fd, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_MTU : IP_MTU, &mtu, &optlen))
		mtu = 0;
	if (mtu && mtu != seen->path)
		*seen = (struct mtu_seen){ .path = mtu, .own = own_mtu(fd, mtu, &from) };
	close(fd);
	return mtu ? (u32)seen->own : 0;
}

u32 mtu_to_all(const struct group *g, struct mtu_seen *seen)
{
	return g->all_nodes ? mtu_to_address(g, &g->all, seen) : 0;
}

u32 mtu_to(const struct group *g, u32 node, struct mtu_seen *seen)
{
	return mtu_to_address(g, &g->node[node], seen);
}

int mtu_check(const struct group *g)
{
	u32 n, mtu, needed = mtu_needed(g, g->geom.lanes);
	struct mtu_seen seen = { .path = 0 };

	for (n = 0; n < g->geom.nodes; n++) {
		mtu = n == g->geom.self ? 0 : mtu_to(g, n, &seen);
		/* without a route this is reported later */
		if (!mtu || mtu >= needed)
			continue;
		log_err("group \"%s\": datagrams of %u lanes take %u bytes, and the MTU to the host of rank %u is %u: use fewer lanes, or a larger MTU",
			g->cfg.name, g->geom.lanes, needed, gagg_lowest(g->geom.ranks_of[n]), mtu);
		return -1;
	}
	mtu = mtu_to_all(g, &seen);
	if (!mtu || mtu >= needed)
		return 0;
	log_err("group \"%s\": datagrams of %u lanes take %u bytes, and the MTU to the multicast address is %u: use fewer lanes, or a larger MTU",
		g->cfg.name, g->geom.lanes, needed, mtu);
	return -1;
}

void mtu_tell(const struct group *g, u32 lanes)
{
	u32 n, mtu, needed = mtu_needed(g, lanes);
	struct mtu_seen seen = { .path = 0 };

	for (n = 0; n < g->geom.nodes; n++) {
		mtu = n == g->geom.self ? 0 : mtu_to(g, n, &seen);
		if (mtu && mtu < needed)
			log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_ERR,
				    "group \"%s\": %sdatagrams of %u bytes do not fit the MTU to the host of rank %u any more, which is %u",
				    g->cfg.name, g->epoch ? "the epoch ends: " : "", needed,
				    gagg_lowest(g->geom.ranks_of[n]), mtu);
	}
	mtu = mtu_to_all(g, &seen);
	if (mtu && mtu < needed)
		log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_ERR,
			    "group \"%s\": %sdatagrams of %u bytes do not fit the MTU to the multicast address any more, which is %u",
			    g->cfg.name, g->epoch ? "the epoch ends: " : "", needed, mtu);
}
