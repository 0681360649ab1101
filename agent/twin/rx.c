// SPDX-License-Identifier: GPL-2.0
/*
 * A batch is what the kernel has merged: segments of one length in a row, each a datagram. It is
 * received into our own memory, so it can be read in place.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <netinet/udp.h>

#include "act.h"
#include "channel.h"
#include "epoch.h"
#include "group.h"
#include "multicast.h"
#include "port.h"
#include "reduce.h"
#include "rx.h"
#include "trainer.h"
#include "twin.h"
#include "worker.h"

#define BATCHES		8	/* of a call */
#define BATCH_BYTES	65536
#define ECN_MASK	3
#define ECN_CE		3

union control {
	char buf[CMSG_SPACE(sizeof(int)) * 2];
	struct cmsghdr align;
};

struct rx {
	unsigned char *bytes;
	struct mmsghdr msg[BATCHES];
	struct iovec iov[BATCHES];
	union address from[BATCHES];
	union control control[BATCHES];
};

/* the source of a batch's segments, and the group of the last one */
struct gagg_source {
	struct port *port;
	const union address *from;
	struct group *group;
	struct part *part;		/* of the group */
	struct gagg_receipts rx;
	struct gagg_trainers trainers;
};

#include "receive.h"

struct rx *rx_new(void)
{
	struct rx *rx = calloc(1, sizeof(*rx));
	unsigned int i;

	if (!rx)
		return NULL;
	rx->bytes = aligned_alloc(4096, BATCHES * BATCH_BYTES);
	if (!rx->bytes) {
		free(rx);
		return NULL;
	}
	for (i = 0; i < BATCHES; i++) {
		struct msghdr *h = &rx->msg[i].msg_hdr;

		rx->iov[i].iov_base = rx->bytes + i * BATCH_BYTES;
		rx->iov[i].iov_len = BATCH_BYTES;
		h->msg_iov = &rx->iov[i];
		h->msg_iovlen = 1;
		h->msg_name = &rx->from[i];
		h->msg_control = &rx->control[i];
	}
	return rx;
}

void rx_free(struct rx *rx)
{
	if (!rx)
		return;
	free(rx->bytes);
	free(rx);
}

/* --- one datagram --------------------------------------------------------- */

static bool rx_group(struct gagg_source *src, u32 id)
{
	struct gagg_arrival *in = &src->rx.burst.in;
	const struct port *p = src->port;
	unsigned int i;

	src->group = NULL;
	for (i = 0; i < p->n_groups; i++)
		if (p->groups[i]->geom.group == id)
			src->group = p->groups[i];
	if (!src->group)
		return false;
	src->part = &src->group->part[p->worker->index];
	src->rx.stats = &src->part->stats;
	in->vis.sh = src->part->core;
	in->vis.g = &src->group->geom;
	return true;
}

static bool rx_is_from(const struct gagg_source *src, u32 node)
{
	union address addr = src->group->node[node];

	address_shift(&addr, src->port->worker->index);
	return address_equal(&addr, src->from);
}

/* no counter is anybody's */
static void rx_drop_alone(struct gagg_source *src)
{
	(void)src;
}

static struct gagg_site *rx_site(struct gagg_source *src, u16 id)
{
	struct channel *ch = channel_find(src->group, id);

	return ch ? &ch->site : NULL;
}

static void rx_lend(struct gagg_source *src, struct gagg_env *env)
{
	trainers_env(env, &src->trainers, src->group, src->port->worker->index);
}

static void rx_add(struct gagg_source *src, const struct gagg_sum *sum, const void *lanes)
{
	const struct gagg_todo *todo = &src->rx.burst.in.todo;

	twin_loops->reduce(todo->laneop, sum->to, sum->from, lanes, todo->lanes, todo->shift);
}

static void rx_lacks(struct gagg_source *src)
{
	src->part->lacks = true;
}

static enum gagg_drop rx_join(struct gagg_source *src, const struct gagg_msg *m, const void *body)
{
	return epoch_rx(src->group, src->rx.burst.in.node, src->port->worker->index, m, body);
}

static void rx_drain(struct gagg_source *src)
{
	act_drain(src->port, src->group);
}

static bool rx_traces(void)
{
	return false;
}

static void rx_trace_before(struct gagg_source *src, const struct gagg_msg *m, const void *body)
{
	(void)src;
	(void)m;
	(void)body;
}

static void rx_trace(struct gagg_source *src, enum gagg_rx rx)
{
	(void)src;
	(void)rx;
}

/* @at: the datagram, in memory of ours */
static void rx_datagram(struct gagg_source *src, const unsigned char *at, u32 len)
{
	if (gagg_receive_begin(src, len))
		gagg_receive(src, at, len, at + GAGG_WIRE_HDRLEN);
}

/* --- batches -------------------------------------------------------------- */

/* length of a segment, and the ECN bits */
static void rx_read_control(struct msghdr *h, u32 *seg, u8 *tos)
{
	struct cmsghdr *c;
	int v;

	for (c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			*seg = (u32)v;
		} else if (c->cmsg_level == SOL_IP && c->cmsg_type == IP_TOS) {
			*tos = *(u8 *)CMSG_DATA(c);
		} else if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_TCLASS) {
			memcpy(&v, CMSG_DATA(c), sizeof(v));
			*tos = (u8)v;
		}
	}
}

/* returns the cost, in datagrams */
static u32 rx_batch(struct port *p, struct mmsghdr *msg, bool multicast, u64 now)
{
	struct gagg_source src = {
		.port = p, .from = msg->msg_hdr.msg_name, .rx.multicast = multicast,
		.rx.burst.in.vis.now = now,
	};
	const unsigned char *bytes = msg->msg_hdr.msg_iov->iov_base;
	u32 seg = msg->msg_len, off = 0, n = !msg->msg_len;
	u8 tos = 0;

	rx_read_control(&msg->msg_hdr, &seg, &tos);
	src.rx.burst.in.ce = (tos & ECN_MASK) == ECN_CE;
	while (off < msg->msg_len && seg) {
		u32 left = msg->msg_len - off, len = left < seg ? left : seg;
		u32 taken = gagg_receive_run(&src, bytes + off, left, len);

		if (!taken) {
			rx_datagram(&src, bytes + off, len);
			taken = 1;
		}
		n += taken;
		off += taken * len;
	}
	gagg_receive_act(&src);
	return gagg_receive_cost(&src.rx, n);
}

/* a turn of a port */
struct rx_turn {
	struct port *port;
	u64 now;
	u32 cost;	/* of what was received, in datagrams */
};

/*
 * What has come to a socket, in bounds: true if there may be more. What was received is handled,
 * whatever it costs: so after a turn that has cost too much a call receives a single batch.
 */
static bool rx_socket(struct rx_turn *t, int fd)
{
	struct port *p = t->port;
	struct rx *rx = p->worker->rx;
	int i, n, most = p->dear ? 1 : BATCHES;

	for (i = 0; i < most; i++) {
		rx->msg[i].msg_hdr.msg_namelen = sizeof(rx->from[i]);
		rx->msg[i].msg_hdr.msg_controllen = sizeof(rx->control[i]);
	}
	n = recvmmsg(fd, rx->msg, (unsigned int)most, MSG_DONTWAIT, NULL);
	for (i = 0; i < n; i++)
		t->cost += rx_batch(p, &rx->msg[i], fd != p->fd, t->now);
	return n == most;
}

/*
 * Multicast first: what is said to this host alone may speak of results that were sent to all
 * before it (TOLD), and these would be taken for lost if the turn ended between them. false: no
 * socket has anything
 */
static bool rx_next(struct rx_turn *t)
{
	const struct multicast *mc;
	u32 before = t->cost;

	t->now = now_ns();
	for (mc = t->port->multicasts; mc; mc = mc->next) {
		rx_socket(t, mc->fd);
		if (t->cost != before)
			return true;
	}
	rx_socket(t, t->port->fd);
	return t->cost != before;
}

/*
 * With multicast until no socket has anything more: results of a home may come both ways in turn,
 * and those of the one would be missed while those of the other are read.
 */
static bool rx_sockets(struct rx_turn *t)
{
	while (t->cost < GAGG_RECEIVE_TURN)
		if (!rx_next(t))
			return false;
	return true;
}

bool rx_port(struct port *p, u64 *now)
{
	struct rx_turn turn = { .port = p, .now = *now };
	bool more;

	if (p->multicasts) {
		more = rx_sockets(&turn);
	} else {
		more = rx_socket(&turn, p->fd);
		while (more && p->dear && turn.cost < GAGG_RECEIVE_TURN) {
			turn.now = now_ns();
			more = rx_socket(&turn, p->fd);
		}
	}
	p->dear = turn.cost > GAGG_RECEIVE_TURN;
	*now = turn.now;
	return more;
}
