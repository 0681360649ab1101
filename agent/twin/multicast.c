// SPDX-License-Identifier: GPL-2.0
/*
 * A socket that is bound to a host's address hears no multicast, so there is one more, bound
 * to the multicast address. The port's worker reads it before the port's own (rx.c).
 *
 * Other sockets may have the same address and port: the module's, another twin's, or of
 * anybody who shares it; each gets every datagram. So one that must be alone is the only
 * reason for EADDRINUSE.
 *
 * Results leave by the port's own socket: its address and port say which host has sent them. They
 * go one hop, as is the default of both families (IP_MULTICAST_TTL, IPV6_MULTICAST_HOPS), and
 * this host's sockets do not hear them (port.c).
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <ifaddrs.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <net/if.h>

#include "multicast.h"
#include "worker.h"

#ifndef SO_BINDTOIFINDEX
#define SO_BINDTOIFINDEX	62
#endif

bool multicast_scope(const union address *local, union address *addr)
{
	const struct ifaddrs *i;
	struct ifaddrs *all;
	bool can = false;

	if (getifaddrs(&all))
		return false;
	for (i = all; i && !can; i = i->ifa_next) {
		if (!i->ifa_addr || !(i->ifa_flags & IFF_MULTICAST) ||
		    !address_equal((const union address *)i->ifa_addr, local))
			continue;
		if (addr->sa.sa_family == AF_INET6)
			addr->in6.sin6_scope_id = if_nametoindex(i->ifa_name);
		can = true;
	}
	freeifaddrs(all);
	return can;
}

int multicast_leave_by(int fd, const union address *local, const union address *addr)
{
	if (addr->sa.sa_family == AF_INET6)
		return setsockopt(fd, SOL_IPV6, IPV6_MULTICAST_IF, &addr->in6.sin6_scope_id,
				  sizeof(addr->in6.sin6_scope_id));
	return setsockopt(fd, SOL_IP, IP_MULTICAST_IF, &local->in.sin_addr,
			  sizeof(local->in.sin_addr));
}

/* and not what others have joined on other interfaces */
static int multicast_join_v4(int fd, const union address *local, const union address *addr)
{
	const struct ip_mreqn req = {
		.imr_multiaddr = addr->in.sin_addr,
		.imr_address = local->in.sin_addr,
	};

	if (port_set_int(fd, SOL_IP, IP_MULTICAST_ALL, 0))
		return -1;
	return setsockopt(fd, SOL_IP, IP_ADD_MEMBERSHIP, &req, sizeof(req));
}

/* the same */
static int multicast_join_v6(int fd, const union address *addr)
{
	const struct ipv6_mreq req = {
		.ipv6mr_multiaddr = addr->in6.sin6_addr,
		.ipv6mr_interface = addr->in6.sin6_scope_id,
	};

	if (port_set_int(fd, SOL_SOCKET, SO_BINDTOIFINDEX, (int)addr->in6.sin6_scope_id))
		return -1;
	return setsockopt(fd, SOL_IPV6, IPV6_ADD_MEMBERSHIP, &req, sizeof(req));
}

static int multicast_open(struct port *p, struct multicast *mc)
{
	struct epoll_event ev = { .events = EPOLLIN };
	sa_family_t family = mc->addr.sa.sa_family;
	int err;

	mc->fd = port_socket(family);
	if (mc->fd < 0 || port_set_int(mc->fd, SOL_SOCKET, SO_REUSEADDR, 1))
		return -1;
	err = family == AF_INET6 ? multicast_join_v6(mc->fd, &mc->addr) :
				   multicast_join_v4(mc->fd, &p->addr, &mc->addr);
	if (err || bind(mc->fd, &mc->addr.sa, address_length(&mc->addr)))
		return -1;
	return epoll_ctl(p->worker->epoll, EPOLL_CTL_ADD, mc->fd, &ev);
}

static void multicast_close(struct multicast *mc)
{
	if (mc->fd >= 0)
		close(mc->fd);
	free(mc);
}

int multicast_join(struct port *p, const union address *addr)
{
	struct multicast *mc;
	int err;

	for (mc = p->multicasts; mc; mc = mc->next)
		if (address_equal(&mc->addr, addr))
			return 0;
	mc = calloc(1, sizeof(*mc));
	if (!mc)
		return -1;
	mc->addr = *addr;
	if (multicast_open(p, mc)) {
		err = errno;
		multicast_close(mc);
		errno = err;
		return -1;
	}
	mc->next = p->multicasts;
	p->multicasts = mc;
	return 0;
}

void multicasts_close(struct port *p)
{
	struct multicast *mc;

	while ((mc = p->multicasts)) {
		p->multicasts = mc->next;
		multicast_close(mc);
	}
}
