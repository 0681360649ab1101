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
#define MULTICAST_CALLS	64	/* of a turn: 512 single datagrams, as a poll of the module */
#define NO_NODE		(~0U)
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
struct source {
	struct port *port;
	const union address *from;
	struct group *group;
	struct part *part;		/* of the group */
	struct gagg_burst burst;	/* its actions may wait */
	struct channel *ch;		/* of its last datagram */
	bool multicast;
};

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

/* members are configured, never learned */
static void rx_find_source(struct source *src, u32 id)
{
	const struct port *p = src->port;
	unsigned int i;
	u32 n;

	if (src->group && src->group->geom.group == id)
		return;
	src->burst.in.node = NO_NODE;
	src->group = NULL;
	for (i = 0; i < p->n_groups; i++)
		if (p->groups[i]->geom.group == id)
			src->group = p->groups[i];
	if (!src->group)
		return;
	src->part = &src->group->part[p->worker->index];
	src->burst.in.vis.sh = src->part->core;
	src->burst.in.vis.g = &src->group->geom;
	for (n = 0; n < src->group->geom.nodes; n++) {
		union address addr = src->group->node[n];

		address_shift(&addr, p->worker->index);
		if (address_equal(&addr, src->from))
			src->burst.in.node = n;
	}
}

/* carries out actions, before the core gets a datagram that does not follow the last one */
static void rx_drain(struct source *src)
{
	if (src->group && src->burst.in.vis.sh->nacts)
		act_drain(src->port, src->group);
}

static void rx_add_lanes(const struct source *src, const void *lanes)
{
	const struct gagg_todo *todo = &src->burst.in.todo;
	struct gagg_sum sum = gagg_site_sum(&src->ch->site, src->burst.in.vis.g,
					    src->port->worker->index, todo);

	twin_loops->reduce(todo->laneop, sum.to, sum.from, lanes, todo->lanes, todo->shift);
}

/* carries out the core's verdict on a datagram; true: the lanes were taken */
static bool rx_obey(struct source *src, enum gagg_rx rx, const void *lanes)
{
	switch (rx) {
	case GAGG_RX_ADD:
		rx_add_lanes(src, lanes);
		return true;
	case GAGG_RX_PLACE:
		/* the trainer is there: a seat goes without an op, or the shard has stopped */
		gagg_site_place(&src->ch->site, src->burst.in.vis.g, &src->burst.in.todo, lanes);
		return true;
	case GAGG_RX_DROP:
		src->part->stats.drop[src->burst.in.todo.drop]++;
		return false;
	case GAGG_RX_OK:
	case GAGG_RX_AGAIN:
		break;
	}
	return false;
}

/* @at: the datagram */
static void rx_shard(struct source *src, struct gagg_msg *m, const unsigned char *at)
{
	const unsigned char *body = at + GAGG_WIRE_HDRLEN;
	struct gagg_trainers trainers;
	struct gagg_env env;
	enum gagg_rx rx;

	src->ch = channel_find(src->group, m->channel);
	trainers_env(&env, &trainers, src->group, src->port->worker->index);
	do {
		rx = gagg_burst_rx(&src->burst, &env, m, body);
		if (rx_obey(src, rx, body))
			gagg_burst_commit(&src->burst, at);
		rx_drain(src);
	} while (rx == GAGG_RX_AGAIN);
}

/* false: it does not follow the one before */
static bool rx_follows(struct source *src, const unsigned char *at, u32 len)
{
	if (!gagg_burst_follows(&src->burst, at, len))
		return false;
	rx_obey(src, gagg_burst_next(&src->burst), at + GAGG_WIRE_HDRLEN);
	if (gagg_shard_must_act(src->burst.in.vis.sh, src->burst.in.vis.g))
		rx_drain(src);
	src->part->stats.rx_datagrams++;
	src->part->stats.rx_bytes += len;
	return true;
}

static void rx_datagram(struct source *src, const unsigned char *at, u32 len)
{
	const unsigned char *body = at + GAGG_WIRE_HDRLEN;
	struct gagg_stats *stats;
	enum gagg_drop why;
	struct gagg_msg m;
	__le32 id;

	rx_drain(src);
	src->burst.len = 0;
	/* an unknown group: no counter */
	if (len < GAGG_WIRE_HDRLEN)
		return;
	memcpy(&id, at + offsetof(struct gagg_hdr, group), sizeof(id));
	rx_find_source(src, le32_to_cpu(id));
	if (!src->group)
		return;
	stats = &src->part->stats;
	stats->rx_datagrams++;
	stats->rx_bytes += len;
	why = gagg_wire_parse(at, len, &m);
	if (!why && src->burst.in.node == NO_NODE)
		why = GAGG_DROP_SOURCE;
	if (!why && src->multicast && !gagg_wire_is_for_all(&m))
		why = GAGG_DROP_TYPE;
	if (!why && gagg_wire_joins(&m))
		why = epoch_rx(src->group, src->burst.in.node, src->port->worker->index, &m, body);
	else if (!why)
		rx_shard(src, &m, at);
	if (why)
		stats->drop[why]++;
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

static void rx_batch(struct port *p, struct mmsghdr *msg, bool multicast, u64 now)
{
	struct source src = {
		.port = p, .from = msg->msg_hdr.msg_name, .multicast = multicast,
		.burst.in.vis.now = now,
	};
	const unsigned char *bytes = msg->msg_hdr.msg_iov->iov_base;
	u32 seg = msg->msg_len, off, len;
	u8 tos = 0;

	rx_read_control(&msg->msg_hdr, &seg, &tos);
	src.burst.in.ce = (tos & ECN_MASK) == ECN_CE;
	for (off = 0; off < msg->msg_len && seg; off += len) {
		len = msg->msg_len - off < seg ? msg->msg_len - off : seg;
		if (!rx_follows(&src, bytes + off, len))
			rx_datagram(&src, bytes + off, len);
	}
	rx_drain(&src);
}

/* what has come to a socket of @p, in bounds: messages; fewer than BATCHES: it is empty */
static int rx_socket(struct port *p, int fd, u64 now)
{
	struct rx *rx = p->worker->rx;
	int i, n;

	for (i = 0; i < BATCHES; i++) {
		rx->msg[i].msg_hdr.msg_namelen = sizeof(rx->from[i]);
		rx->msg[i].msg_hdr.msg_controllen = sizeof(rx->control[i]);
	}
	n = recvmmsg(fd, rx->msg, BATCHES, MSG_DONTWAIT, NULL);
	for (i = 0; i < n; i++)
		rx_batch(p, &rx->msg[i], fd != p->fd, now);
	return n;
}

/*
 * Multicast first: what is said to this host alone may speak of results that were sent to all
 * before it (TOLD), and these would be taken for lost if the turn ended between them.
 */
static bool rx_next(struct port *p, u64 now)
{
	const struct multicast *mc;

	for (mc = p->multicasts; mc; mc = mc->next)
		if (rx_socket(p, mc->fd, now) > 0)
			return true;
	return rx_socket(p, p->fd, now) > 0;
}

/*
 * With multicast until no socket has anything more: results of a home may come both ways in turn,
 * and those of the one would be missed while those of the other are read.
 */
bool rx_port(struct port *p, u64 now)
{
	unsigned int calls;

	if (!p->multicasts)
		return rx_socket(p, p->fd, now) == BATCHES;
	for (calls = 0; calls < MULTICAST_CALLS; calls++)
		if (!rx_next(p, now_ns()))
			return false;
	return true;
}
