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
#include "store.h"
#include "value.h"

static void elastic_move(struct gagg_table *t, void *replica, size_t i, uint32_t alpha)
{
	int64_t centre = value_wrap(t, store_element(t, i));
	int32_t e = elastic_delta(value_steps(t, replica, i), centre, alpha);

	value_take(t, replica, i, e);
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
	for (i = 0; t->log && i < t->count; i++)
		if (!(fabs(value_real(t, replica, i)) < STORE_STEPS_MAX))
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
