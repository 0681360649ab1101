/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Times until which something is waited for: monotonic, in ns.
 */
#ifndef GAGG_DEADLINE_H
#define GAGG_DEADLINE_H

#include <stdint.h>
#include <time.h>

#define DEADLINE_NEVER	UINT64_MAX

static inline uint64_t deadline_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* @timeout_ms from now; negative: never */
static inline uint64_t deadline_in(int timeout_ms)
{
	return timeout_ms < 0 ? DEADLINE_NEVER :
				deadline_now() + (uint64_t)timeout_ms * 1000000;
}

/* time that is left until then, as in struct gagg_ioc_wait */
static inline uint64_t deadline_left(uint64_t deadline)
{
	uint64_t now;

	if (deadline == DEADLINE_NEVER)
		return UINT64_MAX;
	now = deadline_now();
	return now < deadline ? deadline - now : 0;
}

#endif
