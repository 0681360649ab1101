// SPDX-License-Identifier: GPL-2.0
#include "publish.h"

void gagg_publish_lanes(const struct gagg_publish *pub, struct gagg_chan *part,
			void *result, const void *acc,
			const void *const local[GAGG_LOCALS], gagg_reduce_fn reduce)
{
	bool from_acc = pub->from_acc || pub->keep == GAGG_KEEP_TAKE;
	const void *sum = pub->placed ? result : from_acc ? acc : NULL;
	u32 left;

	for (left = pub->locals; left; left &= left - 1) {
		u32 l = gagg_lowest(left);
		const struct gagg_pushed *p = gagg_chan_pushed(part, pub->slot, l);
		u32 shift = pub->raw || p->exp >= pub->exp ? 0 : pub->exp - p->exp;

		reduce(pub->laneop, result, sum, local[l], pub->lanes, shift);
		sum = result;
	}
	if (!sum)
		memset(result, 0, pub->lanes * 4);
	else if (sum != result)
		memcpy(result, sum, pub->lanes * 4);
}

void gagg_publish_desc(const struct gagg_publish *pub, struct gagg_rdesc *rd)
{
	rd->exp = pub->exp;
	rd->want = pub->want;
	rd->flags = pub->flags;
	rd->contributors = pub->contributors;
	rd->nonfinite = pub->nonfinite;
	rd->counted = pub->counted;
}
