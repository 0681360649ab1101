// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "share.h"

#define RATE_SHIFT	40
/* bits of a rate while it is multiplied: 31 are the total's, 6 for 64 ranks */
#define PART_BITS	26

const char *share_check(const struct share_bounds *b)
{
	if (!b->total || b->total > SHARE_TOTAL_MAX)
		return "a batch has 1 to 2147483647 samples";
	if (!b->min)
		return "the least share is at least 1 sample";
	if ((uint64_t)b->min * b->ranks > b->total)
		return "the batch is too small for the least share of all ranks";
	if (b->max && b->max < b->min)
		return "the largest share is smaller than the least";
	if (b->max && (uint64_t)b->max * b->ranks < b->total)
		return "the batch is too large for the largest share of all ranks";
	return NULL;
}

/* samples * 2^RATE_SHIFT / ns; the dividend has all of 64 bits, so little is lost */
uint64_t share_rate(uint64_t samples, uint64_t ns)
{
	int up;
	uint64_t rate;

	if (!samples || !ns)
		return 0;
	up = __builtin_clzll(samples);
	rate = (samples << up) / ns;
	if (up >= RATE_SHIFT)
		rate >>= up - RATE_SHIFT;
	else if (rate > SHARE_RATE_MAX >> (RATE_SHIFT - up))
		rate = SHARE_RATE_MAX;
	else
		rate <<= RATE_SHIFT - up;
	if (!rate)
		return 1;
	return rate < SHARE_RATE_MAX ? rate : SHARE_RATE_MAX;
}

double share_per_second(uint64_t rate)
{
	return (double)rate * 1e9 / (double)(1ULL << RATE_SHIFT);
}

/* --- dividing ------------------------------------------------------------- */

/* the ranks that divide @total in proportion; the others have their share */
struct rest {
	bool in[SHARE_RANKS];
	uint64_t rate[SHARE_RANKS];
	uint32_t total;
	uint64_t rates;
};

static void share_give(struct rest *r, uint32_t i, uint32_t *share, uint32_t samples)
{
	share[i] = samples;
	r->in[i] = false;
	r->total -= samples;
	r->rates -= r->rate[i];
}

/*
 * Shares that are too low and shares that are too high pull in different directions. If together
 * they are too small, all ranks that are left get less in the end, and a share that is too low
 * remains so: it gets its bound. The other way round it is the same. False: none is out of bounds.
 */
static bool share_bound(const struct share_bounds *b, struct rest *r, uint32_t *share)
{
	uint32_t max = b->max ? b->max : b->total, i;
	uint64_t min_part = r->rates * b->min, max_part = r->rates * max;
	uint64_t low = 0, high = 0, total = r->total;

	for (i = 0; i < b->ranks; i++) {
		uint64_t part = total * r->rate[i];

		if (r->in[i] && part < min_part)
			low += min_part - part;
		else if (r->in[i] && part > max_part)
			high += part - max_part;
	}
	if (!low && !high)
		return false;
	for (i = 0; i < b->ranks; i++) {
		uint64_t part = total * r->rate[i];

		if (r->in[i] && part < min_part && low >= high)
			share_give(r, i, share, b->min);
		else if (r->in[i] && part > max_part && high >= low)
			share_give(r, i, share, max);
	}
	return true;
}

/* the lowest index with the largest value */
static uint32_t share_largest(const uint64_t *x, uint32_t n)
{
	uint32_t i, best = 0;

	for (i = 1; i < n; i++)
		if (x[i] > x[best])
			best = i;
	return best;
}

/* scales rates so that products fit; the slowest count as 2^-26 of the fastest */
static void share_scale(struct rest *r, const uint64_t *rate, uint32_t n)
{
	int down = 64 - PART_BITS - __builtin_clzll(rate[share_largest(rate, n)]);
	uint32_t i;

	for (i = 0; i < n; i++) {
		r->in[i] = true;
		r->rate[i] = down > 0 ? rate[i] >> down : rate[i];
		if (!r->rate[i])
			r->rate[i] = 1;
		r->rates += r->rate[i];
	}
}

void share_divide(const struct share_bounds *b, const uint64_t *rate, uint32_t *share)
{
	struct rest r = { .total = b->total };
	uint64_t remainder[SHARE_RANKS];
	uint32_t i, left;

	share_scale(&r, rate, b->ranks);
	while (share_bound(b, &r, share))
		;
	left = r.total;
	for (i = 0; i < b->ranks; i++) {
		uint64_t part = (uint64_t)r.total * r.rate[i];

		remainder[i] = 0;
		if (!r.in[i])
			continue;
		share[i] = (uint32_t)(part / r.rates);
		remainder[i] = part % r.rates;
		left -= share[i];
	}
	for (; left; left--) {
		i = share_largest(remainder, b->ranks);
		share[i]++;
		remainder[i] = 0;
	}
}

/* --- the controller ------------------------------------------------------- */

void share_begin(struct share_control *c, const struct share_bounds *b)
{
	uint64_t alike[SHARE_RANKS];
	uint32_t i;

	memset(c, 0, sizeof(*c));
	c->bounds = *b;
	for (i = 0; i < b->ranks; i++)
		alike[i] = 1;
	share_divide(b, alike, c->share);
}

static uint64_t share_clamp(uint64_t rate, uint64_t min, uint64_t max)
{
	return rate < min ? min : rate > max ? max : rate;
}

static uint64_t share_smooth(uint64_t old, uint64_t rate, uint32_t gain)
{
	if (gain == SHARE_GAIN)
		rate = share_clamp(rate, old / 2, old * 2);
	return rate > old ? old + (rate - old) / gain : old - (old - rate) / gain;
}

void share_step(struct share_control *c, const struct share_work *work)
{
	bool known = true;
	uint32_t i;

	for (i = 0; i < c->bounds.ranks; i++) {
		uint64_t rate = share_rate(work[i].samples, work[i].compute_ns);

		if (rate && c->rates[i] < SHARE_GAIN)
			c->rates[i]++;
		if (rate)
			c->rate[i] = share_smooth(c->rate[i], rate, c->rates[i]);
		known = known && c->rate[i];
	}
	if (known)
		share_divide(&c->bounds, c->rate, c->share);
}
