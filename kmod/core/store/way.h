/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A local rank's way to one home of a store, and the op that it works on.
 */
#ifndef GAGG_CORE_STORE_WAY_H
#define GAGG_CORE_STORE_WAY_H

#include "store/internal.h"

/* of a chunk of the op that a way works on */
enum {
	GAGG_WAY_NONE,		/* nothing to do, or nothing under way */
	GAGG_WAY_FLYING,	/* update: sent; read: asked for */
	GAGG_WAY_AGAIN,		/* update: lost */
	GAGG_WAY_OVER,		/* update: confirmed; read: here */
};

static inline struct gagg_store_way *gagg_way_at(struct gagg_chan *ch, u32 l, u32 h)
{
	struct gagg_store *st = gagg_store_of(ch);

	return (struct gagg_store_way *)((char *)st + st->off_way) + l * ch->nhomes + h;
}

/* of chunks that are spread each has one home, and one state */
static inline u8 *gagg_way_state(struct gagg_chan *ch, u32 slot, u32 l, u32 h)
{
	struct gagg_store *st = gagg_store_of(ch);
	u8 *row = (u8 *)st + st->off_state;

	if (ch->spread < ch->nhomes)
		return row + ((u64)slot * ch->nlocals + l) * ch->nhomes + h;
	return row + (u64)slot * ch->nlocals + l;
}

/* the op that a way works on, or NULL */
static inline const struct gagg_op *gagg_way_op(const struct gagg_chan *ch, u32 l,
						const struct gagg_store_way *w)
{
	const struct gagg_local *lo = &ch->local[l];

	return w->done < lo->numbers ? &lo->op[(w->done + 1) % GAGG_OPS] : NULL;
}

/* @slot, or ring if that is behind the last chunk of the op */
static inline u32 gagg_way_within(const struct gagg_geom *g, const struct gagg_op *op, u32 slot)
{
	return slot < op->end ? slot : g->ring;
}

/* the next chunk of the op that the home and the shard hold */
static inline u32 gagg_way_next(const struct gagg_geom *g, const struct gagg_chan *ch,
				const struct gagg_op *op, u32 slot)
{
	return gagg_way_within(g, op, gagg_geom_next(g, ch->spread, slot));
}

/* rounds, as the wire has them: 0 is none */
static inline u32 gagg_op_round(const struct gagg_op *op)
{
	return op->clock + 1;
}

/* does the mode say where an update of copies goes? Else the op does */
static inline bool gagg_store_divides(const struct gagg_geom *g)
{
	return g->copies && gagg_sync_get(g->sync.mode)->sends;
}

#endif
