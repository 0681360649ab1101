// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams of the core become bursts.
 *
 * Headers are made in the burst (core/send.h), and lanes stay where they are; the kernel gathers
 * both, once for each node.
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

struct gagg_host {
	struct port *port;
};

struct gagg_slot {
	struct burst *burst;	/* NULL: nothing is to be sent */
};

#include "core/send.h"

struct tx {
	struct group *group;		/* tx_open() to tx_close() */
	struct gagg_send send;
	struct gagg_slot slot[GAGG_SEND_BURSTS];
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

static struct tx *tx_here(const struct gagg_host *h)
{
	return h->port->worker->tx;
}

static struct gagg_send *tx_batch(const struct gagg_host *h)
{
	return &tx_here(h)->send;
}

static const struct gagg_geom *tx_geom(const struct gagg_host *h)
{
	return &tx_here(h)->group->geom;
}

static struct gagg_stats *tx_stats(const struct gagg_host *h)
{
	return &tx_here(h)->group->part[h->port->worker->index].stats;
}

static u64 tx_all(const struct gagg_host *h)
{
	return tx_here(h)->group->all_nodes;
}

static u32 tx_segs(const struct gagg_host *h)
{
	return h->port->gso ? GAGG_LOAD_SEGS : 1;
}

static u32 tx_bytes(const struct gagg_host *h)
{
	return h->port->burst;
}

static struct gagg_slot *tx_slot(const struct gagg_host *h, u32 number)
{
	return &tx_here(h)->slot[number];
}

static struct gagg_load *tx_load(struct gagg_slot *slot)
{
	return slot->burst ? &slot->burst->load : NULL;
}

static u8 *tx_room(const struct gagg_host *h, struct gagg_slot *slot, u32 len, u32 *n)
{
	(void)len;
	(void)n;
	if (!slot->burst)
		slot->burst = burst_new(h->port->queue);
	return slot->burst ? slot->burst->head[slot->burst->load.segs] : NULL;
}

static u8 *tx_lanes(struct gagg_slot *slot, u8 *at, void *lanes, u32 bytes)
{
	struct burst *b = slot->burst;

	b->iov[b->niov++] = (struct iovec){ at, GAGG_WIRE_HDRLEN };
	if (bytes)
		b->iov[b->niov++] = (struct iovec){ lanes, bytes };
	return at + GAGG_WIRE_HDRLEN;
}

static void tx_begin(const struct gagg_host *h, u32 n)
{
	queue_begin(h->port, n);
}

static void tx_to(const struct gagg_host *h, const struct gagg_slot *slot, u32 node)
{
	struct group *g = tx_here(h)->group;

	queue_add(h->port, g, slot->burst, &g->node[node]);
}

static void tx_to_all(const struct gagg_host *h, const struct gagg_slot *slot)
{
	struct group *g = tx_here(h)->group;

	queue_add(h->port, g, slot->burst, &g->all);
}

static void tx_clear(const struct gagg_host *h, struct gagg_slot *slot)
{
	burst_put(h->port->queue, slot->burst);
	slot->burst = NULL;
}

static void tx_alone(const struct gagg_host *h, const struct gagg_act *a)
{
	struct burst *b = burst_new(h->port->queue);
	struct tx *tx = tx_here(h);

	if (!b) {
		tx_stats(h)->tx_errors++;
		return;
	}
	gagg_wire_build(b->head[0], &a->m);
	memcpy(b->head[1], &a->ack, a->m.len);
	gagg_load_add(&b->load, GAGG_BIT(a->node), GAGG_WIRE_HDRLEN + a->m.len, 1, &a->m);
	b->iov[b->niov++] = (struct iovec){ b->head[0], b->load.bytes };
	queue_begin(h->port, 1);
	queue_add(h->port, tx->group, b, &tx->group->node[a->node]);
	burst_put(h->port->queue, b);
}

static void tx_trace(const struct gagg_host *h, const struct gagg_act *a)
{
	(void)h;
	(void)a;
}

void tx_contrib(struct port *p, struct gagg_act *a, void *const *mem)
{
	gagg_send_contrib(&(const struct gagg_host){ p }, a, mem);
}

void tx_result(struct port *p, struct gagg_act *a, void *const *mem)
{
	gagg_send_result(&(const struct gagg_host){ p }, a, mem);
}

void tx_ctrl(struct port *p, const struct gagg_act *a)
{
	gagg_send_ctrl(&(const struct gagg_host){ p }, a);
}

void tx_open(struct port *p, struct group *g)
{
	p->worker->tx->group = g;
}

void tx_close(struct port *p)
{
	gagg_send_flush(&(const struct gagg_host){ p });
	p->worker->tx->group = NULL;
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
	if (sendmsg(g->part[shard].port->fd, &h, MSG_DONTWAIT) < 0)
		return errno == EMSGSIZE ? GAGG_FATE_UNFIT : GAGG_FATE_NO_ROOM;
	if (w->m.type == GAGG_T_HELLO)
		*tx_said_at(g, shard, node, w->m.len > w->len) = now_ns();
	return GAGG_FATE_LEFT;
}
