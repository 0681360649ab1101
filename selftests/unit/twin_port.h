/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ports of the twin on addresses of the loopback interface, for tests. Nobody runs the worker:
 * that somebody wants it to is counted.
 */
#ifndef GAGG_TEST_TWIN_PORT_H
#define GAGG_TEST_TWIN_PORT_H

#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <arpa/inet.h>

#include "../../agent/twin/port.h"
#include "../../agent/twin/worker.h"

static unsigned int kicks;

void worker_kick(struct worker *w)
{
	(void)w;
	kicks++;
}

static void worker_open(struct worker *w)
{
	memset(w, 0, sizeof(*w));
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	assert_true(w->epoll >= 0);
}

static void worker_close(struct worker *w)
{
	struct port *p;

	while ((p = w->ports)) {
		w->ports = p->next;
		port_close(p);
	}
	close(w->epoll);
}

static union address at(const char *ip, in_port_t port)
{
	union address a = { .in = { .sin_family = AF_INET, .sin_port = port } };

	assert_int_equal(inet_pton(AF_INET, ip, &a.in.sin_addr), 1);
	return a;
}

/* @number: of the port, 0: one that is free, and gets it */
static struct port *port_at(struct worker *w, const char *ip, in_port_t *number)
{
	union address a = at(ip, *number);
	socklen_t len = sizeof(a);
	struct port *p = port_get(w, &a);

	assert_non_null(p);
	assert_int_equal(getsockname(p->fd, &a.sa, &len), 0);
	*number = a.in.sin_port;
	return p;
}

#define SOON_MS	60000	/* one that was sent comes, on a busy machine, too */

/* bytes of the next datagram at @fd; 0: none comes in @ms */
static size_t next_at(int fd, int ms)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	char bytes[65536];

	if (poll(&pfd, 1, ms) <= 0)
		return 0;
	return (size_t)recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
}

#endif
