/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The client of a store: tables on its chunks, what was read of them, and what
 * is to be written.
 */
#ifndef GAGG_STORE_H
#define GAGG_STORE_H

#include <stdbool.h>
#include "comm.h"

/**
 * struct gagg_table - elements that live in the store
 * @next: of the communicator, by ascending chunks
 * @comm: whose store
 * @first: its first chunk
 * @chunks: how many it has
 * @count: elements
 * @dtype: GAGG_FLOAT32 or GAGG_INT32
 * @step: what a lane of 1 is worth
 * @seen: by element, in steps, as last read: beyond the 32 bits of a lane
 * @log: by element, in steps: own increments that the store does not have
 */
struct gagg_table {
	struct gagg_table *next;
	struct gagg_comm *comm;
	uint32_t first;
	uint32_t chunks;
	size_t count;
	enum gagg_dtype dtype;
	double step;
	int64_t *seen;
	double *log;
};

/* free all tables */
void store_delete(struct gagg_comm *c);

/* say that this rank has made its last update, wait for the others' */
int store_leave(struct gagg_comm *c);

static inline bool store_is(const struct gagg_comm *c)
{
	return c->region.geo.flags & GAGG_GEO_STORE;
}

#endif
