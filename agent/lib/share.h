/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The controller of dynamic batch sizes: how a batch is divided among ranks of
 * different speeds.
 *
 * Pure, without a clock, and in integers: what ranks have measured is an
 * argument, and all ranks that are given the same come to the same shares.
 *
 * Speed is samples by time of computing: a rank's time alone does not tell, since
 * its share differs from the others' already, and with the time that it waits in
 * it all ranks are alike. Rates of a rank are smoothed. The first ones count
 * alike; from the SHARE_GAIN-th on, each moves the rate by that part of the
 * difference, of which no more counts than half or double the rate. So a speed that
 * stays is known after one period, and one odd period of a rank later on
 * takes at most an eighth of its rate, or adds a quarter.
 *
 * A share is the rank's part of the rates' sum, within bounds: who would be below
 * (above) gets the bound, the others divide the rest. By the largest remainder
 * (ties: the lower rank), so each is less than one sample off, and the sum is exact.
 * Rounding each for itself, or up those of the largest fractions that are
 * half or more (the published code), misses the sum at times.
 */
#ifndef GAGG_SHARE_H
#define GAGG_SHARE_H

#include <stdint.h>

#define SHARE_RANKS	64
#define SHARE_TOTAL_MAX	INT32_MAX
#define SHARE_RATE_MAX	(1ULL << 52)
#define SHARE_GAIN	4

/**
 * struct share_bounds - what shares have to be
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
 * struct share_work - what a rank has measured
 * @samples: computed
 * @compute_ns: in so much time, without waiting
 */
struct share_work {
	uint64_t samples;
	uint64_t compute_ns;
};

/**
 * struct share_control - the controller
 * @bounds: as it was begun with
 * @rate: of each rank, smoothed; 0: not known
 * @rates: measured, of each rank
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
 * A period is over; @work of each rank. A rank without samples or without time has
 * told nothing; until all have told something, shares stay as they are.
 */
void share_step(struct share_control *c, const struct share_work *work);

/* Divide by rates, from 1 to SHARE_RATE_MAX. */
void share_divide(const struct share_bounds *b, const uint64_t *rate, uint32_t *share);

/* Samples in a time, as a rate, from 1 on; 0 if there is nothing to tell from. */
uint64_t share_rate(uint64_t samples, uint64_t ns);

/* A rate in samples a second. */
double share_per_second(uint64_t rate);

#endif
