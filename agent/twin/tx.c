// SPDX-License-Identifier: GPL-2.0
/*
 * Actions of the core become datagrams.
 *
 * A burst is datagrams of one length in a row, and a set of nodes to send it
 * to. Headers are made in the burst, lanes stay where they are, and the kernel
 * gathers both: once for each node. Contributions of one node collect in the
 * node's burst, results in one burst for all of their nodes.
 *
 * The lanes must not change until the burst is sent, at the end of the batch or,
 * where the socket has no room, later. A contribution may be written again once
 * its result is there, a result once all have it. Whoever still gets the old
 * header with new lanes has the round behind it, and looks at neither.
 *
 * Datagrams to a node leave in the order in which the core numbered them.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "channel.h"
#include "limit.h"
#include "queue.h"
#include "session.h"
#include "tx.h"

struct tx {
	struct group *group;		/* whose bursts are open; within a batch */
	u64 open;			/* nodes with an open burst */
	u64 progressed;			/* channels, by index, with news for trainers */
	u32 done[GAGG_CHANNELS_MAX];	/* their locals with ops done */
	u64 number[GAGG_CHANNELS_MAX][GAGG_LOCALS];	/* the last of these ops */
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

static void burst_close(struct port *p, struct burst **at)
{
	struct burst *b = *at;

	if (!b)
		return;
	*at = NULL;
	queue_add(p, p->worker->tx->group, b);
	burst_put(p->queue, b);
}

static bool burst_fits(const struct port *p, const struct burst *b, u64 nodes, u32 len)
{
	return b->nodes == nodes && len <= b->seg && b->segs < (p->gso ? BURST_SEGS : 1) &&
	       b->bytes + len <= p->burst;
}

static void burst_add(struct port *p, struct burst **at, u64 nodes, const struct gagg_msg *m,
		      const void *lanes)
{
	u32 bytes = lanes ? m->lanes * 4 : 0, len = GAGG_WIRE_HDRLEN + bytes;
	struct tx *tx = p->worker->tx;
	struct burst *b;

	if (*at && !burst_fits(p, *at, nodes, len))
		burst_close(p, at);
	if (!*at)
		*at = burst_new(p->queue);
	b = *at;
	if (!b) {
		tx->group->part[p->worker->index].stats.tx_errors++;
		return;
	}
	b->nodes = nodes;
	b->reacts = gagg_wire_reacts(m);
	gagg_wire_build(b->head[b->segs], m);
	b->iov[b->niov++] = (struct iovec){ b->head[b->segs], GAGG_WIRE_HDRLEN };
	if (lanes)
		b->iov[b->niov++] = (struct iovec){ (void *)lanes, bytes };
	if (!b->segs++)
		b->seg = len;
	b->bytes += len;
	if (len < b->seg)
		burst_close(p, at);
}

static void send_ctrl(struct port *p, const struct gagg_act *a)
{
	struct tx *tx = p->worker->tx;
	struct burst *b;

	/* READY is numbered with CONTRIB; DONE and empty RESULTs with RESULT, and
	 * TOLD speaks of those that left before it
	 */
	if (a->m.type == GAGG_T_READY)
		burst_close(p, &tx->contrib[a->node]);
	else if (tx->result && (tx->result->nodes & GAGG_BIT(a->node)))
		burst_close(p, &tx->result);
	b = burst_new(p->queue);
	if (!b) {
		tx->group->part[p->worker->index].stats.tx_errors++;
		return;
	}
	b->nodes = GAGG_BIT(a->node);
	b->reacts = gagg_wire_reacts(&a->m);
	gagg_wire_build(b->head[0], &a->m);
	memcpy(b->head[1], &a->ack, a->m.len);
	b->bytes = GAGG_WIRE_HDRLEN + a->m.len;
	b->seg = b->bytes;
	b->segs = 1;
	b->iov[0] = (struct iovec){ b->head[0], b->bytes };
	b->niov = 1;
	burst_close(p, &b);
}

/* --- actions -------------------------------------------------------------- */

static void tell_trainers(struct tx *tx, unsigned int shard, u32 index)
{
	struct channel *ch = tx->group->channel[index];
	u32 l;

	/* chunks first: who hears of an op may look at its chunks */
	channel_progress(ch, shard);
	for (l = 0; l < GAGG_LOCALS; l++)
		if ((tx->done[index] & GAGG_BIT(l)) && ch->seat[l])
			seat_done(ch->seat[l], shard, tx->number[index][l]);
	tx->done[index] = 0;
}

/* the end of a batch, or of a group's part in it */
static void settle(struct worker *w)
{
	struct tx *tx = w->tx;
	struct port *p;

	if (!tx->group)
		return;
	p = tx->group->part[w->index].port;
	for (; tx->open; tx->open &= tx->open - 1)
		burst_close(p, &tx->contrib[gagg_lowest(tx->open)]);
	burst_close(p, &tx->result);
	for (; tx->progressed; tx->progressed &= tx->progressed - 1)
		tell_trainers(tx, w->index, gagg_lowest(tx->progressed));
	tx->group = NULL;
}

void tx_flush(struct worker *w)
{
	struct port *p;

	settle(w);
	for (p = w->ports; p; p = p->next)
		queue_send(p);
}

static void act_on_channel(struct port *p, struct group *grp, const struct gagg_act *a)
{
	struct channel *ch = channel_find(grp, a->channel);
	const struct gagg_geom *g = &grp->geom;
	struct tx *tx = p->worker->tx;
	bool lanes = gagg_wire_has_lanes(&a->m);
	struct gagg_msg m;

	switch (a->type) {
	case GAGG_ACT_SEND_CONTRIB:
		if (!ch->seat[a->local])
			break;
		tx->open |= GAGG_BIT(a->node);
		burst_add(p, &tx->contrib[a->node], GAGG_BIT(a->node), &a->m, lanes ?
			  chunk_at(g, &ch->seat[a->local]->contrib, a->m.chunk) : NULL);
		break;
	case GAGG_ACT_SEND_RESULT:
		m = a->m;
		if (gagg_lane_narrow(m.laneop))
			gagg_publish_shift(ch->part[p->worker->index], &m);
		burst_add(p, &tx->result, a->nodes, &m,
			  lanes ? chunk_at(g, channel_results(g, ch), a->m.chunk) : NULL);
		break;
	case GAGG_ACT_PUBLISH:
		channel_publish(grp, ch, p->worker->index, &a->pub);
		tx->progressed |= GAGG_BIT(ch->index);
		break;
	case GAGG_ACT_OP_DONE:
		tx->progressed |= GAGG_BIT(ch->index);
		tx->done[ch->index] |= (u32)GAGG_BIT(a->local);
		tx->number[ch->index][a->local] = a->number;
		break;
	}
}

static void desync(struct group *g, const struct gagg_act *a)
{
	const struct gagg_end end = {
		.reason = GAGG_R_DESYNC,
		.rank = a->desync.rank,
		.other = a->desync.other,
		.sig = a->desync.sig,
		.other_sig = a->desync.other_sig,
		.call = a->desync.call,
		.other_call = a->desync.other_call,
	};

	epoch_end(g, &end);
}

void tx_actions(struct port *p, struct group *g)
{
	struct gagg_shard *core = g->part[p->worker->index].core;
	struct tx *tx = p->worker->tx;
	const struct gagg_act *a;

	if (tx->group != g) {
		settle(p->worker);
		tx->group = g;
	}
	while ((a = gagg_shard_act(core))) {
		switch (a->type) {
		case GAGG_ACT_SEND_CTRL:
			send_ctrl(p, a);
			break;
		case GAGG_ACT_DESYNC:
			desync(g, a);
			break;
		case GAGG_ACT_OPEN:
			epoch_open(g, core->epoch, a->channel, a->members);
			break;
		default:
			act_on_channel(p, g, a);
		}
	}
}

static u64 *said_at(struct group *g, u32 shard, u32 node, bool wide)
{
	return wide ? &g->said.wide_at[shard][node] : &g->said.at[node];
}

bool tx_is_said(struct group *g, u32 shard, u32 node, bool wide)
{
	return now_ns() - *said_at(g, shard, node, wide) < LIMIT_NS &&
	       queue_full(g->part[shard].port);
}

bool tx_control(struct group *g, u32 shard, u32 node, const struct gagg_msg *m,
		const void *body, u32 len)
{
	static const unsigned char zeros[4 * GAGG_WIRE_LANES_MAX];
	unsigned char head[GAGG_WIRE_HDRLEN];
	union address to = g->node[node];
	struct iovec iov[3] = {
		{ head, sizeof(head) }, { (void *)body, len }, { (void *)zeros, m->len - len },
	};
	struct msghdr h = {
		.msg_name = &to,
		.msg_namelen = to.sa.sa_family == AF_INET6 ?
			       sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in),
		.msg_iov = iov, .msg_iovlen = 3,
	};

	address_shift(&to, shard);
	gagg_wire_build(head, m);
	if (sendmsg(g->part[shard].port->fd, &h, MSG_DONTWAIT) < 0) {
		g->said.errors++;
		g->said.unfit |= errno == EMSGSIZE;
		return false;
	}
	if (m->type == GAGG_T_HELLO)
		*said_at(g, shard, node, m->len > len) = now_ns();
	g->said.datagrams++;
	g->said.bytes += GAGG_WIRE_HDRLEN + m->len;
	return true;
}
