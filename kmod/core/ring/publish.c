// SPDX-License-Identifier: GPL-2.0
#include "ring/publish.h"

static u32 publish_shift_of(const struct gagg_publish *pub, struct gagg_chan *part, u32 local)
{
	const struct gagg_pushed *p = gagg_chan_pushed(part, pub->slot, local);

	return pub->raw || p->exp >= pub->exp ? 0 : pub->exp - p->exp;
}

static void publish_narrow(const struct gagg_publish *pub, struct gagg_chan *part,
			   const struct gagg_lanes *at, const struct gagg_loops *loops)
{
	void *sum = pub->from_acc ? at->acc : NULL;
	u32 left;

	for (left = pub->locals; left; left &= left - 1) {
		u32 l = gagg_lowest(left);

		loops->reduce(pub->laneop, at->acc, sum, at->local[l], pub->lanes,
			      publish_shift_of(pub, part, l));
		sum = at->acc;
	}
	gagg_chan_res(part, pub->slot)->shift =
		(u8)loops->narrow(pub->laneop, at->result, at->acc, pub->lanes);
}

void gagg_publish_lanes(const struct gagg_publish *pub, struct gagg_chan *part,
			const struct gagg_lanes *at, const struct gagg_loops *loops)
{
	bool from_acc = pub->from_acc || pub->hold == GAGG_HOLD_TAKE;
	const void *sum = pub->placed ? at->result : from_acc ? at->acc : NULL;
	u32 left;

	if (pub->narrow && pub->hold != GAGG_HOLD_TAKE) {
		publish_narrow(pub, part, at, loops);
		return;
	}
	for (left = pub->locals; left; left &= left - 1) {
		u32 l = gagg_lowest(left);

		loops->reduce(pub->laneop, at->result, sum, at->local[l], pub->lanes,
			      publish_shift_of(pub, part, l));
		sum = at->result;
	}
	if (!sum)
		memset(at->result, 0, pub->lanes * 4);
	else if (sum != at->result)
		memcpy(at->result, sum, pub->lanes * 4);
}

void gagg_publish_desc(const struct gagg_publish *pub, struct gagg_chan *part,
		       struct gagg_rdesc *rd)
{
	rd->exp = pub->exp;
	rd->want = pub->want;
	rd->flags = pub->flags;
	rd->contributors = pub->contributors;
	/* one field for both: a result with NaN has no lanes */
	if (pub->flags & GAGG_C_NONFINITE)
		rd->nonfinite = pub->nonfinite;
	else
		rd->nonfinite = pub->narrow ? gagg_chan_res(part, pub->slot)->shift : pub->shift;
	rd->counted = pub->counted;
}
