// SPDX-License-Identifier: GPL-2.0
/*
 * What a chunk of a store may hold, as a sum of whole updates.
 */
#include "stores.h"

static bool is_insider(const struct host *h, u32 node)
{
	return h->w->insiders & GAGG_BIT(node);
}

static u32 home_node(const struct host *h, u32 c, u32 slot)
{
	const struct gagg_chan *ch = h->c[c].core[0];

	return ch->home[gagg_geom_home(&h->g, ch->nhomes, slot)];
}

/* a rank's two words */
static u64 words(const struct host *h, u32 rank, const s32 *lanes)
{
	return (u64)(u32)lanes[values_at(h, rank)] << 32 | (u32)lanes[bits_at(h, rank)];
}

static u64 plus(const struct host *h, u64 a, u64 b)
{
	if (h->g.wide)
		return a + b;
	return (u64)((u32)(a >> 32) + (u32)(b >> 32)) << 32 | ((u32)a + (u32)b);
}

/* of a home, with what waits beside the store */
static u64 words_kept(const struct host *h, u32 c, u32 slot, u32 rank)
{
	const struct chunks *k = h->c[c].chunks;
	u64 kept = words(h, rank, &k->kept[slot * HOSTS_LANES]);

	return k->open[slot] ? plus(h, kept, words(h, rank, &k->beside[slot * HOSTS_LANES])) :
			       kept;
}

/* does that update bring something to chunk @slot of @node? */
static bool brings(const struct host *h, u32 c, u32 rank, const struct call *call, u32 node,
		   u32 slot)
{
	s32 lanes[HOSTS_LANES];

	if (!covers(call, slot) ||
	    !(is_copies(h) ? copies_get(h, c, rank, call, node, slot) :
			     home_node(h, c, slot) == node))
		return false;
	return stores_update(h, c, rank, call->updates, slot, lanes);
}

/* both words of a rank are the sum of its first n updates, *must <= n <= *may; which of
 * those n there are
 */
static bool explained(const struct host *h, u32 c, u32 rank, u32 node, u32 slot, u64 sought,
		      u32 *must, u32 *may)
{
	const struct work *work = work_of(h, c, rank);
	u32 i, n = 0, last = *may;
	s32 update[HOSTS_LANES];
	bool found = false;
	u64 sum = 0;

	for (i = 0; ; i++) {
		if (i < work->n && (work->call[i].flags & GAGG_OP_READ))
			continue;
		if (n >= *must && n <= last && sum == sought) {
			*must = found ? *must : n;
			*may = n;
			found = true;
		}
		if (i == work->n || n >= last)
			return found;
		if (brings(h, c, rank, &work->call[i], node, slot)) {
			stores_update(h, c, rank, n, slot, update);
			sum = plus(h, sum, words(h, rank, update));
		}
		n++;
	}
}

void check_kept(const struct host *h, u32 c, u32 slot)
{
	u32 rank;

	for (rank = 0; rank < h->w->ranks; rank++) {
		u32 must = 0, may = work_of(h, c, rank)->updates;
		u64 kept = words_kept(h, c, slot, rank);

		if (!is_insider(h, h->g.node_of[rank]) &&
		    !explained(h, c, rank, h->g.self, slot, kept, &must, &may))
			fuzz_fail("%s: host %u chan %u chunk %u: updates %x of rank %u, which has made %u",
				  h->w->calls->mode->text, h->g.self, c, slot, (u32)kept, rank,
				  work_of(h, c, rank)->updates);
	}
}

/* how far ranks of honest hosts have come, the slowest of them */
static u32 least_clock(const struct host *h, u32 c)
{
	u32 rank, least = GAGG_CLOCK_END;

	for (rank = 0; rank < h->w->ranks; rank++) {
		const struct work *work = work_of(h, c, rank);

		if ((h->w->members[c] & GAGG_BIT(rank)) && !work->ended &&
		    !is_insider(h, h->g.node_of[rank]) && work->updates < least)
			least = work->updates;
	}
	return least;
}

/* updates of every other rank that a read must show */
static u32 promised(const struct host *h, const struct call *call)
{
	u32 bound = h->w->calls->mode->bound;

	if (call->ended)
		return GAGG_CLOCK_END;
	if (call->flags & GAGG_OP_FENCE)
		return call->updates;
	return call->updates > bound ? call->updates - bound : 0;
}

/* at a reader that is itself no insider a home's gate is not passed by in its name */
static void check_fresh(const struct host *h, u32 c, u32 slot, u32 fresh, const struct call *call)
{
	if (fresh < promised(h, call))
		fuzz_fail("%s: host %u chan %u chunk %u: read at clock %u, when the slowest was at %u",
			  h->w->calls->mode->text, h->g.self, c, slot, call->updates, fresh);
	if (fresh > least_clock(h, c))
		fuzz_fail("%s: host %u chan %u chunk %u: the slowest is at %u, not at %u",
			  h->w->calls->mode->text, h->g.self, c, slot, least_clock(h, c), fresh);
}

/* updates of a rank that a read must show, and may */
static void bounds(const struct host *h, u32 c, u32 self, u32 fresh, const struct call *call,
		   u32 rank, u32 *must, u32 *may)
{
	bool honest = !is_insider(h, h->g.self);

	*must = honest ? promised(h, call) : 0;
	*may = work_of(h, c, rank)->updates;
	*must = *must > fresh ? *must : fresh;
	if (honest && h->w->calls->mode->exact && !call->ended && *may > call->updates)
		*may = call->updates;
	if (rank == self)
		*must = *may = call->updates;
	if (honest && is_copies(h))
		copies_bounds(h, c, self, call, rank, must, may);
	*must = *must < *may ? *must : *may;
}

void check_copy(const struct host *h, u32 c, u32 l, u32 node, u32 slot, u32 fresh,
		const struct call *call)
{
	const s32 *lanes = &h->c[c].chunks->user[l].copy[slot * HOSTS_LANES];
	u32 self = h->c[c].core[0]->local[l].rank, rank;
	bool honest = !is_insider(h, h->g.self);

	if (is_insider(h, node))
		return;
	fuzz_assert(is_copies(h) || node == home_node(h, c, slot));
	if (honest)
		check_fresh(h, c, slot, fresh, call);
	for (rank = 0; rank < h->w->ranks; rank++) {
		u32 must, may, from, to;

		if (!(h->w->members[c] & GAGG_BIT(rank)) || is_insider(h, h->g.node_of[rank]))
			continue;
		bounds(h, c, self, fresh, call, rank, &must, &may);
		from = must;
		to = may;
		if (!explained(h, c, rank, node, slot, words(h, rank, lanes), &from, &to))
			fuzz_fail("%s: host %u rank %u at clock %u: chunk %u of channel %u on host %u has updates %x of rank %u, not the first %u to %u",
				  h->w->calls->mode->text, h->g.self, self, call->updates, slot, c,
				  node, (u32)words(h, rank, lanes), rank, must, may);
	}
}

/* there is a number of updates of each rank that all chunks of the read show */
static void check_whole(const struct host *h, u32 c, u32 l, const struct call *call)
{
	const s32 *copy = h->c[c].chunks->user[l].copy;
	u32 rank, slot, least, most;

	for (rank = 0; rank < h->w->ranks; rank++) {
		if (is_insider(h, h->g.node_of[rank]))
			continue;
		least = 0;
		most = work_of(h, c, rank)->updates;
		for (slot = call->first; slot < call->first + call->chunks; slot++)
			if (!explained(h, c, rank, call->copy, slot,
				       words(h, rank, &copy[slot * HOSTS_LANES]), &least, &most))
				fuzz_fail("%s: host %u: chunk %u of host %u does not show %u to %u updates of rank %u, as those before it",
					  h->w->calls->mode->text, h->g.self, slot, call->copy,
					  least, most, rank);
	}
}

/* all copies of chunk @slot are here that the rank's calls up to this one are to bring */
static void check_read(const struct host *h, u32 c, u32 l, u32 node, u32 slot,
		       const struct call *call)
{
	u32 rank = h->c[c].core[0]->local[l].rank, n = 0;
	const struct call *i;

	for (i = work_of(h, c, rank)->call; i <= call; i++)
		n += reads_from(h, i, node, slot);
	if (h->c[c].chunks->user[l].reads[node * h->g.ring + slot] < n)
		fuzz_fail("host %u rank %u: read done without chunk %u of host %u", h->g.self,
			  rank, slot, node);
}

static void check_update(const struct host *h, u32 c, u32 rank, u32 node, u32 slot,
			 const struct call *call)
{
	const struct host *home = &h->w->host[node];
	s32 lanes[HOSTS_LANES];

	if (is_insider(h, node) || is_insider(h, h->g.self) || home->epoch != h->epoch ||
	    !brings(h, c, rank, call, node, slot))
		return;
	stores_update(h, c, rank, call->updates, slot, lanes);
	fuzz_assert(home->c[c].chunks);
	if (!(words_kept(home, c, slot, rank) & (u32)lanes[bits_at(h, rank)]))
		fuzz_fail("%s: host %u rank %u: update %u done without chunk %u of host %u",
			  h->w->calls->mode->text, h->g.self, rank, call->updates, slot, node);
}

/* the chunks of a read are here, those of an update are in the store */
void check_done(const struct host *h, u32 c, u32 l, u32 s, const struct call *call)
{
	const struct gagg_chan *ch = h->c[c].core[s];
	u32 slot, node;

	if ((call->flags & GAGG_OP_READ) && copies_whole(h, call) &&
	    !is_insider(h, h->g.self) && !is_insider(h, call->copy))
		check_whole(h, c, l, call);
	for (slot = call->first; slot < call->first + call->chunks; slot++) {
		if (gagg_geom_shard(&h->g, ch->spread, slot) != s)
			continue;
		if (call->flags & GAGG_OP_READ)
			check_read(h, c, l, is_copies(h) ? call->copy : home_node(h, c, slot),
				   slot, call);
		for (node = 0; !(call->flags & GAGG_OP_READ) && node < h->g.nodes; node++)
			check_update(h, c, ch->local[l].rank, node, slot, call);
	}
}

void chunks_check_action(const struct host *h, u32 s, const struct gagg_act *a)
{
	const struct gagg_chan *ch = h->c[a->channel].core[s];

	switch (a->type) {
	case GAGG_ACT_FOLD:
	case GAGG_ACT_ADD_LOCAL:
		fuzz_assert(ch->self_home != 0xff);
		fuzz_assert(gagg_geom_home(&h->g, ch->spread, a->keep.slot) ==
			    ch->self_home % ch->spread);
		/* fallthrough */
	case GAGG_ACT_READ:
		fuzz_assert(a->keep.slot < h->g.ring);
		fuzz_assert(gagg_geom_shard(&h->g, ch->spread, a->keep.slot) == s);
		/* fallthrough */
	case GAGG_ACT_OP_DONE:
		fuzz_assert(a->type == GAGG_ACT_FOLD || a->local < ch->nlocals);
		break;
	default:
		fuzz_fail("host %u: action %u", h->g.self, a->type);
	}
}

void chunks_check(struct host *h, u32 c, u32 s)
{
	const struct gagg_chan *ch = h->c[c].core[s];
	u32 l;

	for (l = 0; l < ch->nlocals; l++)
		fuzz_assert(ch->local[l].finished <= ch->local[l].numbers);
}
