/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A replica: weights that one rank trains, and what it takes to exchange them.
 */
#ifndef GAGG_REPLICA_H
#define GAGG_REPLICA_H

#include <stddef.h>
#include <stdint.h>

#include "gagg.h"
#include "switch.h"

struct gagg_replica;

/**
 * struct replica_mode - one of the sync modes of replicas
 * @name: of the mode, up to the colon of its parameters
 * @args: number of them
 * @init: parameters to fields; memory
 * @step: after an update was added to the weights
 * @finish: the common weights
 */
struct replica_mode {
	const char *name;
	unsigned int args;
	int (*init)(struct gagg_replica *r, const float *w);
	int (*step)(struct gagg_replica *r, float *w, const float *update);
	int (*finish)(struct gagg_replica *r, float *w);
};

extern const struct replica_mode replica_localsgd;
extern const struct replica_mode replica_easgd;
extern const struct replica_mode replica_hpsgd;

/**
 * struct gagg_replica - see above
 * @comm: communicator
 * @mode: sync mode
 * @arg: its parameters
 * @count: elements
 * @clock: steps made
 * @plan: exponents of the means
 * @grid: easgd-sync: steps of the grid in one unit of weight
 * @pull: easgd-sync: share of the distance that is moved, times ELASTIC_ONE
 * @center: easgd-sync: the centre, on the grid; the same on all ranks
 * @delta: easgd-sync: what this rank moves, then what all have moved
 * @carry: easgd-sync: what a float32 cannot hold of a weight, in steps
 * @sw: hpsgd: when the result is taken
 * @base: hpsgd: the weights that all have agreed upon last
 * @learned: hpsgd: updates since the start of the all-reduce under way
 * @flight: hpsgd: what it sums up
 * @req: hpsgd: the operation under way, or NULL
 * @offer: hpsgd: a clock, then the largest of all ranks
 */
struct gagg_replica {
	struct gagg_comm *comm;
	const struct replica_mode *mode;
	uint32_t arg[2];
	size_t count;
	uint64_t clock;
	struct gagg_plan *plan;
	double grid;
	uint32_t pull;
	int32_t *center;
	int32_t *delta;
	double *carry;
	struct hp_switch sw;
	float *base;
	float *learned;
	float *flight;
	struct gagg_request *req;
	int32_t offer;
};

/* as many elements as weights, of @size bytes, zero; a sentence and NULL if there is no memory */
void *replica_alloc(struct gagg_replica *r, size_t size);

#endif
