/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A replica: weights that one rank trains, and the state for exchanging them.
 */
#ifndef GAGG_REPLICA_H
#define GAGG_REPLICA_H

#include <stddef.h>
#include <stdint.h>
#include <linux/gagg_wire.h>

#include "gagg.h"
#include "steps.h"
#include "switch.h"

struct gagg_replica;

/**
 * struct replica_mode - one of the sync modes of replicas
 * @number: enum gagg_sync_mode
 * @store: it is in a store, else in rounds
 * @shows: gossip: a rank's copy of the store is its replica; else what it was sent
 * @sends: gossip-push: what a rank has sent last is compared with what it was sent
 * @weighs: push-sum: replicas have weights
 * @init: parameters to fields; memory
 * @step: after an update was added to the weights
 * @exchange: gossip: exchange with another rank
 * @receive: gossip: receive what others have sent, if they send
 * @finish: calculate the common weights
 * @centre: easgd, easgd-sync: show the centre that this rank knows; else NULL, as the next ones
 * @add_state: localsgd: average this, too
 * @add_samples: localsgd: the next update was learned from so many samples
 */
struct replica_mode {
	uint32_t number;
	bool store;
	bool shows;
	bool sends;
	bool weighs;
	int (*init)(struct gagg_replica *r, float *w);
	int (*step)(struct gagg_replica *r, float *w, const float *update);
	int (*exchange)(struct gagg_replica *r, float *w);
	int (*receive)(struct gagg_replica *r, float *w, uint32_t flags);
	int (*finish)(struct gagg_replica *r, float *w);
	int (*centre)(const struct gagg_replica *r, float *w);
	int (*add_state)(struct gagg_replica *r, float *value, size_t count);
	int (*add_samples)(struct gagg_replica *r, uint32_t samples);
};

#define REPLICA_STATES	4

/**
 * struct replica_state - what an updater remembers, besides the weights
 * @value: the trainer's
 * @count: elements
 * @plan: exponents of its means
 */
struct replica_state {
	float *value;
	size_t count;
	struct gagg_plan *plan;
};

extern const struct replica_mode replica_localsgd;
extern const struct replica_mode replica_easgd;
extern const struct replica_mode replica_easgd_sync;
extern const struct replica_mode replica_hpsgd;
extern const struct replica_mode replica_gossip_pull;
extern const struct replica_mode replica_gossip_push;
extern const struct replica_mode replica_gossip_pair;
extern const struct replica_mode replica_push_sum;

/**
 * struct gagg_replica - see above
 * @comm: communicator
 * @epoch: gagg_comm.epochs; in another one the replica is over
 * @mode: sync mode
 * @arg: its parameters, as @comm has them
 * @count: elements
 * @clock: number of steps made
 * @plan: exponents of the means
 * @step: easgd: size of a step of the grid
 * @grid: easgd, easgd-sync, gossip: steps of the grid in one unit of weight
 * @bits: easgd, easgd-sync: a weight is below two to that power, in steps
 * @pull: easgd, easgd-sync: share of the distance that is moved, times ELASTIC_ONE
 * @center: easgd-sync: the centre, on the grid; the same on all ranks
 * @delta: easgd-sync: movement of this rank, then the sum over all ranks
 * @carry: easgd, easgd-sync, gossip: the part of a weight that a float32 cannot hold, in steps;
 *         push-sum: this rank's part of the weight
 * @astray: easgd: a weight whose centre was too far away, + 1; 0: none was
 * @table: easgd: the centre; gossip: place in the store, of a chunk more than there are
 *	weights
 * @sent: gossip-push: the replica as it was sent last, in whole steps
 * @exchanges: gossip: the number of the one in which this rank showed or sent its replica last
 * @weight: push-sum: what is here of the weight; else constant
 * @sw: hpsgd: when the result is taken
 * @base: hpsgd: the weights that all have agreed upon last
 * @learned: hpsgd: updates since the start of the all-reduce under way
 * @flight: hpsgd: buffer of that all-reduce; localsgd: of means by samples
 * @room: localsgd: elements of @flight
 * @state: localsgd: what is averaged along with the weights
 * @states: how many there are
 * @by_samples: localsgd: replicas count by samples
 * @samples: localsgd: those of this rank since the last mean
 * @req: hpsgd: the operation under way, or NULL
 * @offer: hpsgd: a clock, then the largest of all ranks
 */
struct gagg_replica {
	struct gagg_comm *comm;
	uint64_t epoch;
	const struct replica_mode *mode;
	const uint32_t *arg;
	size_t count;
	uint64_t clock;
	struct gagg_plan *plan;
	double step;
	double grid;
	int bits;
	uint32_t pull;
	int32_t *center;
	int32_t *delta;
	double *carry;
	size_t astray;
	struct gagg_table *table;
	int32_t *sent;
	uint32_t exchanges;
	int64_t weight;
	struct hp_switch sw;
	float *base;
	float *learned;
	float *flight;
	size_t room;
	struct replica_state state[REPLICA_STATES];
	unsigned int states;
	bool by_samples;
	int32_t samples;
	struct gagg_request *req;
	int32_t offer;
};

#define REPLICA_FINE	(1 << 22)

/* position of a weight, in steps; not a number, or far away, if the weight is */
static inline double replica_at(const struct gagg_replica *r, const float *w, size_t i)
{
	return w[i] * r->grid + r->carry[i];
}

/* the nearest multiple of 1 / REPLICA_FINE: doubles calculate exactly with these */
static inline double replica_settled(double x)
{
	return (double)steps_nearest(x * REPLICA_FINE) / REPLICA_FINE;
}

/* as many elements as weights, of @size bytes, zero; a sentence and NULL if there is no memory */
void *replica_alloc(struct gagg_replica *r, size_t size);

/* is the requested step a valid resolution? If not, sets a sentence */
bool replica_has_grid(const struct gagg_replica *r);
int replica_check_grid(struct gagg_replica *r);

#endif
