// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <string.h>

#include "copies.h"
#include "lane.h"

static int copies_submit(struct gagg_table *t, enum gagg_kind kind, int rank, uint32_t flags)
{
	struct gagg_comm *c = t->comm;
	bool own = rank == c->rank;

	return store_submit(c, &(struct store_op){
		.kind = kind,
		.flags = flags | (own ? GAGG_SUBMIT_OWN : GAGG_SUBMIT_PEER),
		.root = own ? 0 : c->ranks[rank],
		.first = t->first,
		.chunks = t->chunks,
	});
}

int copies_add(struct gagg_table *t, int rank)
{
	struct region *r = &t->comm->region;
	size_t lanes = store_lanes(t->comm), i;
	bool wide = store_wide(t->comm);
	int err = store_settle(t->comm);
	uint32_t k;

	if (err)
		return err;
	for (k = 0; k < t->chunks; k++) {
		void *to = region_contrib(r, t->first + k);
		bool any = false;

		for (i = 0; i < lanes; i++) {
			lane_put(to, i, wide, t->own[k * lanes + i]);
			any |= lane_wrap(t->own[k * lanes + i], wide);
		}
		memset(&r->cdesc[t->first + k], 0, sizeof(r->cdesc[0]));
		r->cdesc[t->first + k].flags = any ? 0 : GAGG_C_ZERO;
	}
	return copies_submit(t, GAGG_K_UPDATE, rank, 0);
}

int copies_read(struct gagg_table *t, int rank, uint32_t flags)
{
	size_t lanes = store_lanes(t->comm), i;
	int err = copies_submit(t, GAGG_K_READ, rank, flags);

	if (!err)
		err = store_settle(t->comm);
	for (i = 0; !err && i < t->count; i++) {
		const void *from = region_result(&t->comm->region,
						 t->first + (uint32_t)(i / lanes));

		t->spare[i] = lane_get(from, i % lanes, store_wide(t->comm));
	}
	return err;
}
