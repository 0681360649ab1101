/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The controller of a worker's own batch, where workers take turns (r2sp): a worker that waits for
 * its turn computes more samples instead.
 *
 * Pure, without a clock, in integers, and for one worker: its measurements of a period are
 * arguments, and nothing is known of others. As published (Chen et al., INFOCOM 2019), the batch
 * grows by the time that the worker is blocked in a step, divided by the time that a sample needs.
 *
 * But a worker cannot measure blocking: it sees how long its operations last, with the way to the
 * store and back. If all of that counted as blocking, every worker would grow by it in each period,
 * even the slowest one, and so block the others: all batches would grow without end. Hence two
 * rules:
 * 1. A worker that waits for less than a PACE_SLACK-th of a step keeps its batch.
 * 2. Growth is a question. If the waiting does not get shorter by the time of the growth, the
 *    difference was no blocking: that part of the growth is taken back, and from then on only
 *    waiting beyond so much more counts as blocking.
 *
 * As published a batch never shrinks, so all stay large when the worker that has blocked them
 * becomes fast. Hence a third rule: every PACE_AGAIN periods a batch begins anew.
 * 1. Workers that count the same steps do so at the same time. None is blocked by the others'
 *    batches then, and each grows by what it is blocked by the slowest of them at their first ones.
 * 2. The ring takes no longer meanwhile, since batches are smaller. A worker that is still blocked
 *    has its batch back after one period.
 *
 * The bounds always hold.
 */
#ifndef GAGG_PACE_H
#define GAGG_PACE_H

#include <stdint.h>

#define PACE_SLACK	8
#define PACE_AGAIN	16

/**
 * struct pace_bounds - limits of a batch
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
 * struct pace_work - measurements of the worker
 * @steps: steps of the period
 * @samples: samples computed in all steps
 * @compute_ns: time of computing them
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
 * @bounds: limits, as at the start
 * @batch: samples in a step
 * @periods: measured, since the batch began anew
 * @grown: samples that the batch grew by at the end of the last period; 0: no question is open
 * @wait_ns: waiting in a step, when the question was asked
 * @floor_ns: part of the waiting that is no blocking
 */
struct pace_control {
	struct pace_bounds bounds;
	uint32_t batch;
	uint32_t periods;
	uint32_t grown;
	uint64_t wait_ns;
	uint64_t floor_ns;
};

void pace_begin(struct pace_control *c, const struct pace_bounds *b);

/* A period is over. Without steps, samples or time nothing changes. */
void pace_step(struct pace_control *c, const struct pace_work *work);

#endif
