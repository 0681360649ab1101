// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Increments are collected here and pushed once a clock, rounded to whole steps. What rounding
 * leaves out is kept for the next clock, so nothing is lost.
 *
 * A lane wraps. A read takes the difference to the lane as it was last seen, which is
 * exact while no element moves by 2^31 steps (lanes of int64: 2^63) between two reads.
 *
 * Ako: every rank has a copy of the store, to which the others send; it adds its own updates
 * itself. The kernel sends partitions in turn. It gets the sum of the updates of the last P clocks,
 * so that each of them is sent to each rank once. P more clocks without updates bring all of them
 * to all ranks.
 *
 * Longer than 600 lines: reads and pushes share the window, what was seen, and what rounding has
 * left, and no other file knows these.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/gagg_wire.h>

#include "deadline.h"
#include "lane.h"
#include "steps.h"
#include "store.h"
#include "sys.h"
#include "value.h"

/* partitions of ako; other modes have none */
static uint32_t store_parts_of(const struct gagg_comm *c)
{
	const struct gagg_geometry *geo = &c->region.geo;

	return geo->mode == GAGG_SYNC_AKO ? geo->arg[0] : 0;
}

/* a store with copies has replicas, except in ako */
int gagg_has_store(const struct gagg_comm *c)
{
	return store_is(c) && (!store_copies(c) || store_parts_of(c));
}

static int need_store(struct gagg_comm *c)
{
	if (comm_check(c))
		return c->failed;
	return gagg_has_store(c) ? GAGG_OK :
		comm_error(c, GAGG_ERR_UNSUPPORTED, "the group's sync mode has no tables");
}

int store_need_table(const struct gagg_table *t)
{
	return comm_check_epoch(t->comm, t->epoch, "table");
}

struct store_span store_range(struct gagg_table *t, size_t first, size_t count)
{
	bool fits = first < t->count && count <= t->count - first;

	return (struct store_span){ t, first, fits ? first + count : first };
}

int store_need_span(const struct store_span *span)
{
	const struct gagg_table *t = span->table;
	int err = store_need_table(t);

	if (err || span->first < span->end)
		return err;
	return comm_error(t->comm, GAGG_ERR_INVALID,
			  "the range from element %zu on is empty, or ends behind the table's %zu elements",
			  span->first, t->count);
}

static void store_table_empty(const struct gagg_table *t)
{
	free(t->chunk);
	free(t->seen);
	free(t->own);
	free(t->spare);
	free(t->log);
	free(t->due);
	free(t->last);
	free(t->sum);
}

static void store_table_free(struct gagg_table *t)
{
	if (!t)
		return;
	store_table_empty(t);
	free(t);
}

int gagg_table_create(struct gagg_comm *c, size_t count, enum gagg_dtype dtype, double step,
		      struct gagg_table **table)
{
	int err = comm_enter(c);

	*table = NULL;
	if (err)
		return err;
	err = need_store(c);
	if (!err)
		err = store_table(c, count, dtype, step, table);
	comm_exit(c);
	return err;
}

int store_table(struct gagg_comm *c, size_t count, enum gagg_dtype dtype, double step,
		struct gagg_table **table)
{
	const struct gagg_geometry *geo = &c->region.geo;
	bool integers = dtype == GAGG_INT32 || dtype == GAGG_INT64;
	uint32_t lanes = store_lanes(c), parts;
	struct gagg_table *t, **link;
	uint64_t first = 0, chunks;

	*table = NULL;
	if (dtype != GAGG_FLOAT32 && dtype != GAGG_FLOAT64 && !integers)
		return comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "a table is of float32, float64, int32 or int64 elements");
	if (!count || (integers ? step != 1 : !(step > 0) || !isfinite(step)))
		return comm_error(c, GAGG_ERR_INVALID,
				  "a table needs elements, and a step above 0 (1 for integers)");
	for (link = &c->tables; *link; link = &(*link)->next)
		first = (*link)->first + (uint64_t)(*link)->chunks;
	chunks = count / lanes + !!(count % lanes);
	if (chunks > geo->ring - first)
		return comm_error(c, GAGG_ERR_INVALID,
				  "the store has room for %llu elements more (larger: gaggctl group set NAME ring N)",
				  (unsigned long long)(geo->ring - first) * lanes);
	parts = store_parts_of(c);
	if (chunks < parts)
		return comm_error(c, GAGG_ERR_INVALID,
				  "%s has more partitions than the table has chunks, %llu of %u elements: use fewer, or smaller chunks (gaggctl group set NAME lanes N)",
				  gagg_sync(c), (unsigned long long)chunks, lanes);
	t = calloc(1, sizeof(*t));
	if (t) {
		t->chunk = calloc(chunks, sizeof(*t->chunk));
		t->seen = calloc(count, sizeof(*t->seen));
		t->own = calloc(count, sizeof(*t->own));
		t->spare = calloc(count, sizeof(*t->spare));
		t->log = integers ? NULL : calloc(count, sizeof(*t->log));
		t->due = integers ? calloc(count, sizeof(*t->due)) : NULL;
		t->last = parts ? calloc(count, parts * lane_bytes(store_wide(c))) : NULL;
		t->sum = parts ? calloc(count, sizeof(*t->sum)) : NULL;
	}
	if (!t || !t->chunk || !t->seen || !t->own || !t->spare ||
	    !(integers ? (void *)t->due : t->log) || (parts && (!t->last || !t->sum))) {
		store_table_free(t);
		return comm_error(c, GAGG_ERR_NOMEM, "no memory for a table of %zu elements",
				  count);
	}
	t->comm = c;
	t->epoch = c->epochs;
	t->first = (uint32_t)first;
	t->chunks = (uint32_t)chunks;
	t->count = count;
	t->dtype = dtype;
	t->step = step;
	t->lacks = UINT32_MAX;
	t->parts = parts;
	*link = t;
	*table = t;
	return GAGG_OK;
}

void store_retire(struct gagg_comm *c)
{
	c->store_reads = 0;
	while (c->tables) {
		struct gagg_table *t = c->tables;

		c->tables = t->next;
		store_table_empty(t);
		t->next = c->old_tables;
		c->old_tables = t;
	}
}

void store_delete(struct gagg_comm *c)
{
	store_retire(c);
	while (c->old_tables) {
		struct gagg_table *t = c->old_tables;

		c->old_tables = t->next;
		free(t);
	}
}

static int store_op_error(struct gagg_comm *c, int err)
{
	if (err == -EPIPE)
		return comm_fail_epoch(c);
	if (err == -ETIMEDOUT)
		return comm_fail_late(c);
	return comm_error(c, GAGG_ERR_SYSTEM, "an operation on the store: %s", strerror(-err));
}

int store_submit(struct gagg_comm *c, const struct store_op *op)
{
	struct gagg_ioc_submit arg = {
		.size = sizeof(arg), .flags = op->flags, .channel = c->region.geo.channel,
		.kind = (uint8_t)op->kind, .root = op->root, .count = op->first,
		.chunks = op->chunks,
	};
	int err = sys_command(c->session->fd, GAGG_IOC_SUBMIT, &arg);

	if (err)
		return store_op_error(c, err);
	c->store_op = arg.op;
	c->store_clock += op->kind == GAGG_K_UPDATE;
	return GAGG_OK;
}

/* the copy that an op without a rank is for; ako divides updates by itself */
static uint32_t store_whose(const struct gagg_comm *c, enum gagg_kind kind)
{
	return store_copies(c) && (kind == GAGG_K_READ || !store_parts_of(c)) ? GAGG_SUBMIT_OWN : 0;
}

static int store_submit_own(struct gagg_comm *c, enum gagg_kind kind,
			    uint32_t flags, uint32_t first, uint32_t chunks)
{
	return store_submit(c, &(struct store_op){
		.kind = kind, .flags = flags | store_whose(c, kind), .first = first,
		.chunks = chunks,
	});
}

/* the elements of a table's chunk */
static struct store_span store_chunk_span(struct gagg_table *t, uint32_t k)
{
	size_t lanes = store_lanes(t->comm), first = k * lanes, left = t->count - first;

	return (struct store_span){ t, first, first + (left < lanes ? left : lanes) };
}

/* takes over what was read of a chunk */
static void store_see(struct gagg_table *t, uint32_t k)
{
	const struct store_span span = store_chunk_span(t, k);
	const struct region *r = &t->comm->region;
	const void *lanes = region_result(r, t->first + k);
	bool wide = store_wide(t->comm);
	size_t i;

	for (i = span.first; i < span.end; i++) {
		int64_t lane = lane_get(lanes, i - span.first, wide);

		t->seen[i] = steps_add(t->seen[i],
				       lane_wrap(steps_sub(lane, t->seen[i]), wide));
		if (!t->parts)
			t->own[i] = 0;
	}
	t->chunk[k].asked = false;
	t->chunk[k].known = true;
	t->chunk[k].fresh = region_fresh(r, t->first + k);
}

static void store_see_all(struct gagg_comm *c)
{
	struct gagg_table *t;
	uint32_t k;

	if (!c->store_reads)
		return;
	for (t = c->tables; t; t = t->next) {
		for (k = t->asked_first; k < t->asked_end; k++)
			if (t->chunk[k].asked)
				store_see(t, k);
		t->asked_end = 0;
	}
	c->store_reads = 0;
}

static void store_tell_late(void *of)
{
	comm_tell_late(of);
}

int store_settle(struct gagg_comm *c)
{
	uint64_t deadline = session_deadline(c->session);
	struct gagg_ioc_wait arg = {
		.size = sizeof(arg), .channel = c->region.geo.channel, .op = c->store_op,
	};
	const struct session_notice notice = {
		.at = session_notice_at(c->session), .tell = store_tell_late, .of = c,
	};
	uint64_t begin = deadline_now();
	int err = session_wait(c->session, &arg, deadline, &notice);

	c->store_waited += deadline_now() - begin;
	if (err)
		return store_op_error(c, err);
	store_see_all(c);
	return GAGG_OK;
}

/*
 * Can a clock push the @k-th of @delta as well, to element @i? A lane has the difference of two
 * reads, with its sign.
 */
static bool store_may_owe(const struct gagg_table *t, size_t i, const void *delta, size_t k)
{
	bool wide = store_wide(t->comm);
	int64_t most = wide ? INT64_MAX : INT32_MAX, sum;

	if (t->log)
		return fabs(t->log[i] + value_real(t, delta, k)) <
		       (wide ? STORE_STEPS_MAX : INT32_MAX);
	return !__builtin_add_overflow(t->due[i], value_whole(t, delta, k), &sum) &&
	       sum >= -most && sum <= most;
}

static int store_too_much(const struct gagg_table *t, size_t i)
{
	bool wide = store_wide(t->comm);
	const char *what = !wide ? "2^31 steps and more" :
			   t->log ? "2^53 steps and more" : "2^63 and more";
	const char *use = !wide ? "a larger step, or lane-type int64 (gaggctl group set)" :
			  t->log ? "a larger step" : "smaller ones";

	return comm_error(t->comm, GAGG_ERR_INVALID,
			  "the increment of element %zu is not finite, or %s in one clock: use %s",
			  i, what, use);
}

static int store_inc(const struct store_span *span, const void *delta)
{
	struct gagg_table *t = span->table;
	size_t i;
	int err = store_need_span(span);

	if (err)
		return err;
	for (i = span->first; i < span->end; i++)
		if (!store_may_owe(t, i, delta, i - span->first))
			return store_too_much(t, i);
	for (i = span->first; i < span->end; i++) {
		if (t->log)
			t->log[i] += value_real(t, delta, i - span->first);
		else
			t->due[i] += value_whole(t, delta, i - span->first);
	}
	return GAGG_OK;
}

int gagg_inc_range(struct gagg_table *t, size_t first, size_t count, const void *delta)
{
	const struct store_span span = store_range(t, first, count);
	int err = comm_enter(t->comm);

	if (err)
		return err;
	err = store_inc(&span, delta);
	comm_exit(t->comm);
	return err;
}

int gagg_inc(struct gagg_table *t, const void *delta)
{
	return gagg_inc_range(t, 0, t->count, delta);
}

int64_t store_due(const struct gagg_table *t, size_t i)
{
	return t->log ? steps_nearest(t->log[i]) : t->due[i];
}

void store_owe(struct gagg_table *t, size_t i, int64_t steps)
{
	if (t->log)
		t->log[i] += (double)steps;
	else
		t->due[i] += steps;
}

/* the sum of the last @parts clocks, after a clock that pushes @q */
static int64_t store_window(struct gagg_table *t, size_t i, int64_t q)
{
	size_t at = t->comm->store_clock % t->parts * t->count + i;
	bool wide = store_wide(t->comm);

	t->sum[i] = steps_add(t->sum[i], steps_sub(q, lane_get(t->last, at, wide)));
	lane_put(t->last, at, wide, q);
	return t->sum[i];
}

/*
 * Writes the contribution to one chunk of a table: with increments, or (ako) without, to send those
 * of older clocks.
 */
static void store_fill_chunk(struct gagg_table *t, uint32_t k, bool fresh)
{
	const struct store_span span = store_chunk_span(t, k);
	struct region *r = &t->comm->region;
	uint32_t chunk = t->first + k;
	unsigned char *lanes = region_contrib(r, chunk);
	bool wide = store_wide(t->comm), zero = true;
	size_t used = (span.end - span.first) * lane_bytes(wide), i;

	for (i = span.first; i < span.end; i++) {
		/* it fits a lane, see store_may_owe(); the window's sum may wrap */
		int64_t q = fresh ? store_due(t, i) : 0;
		int64_t v = t->parts ? store_window(t, i, q) : q;

		store_owe(t, i, -q);
		t->own[i] = steps_add(t->own[i], q);
		lane_put(lanes, i - span.first, wide, v);
		zero &= !lane_wrap(v, wide);
	}
	memset(lanes + used, 0, r->geo.lanes * sizeof(int32_t) - used);
	memset(&r->cdesc[chunk], 0, sizeof(r->cdesc[chunk]));
	r->cdesc[chunk].flags = zero ? GAGG_C_ZERO : 0;
}

static int store_push(struct gagg_comm *c, bool fresh)
{
	struct gagg_table *t;
	uint32_t i, end = 0;
	int err = need_store(c);

	/* the kernel may still read what the last clock has pushed */
	if (!err)
		err = store_settle(c);
	if (err)
		return err;
	for (t = c->tables; t; t = t->next) {
		for (i = 0; i < t->chunks; i++)
			store_fill_chunk(t, i, fresh);
		end = t->first + t->chunks;
	}
	return store_submit_own(c, GAGG_K_UPDATE, 0, 0, end);
}

static void store_count_clock(struct gagg_comm *c)
{
	uint64_t now = deadline_now();

	if (c->store_pace.last) {
		c->store_pace.clocks++;
		c->store_pace.busy += now - c->store_pace.last - c->store_waited;
	}
	c->store_pace.last = now;
	c->store_waited = 0;
}

int gagg_clock(struct gagg_comm *c)
{
	int err = comm_enter(c);

	if (err)
		return err;
	err = store_push(c, true);
	if (!err)
		store_count_clock(c);
	comm_exit(c);
	return err;
}

/* after that the windows are empty */
int store_drain(struct gagg_comm *c)
{
	uint32_t left;
	int err = GAGG_OK;

	for (left = store_parts_of(c); left && !err; left--)
		err = store_push(c, false);
	return err;
}

int64_t store_pushed(const struct gagg_table *t, size_t i)
{
	return steps_add(t->seen[i], t->own[i]);
}

int64_t store_element(const struct gagg_table *t, size_t i)
{
	return steps_add(store_pushed(t, i), store_due(t, i));
}

uint32_t store_span_begin(const struct store_span *span)
{
	return (uint32_t)(span->first / store_lanes(span->table->comm));
}

uint32_t store_span_end(const struct store_span *span)
{
	return (uint32_t)((span->end - 1) / store_lanes(span->table->comm)) + 1;
}

int store_ask(const struct store_span *span, uint32_t flags)
{
	uint32_t k, begin = store_span_begin(span), end = store_span_end(span);
	struct gagg_table *t = span->table;
	int err = store_submit_own(t->comm, GAGG_K_READ, flags, t->first + begin, end - begin);

	if (err)
		return err;
	for (k = begin; k < end; k++)
		t->chunk[k].asked = true;
	if (!t->asked_end || begin < t->asked_first)
		t->asked_first = begin;
	if (end > t->asked_end)
		t->asked_end = end;
	t->comm->store_reads++;
	return GAGG_OK;
}

int store_read_span(const struct store_span *span, uint32_t flags)
{
	int err = store_ask(span, flags);

	return err ? err : store_settle(span->table->comm);
}

int store_read_table(struct gagg_table *t, uint32_t flags)
{
	const struct store_span span = { t, 0, t->count };
	int err = store_need_table(t);

	return err ? err : store_read_span(&span, flags);
}

int store_read(struct gagg_table *t)
{
	return store_read_table(t, 0);
}

int store_meet(struct gagg_comm *c)
{
	int err = store_submit_own(c, GAGG_K_UPDATE, 0, 0, 0);

	if (!err)
		err = store_submit_own(c, GAGG_K_READ, GAGG_SUBMIT_FENCE, 0, 1);
	return err ? err : store_settle(c);
}

/* writes to the contribution what the lanes of a table lack to become @values */
static void store_fill_lanes(struct gagg_table *t, const int64_t *values, unsigned int shift)
{
	struct region *r = &t->comm->region;
	size_t lanes = store_lanes(t->comm), i;
	bool wide = store_wide(t->comm);
	uint32_t k;

	for (k = 0; k < t->chunks; k++) {
		memset(&r->cdesc[t->first + k], 0, sizeof(r->cdesc[0]));
		memset(region_contrib(r, t->first + k), 0, r->geo.lanes * sizeof(int32_t));
	}
	for (i = 0; i < t->count; i++) {
		int64_t v = (int64_t)((uint64_t)values[i] >> shift);
		int64_t lane = lane_wrap(steps_sub(v, store_pushed(t, i)), wide);

		lane_put(region_contrib(r, t->first + (uint32_t)(i / lanes)), i % lanes, wide,
			 lane);
		t->own[i] = steps_add(t->own[i], t->parts ? lane : 0);
	}
}

/* makes lanes hold their part of the values, at all ranks; each waits until all have it */
static int store_put_lanes(struct gagg_table *t, const int64_t *values, unsigned int shift)
{
	struct gagg_comm *c = t->comm;
	/* ako: in so many clocks each partition goes to each rank once */
	uint32_t clocks = t->parts ? t->parts : 1, k;
	int err = store_settle(c);

	if (!err && values)
		store_fill_lanes(t, values, shift);
	for (k = 0; k < clocks && !err; k++) {
		err = store_submit_own(c, GAGG_K_UPDATE, 0,
				       values ? t->first : 0,
				       values ? t->chunks : 0);
		if (!err)
			err = store_settle(c);
	}
	if (!err)
		err = store_read_table(t, GAGG_SUBMIT_FENCE);
	return err ? err : store_meet(c);
}

int store_put(struct gagg_table *t, const int64_t *values)
{
	bool wide = store_wide(t->comm);
	int64_t *high = t->spare;
	size_t i;
	int err = store_drain(t->comm);

	if (!err)
		err = store_read_table(t, GAGG_SUBMIT_FENCE);
	if (!err && !wide)
		err = store_put_lanes(t, values, 32);
	for (i = 0; i < t->count; i++)
		high[i] = store_pushed(t, i);
	if (!err)
		err = store_put_lanes(t, values, 0);
	for (i = 0; !err && i < t->count; i++) {
		uint64_t all = (uint64_t)high[i] << 32 | (uint32_t)store_pushed(t, i);

		if (!wide)
			t->seen[i] = steps_sub((int64_t)all, t->own[i]);
		if (t->log)
			t->log[i] = 0;
		else
			t->due[i] = 0;
	}
	return err;
}

/* false: not finite, or more steps than doubles can tell apart */
static bool store_to_steps(const struct gagg_table *t, const void *values, size_t i, int64_t *steps)
{
	if (t->log && !(fabs(value_real(t, values, i)) < STORE_STEPS_MAX))
		return false;
	*steps = value_steps(t, values, i);
	return true;
}

static int store_set(struct gagg_table *t, const void *values, int root)
{
	struct gagg_comm *c = t->comm;
	int64_t *steps = NULL;
	size_t i;
	int err = store_need_table(t);

	if (err)
		return err;
	if (root < 0 || root >= gagg_size(c))
		return comm_error(c, GAGG_ERR_INVALID, "there is no rank %d", root);
	if (root == gagg_rank(c)) {
		steps = calloc(t->count, sizeof(*steps));
		if (!steps)
			return comm_error(c, GAGG_ERR_NOMEM, "no memory to set a table");
	}
	for (i = 0; steps && i < t->count; i++) {
		if (!store_to_steps(t, values, i, &steps[i])) {
			free(steps);
			return comm_error(c, GAGG_ERR_INVALID,
					  "element %zu is not finite, or 2^53 steps and more: use a larger step",
					  i);
		}
	}
	err = store_put(t, steps);
	free(steps);
	return err;
}

int gagg_set(struct gagg_table *t, const void *values, int root)
{
	int err = comm_enter(t->comm);

	if (err)
		return err;
	err = store_set(t, values, root);
	comm_exit(t->comm);
	return err;
}

int store_leave(struct gagg_comm *c)
{
	int err = c->failed ? c->failed : store_drain(c);

	if (!err)
		err = store_submit_own(c, GAGG_K_UPDATE, GAGG_SUBMIT_LAST, 0, 0);
	if (!err)
		err = store_submit_own(c, GAGG_K_READ, 0, 0, 1);
	return err ? err : store_settle(c);
}
