// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * What a program reads of a table: all of it or a range, from the store, from what was read before,
 * or from a read that was begun before.
 */
#include "gagg_table.h"
#include "store.h"
#include "value.h"

#define PREFETCHES	16

static void store_show(const struct store_span *span, void *values, bool own)
{
	const struct gagg_table *t = span->table;
	size_t i, k = 0;

	for (i = span->first; i < span->end; i++, k++)
		value_put(t, values, k, own ? store_element(t, i) : store_pushed(t, i));
}

/* how many clocks of others a span, as it was read last, may lack; UINT32_MAX: not known */
static uint32_t store_lacks(const struct store_span *span)
{
	const struct gagg_table *t = span->table;
	uint64_t clock = t->comm->store_clock, most = 0;
	uint32_t k, end = store_span_end(span);

	if (t->parts)
		return UINT32_MAX;
	for (k = store_span_begin(span); k < end; k++) {
		if (!t->chunk[k].known)
			return UINT32_MAX;
		if (clock > t->chunk[k].fresh + most)
			most = clock - t->chunk[k].fresh;
	}
	return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

/* was all of it prefetched at this clock? */
static bool store_is_ahead(const struct store_span *span)
{
	const struct gagg_table *t = span->table;
	uint32_t k, end = store_span_end(span);

	for (k = store_span_begin(span); k < end; k++)
		if (t->chunk[k].ahead != t->comm->store_clock + 1)
			return false;
	return true;
}

/* is a part of it under way? */
static bool store_is_asked(const struct store_span *span)
{
	uint32_t k, end = store_span_end(span);

	for (k = store_span_begin(span); k < end; k++)
		if (span->table->chunk[k].asked)
			return true;
	return false;
}

void gagg_cache(struct gagg_table *t, int on)
{
	t->cached = on;
}

uint64_t gagg_cache_hits(const struct gagg_table *t)
{
	return t->hits;
}

uint32_t gagg_staleness(const struct gagg_table *t)
{
	return t->lacks;
}

/*
 * Brings a span as close to the others as @most clocks.
 *
 * 1. What was read before is used, if it is as close.
 * 2. A read, and a prefetch at this clock, waits for what the mode promises. If that is less, the
 *    second read waits until all ranks have come as far as this one.
 * 3. So a rank waits for those that are behind it alone, and the slowest for none. With r2sp the
 *    turns of those that are behind come before that of any rank that waits so.
 */
static int store_approach(const struct store_span *span, uint32_t most)
{
	struct gagg_table *t = span->table;
	int err = GAGG_OK;

	if (most != GAGG_STALENESS_MODE && store_lacks(span) <= most) {
		t->hits++;
		return GAGG_OK;
	}
	if (!store_is_ahead(span))
		err = store_read_span(span, 0);
	else if (store_is_asked(span))
		err = store_settle(t->comm);
	if (!err && most != GAGG_STALENESS_MODE && store_lacks(span) > most)
		err = store_read_span(span, GAGG_SUBMIT_FENCE);
	return err;
}

static int store_get(const struct store_span *span, uint32_t most, void *values)
{
	struct gagg_table *t = span->table;
	int err = store_need_span(span);

	if (!err && t->parts && most != GAGG_STALENESS_MODE)
		err = comm_error(t->comm, GAGG_ERR_UNSUPPORTED,
				 "with ako no read has a staleness of its own: use GAGG_STALENESS_MODE");
	/* with a cache what the mode promises is enough */
	if (!err && most == GAGG_STALENESS_MODE && t->cached && !t->parts)
		most = t->comm->region.geo.bound;
	if (!err)
		err = store_approach(span, most);
	if (err)
		return err;
	t->lacks = store_lacks(span);
	store_show(span, values, true);
	return GAGG_OK;
}

int gagg_get_range(struct gagg_table *t, size_t first, size_t count, uint32_t staleness,
		   void *values)
{
	const struct store_span span = store_range(t, first, count);
	int err = comm_enter(t->comm);

	if (err)
		return err;
	err = store_get(&span, staleness, values);
	comm_exit(t->comm);
	return err;
}

int gagg_get(struct gagg_table *t, void *values)
{
	return gagg_get_range(t, 0, t->count, GAGG_STALENESS_MODE, values);
}

static int store_prefetch(const struct store_span *span)
{
	struct gagg_table *t = span->table;
	uint32_t k, end;
	int err = store_need_span(span);

	if (err || store_is_ahead(span))
		return err;
	/* the kernel has room for 32 ops, of which clocks are some */
	if (t->comm->store_reads >= PREFETCHES)
		err = store_settle(t->comm);
	if (!err)
		err = store_ask(span, 0);
	if (err)
		return err;
	end = store_span_end(span);
	for (k = store_span_begin(span); k < end; k++)
		t->chunk[k].ahead = t->comm->store_clock + 1;
	return GAGG_OK;
}

int gagg_prefetch(struct gagg_table *t, size_t first, size_t count)
{
	const struct store_span span = store_range(t, first, count);
	int err = comm_enter(t->comm);

	if (err)
		return err;
	err = store_prefetch(&span);
	comm_exit(t->comm);
	return err;
}

int store_snapshot(struct gagg_table *t)
{
	int err = store_need_table(t);

	if (!err)
		err = store_drain(t->comm);
	if (!err)
		err = store_read_table(t, GAGG_SUBMIT_FENCE);
	/* no rank updates before all have read */
	return err ? err : store_meet(t->comm);
}

int gagg_snapshot(struct gagg_table *t, void *values)
{
	const struct store_span span = { t, 0, t->count };
	int err = comm_enter(t->comm);

	if (err)
		return err;
	err = store_snapshot(t);
	if (!err)
		store_show(&span, values, false);
	comm_exit(t->comm);
	return err;
}
