// SPDX-License-Identifier: GPL-2.0
/*
 * Results that a home sends again (R13, R15). What nodes ask for is parked, and leaves with a
 * refill.
 *
 * What a node costs its home is bounded, however often it asks, and for whatever:
 *
 * 1. A result is parked for a node by one bit. To ask again meanwhile changes nothing.
 * 2. So a question emits nothing itself. It costs a step for each result that it names, and the
 *    reader of datagrams counts these steps (rx.c).
 * 3. A refill stops while GAGG_ACTS_STEP actions are spare, as all loops do (out.c), and
 *    after REFILL_MAX results: of those without lanes many are one action.
 * 4. gagg_cwnd_repair_at() lets as many with lanes leave to a node as its window may hold,
 *    and as many again in each round trip: at most twice the window in one.
 * 5. A node's bits are looked at only if it may have something, and in a refill once around.
 *
 * What is parked is the result that the slot holds. The next one there ends that
 * (gagg_repair_over()): it goes to all nodes anyway, and no node waits for the old one, since each
 * has contributed to the next after it had read that.
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

/* ticks, from when a result was sent to all, in which a node that asks cannot have had it yet */
static u16 repair_on_its_way(const struct gagg_path *p)
{
	u64 ns = gagg_max64(2 * p->srtt, GAGG_PATH_RTO_MIN);

	return (u16)(gagg_min64(ns, GAGG_SEC) / TICK);
}

void gagg_repair_park(const struct gagg_visit *vis, u32 slot, u32 node)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	const struct gagg_res *r = gagg_chan_res(ch, slot);

	if (r->to_all && !(ch->deaf & GAGG_BIT(node))) {
		u16 since = (u16)(repair_tick(vis->now) - r->to_all_at);

		if (since <= repair_on_its_way(&sh->path[node]))
			return;
		ch->deaf |= GAGG_BIT(node);
	}
	repair_parked_at(vis->g, ch, node)[slot / 64] |= GAGG_BIT(slot % 64);
	ch->parked |= GAGG_BIT(node);
	ch->repair_at = gagg_min64(ch->repair_at, gagg_cwnd_repair_at(&sh->path[node]));
}

/* was it parked? It is no more */
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
 * Is the result sent to all by one datagram? It is if
 * 1. it has lanes, and all other nodes have members that want them: else it goes to each by
 *    itself; and
 * 2. two nodes at least lack it, of those that hear what is sent to all. A node that asked again
 *    after such a datagram does not hear them (deaf): it would ask for ever.
 */
static bool repair_goes_to_all(const struct gagg_geom *g, const struct gagg_chan *ch,
			       const struct gagg_res *r, u64 nodes)
{
	return g->heard_by_others && gagg_weight64(nodes & ~ch->deaf) > 1 &&
	       ch->members == g->workers && gagg_res_has_lanes(r) &&
	       r->nodes == ch->member_nodes;
}

/* nodes for which the result is parked, and which may have it now */
static u64 repair_take_nodes(const struct gagg_visit *vis, u32 slot)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	const struct gagg_res *r = gagg_chan_res(ch, slot);
	u64 nodes = 0, left;

	for (left = ch->parked; left; left &= left - 1) {
		u32 n = gagg_lowest(left);

		if (gagg_cwnd_repair_at(&sh->path[n]) > vis->now ||
		    !repair_unpark(vis->g, ch, slot, n))
			continue;
		if (gagg_res_has_lanes(r) && (r->nodes & GAGG_BIT(n)))
			gagg_cwnd_repair(&sh->path[n], vis->now);
		nodes |= GAGG_BIT(n);
	}
	return nodes;
}

/* sends it to all; returns the nodes that do not hear that, of @nodes */
static u64 repair_all(const struct gagg_visit *vis, u32 slot, u64 nodes)
{
	struct gagg_chan *ch = vis->ch;
	struct gagg_res *r = gagg_chan_res(ch, slot);
	u64 left;

	r->to_all = 1;
	r->to_all_at = repair_tick(vis->now);
	for (left = ch->parked & ~ch->deaf; left; left &= left - 1)
		repair_unpark(vis->g, ch, slot, gagg_lowest(left));
	gagg_result_repair(vis, slot, ch->member_nodes);
	return nodes & ch->deaf;
}

static void repair(const struct gagg_visit *vis, u32 slot)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	u64 nodes = repair_take_nodes(vis, slot);

	if (repair_goes_to_all(g, ch, gagg_chan_res(ch, slot), nodes)) {
		nodes = repair_all(vis, slot, nodes);
	} else if (g->heard_by_others && nodes == ch->member_nodes && (nodes & (nodes - 1))) {
		/* what is for all of them is said to all, see struct gagg_act */
		gagg_result_repair(vis, slot, nodes & -nodes);
		nodes &= nodes - 1;
	}
	if (nodes)
		gagg_result_repair(vis, slot, nodes);
}

/*
 * Sends what @node may have now, and returns when it may have more; GAGG_NEVER: that was all.
 * The oldest are those from the home's base on, and all behind it around the ring.
 */
static u64 repair_serve(const struct gagg_visit *vis, u32 node, u32 *n)
{
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	u32 base = ch->home_base[ch->self_home].slot, slot, end = g->ring;
	u64 at;

	if (base >= g->ring)
		base = 0;
	slot = base;
	for (;;) {
		at = gagg_cwnd_repair_at(&sh->path[node]);
		if (at > vis->now)
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
			return vis->now;
		repair(vis, slot);
	}
	ch->parked &= ~GAGG_BIT(node);
	return GAGG_NEVER;
}

bool gagg_repair_serve(const struct gagg_visit *vis)
{
	struct gagg_chan *ch = vis->ch;
	u32 n = 0;
	u64 left;

	ch->repair_at = GAGG_NEVER;
	for (left = ch->parked; left; left &= left - 1)
		ch->repair_at = gagg_min64(ch->repair_at,
					   repair_serve(vis, gagg_lowest(left), &n));
	return ch->repair_at <= vis->now;
}
