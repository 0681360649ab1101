// SPDX-License-Identifier: GPL-2.0
/*
 * What a rank asks of a ring: which requests are good, and the ops they become.
 */
#include "ring/internal.h"

u64 gagg_ring_submit(struct gagg_chan *ch, u32 local, const struct gagg_op *what, u64 chunks)
{
	struct gagg_local *lo = &ch->local[local];
	struct gagg_op *op = gagg_chan_op_new(lo);

	if (!op)
		return 0;
	op->start = lo->issued;
	lo->issued += chunks;
	op->end = lo->issued;
	op->sig = what->sig;
	op->call = what->call;
	op->last_lanes = what->last_lanes;
	op->laneop = what->laneop;
	op->flags = what->flags;
	return op->number;
}

bool gagg_ring_may_submit(const struct gagg_geom *g, const struct gagg_ioc_submit *arg)
{
	bool barrier = arg->kind == GAGG_K_BARRIER;

	if ((arg->flags & ~GAGG_SUBMIT_RAW) || arg->reserved)
		return false;
	if (!gagg_ring_knows(arg->kind))
		return false;
	if (!gagg_chan_takes(g, arg->laneop, arg->last_lanes, arg->flags & GAGG_SUBMIT_RAW) ||
	    arg->dtype > 15)
		return false;
	if (barrier ? arg->last_lanes != 0 : !arg->last_lanes || arg->last_lanes > g->lanes)
		return false;
	/* a barrier has no lanes in any chunk */
	if (!arg->chunks || (barrier && arg->chunks != 1))
		return false;
	return arg->chunks <= GAGG_VIRTUAL_MAX && arg->count <= GAGG_VIRTUAL_MAX;
}

u64 gagg_ring_submit_arg(const struct gagg_geom *g, struct gagg_chan *ch, u32 local,
			 const struct gagg_ioc_submit *arg)
{
	const struct gagg_op what = {
		.sig = gagg_sig(arg->kind, arg->dtype, arg->laneop, arg->root, arg->count),
		.call = gagg_call(arg->root, arg->count),
		.last_lanes = (u16)arg->last_lanes,
		.laneop = arg->laneop,
		.flags = arg->flags & GAGG_SUBMIT_RAW ? GAGG_OP_RAW : 0,
	};

	(void)g;
	return gagg_ring_submit(ch, local, &what, arg->chunks);
}
