// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <stdlib.h>

#include "comm.h"
#include "partition.h"
#include "plan.h"

/* rounds of the group may end before all ranks have contributed, and late contributions are kept */
static bool plan_carries(const struct gagg_comm *c)
{
	return c->region.geo.flags & GAGG_GEO_CARRY;
}

int plan_fit(struct gagg_comm *c, struct gagg_plan *p)
{
	uint64_t length = (p->count + (uint64_t)c->size - 1) / (uint64_t)c->size, chunks;
	struct partition whole = { 0 }, parts = { 0 };
	uint32_t lanes = comm_float_lanes(c);
	uint8_t *exp;

	if (p->lanes == lanes)
		return GAGG_OK;
	/* an all-reduce has one part, a reduce-scatter one per rank */
	if (p->count && (!partition_init(&whole, 1, p->count, lanes) ||
			 !partition_init(&parts, (uint64_t)c->size, length, lanes)))
		return comm_error(c, GAGG_ERR_INVALID, "too many elements");
	chunks = parts.chunks > whole.chunks ? parts.chunks : whole.chunks;
	exp = calloc(1, chunks + 1);
	if (!exp)
		return comm_error(c, GAGG_ERR_NOMEM, "no memory for a plan of %llu chunks",
				  (unsigned long long)chunks);
	free(p->exp);
	p->exp = exp;
	p->chunks = chunks;
	p->lanes = lanes;
	return GAGG_OK;
}

int gagg_plan_create(struct gagg_comm *c, size_t count, enum gagg_dtype dtype,
		     struct gagg_plan **plan)
{
	struct gagg_plan *p;
	int err;

	*plan = NULL;
	if (dtype != GAGG_FLOAT32 && dtype != GAGG_FLOAT16 && dtype != GAGG_BFLOAT16)
		return comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "a plan is for sums of float32, float16 or bfloat16 elements");
	p = calloc(1, sizeof(*p));
	if (!p)
		return comm_error(c, GAGG_ERR_NOMEM, "no memory for a plan");
	p->count = count;
	p->dtype = dtype;
	err = plan_fit(c, p);
	if (!err && count && plan_carries(c)) {
		p->late = true;
		p->carry = calloc(count, sizeof(*p->carry));
		if (!p->carry)
			err = comm_error(c, GAGG_ERR_NOMEM, "no memory for a plan of %llu elements",
					 (unsigned long long)count);
	}
	if (err) {
		free(p->exp);
		free(p);
		return err;
	}
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
	/* what came too late before */
	if (!plan->feedback && plan->carry) {
		for (i = 0; i < plan->count; i++)
			residual[i] += plan->carry[i];
		free(plan->carry);
	}
	plan->carry = residual;
	plan->feedback = true;
	return GAGG_OK;
}

static int plan_not_there(void)
{
	return error_set(GAGG_ERR_INVALID, "there is no such plan: it was freed before");
}

int gagg_plan_free(struct gagg_plan *plan)
{
	if (!plan)
		return GAGG_OK;
	error_clear();
	if (!known_is(&plan->known))
		return plan_not_there();
	if (plan_busy(plan))
		return error_set(GAGG_ERR_BUSY, PLAN_BUSY);
	if (!known_remove(&plan->known))
		return plan_not_there();
	if (!plan->feedback)
		free(plan->carry);
	free(plan->exp);
	free(plan);
	return GAGG_OK;
}
