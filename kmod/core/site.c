// SPDX-License-Identifier: GPL-2.0
#include "ring/publish.h"
#include "site.h"
#include "store/store.h"

void gagg_site_add_part(struct gagg_site *site, const struct gagg_geom *g, void *mem, u16 id,
			u64 members)
{
	u32 s = site->nparts++;

	site->part[s] = gagg_chan_init(mem, g, s, id, members);
	site->base.at[s] = site->part[s]->base;
}

static bool site_publish_lanes(const struct gagg_site *site, u32 shard,
			       const struct gagg_geom *g, const struct gagg_publish *pub,
			       const struct gagg_loops *loops)
{
	void *const *to = pub->hold == GAGG_HOLD_PUT ? site->held : site->result;
	struct gagg_lanes lanes;
	u32 left;

	lanes.result = gagg_chunk_at(g, to, pub->slot);
	for (left = pub->locals; left; left &= left - 1) {
		u32 l = gagg_lowest(left);

		if (!site->lent[l].contrib)
			return false;
		lanes.local[l] = gagg_chunk_at(g, site->lent[l].contrib, pub->slot);
	}
	if (pub->hold == GAGG_HOLD_TAKE)
		lanes.acc = gagg_chunk_at(g, site->held, pub->slot);
	else if (pub->from_acc || pub->narrow)
		lanes.acc = gagg_acc_at(g, site->acc, shard, pub->slot & (g->window - 1));
	gagg_publish_lanes(pub, site->part[shard], &lanes, loops);
	return true;
}

bool gagg_site_publish(const struct gagg_site *site, const struct gagg_shard *sh,
		       const struct gagg_geom *g, const struct gagg_publish *pub,
		       const struct gagg_loops *loops)
{
	struct gagg_rdesc *rd = gagg_byte_at(site->done, GAGG_DESC_OFFSET +
						 (u64)pub->slot * sizeof(*rd));
	bool whole = !gagg_publish_writes(pub) ||
		     site_publish_lanes(site, sh->index, g, pub, loops);

	if (pub->hold == GAGG_HOLD_PUT)
		return whole;
	gagg_publish_desc(pub, site->part[sh->index], rd);
	/* pairs with the trainer's load: what it describes is there before it */
	gagg_tell(&rd->published, sh->epoch << 32 | pub->round);
	return whole;
}

/* @first: nothing is there yet */
static void site_keep_sum(const struct gagg_geom *g, const struct gagg_loops *loops, void *to,
			  bool first, const void *lanes)
{
	loops->reduce(gagg_store_laneop(g), to, first ? NULL : to, lanes, g->lanes, 0);
}

static void site_keep_read(const struct gagg_geom *g, void *const *copy,
			   const struct gagg_keep *k, const void *chunk)
{
	u32 *fresh = gagg_byte_at(copy, gagg_copy_fresh(g) + (u64)k->slot * sizeof(*fresh));

	if (!k->placed)
		memcpy(gagg_chunk_at(g, copy, k->slot), chunk, g->lanes * 4);
	gagg_tell(fresh, k->fresh);
}

bool gagg_site_keep(const struct gagg_site *site, const struct gagg_geom *g,
		    const struct gagg_act *a, const struct gagg_loops *loops)
{
	const struct gagg_lent *lent = &site->lent[a->local];
	const struct gagg_keep *k = &a->keep;
	void *chunk = gagg_chunk_at(g, site->result, k->slot);

	if (a->type == GAGG_ACT_FOLD) {
		site_keep_sum(g, loops, chunk, false, gagg_chunk_at(g, site->acc, k->slot));
		return true;
	}
	if (!lent->contrib)
		return false;
	if (a->type == GAGG_ACT_READ)
		site_keep_read(g, lent->copy, k, chunk);
	else
		site_keep_sum(g, loops, k->beside ? gagg_chunk_at(g, site->acc, k->slot) : chunk,
			      k->first, gagg_chunk_at(g, lent->contrib, k->slot));
	return true;
}

void gagg_site_progress(struct gagg_site *site, u32 shard)
{
	gagg_front_move(&site->base, site->nparts, shard, site->part[shard]->base,
			&gagg_site_done(site)->completed);
}
