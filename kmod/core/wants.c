// SPDX-License-Identifier: GPL-2.0
#include "wants.h"

void gagg_wants_add(struct gagg_wants *w, u64 epoch, u32 id, u64 members)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		if (w->want[i].id == id && w->want[i].epoch == epoch)
			return;
	if (w->n < GAGG_WANTS)
		w->want[w->n++] = (struct gagg_want){
			.epoch = epoch, .id = id, .members = members,
		};
}

bool gagg_wants_next(struct gagg_wants *w, const struct gagg_table *t, u64 epoch,
		     struct gagg_want *next)
{
	while (w->n) {
		*next = w->want[--w->n];
		if (next->epoch == epoch && gagg_table_find(t, next->id) < 0)
			return true;
	}
	return false;
}
