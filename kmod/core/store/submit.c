// SPDX-License-Identifier: GPL-2.0
/*
 * What a rank asks of a store: which requests are good, and the ops they become.
 */
#include "store/way.h"

u64 gagg_store_submit(struct gagg_chan *ch, u32 local, const struct gagg_op *what)
{
	struct gagg_local *lo = &ch->local[local];
	struct gagg_op *op = gagg_chan_op_new(lo);

	if (!op)
		return 0;
	op->start = what->start;
	op->end = what->end;
	op->clock = lo->clock;
	op->flags = what->flags;
	op->copy = what->copy;
	if ((op->flags & GAGG_OP_READ) && !(op->flags & GAGG_OP_FENCE))
		lo->locks = lo->clock + 1;
	if (op->flags & GAGG_OP_LAST)
		lo->clock = GAGG_CLOCK_END;
	else if (!(op->flags & GAGG_OP_READ))
		lo->clock++;
	return op->number;
}

static bool submit_whose_fits(const struct gagg_geom *g, bool update, u32 whose)
{
	if (!g->copies || (update && gagg_store_divides(g)))
		return !whose;
	return whose == GAGG_SUBMIT_PEER || whose == GAGG_SUBMIT_OWN;
}

bool gagg_store_may_submit(const struct gagg_geom *g, const struct gagg_ioc_submit *arg)
{
	u32 whose = arg->flags & (GAGG_SUBMIT_PEER | GAGG_SUBMIT_OWN);
	bool update = arg->kind == GAGG_K_UPDATE;

	if (!gagg_store_knows(arg->kind))
		return false;
	/* clocks and rounds are the kernel's */
	if ((arg->flags & ~whose & ~(update ? GAGG_SUBMIT_LAST : GAGG_SUBMIT_FENCE)) ||
	    !submit_whose_fits(g, update, whose) || arg->reserved || arg->laneop || arg->dtype ||
	    (arg->root && whose != GAGG_SUBMIT_PEER) || arg->last_lanes)
		return false;
	if (arg->count > g->ring || arg->chunks > g->ring - arg->count)
		return false;
	return arg->chunks || update;
}

/*
 * Can a rank submit @arg now?
 *
 * Not an update at the end of its clock, but one that says only that it is the last.
 * And where reads lock a copy until the next tick (sync/gossip.c) there is one in a
 * clock: of two ranks that each hold what the other reads next, none would go on.
 */
static bool submit_is_in_time(const struct gagg_geom *g, const struct gagg_local *lo,
			      const struct gagg_ioc_submit *arg)
{
	if (arg->kind == GAGG_K_UPDATE) {
		bool empty_last = (arg->flags & GAGG_SUBMIT_LAST) && !arg->chunks;

		return lo->clock < GAGG_CLOCK_END - (empty_last ? 0 : 1);
	}
	return (arg->flags & GAGG_SUBMIT_FENCE) || lo->locks != lo->clock + 1 ||
	       !gagg_sync_get(g->sync.mode)->whole;
}

int gagg_store_copy(const struct gagg_geom *g, const struct gagg_chan *ch,
		    const struct gagg_ioc_submit *arg)
{
	if (!(arg->flags & GAGG_SUBMIT_PEER))
		return ch->self_home;
	if (arg->root >= GAGG_RANKS || !(ch->members & GAGG_BIT(arg->root)))
		return -1;
	/* the mask changes no rank: a CPU that guesses past the check reads within, too */
	return gagg_chan_home(ch, g->node_of[arg->root & (GAGG_RANKS - 1)]);
}

enum gagg_refusal gagg_store_may_begin(const struct gagg_geom *g, const struct gagg_chan *ch,
				       const struct gagg_ledger *led,
				       const struct gagg_ioc_submit *arg)
{
	if (g->copies && gagg_store_copy(g, ch, arg) < 0)
		return GAGG_REFUSE_BAD;
	if (!submit_is_in_time(g, &ch->local[led->local], arg))
		return GAGG_REFUSE_BAD;
	return GAGG_REFUSE_NOT;
}

u64 gagg_store_submit_arg(const struct gagg_geom *g, struct gagg_chan *ch, u32 local,
			  const struct gagg_ioc_submit *arg)
{
	const struct gagg_op what = {
		.start = arg->count,
		.end = arg->count + arg->chunks,
		.copy = (u16)gagg_store_copy(g, ch, arg),
		.flags = (arg->kind == GAGG_K_READ ? GAGG_OP_READ : 0) |
			 (arg->flags & GAGG_SUBMIT_LAST ? GAGG_OP_LAST : 0) |
			 (arg->flags & GAGG_SUBMIT_FENCE ? GAGG_OP_FENCE : 0),
	};

	return gagg_store_submit(ch, local, &what);
}
