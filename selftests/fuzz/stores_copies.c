// SPDX-License-Identifier: GPL-2.0
/*
 * A store of which every rank has a copy of its own: whose copy a call is of, and
 * what each of them may show.
 *
 * Ranks call what libgagg does, as often and of as many chunks as they like:
 *
 *	ako	updates, which go where the mode says; reads of any copy
 *	pull	updates of the own copy; reads of it, and of the peer of that clock
 *	push	updates of the copy of the clock's peer; reads of the own one
 *	pair	updates of the own copy; reads of any, most of them of the pair's
 *
 * A rank that has read since its last update may hold the lock of a copy: it does not wait
 * at a fence then.
 */
#include <linux/gagg_peer.h>
#include "stores.h"

/* one worker a host, two at least; and where replicas are whole, one shard */
void copies_shape(struct gagg_geom *g, bool whole)
{
	u64 first = 0;
	u32 n;

	for (n = 0; n < g->nodes; n++)
		first |= GAGG_BIT(gagg_lowest(g->ranks_of[n]));
	g->workers &= first;
	if (gagg_weight64(g->workers) < 2)
		g->workers = first;
	if (whole)
		g->shards = 1;
}

static u64 ranks_on(const struct host *h, u32 c, u32 node)
{
	return h->g.ranks_of[node] & h->w->members[c];
}

u8 copies_next(const struct host *h, u32 c)
{
	u32 node = h->g.self;

	do {
		node = (node + 1) % h->g.nodes;
	} while (!ranks_on(h, c, node));
	return (u8)node;
}

static bool is_whole(const struct mode *mode)
{
	return mode->copies == COPIES_PULL || mode->copies == COPIES_PUSH;
}

bool copies_whole(const struct host *h, const struct call *call)
{
	return is_whole(h->w->calls->mode) && !(call->flags & GAGG_OP_FENCE);
}

static u8 any_copy(const struct host *h, u32 c, u8 how)
{
	u64 members = h->w->members[c];

	return h->g.node_of[gagg_peer_rank(members, how % gagg_peer_count(members))];
}

static u32 updated(const struct host *h, u32 c, u32 rank, u32 clock)
{
	if (h->w->calls->mode->copies == COPIES_PUSH)
		return gagg_peer_to(h->w->members[c], rank, clock);
	return rank;
}

static u32 read_of(const struct host *h, u32 c, u32 rank, u32 clock)
{
	u64 members = h->w->members[c];

	switch (h->w->calls->mode->copies) {
	case COPIES_PULL:
		return gagg_peer_to(members, rank, clock);
	case COPIES_PAIR:
		return gagg_peer_pair(members, rank, clock / 2);
	default:
		return rank;
	}
}

bool copies_call(const struct host *h, u32 c, u32 rank, u8 flags, u8 how, u8 *copy)
{
	const struct mode *mode = h->w->calls->mode;
	const struct work *work = work_of(h, c, rank);
	bool odd = how & 1;

	if ((flags & GAGG_OP_FENCE) && work->holds)
		return false;
	if (!(flags & GAGG_OP_READ))
		*copy = h->g.node_of[updated(h, c, rank, work->updates)];
	else if ((flags & GAGG_OP_FENCE) || work->ended || (odd && !is_whole(mode)))
		*copy = any_copy(h, c, how >> 1);
	else if (odd)
		*copy = (u8)h->g.self;
	else
		*copy = h->g.node_of[read_of(h, c, rank, work->updates)];
	return true;
}

bool copies_get(const struct host *h, u32 c, u32 rank, const struct call *call, u32 node,
		u32 slot)
{
	u32 parts = h->w->calls->mode->arg, to;

	if (!ranks_on(h, c, node))
		return false;
	if (h->w->calls->mode->copies != COPIES_AKO)
		return call->copy == node;
	to = gagg_lowest(ranks_on(h, c, node));
	return to != rank && (to + call->updates) % parts == slot % parts;
}

/* a copy is replaced at an even clock, when its pair of the round before has read it */
static u32 pair_may(const struct host *h, u32 c, u32 self, const struct call *call, u32 owner,
		    u32 may)
{
	u32 at;

	for (at = (call->updates | 1) + 1; at < may; at += 2)
		if (gagg_peer_pair(h->w->members[c], owner, at / 2 - 1) == self)
			return at;
	return may;
}

/* a read at @clock was to wait until @rank had come to @to */
static void has_come(const struct host *h, u32 c, u32 rank, u32 to, u32 clock, u32 *must)
{
	const struct work *work = work_of(h, c, rank);

	if (work->updates < to && !work->ended)
		fuzz_fail("%s: host %u: read at clock %u, when rank %u was at %u, not %u",
			  h->w->calls->mode->text, h->g.self, clock, rank, work->updates, to);
	*must = to > *must ? to : *must;
}

void copies_bounds(const struct host *h, u32 c, u32 self, const struct call *call, u32 rank,
		   u32 *must, u32 *may)
{
	u32 clock = call->updates, late = h->w->calls->mode->arg;
	u64 members = h->w->members[c];

	if (call->ended || rank == self)
		return;
	switch (h->w->calls->mode->copies) {
	case COPIES_PAIR:
		if (rank != gagg_lowest(ranks_on(h, c, call->copy)))
			break;
		has_come(h, c, rank, clock, clock, must);
		*may = pair_may(h, c, self, call, rank, *may);
		break;
	case COPIES_PUSH:
		/* the rank that chose this one at clock - 1 - S has sent that */
		if (!(call->flags & GAGG_OP_FENCE) && clock > late &&
		    rank == gagg_peer_from(members, self, clock - 1 - late))
			has_come(h, c, rank, clock - late, clock, must);
		break;
	default:
		break;
	}
}
