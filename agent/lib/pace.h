/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The controller of a worker's own batch, where workers take turns (r2sp): who
 * waits for its turn computes more samples instead.
 *
 * Pure, without a clock, in integers, and of one worker: what it has measured in a
 * period is an argument, nothing is known of others. As published (Chen et al.,
 * INFOCOM 2019), the batch grows by the time that the worker is blocked in a step
 * over the time that a sample takes.
 *
 * But a worker cannot measure blocking: it sees how long its operations take,
 * with the way to the store and back. If that counted as blocking, every worker would
 * grow by it in each period, the slowest one, too, and so block the others: all
 * batches would grow without end. So
 *	- who waits for less than a PACE_SLACK-th of a step keeps its batch
 *	- growth is a question. The time by which the waiting does not get shorter
 *	  was no blocking: that part of the growth is taken back, and blocking is
 *	  counted from that much more waiting on
 *
 * A batch becomes smaller only by that. The bounds hold always.
 */
#ifndef GAGG_PACE_H
#define GAGG_PACE_H

#include <stdint.h>

#define PACE_SLACK	8

/**
 * struct pace_bounds - what a batch has to be
 * @first: samples at first
 * @min: the least, at least 1
 * @max: the largest
 */
struct pace_bounds {
	uint32_t first;
	uint32_t min;
	uint32_t max;
};

/**
 * struct pace_work - what the worker has measured
 * @steps: of the period
 * @samples: computed in all of them
 * @compute_ns: in so much time
 * @wait_ns: time with an operation in flight
 */
struct pace_work {
	uint64_t steps;
	uint64_t samples;
	uint64_t compute_ns;
	uint64_t wait_ns;
};

/**
 * struct pace_control - the controller
 * @bounds: as it was begun with
 * @batch: samples of a step
 * @grown: by so many, at the end of the last period; 0: no question is open
 * @wait_ns: of a step, when it was asked
 * @floor_ns: so much of the waiting is no blocking
 */
struct pace_control {
	struct pace_bounds bounds;
	uint32_t batch;
	uint32_t grown;
	uint64_t wait_ns;
	uint64_t floor_ns;
};

void pace_begin(struct pace_control *c, const struct pace_bounds *b);

/* A period is over. Without steps, samples or time nothing changes. */
void pace_step(struct pace_control *c, const struct pace_work *work);

#endif
