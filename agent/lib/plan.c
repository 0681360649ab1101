// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "partition.h"
#include "plan.h"

/* the group's rounds need not wait for all, and what is late is to be kept */
static bool carries(const struct gagg_comm *c)
{
	const char *sync = c->session->sync, *last = strrchr(sync, ':');

	return !strncmp(sync, "bsp-", 4) && last && !strcmp(last, ":1");
}

int gagg_plan_create(struct gagg_comm *c, size_t count, enum gagg_dtype dtype,
		     struct gagg_plan **plan)
{
	uint64_t length = ((uint64_t)count + (uint64_t)c->size - 1) / (uint64_t)c->size;
	struct partition whole = { 0 }, parts = { 0 };
	struct gagg_plan *p;
	uint64_t chunks;

	*plan = NULL;
	if (dtype != GAGG_FLOAT32 && dtype != GAGG_FLOAT16 && dtype != GAGG_BFLOAT16)
		return comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "a plan is for sums of floating-point elements");
	/* an all-reduce has one part, a reduce-scatter one per rank */
	if (count && (!partition_init(&whole, 1, count, comm_float_lanes(c)) ||
		      !partition_init(&parts, (uint64_t)c->size, length,
				      comm_float_lanes(c))))
		return comm_error(c, GAGG_ERR_INVALID, "too many elements");
	chunks = parts.chunks > whole.chunks ? parts.chunks : whole.chunks;
	p = calloc(1, sizeof(*p) + chunks);
	if (p && count && carries(c)) {
		p->late = true;
		p->carry = calloc(count, sizeof(*p->carry));
		if (!p->carry) {
			free(p);
			p = NULL;
		}
	}
	if (!p)
		return comm_error(c, GAGG_ERR_NOMEM, "no memory for a plan of %llu chunks",
				  (unsigned long long)chunks);
	p->chunks = chunks;
	p->count = count;
	p->dtype = dtype;
	known_add(&p->known);
	*plan = p;
	return GAGG_OK;
}

int gagg_plan_feedback(struct gagg_comm *c, struct gagg_plan *plan, float *residual)
{
	uint64_t i;

	if (!plan || !residual)
		return comm_error(c, GAGG_ERR_INVALID, "no plan, or no buffer for the residual");
	if (plan_busy(plan))
		return comm_error(c, GAGG_ERR_BUSY, PLAN_BUSY);
	/* what came too late so far */
	if (!plan->feedback && plan->carry) {
		for (i = 0; i < plan->count; i++)
			residual[i] += plan->carry[i];
		free(plan->carry);
	}
	plan->carry = residual;
	plan->feedback = true;
	return GAGG_OK;
}

static int not_there(void)
{
	return error_set(GAGG_ERR_INVALID, "there is no such plan: it was freed before");
}

int gagg_plan_free(struct gagg_plan *plan)
{
	if (!plan)
		return GAGG_OK;
	error_clear();
	if (!known_is(&plan->known))
		return not_there();
	if (plan_busy(plan))
		return error_set(GAGG_ERR_BUSY, PLAN_BUSY);
	if (!known_remove(&plan->known))
		return not_there();
	if (!plan->feedback)
		free(plan->carry);
	free(plan);
	return GAGG_OK;
}
