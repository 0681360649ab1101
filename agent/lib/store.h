/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The client of a store: tables on its chunks, what was read, and what is to be written.
 */
#ifndef GAGG_STORE_H
#define GAGG_STORE_H

#include <stdbool.h>
#include "comm.h"

/**
 * struct store_chunk - what a table knows of one of its chunks
 * @fresh: of its last read: at least all updates with smaller stamps are in
 * @known: it was read
 * @asked: a read of it has begun, and no call has waited for it
 * @ahead: the clock at which it was last prefetched, and one more; 0: it was not
 */
struct store_chunk {
	uint64_t ahead;
	uint32_t fresh;
	bool known;
	bool asked;
};

/**
 * struct gagg_table - elements that live in the store
 * @next: next table of the communicator, by ascending chunks
 * @comm: communicator that has the store
 * @epoch: gagg_comm.epochs; in another epoch only this struct is left
 * @first: its first chunk
 * @chunks: number of its chunks
 * @count: elements
 * @dtype: GAGG_FLOAT32, GAGG_FLOAT64, GAGG_INT32 or GAGG_INT64
 * @step: value of a lane of 1
 * @chunk: by chunk
 * @asked_first: no chunk before it is asked for
 * @asked_end: nor one from here on
 * @cached: what was read may be returned again
 * @hits: number of times that it was
 * @lacks: gagg_staleness()
 * @seen: by element, in steps, as last read: beyond the bits of a lane
 * @own: by element, in steps: pushed by this rank since then; copies: all that it has pushed, which
 *       is not in its copy
 * @spare: room for as many elements
 * @load: by element, in steps: what gagg_restore() has read; else NULL
 * @log: floats: by element, in steps: own increments that the store does not have; else NULL
 * @due: integers: as @log; else NULL
 * @parts: ako: partitions; else 0
 * @last: ako: lanes pushed at the last @parts clocks, by clock and element
 * @sum: ako: sum of @last, by element
 */
struct gagg_table {
	struct gagg_table *next;
	struct gagg_comm *comm;
	uint64_t epoch;
	uint32_t first;
	uint32_t chunks;
	size_t count;
	enum gagg_dtype dtype;
	double step;
	struct store_chunk *chunk;
	uint32_t asked_first;
	uint32_t asked_end;
	bool cached;
	uint64_t hits;
	uint32_t lacks;
	int64_t *seen;
	int64_t *own;
	int64_t *spare;
	int64_t *load;
	double *log;
	int64_t *due;
	uint32_t parts;
	void *last;
	int64_t *sum;
};

/* elements of @table, from @first on, below @end */
struct store_span {
	struct gagg_table *table;
	size_t first;
	size_t end;
};

/* doubles hold all whole numbers below it */
#define STORE_STEPS_MAX	9007199254740992.0

/* gagg_table_create(), also where tables are the library's own */
int store_table(struct gagg_comm *c, size_t count, enum gagg_dtype dtype, double step,
		struct gagg_table **table);

/**
 * struct store_op - an op on a store
 * @kind: GAGG_K_UPDATE or GAGG_K_READ
 * @flags: GAGG_SUBMIT_*
 * @root: a rank of the group, with GAGG_SUBMIT_PEER
 * @first: of its chunks
 * @chunks: number of them
 */
struct store_op {
	enum gagg_kind kind;
	uint32_t flags;
	uint32_t root;
	uint32_t first;
	uint32_t chunks;
};

int store_submit(struct gagg_comm *c, const struct store_op *op);

/* waits until all ops are done, and takes over what was read */
int store_settle(struct gagg_comm *c);

/* does the table belong to this epoch? */
int store_need_table(const struct gagg_table *t);

/* elements of a table; none, if it does not have them all */
struct store_span store_range(struct gagg_table *t, size_t first, size_t count);

/* store_need_table(); and there are elements */
int store_need_span(const struct store_span *span);

/* the first chunk of a span, of the table's, and the one behind its last */
uint32_t store_span_begin(const struct store_span *span);
uint32_t store_span_end(const struct store_span *span);

/* begins to read the chunks of a span; @flags: GAGG_SUBMIT_* */
int store_ask(const struct store_span *span, uint32_t flags);

/* reads them */
int store_read_span(const struct store_span *span, uint32_t flags);

/* reads a table */
int store_read_table(struct gagg_table *t, uint32_t flags);

/* ako: makes clocks until all that was pushed has been sent to all; other modes: does nothing */
int store_drain(struct gagg_comm *c);

/* makes a clock without increments; returns when all ranks have come as far */
int store_meet(struct gagg_comm *c);

/* reads a table, when the sync mode lets this rank read */
int store_read(struct gagg_table *t);

/* an element, without increments that were not pushed */
int64_t store_pushed(const struct gagg_table *t, size_t i);

/* own increments of an element that are not pushed, in whole steps */
int64_t store_due(const struct gagg_table *t, size_t i);

/* adds so many steps to those */
void store_owe(struct gagg_table *t, size_t i, int64_t steps);

/* an element as this rank sees it, own increments included */
int64_t store_element(const struct gagg_table *t, size_t i);

/* the store is gone: frees the elements of its tables; calls on these fail */
void store_retire(struct gagg_comm *c);

/* free all tables */
void store_delete(struct gagg_comm *c);

/* tells the store that this rank has made its last update, and waits for those of the others */
int store_leave(struct gagg_comm *c);

/*
 * store_snapshot - bring a table's @seen to a clock's state, collectively
 */
int store_snapshot(struct gagg_table *t);

/*
 * store_put - make a table hold @values steps, of 64 bits, collectively
 * @values: on one rank; NULL on all others
 *
 * Where a lane has 32 bits the upper halves go first, then the lower ones.
 */
int store_put(struct gagg_table *t, const int64_t *values);

/* every rank has a copy */
static inline bool store_copies(const struct gagg_comm *c)
{
	return c->region.geo.flags & GAGG_GEO_COPIES;
}

/* lanes have 64 bits */
static inline bool store_wide(const struct gagg_comm *c)
{
	return c->region.geo.flags & GAGG_GEO_INT64;
}

/* lanes of a chunk */
static inline uint32_t store_lanes(const struct gagg_comm *c)
{
	return c->region.geo.lanes / (store_wide(c) ? 2 : 1);
}

static inline bool store_is(const struct gagg_comm *c)
{
	return c->region.geo.flags & GAGG_GEO_STORE;
}

#endif
