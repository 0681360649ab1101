// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams of the core become bursts.
 *
 * A burst is datagrams of one length in a row, and a set of nodes to send it to. Headers are made
 * in the burst, and lanes stay where they are; the kernel gathers both, once for each node.
 * Contributions to one node collect in the node's burst, results in one burst for all of their
 * nodes.
 *
 * Lanes must not change before the burst is sent, at the end of the batch, or later if the socket
 * has no room.
 * 1. A contribution may be written again once its result is there, a result once all have it.
 * 2. So a node that gets the old header with new lanes has that round behind it, and ignores both.
 *
 * In a store a contribution may be written again once it is confirmed, and a home ignores one that
 * it has had. A chunk may gain updates before its copy is sent.
 * 1. One thread adds to the chunk and sends it, so what leaves is whole.
 * 2. The clock in the header says that all updates before it are there. That stays true.
 * 3. If a read must not show later updates, none come. The reader's own next update does not pass a
 *    home that has yet to answer the read, and without that update its clock is not complete.
 *
 * Datagrams to a node leave in the order in which the core numbered them.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "group.h"
#include "limit.h"
#include "port.h"
#include "queue.h"
#include "twin.h"
#include "tx.h"
#include "worker.h"

struct tx {
	struct group *group;		/* tx_open() to tx_close() */
	u64 open;			/* nodes with an open burst */
	struct burst *contrib[GAGG_NODES];
	struct burst *result;
};

struct tx *tx_new(void)
{
	return calloc(1, sizeof(struct tx));
}

/* between batches: no burst is open */
void tx_free(struct tx *tx)
{
	free(tx);
}

/* --- bursts --------------------------------------------------------------- */

static void tx_burst_close(struct port *p, struct burst **at)
{
	struct burst *b = *at;

	if (!b)
		return;
	*at = NULL;
	queue_add(p, p->worker->tx->group, b);
	burst_put(p->queue, b);
}

static bool tx_burst_takes(const struct port *p, const struct burst *b, u64 nodes, u32 len)
{
	return gagg_load_takes(&b->load, nodes, len, p->gso ? GAGG_LOAD_SEGS : 1, p->burst);
}

/* a burst with room for a datagram of @len bytes to @nodes; NULL: no memory */
static struct burst *tx_burst_room(struct port *p, struct burst **at, u64 nodes, u32 len)
{
	if (*at && !tx_burst_takes(p, *at, nodes, len))
		tx_burst_close(p, at);
	if (!*at)
		*at = burst_new(p->queue);
	return *at;
}

static void tx_burst_append(struct burst *b, void *data, u32 len)
{
	b->iov[b->niov++] = (struct iovec){ data, len };
}

/* adds the chunks of @a's run, for @nodes, with their lanes, if any, which are in @mem */
static void tx_burst_add(struct port *p, struct burst **at, u64 nodes, struct gagg_act *a,
			 void *const *mem)
{
	u32 bytes = gagg_wire_has_lanes(&a->m) ? a->m.lanes * 4 : 0;
	u32 len = GAGG_WIRE_HDRLEN + bytes;
	struct group *g = p->worker->tx->group;
	struct burst *b, *last = NULL;
	unsigned char *head;

	do {
		b = tx_burst_room(p, at, nodes, len);
		if (!b) {
			g->part[p->worker->index].stats.tx_errors++;
			continue;
		}
		/* a burst that has left may be used again */
		head = b->head[b->load.segs];
		if (b == last && b->load.segs)
			gagg_wire_follow(head, head - GAGG_WIRE_HDRLEN, &a->m);
		else
			gagg_wire_build(head, &a->m);
		tx_burst_append(b, head, GAGG_WIRE_HDRLEN);
		if (bytes)
			tx_burst_append(b, gagg_chunk_at(&g->geom, mem, a->m.chunk), bytes);
		gagg_load_add(&b->load, nodes, len, 1, &a->m);
		last = b;
		if (gagg_load_ends(&b->load, len)) {
			tx_burst_close(p, at);
			last = NULL;
		}
	} while (gagg_act_next(a));
}

void tx_contrib(struct port *p, struct gagg_act *a, void *const *mem)
{
	struct tx *tx = p->worker->tx;

	tx->open |= GAGG_BIT(a->node);
	tx_burst_add(p, &tx->contrib[a->node], GAGG_BIT(a->node), a, mem);
}

void tx_result(struct port *p, struct gagg_act *a, void *const *mem)
{
	tx_burst_add(p, &p->worker->tx->result, a->nodes, a, mem);
}

void tx_ctrl(struct port *p, const struct gagg_act *a)
{
	struct tx *tx = p->worker->tx;
	u8 behind = gagg_wire_behind(&a->m);
	struct burst *b;

	if (behind == GAGG_T_CONTRIB)
		tx_burst_close(p, &tx->contrib[a->node]);
	else if (behind == GAGG_T_RESULT && tx->result &&
		 (tx->result->load.nodes & GAGG_BIT(a->node)))
		tx_burst_close(p, &tx->result);
	b = burst_new(p->queue);
	if (!b) {
		tx->group->part[p->worker->index].stats.tx_errors++;
		return;
	}
	gagg_wire_build(b->head[0], &a->m);
	memcpy(b->head[1], &a->ack, a->m.len);
	gagg_load_add(&b->load, GAGG_BIT(a->node), GAGG_WIRE_HDRLEN + a->m.len, 1, &a->m);
	tx_burst_append(b, b->head[0], b->load.bytes);
	tx_burst_close(p, &b);
}

void tx_open(struct port *p, struct group *g)
{
	p->worker->tx->group = g;
}

void tx_close(struct port *p)
{
	struct tx *tx = p->worker->tx;

	for (; tx->open; tx->open &= tx->open - 1)
		tx_burst_close(p, &tx->contrib[gagg_lowest(tx->open)]);
	tx_burst_close(p, &tx->result);
	tx->group = NULL;
}

void tx_flush(struct worker *w)
{
	struct port *p;

	for (p = w->ports; p; p = p->next)
		queue_send(p);
}

/* --- what join says ------------------------------------------------------- */

static u64 *tx_said_at(struct group *g, u32 shard, u32 node, bool wide)
{
	return wide ? &g->said.wide_at[shard][node] : &g->said.at[node];
}

bool tx_is_said(struct group *g, u32 shard, u32 node, bool wide)
{
	return now_ns() - *tx_said_at(g, shard, node, wide) < LIMIT_NS &&
	       queue_full(g->part[shard].port);
}

enum gagg_fate tx_control(struct group *g, u32 shard, u32 node, const struct gagg_word *w)
{
	static const unsigned char zeros[4 * GAGG_WIRE_LANES_MAX];
	unsigned char head[GAGG_WIRE_HDRLEN];
	union address to = g->node[node];
	struct iovec iov[3] = {
		{ head, sizeof(head) },
		{ (void *)&w->body, w->len },
		{ (void *)zeros, w->m.len - w->len },
	};
	struct msghdr h = {
		.msg_name = &to,
		.msg_namelen = address_length(&to),
		.msg_iov = iov, .msg_iovlen = 3,
	};

	address_shift(&to, shard);
	gagg_wire_build(head, &w->m);
	if (sendmsg(g->part[shard].port->fd, &h, MSG_DONTWAIT) < 0) {
		g->said.errors++;
		return errno == EMSGSIZE ? GAGG_FATE_UNFIT : GAGG_FATE_NO_ROOM;
	}
	if (w->m.type == GAGG_T_HELLO)
		*tx_said_at(g, shard, node, w->m.len > w->len) = now_ns();
	g->said.datagrams++;
	g->said.bytes += GAGG_WIRE_HDRLEN + w->m.len;
	return GAGG_FATE_LEFT;
}
