/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The controller of dynamic batch sizes: how a batch is divided among ranks of different speeds.
 *
 * Pure, without a clock, and in integers: measurements of ranks are arguments, and all ranks with
 * the same measurements come to the same shares.
 *
 * Speed is samples divided by the time of computing them. The time alone does not suffice, since
 * shares differ already; and with the time of waiting all ranks would be alike. Rates of a rank are
 * smoothed. The first ones count alike. From the SHARE_GAIN-th on, each one moves the rate by that
 * part of the difference, where no more than half or double the rate counts. So a constant speed is
 * known after one period, and one odd period of a rank later changes its rate by no more than minus
 * an eighth, or plus a quarter.
 *
 * A share is the rank's part of the sum of rates, within bounds: a rank that would be below (above)
 * gets the bound, and the others divide the rest. The largest remainder decides (ties: the lower
 * rank), so each share is less than one sample off, and the sum is exact. Rounding each share for
 * itself, or rounding up the largest fractions that are half or more (the published code),
 * sometimes misses the sum.
 */
#ifndef GAGG_SHARE_H
#define GAGG_SHARE_H

#include <stdint.h>

#define SHARE_RANKS	64
#define SHARE_TOTAL_MAX	INT32_MAX
#define SHARE_RATE_MAX	(1ULL << 52)
#define SHARE_GAIN	4

/**
 * struct share_bounds - limits of shares
 * @ranks: 1 to SHARE_RANKS
 * @total: their sum, at most SHARE_TOTAL_MAX
 * @min: the least, at least 1
 * @max: the largest; 0: no bound
 */
struct share_bounds {
	uint32_t ranks;
	uint32_t total;
	uint32_t min;
	uint32_t max;
};

/**
 * struct share_work - measurements of a rank
 * @samples: samples computed
 * @compute_ns: time of computing them, without waiting
 */
struct share_work {
	uint64_t samples;
	uint64_t compute_ns;
};

/**
 * struct share_control - the controller
 * @bounds: limits, as at the start
 * @rate: of each rank, smoothed; 0: not known
 * @rates: number of rates measured, of each rank
 * @share: samples of each rank
 */
struct share_control {
	struct share_bounds bounds;
	uint64_t rate[SHARE_RANKS];
	uint32_t rates[SHARE_RANKS];
	uint32_t share[SHARE_RANKS];
};

/* What is wrong with bounds, as a sentence; NULL: nothing. */
const char *share_check(const struct share_bounds *b);

/* Begin, with shares as if all were alike. @b was checked. */
void share_begin(struct share_control *c, const struct share_bounds *b);

/*
 * A period is over; @work of each rank. A rank without samples or without time has reported
 * nothing; until all have reported something, shares do not change.
 */
void share_step(struct share_control *c, const struct share_work *work);

/* Divide by rates, from 1 to SHARE_RATE_MAX. */
void share_divide(const struct share_bounds *b, const uint64_t *rate, uint32_t *share);

/* Samples in a time, as a rate, from 1 on; 0 if one of the two is 0. */
uint64_t share_rate(uint64_t samples, uint64_t ns);

/* A rate in samples a second. */
double share_per_second(uint64_t rate);

#endif
