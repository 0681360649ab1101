// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <string.h>

#include "pace.h"

static uint32_t pace_clamp(uint64_t batch, const struct pace_bounds *b)
{
	if (batch < b->min)
		return b->min;
	return batch < b->max ? (uint32_t)batch : b->max;
}

void pace_begin(struct pace_control *c, const struct pace_bounds *b)
{
	memset(c, 0, sizeof(*c));
	c->bounds = *b;
	c->batch = pace_clamp(b->first, b);
}

/* samples in a time, at the speed of @work; saturates beyond any bound */
static uint64_t pace_samples_in(const struct pace_work *work, uint64_t ns)
{
	unsigned __int128 n = (unsigned __int128)ns * work->samples / work->compute_ns;

	return n < UINT32_MAX ? (uint64_t)n : UINT32_MAX;
}

static uint64_t pace_time_of(const struct pace_work *work, uint32_t samples)
{
	return (uint64_t)((unsigned __int128)work->compute_ns * samples / work->samples);
}

/*
 * If the worker was blocked, the waiting gets shorter by the time of its growth. Returns the
 * samples of the growth that have not shortened it.
 */
static uint32_t pace_unpaid(const struct pace_control *c, const struct pace_work *work,
			    uint64_t wait)
{
	uint64_t paid = c->wait_ns > wait ? pace_samples_in(work, c->wait_ns - wait) : 0;

	return paid < c->grown ? c->grown - (uint32_t)paid : 0;
}

static void pace_follow(struct pace_control *c, const struct pace_work *work)
{
	uint64_t wait = work->wait_ns / work->steps, blocked;
	uint32_t was = c->batch, back = pace_unpaid(c, work, wait);

	if (back > c->grown / PACE_SLACK) {
		c->batch -= back;
		c->grown = 0;
		c->floor_ns += pace_time_of(work, back);
		return;
	}
	c->grown = 0;
	if (wait < c->floor_ns)
		c->floor_ns = wait;
	blocked = wait - c->floor_ns;
	if (blocked < (work->compute_ns / work->steps + wait) / PACE_SLACK)
		return;
	c->batch = pace_clamp(was + pace_samples_in(work, blocked), &c->bounds);
	c->grown = c->batch - was;
	c->wait_ns = wait;
}

void pace_step(struct pace_control *c, const struct pace_work *work)
{
	if (!work->steps || !work->samples || !work->compute_ns)
		return;
	if (++c->periods == PACE_AGAIN) {
		const struct pace_bounds bounds = c->bounds;

		pace_begin(c, &bounds);
		return;
	}
	pace_follow(c, work);
}
