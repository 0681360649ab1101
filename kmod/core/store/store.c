// SPDX-License-Identifier: GPL-2.0
/*
 * The store as a kind of channel (kind.h): what concerns neither its home nor its worker alone.
 */
#include "store/internal.h"

bool gagg_store_waits(u8 type)
{
	return type == GAGG_T_CONTRIB || type == GAGG_T_READY || type == GAGG_T_QUERY ||
	       type == GAGG_T_PULL;
}

u64 gagg_store_deadline(struct gagg_chan *ch)
{
	const struct gagg_store *st = gagg_store_of(ch);

	return gagg_min64(st->ask_at, st->run_at);
}

/* a read may wait for all ranks to come as far, or nearly: those at the least clock hold it up */
u64 gagg_store_missing(const struct gagg_geom *g, struct gagg_chan *ch,
		       const struct gagg_op *op)
{
	const struct gagg_clocks *k = &gagg_store_of(ch)->clocks;
	u32 bound = gagg_sync_bound(&g->sync), rank;
	u64 ranks = 0;

	if (ch->self_home == 0xff || !(op->flags & GAGG_OP_READ))
		return 0;
	/* in every mode a rank that has finished waits for the others */
	if ((op->flags & GAGG_OP_FENCE) || op->clock == GAGG_CLOCK_END)
		bound = 0;
	if (op->clock <= k->min || op->clock - k->min <= bound)
		return 0;
	gagg_for_each_worker(k, rank)
		if (k->clock[rank] == k->min)
			ranks |= GAGG_BIT(rank);
	return ranks;
}
