// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * How many partitions the sync mode ako should have: the least number with which a rank's updates
 * fit its link (Watcharapichat et al., SoCC 2016, section 4.2).
 */
#include <math.h>
#include <string.h>

#include "deadline.h"
#include "store.h"

#define PARTITIONS_MAX	1024

int gagg_ako_partitions(double rate, double bytes, int ranks, double bandwidth)
{
	double p = ceil(rate * bytes * (ranks - 1) / bandwidth);

	if (!(rate > 0) || !(bytes > 0) || ranks < 2 || !(bandwidth > 0) || !isfinite(p))
		return GAGG_ERR_INVALID;
	if (p < 1)
		return 1;
	return p > PARTITIONS_MAX ? PARTITIONS_MAX : (int)p;
}

/* chunks of all tables */
static uint32_t ako_chunks_of(const struct gagg_comm *c)
{
	const struct gagg_table *t;
	uint32_t end = 0;

	for (t = c->tables; t; t = t->next)
		end = t->first + t->chunks;
	return end;
}

/*
 * Sends zeros from all to all; they are sent as other numbers are. Every partition goes to every
 * rank once. Nothing else is in flight: the windows are empty, and all ranks begin together.
 */
static int ako_flood(struct gagg_comm *c, uint32_t chunks, double *seconds)
{
	struct region *r = &c->region;
	uint32_t left = c->tables->parts, i;
	int err = store_drain(c);
	uint64_t begin;

	if (!err)
		err = store_meet(c);
	for (i = 0; !err && i < chunks; i++) {
		memset(region_contrib(r, i), 0, r->geo.lanes * sizeof(int32_t));
		memset(&r->cdesc[i], 0, sizeof(r->cdesc[i]));
	}
	begin = deadline_now();
	for (; !err && left; left--) {
		err = store_submit(c, &(struct store_op){
			.kind = GAGG_K_UPDATE, .chunks = chunks,
		});
		if (!err)
			err = store_settle(c);
	}
	*seconds = (double)(deadline_now() - begin) / 1e9;
	return err ? err : store_meet(c);
}

static int ako_measure(struct gagg_comm *c, struct gagg_ako *found)
{
	uint32_t chunks = ako_chunks_of(c);
	double seconds;
	int err;

	if (comm_check(c))
		return c->failed;
	if (!gagg_has_store(c) || !store_copies(c))
		return comm_error(c, GAGG_ERR_UNSUPPORTED, "the group's sync mode is not ako");
	if (!chunks)
		return comm_error(c, GAGG_ERR_INVALID, "there is no table, so no size that counts");
	if (!c->store_pace.clocks || !c->store_pace.busy)
		return comm_error(c, GAGG_ERR_INVALID,
				  "two gagg_clock() at least tell how fast this rank is");
	err = ako_flood(c, chunks, &seconds);
	if (err)
		return err;
	found->rate = (double)c->store_pace.clocks * 1e9 / (double)c->store_pace.busy;
	found->bytes = (double)chunks * c->region.geo.lanes * sizeof(int32_t);
	found->bandwidth = found->bytes * (c->size - 1) / seconds;
	found->partitions = gagg_ako_partitions(found->rate, found->bytes, c->size,
						found->bandwidth);
	return GAGG_OK;
}

int gagg_ako_measure(struct gagg_comm *c, struct gagg_ako *found)
{
	int err = comm_enter(c);

	memset(found, 0, sizeof(*found));
	if (err)
		return err;
	err = ako_measure(c, found);
	comm_exit(c);
	return err;
}
