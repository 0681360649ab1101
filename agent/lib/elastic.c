// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Elastic averaging (Zhang, Choromanska, LeCun, NIPS 2015), asynchronous, as in
 * mpiT, the code of its authors: a replica x and the common centre c move towards
 * each other by the same e = alpha * (x - c). Here e is one integer number of
 * steps on both sides, so that the sum of the centre and all replicas does not
 * change by a bit.
 */
#include <math.h>
#include <stdlib.h>

#include "elastic.h"
#include "element.h"
#include "steps.h"
#include "store.h"

static void elastic_move(struct gagg_table *t, void *replica, size_t i, uint32_t alpha)
{
	int64_t centre = store_element(t, i);
	int32_t e;

	if (t->dtype == GAGG_INT32) {
		int32_t x = element_int32(replica, i);

		e = elastic_delta(x, (int32_t)(uint32_t)centre, alpha);
		element_put_int32(replica, i, (int32_t)((uint32_t)x - (uint32_t)e));
	} else if (t->dtype == GAGG_INT64) {
		int64_t x = element_int64(replica, i);

		e = elastic_delta(x, centre, alpha);
		element_put_int64(replica, i, x - e);
	} else {
		float x = element_float(replica, i);

		e = elastic_delta(steps_nearest(x / t->step), centre, alpha);
		element_put_float(replica, i, (float)(x - e * t->step));
	}
	store_owe(t, i, e);
}

static int elastic_exchange(struct gagg_table *t, void *replica, double alpha)
{
	struct gagg_comm *c = t->comm;
	int err = store_read(t);
	size_t i;

	if (err)
		return err;
	if (!(alpha > 0) || alpha > 1)
		return comm_error(c, GAGG_ERR_INVALID, "alpha must be above 0, and at most 1");
	for (i = 0; t->dtype == GAGG_FLOAT32 && i < t->count; i++)
		if (!(fabs(element_float(replica, i) / t->step) < STORE_STEPS_MAX))
			return comm_error(c, GAGG_ERR_INVALID,
					  "element %zu is not finite, or 2^53 steps and more: use a larger step",
					  i);
	for (i = 0; i < t->count; i++)
		if (llabs(store_due(t, i)) >= ELASTIC_MOST)
			return comm_error(c, GAGG_ERR_INVALID,
					  "element %zu has increments that are not pushed", i);
	for (i = 0; i < t->count; i++)
		elastic_move(t, replica, i, (uint32_t)(alpha * ELASTIC_ONE + 0.5));
	return gagg_clock(c);
}

int gagg_elastic(struct gagg_table *t, void *replica, double alpha)
{
	int err = comm_enter(t->comm);

	if (err)
		return err;
	err = elastic_exchange(t, replica, alpha);
	comm_exit(t->comm);
	return err;
}
