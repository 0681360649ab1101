// SPDX-License-Identifier: GPL-2.0
/*
 * Results that a home sends again. What nodes ask for is parked, and leaves with a refill.
 *
 * What a node costs its home is bounded, however often it asks, and for whatever:
 *
 * 1. A result is parked for a node by one bit. To ask again meanwhile changes nothing.
 * 2. So a question emits nothing itself: its work is a step for each result that it names,
 *    and what reads datagrams counts these (rx.c).
 * 3. A refill stops while GAGG_ACTS_STEP actions are spare, as all loops do (out.c), and
 *    after REFILL_MAX results: of those without lanes many are one action.
 * 4. gagg_cwnd_repair_at() lets as many with lanes leave to a node as its window may hold,
 *    and as many again in each round trip: at most twice the window in one.
 * 5. A node's bits are looked at only if it may have something, and in a refill once around.
 *
 * What is parked is the result that the slot holds: the next one there ends it
 * (gagg_repair_over()). It goes to all nodes by itself, and no node waits for the old one: all
 * have contributed after they read that.
 */
#include "cwnd.h"
#include "ring/internal.h"

#define REFILL_MAX	GAGG_ACTS
#define TICK		65536	/* ns */

static u64 *repair_parked_at(const struct gagg_geom *g, struct gagg_chan *ch, u32 node)
{
	return GAGG_CHAN_AT(ch, off_parked, u64) + (u64)node * gagg_repair_words(g);
}

static u16 repair_tick(u64 now)
{
	return (u16)(now / TICK);
}

/* ticks after it was sent to all in which nobody who asks can have heard it yet */
static u16 repair_on_its_way(const struct gagg_path *p)
{
	u64 ns = gagg_max64(2 * p->srtt, GAGG_PATH_RTO_MIN);

	return (u16)(gagg_min64(ns, GAGG_SEC) / TICK);
}

void gagg_repair_park(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		      u32 slot, u32 node, u64 now)
{
	const struct gagg_res *r = gagg_chan_res(ch, slot);

	if (r->to_all && !(ch->deaf & GAGG_BIT(node))) {
		if ((u16)(repair_tick(now) - r->to_all_at) <= repair_on_its_way(&sh->path[node]))
			return;
		ch->deaf |= GAGG_BIT(node);
	}
	repair_parked_at(g, ch, node)[slot / 64] |= GAGG_BIT(slot % 64);
	ch->parked |= GAGG_BIT(node);
	ch->repair_at = gagg_min64(ch->repair_at, gagg_cwnd_repair_at(&sh->path[node]));
}

/* was it parked? It is not any more */
static bool repair_unpark(const struct gagg_geom *g, struct gagg_chan *ch, u32 slot, u32 node)
{
	u64 *word = repair_parked_at(g, ch, node) + slot / 64, bit = GAGG_BIT(slot % 64);
	bool was = *word & bit;

	*word &= ~bit;
	return was;
}

void gagg_repair_over(const struct gagg_geom *g, struct gagg_chan *ch, u32 slot)
{
	u64 left;

	for (left = ch->parked; left; left &= left - 1)
		repair_unpark(g, ch, slot, gagg_lowest(left));
}

/* the first slot in [slot, end) that is parked for @node; @end: none is */
static u32 repair_next_parked(const struct gagg_geom *g, struct gagg_chan *ch, u32 node, u32 slot,
			      u32 end)
{
	const u64 *word = repair_parked_at(g, ch, node);
	u64 bits;

	while (slot < end) {
		bits = word[slot / 64] >> slot % 64;
		if (bits)
			return (u32)gagg_min64(slot + gagg_lowest(bits), end);
		slot += 64 - slot % 64;
	}
	return end;
}

/*
 * Does one datagram reach all other nodes? Of what has lanes, if all have members and want
 * them. Two that lack it may then have it of one that goes to all. Who asks again
 * afterwards hears none of these: it counts no more, or it would ask for ever.
 */
static bool repair_goes_to_all(const struct gagg_geom *g, const struct gagg_chan *ch,
			       const struct gagg_res *r, u64 nodes)
{
	return g->heard_by_others && gagg_weight64(nodes & ~ch->deaf) > 1 &&
	       ch->members == g->workers && gagg_res_has_lanes(r) &&
	       r->nodes == ch->member_nodes;
}

/* nodes for which the result is parked, and which may have it now */
static u64 repair_take_nodes(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
			     u32 slot, u64 now)
{
	const struct gagg_res *r = gagg_chan_res(ch, slot);
	u64 nodes = 0, left;

	for (left = ch->parked; left; left &= left - 1) {
		u32 n = gagg_lowest(left);

		if (gagg_cwnd_repair_at(&sh->path[n]) > now || !repair_unpark(g, ch, slot, n))
			continue;
		if (gagg_res_has_lanes(r) && (r->nodes & GAGG_BIT(n)))
			gagg_cwnd_repair(&sh->path[n], now);
		nodes |= GAGG_BIT(n);
	}
	return nodes;
}

/* to all, of which those that do not hear it are left */
static u64 repair_all(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		      u32 slot, u64 nodes, u64 now)
{
	struct gagg_res *r = gagg_chan_res(ch, slot);
	u64 left;

	r->to_all = 1;
	r->to_all_at = repair_tick(now);
	for (left = ch->parked & ~ch->deaf; left; left &= left - 1)
		repair_unpark(g, ch, slot, gagg_lowest(left));
	gagg_result_repair(sh, g, ch, slot, ch->member_nodes);
	return nodes & ch->deaf;
}

static void repair(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		   u32 slot, u64 now)
{
	u64 nodes = repair_take_nodes(sh, g, ch, slot, now);

	if (repair_goes_to_all(g, ch, gagg_chan_res(ch, slot), nodes)) {
		nodes = repair_all(sh, g, ch, slot, nodes, now);
	} else if (g->heard_by_others && nodes == ch->member_nodes && (nodes & (nodes - 1))) {
		/* what is for all of them is said to all, see struct gagg_act */
		gagg_result_repair(sh, g, ch, slot, nodes & -nodes);
		nodes &= nodes - 1;
	}
	if (nodes)
		gagg_result_repair(sh, g, ch, slot, nodes);
}

/*
 * Sends what @node may have now, and returns when it may have more; GAGG_NEVER: that was all.
 * The oldest are those from the home's base on, and all behind it around the ring.
 */
static u64 repair_serve(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
			u32 node, u64 now, u32 *n)
{
	u32 base = ch->home_base[ch->self_home].slot, slot, end = g->ring;
	u64 at;

	if (base >= g->ring)
		base = 0;
	slot = base;
	for (;;) {
		at = gagg_cwnd_repair_at(&sh->path[node]);
		if (at > now)
			return at;
		slot = repair_next_parked(g, ch, node, slot, end);
		if (slot == end) {
			if (end == base)
				break;
			slot = 0;
			end = base;
			continue;
		}
		if (gagg_shard_spare(sh) < GAGG_ACTS_STEP || ++*n > REFILL_MAX)
			return now;
		repair(sh, g, ch, slot, now);
	}
	ch->parked &= ~GAGG_BIT(node);
	return GAGG_NEVER;
}

bool gagg_repair_serve(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		       u64 now)
{
	u32 n = 0;
	u64 left;

	ch->repair_at = GAGG_NEVER;
	for (left = ch->parked; left; left &= left - 1)
		ch->repair_at = gagg_min64(ch->repair_at,
					   repair_serve(sh, g, ch, gagg_lowest(left), now, &n));
	return ch->repair_at <= now;
}
