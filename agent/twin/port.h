/* SPDX-License-Identifier: GPL-2.0 */
/* A port: a UDP socket of a worker, and those of multicast beside it. */
#ifndef GAGG_TWIN_PORT_H
#define GAGG_TWIN_PORT_H

#include <netinet/in.h>

#include "core/core.h"

struct group;
struct multicast;
struct queue;
struct worker;

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* one UDP socket, of the groups that share it; constant once their parts are made */
struct port {
	struct port *next;	/* next port of the worker */
	struct worker *worker;
	union address addr;
	int fd;
	struct multicast *multicasts;	/* where results for all arrive */
	bool gso;		/* bursts can be sent; cleared when not */
	int half;		/* bytes that may lie in the socket, of twice that */
	u32 burst;		/* bytes that one burst may have */
	struct queue *queue;
	unsigned int turn;	/* group that goes on first */
	bool held;		/* groups had work while the queue waited */
	bool dear;		/* its last turn of receiving has cost too much */
	unsigned int n_groups;
	struct group **groups;
};

struct port *port_get(struct worker *w, const union address *addr);
void port_close(struct port *p);
bool address_equal(const union address *a, const union address *b);	/* with port */
void address_shift(union address *a, unsigned int ports);
socklen_t address_length(const union address *a);

/* a UDP socket with the options of a port's, not bound yet; -1 and errno */
int port_socket(sa_family_t family);
int port_set_int(int fd, int level, int name, int value);

#endif
