/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Datagrams of one node that have arrived together. Most often they are contributions of one rank
 * to chunks in a row, or results of one home. The core compares each of these with the first and
 * looks at the differences only. It does the work for all of them once, at the end.
 *
 * For each datagram in turn, which begins at @raw:
 *
 *	if (gagg_burst_follows(b, raw, len)) {
 *		rx = gagg_burst_next(b);
 *		add or place the lanes, or count the drop, as b->in.todo says
 *		drain the actions if gagg_shard_must_act(b->in.vis.sh, b->in.vis.g)
 *	} else {
 *		drain the actions
 *		parse it, and set shard, geometry and node if they are others now
 *		do {
 *			rx = gagg_burst_rx(b, env, m, body);
 *			add or place the lanes, then gagg_burst_commit(b, hdr); or count the drop
 *			drain the actions
 *		} while (rx == GAGG_RX_AGAIN);
 *	}
 *
 * After the last datagram the caller drains the actions as well. It holds the shard's lock over all
 * of this, and makes no other call into the shard.
 */
#ifndef GAGG_CORE_BURST_H
#define GAGG_CORE_BURST_H

#include "shard.h"

struct gagg_site;
struct gagg_stats;

/**
 * struct gagg_burst - a burst that is taken apart
 * @in:		the last datagram
 * @len:	bytes of a datagram that may follow it, whose lanes were taken; 0: none
 * @first:	the header that others may follow
 *
 * The caller sets of @in what struct gagg_arrival says, and @len to 0.
 */
struct gagg_burst {
	struct gagg_arrival in;
	u32 len;
	struct gagg_hdr first;
};

/**
 * struct gagg_receipts - datagrams of one source
 * @burst:	they: its actions may wait. The host sets @burst.in.ce and @burst.in.vis.now
 * @multicast:	they have come by multicast; the host sets it
 * @stats:	counters of the last one's group on this port; NULL: it has none here
 * @site:	channel of the last one that came to a shard
 * @steps:	chunks and results that messages name beyond their first
 */
struct gagg_receipts {
	struct gagg_burst burst;
	bool multicast;
	struct gagg_stats *stats;
	struct gagg_site *site;
	u32 steps;
};

/* gagg_shard_rx() for a datagram that follows none; after ADD or PLACE call gagg_burst_commit() */
static inline enum gagg_rx gagg_burst_rx(struct gagg_burst *b, const struct gagg_env *env,
					 struct gagg_msg *m, const void *body)
{
	b->len = 0;
	return gagg_shard_rx(&b->in, env, m, body);
}

/* after the lanes were added or placed; @hdr: the header that was parsed, unchanged since */
static inline void gagg_burst_commit(struct gagg_burst *b, const void *hdr)
{
	gagg_shard_commit(&b->in);
	memcpy(&b->first, hdr, sizeof(b->first));
	b->len = b->in.todo.alone ? 0 : GAGG_WIRE_HDRLEN + b->in.todo.m.len;
}

/*
 * Does the datagram of @len bytes at @raw follow the one before it? @len is 1 or more. If so, call
 * gagg_burst_next() next. The bytes may change during the call: gagg_wire_follows().
 */
static inline bool gagg_burst_follows(struct gagg_burst *b, const void *raw, u32 len)
{
	return len == b->len && gagg_wire_follows(&b->first, raw, &b->in.todo.m);
}

/* gagg_shard_next() for a datagram that follows; an ADD or PLACE is already committed */
static inline enum gagg_rx gagg_burst_next(struct gagg_burst *b)
{
	enum gagg_rx rx = gagg_shard_next(&b->in);

	if (rx != GAGG_RX_ADD && rx != GAGG_RX_PLACE)
		b->len = 0;
	return rx;
}

#endif
