// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <netinet/udp.h>

#include "multicast.h"
#include "port.h"
#include "queue.h"
#include "worker.h"

#define SOCKET_BUFFER	(16 << 20)	/* a few hundred bursts, as in the module */

bool address_equal(const union address *a, const union address *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET6)
		return a->in6.sin6_port == b->in6.sin6_port &&
		       !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr));
	return a->in.sin_port == b->in.sin_port && a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
}

void address_shift(union address *a, unsigned int ports)
{
	in_port_t *port = a->sa.sa_family == AF_INET6 ? &a->in6.sin6_port : &a->in.sin_port;

	*port = htons(ntohs(*port) + ports);
}

socklen_t address_length(const union address *a)
{
	return a->sa.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

int port_set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* without CAP_NET_ADMIN as much as net.core.rmem_max and wmem_max allow */
static void port_set_buffers(int fd)
{
	if (port_set_int(fd, SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BUFFER))
		port_set_int(fd, SOL_SOCKET, SO_RCVBUF, SOCKET_BUFFER);
	if (port_set_int(fd, SOL_SOCKET, SO_SNDBUFFORCE, SOCKET_BUFFER))
		port_set_int(fd, SOL_SOCKET, SO_SNDBUF, SOCKET_BUFFER);
}

/*
 * Datagrams are never fragmented, and what ICMP says of a path is not believed. Results by
 * multicast are for others.
 */
static int port_set_options(int fd, sa_family_t family)
{
	port_set_buffers(fd);
	if (port_set_int(fd, SOL_UDP, UDP_GRO, 1))
		return -1;
	if (family == AF_INET6)
		return port_set_int(fd, SOL_IPV6, IPV6_V6ONLY, 1) ||
		       port_set_int(fd, SOL_IPV6, IPV6_MULTICAST_LOOP, 0) ||
		       port_set_int(fd, SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE) ||
		       port_set_int(fd, SOL_IPV6, IPV6_RECVTCLASS, 1) ? -1 : 0;
	return port_set_int(fd, SOL_IP, IP_MULTICAST_LOOP, 0) ||
	       port_set_int(fd, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE) ||
	       port_set_int(fd, SOL_IP, IP_RECVTOS, 1) ? -1 : 0;
}

int port_socket(sa_family_t family)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0 || !port_set_options(fd, family))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

static int port_open(struct port *p)
{
	struct epoll_event ev = { .events = EPOLLIN };
	socklen_t intlen = sizeof(p->half);

	p->fd = port_socket(p->addr.sa.sa_family);
	if (p->fd < 0 || bind(p->fd, &p->addr.sa, address_length(&p->addr)))
		return -1;
	/* half of what getsockopt() returns, which is twice what was asked for */
	if (getsockopt(p->fd, SOL_SOCKET, SO_SNDBUF, &p->half, &intlen))
		return -1;
	p->half /= 2;
	p->queue = queue_new(p);
	if (!p->queue)
		return -1;
	return epoll_ctl(p->worker->epoll, EPOLL_CTL_ADD, p->fd, &ev);
}

struct port *port_get(struct worker *w, const union address *addr)
{
	struct port *p;
	int err;

	for (p = w->ports; p; p = p->next)
		if (address_equal(&p->addr, addr))
			return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->worker = w;
	p->addr = *addr;
	p->gso = true;
	if (port_open(p)) {
		err = errno;
		port_close(p);
		errno = err;
		return NULL;
	}
	p->next = w->ports;
	w->ports = p;
	return p;
}

void port_close(struct port *p)
{
	multicasts_close(p);
	if (p->fd >= 0)
		close(p->fd);
	queue_free(p->queue);
	free(p->groups);
	free(p);
}
