// SPDX-License-Identifier: GPL-2.0
/*
 * Results that a home sends again. What nodes ask for is parked, and leaves with a refill.
 *
 * What a node costs its home is bounded, however often it asks, and for whatever:
 *
 * 1. A result is parked for a node by one bit. To ask again meanwhile changes nothing.
 * 2. So a question emits nothing itself: its work is a step for each result that it names,
 *    and what reads datagrams counts these (rx.c).
 * 3. A refill stops while GAGG_ACTS_STEP actions are spare, as all loops do (shard.c).
 * 4. gagg_cwnd_repair_at() lets as many leave to a node as its window may hold, and as many
 *    again in each round trip: at most twice the window in one.
 * 5. Each of them clears a bit, and finds the next by at most ring / 64 words.
 *
 * What is parked is the result that the slot holds: the next one there ends it
 * (gagg_repair_over()). It goes to all nodes by itself, and no node waits for the old one: all
 * have contributed after they read that, or (quorum) take the new one instead.
 */
#include "cwnd.h"
#include "internal.h"

static u64 *parked_at(const struct gagg_geom *g, struct gagg_chan *ch, u32 node)
{
	return GAGG_CHAN_AT(ch, off_parked, u64) + (u64)node * gagg_repair_words(g);
}

void gagg_repair_park(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		      u32 slot, u32 node)
{
	parked_at(g, ch, node)[slot / 64] |= GAGG_BIT(slot % 64);
	ch->parked |= GAGG_BIT(node);
	ch->repair_at = gagg_min64(ch->repair_at, gagg_cwnd_repair_at(&sh->path[node]));
}

/* was it parked? It is not any more */
static bool unpark(const struct gagg_geom *g, struct gagg_chan *ch, u32 slot, u32 node)
{
	u64 *word = parked_at(g, ch, node) + slot / 64, bit = GAGG_BIT(slot % 64);
	bool was = *word & bit;

	*word &= ~bit;
	return was;
}

void gagg_repair_over(const struct gagg_geom *g, struct gagg_chan *ch, u32 slot)
{
	u64 left;

	for (left = ch->parked; left; left &= left - 1)
		unpark(g, ch, slot, gagg_lowest(left));
}

/* the first slot that is parked for @node; ring: none is */
static u32 first_parked(const struct gagg_geom *g, struct gagg_chan *ch, u32 node)
{
	const u64 *word = parked_at(g, ch, node);
	u32 i;

	for (i = 0; i < gagg_repair_words(g); i++)
		if (word[i])
			return 64 * i + gagg_lowest(word[i]);
	return g->ring;
}

/*
 * Nodes for which the result is parked, and which may have it now. Where one datagram may
 * reach all, two that lack it have it of one that goes to all: once, since who asks again
 * may hear none of these, and would ask for ever.
 */
static u64 take_nodes(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		      u32 slot, u64 now)
{
	struct gagg_res *r = gagg_chan_res(ch, slot);
	u64 nodes = 0, left;

	for (left = ch->parked; left; left &= left - 1) {
		u32 n = gagg_lowest(left);

		if (gagg_cwnd_repair_at(&sh->path[n]) > now || !unpark(g, ch, slot, n))
			continue;
		gagg_cwnd_repair(&sh->path[n], now);
		nodes |= GAGG_BIT(n);
	}
	if (g->heard_by_others && gagg_weight64(nodes) > 1 && !r->to_all) {
		r->to_all = 1;
		gagg_repair_over(g, ch, slot);
		nodes = ch->member_nodes;
	}
	return nodes;
}

/* sends what @node may have now, and returns when it may have more; GAGG_NEVER: that was all */
static u64 serve(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		 u32 node, u64 now)
{
	u32 slot;

	while ((slot = first_parked(g, ch, node)) < g->ring) {
		u64 at = gagg_cwnd_repair_at(&sh->path[node]);

		if (at > now || gagg_shard_spare(sh) < GAGG_ACTS_STEP)
			return gagg_max64(at, now);
		gagg_result_repair(sh, g, ch, slot, take_nodes(sh, g, ch, slot, now));
	}
	ch->parked &= ~GAGG_BIT(node);
	return GAGG_NEVER;
}

void gagg_repair_serve(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		       u64 now)
{
	u64 left;

	ch->repair_at = GAGG_NEVER;
	for (left = ch->parked; left; left &= left - 1)
		ch->repair_at = gagg_min64(ch->repair_at,
					   serve(sh, g, ch, gagg_lowest(left), now));
}
