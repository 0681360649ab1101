/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Predicted exponents of a buffer that is summed again and again.
 */
#ifndef GAGG_PLAN_H
#define GAGG_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include "gagg.h"
#include "known.h"

#define PLAN_BUSY	"the plan is in use by an operation in flight"

/**
 * struct gagg_plan - one exponent per chunk
 * @known: entry in the process's list
 * @chunks: number of chunks with room
 * @lanes: elements of each chunk; if the epoch's chunks have others, nothing is known
 * @count: elements, as the user passed it
 * @dtype: their type
 * @busy: an operation in flight uses it; plan_busy(), plan_use()
 * @late: contributions that came too late to count are kept in @carry
 * @feedback: what quantising has left out is kept in @carry as well, which then belongs to the user
 * @carry: by element: added to the next contribution; NULL: nothing is
 * @exp: by chunk of the operation; 0: nothing known yet
 */
struct gagg_plan {
	struct known known;
	uint64_t chunks;
	uint32_t lanes;
	uint64_t count;
	enum gagg_dtype dtype;
	bool busy;
	bool late;
	bool feedback;
	float *carry;
	uint8_t *exp;
};

/* the last operation may have ended in another thread (progress.h) */
static inline bool plan_busy(const struct gagg_plan *p)
{
	return __atomic_load_n(&p->busy, __ATOMIC_ACQUIRE);
}

/* @p is about to be used with @c, whose chunks may have changed their size: 0 or an error of @c. */
int plan_fit(struct gagg_comm *c, struct gagg_plan *p);

static inline void plan_use(struct gagg_plan *p, bool busy)
{
	__atomic_store_n(&p->busy, busy, __ATOMIC_RELEASE);
}

#endif
