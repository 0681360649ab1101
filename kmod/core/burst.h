/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Datagrams of one node that have arrived together. Most often they are one rank's contributions
 * to chunks in a row, or one home's results: those that follow the first are judged by what
 * differs, and what is to be done for them is done at once, in the end.
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
 * At the end, too, the actions are drained. The caller holds the shard's lock over all of this,
 * and makes no other call into the shard meanwhile.
 */
#ifndef GAGG_CORE_BURST_H
#define GAGG_CORE_BURST_H

#include "shard.h"

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

/* gagg_shard_rx() of a datagram that follows none; for ADD and PLACE gagg_burst_commit() is due */
static inline enum gagg_rx gagg_burst_rx(struct gagg_burst *b, const struct gagg_env *env,
					 struct gagg_msg *m, const void *body)
{
	b->len = 0;
	return gagg_shard_rx(&b->in, env, m, body);
}

/* the lanes were added or placed; @hdr: the header, as it was when it was parsed */
static inline void gagg_burst_commit(struct gagg_burst *b, const void *hdr)
{
	gagg_shard_commit(&b->in);
	memcpy(&b->first, hdr, sizeof(b->first));
	/* a store judges each update and each copy by itself */
	b->len = b->in.vis.g->store ? 0 : GAGG_WIRE_HDRLEN + b->in.todo.m.len;
}

/*
 * Does the datagram of @len bytes at @raw, at least one, follow the one before it? Then
 * gagg_burst_next() is due. It may change meanwhile: gagg_wire_follows().
 */
static inline bool gagg_burst_follows(struct gagg_burst *b, const void *raw, u32 len)
{
	return len == b->len && gagg_wire_follows(&b->first, raw, &b->in.todo.m);
}

/* gagg_shard_next() of a datagram that follows: for ADD and PLACE it is committed */
static inline enum gagg_rx gagg_burst_next(struct gagg_burst *b)
{
	enum gagg_rx rx = gagg_shard_next(&b->in);

	if (rx != GAGG_RX_ADD && rx != GAGG_RX_PLACE)
		b->len = 0;
	return rx;
}

#endif
