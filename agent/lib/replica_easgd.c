// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Synchronous elastic averaging (Zhang, Choromanska, LeCun, NIPS 2015). Every
 * TAU steps, with alpha = BETA / n:
 *
 *	e_i = alpha * (x_i - centre);  x_i -= e_i;  centre += sum of all e_i
 *
 * A centre is an integer number of steps of the grid, e_i is one, added on one
 * side and subtracted on the other, and the sum of the e_i is exact. So the sum
 * of all replicas and the centre is conserved to the bit, and the centre is the
 * same on all ranks without ever being sent. What a float32 cannot hold of x_i is
 * carried to the next exchange.
 *
 * Where x_i is between two points of the grid it must not lose bits when e_i is
 * taken from it, as doubles do that move away from zero. Hence positions are
 * multiples of 1 / REPLICA_FINE: with at most 31 bits before the point that is exact.
 *
 * No sum wraps: e_i is rounded towards zero and alpha <= 1/n, so the centre stays
 * within the hull of where it was and the replicas, and the e_i of one sign add up
 * to |x - centre| at most, which is below 2^31.
 */
#include <math.h>
#include <string.h>

#include "comm.h"
#include "elastic.h"
#include "replica.h"
#include "steps.h"

#define GRID_MAX	(1 << 30)

static int check(struct gagg_replica *r, const float *w)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		if (!(fabs(replica_at(r, w, i)) <= GRID_MAX - 1))
			return comm_error(r->comm, GAGG_ERR_INVALID,
					  "weight %zu is not finite, or 2^30 steps and more", i);
	return GAGG_OK;
}

/* All ranks come to the same conclusion, and none waits for another that has left. */
static int agree(struct gagg_replica *r)
{
	double grids[GAGG_RANKS_MAX];
	int err = gagg_allgather(&r->grid, sizeof(r->grid), grids, r->comm), i;

	for (i = 0; !err && i < gagg_size(r->comm); i++)
		if (memcmp(&grids[i], &grids[0], sizeof(grids[0])))
			err = comm_error(r->comm, GAGG_ERR_INVALID,
					 "rank %d has another step than rank 0", i);
	if (!err && (!(r->grid > 0) || !isfinite(r->grid)))
		err = comm_error(r->comm, GAGG_ERR_INVALID,
				 "easgd-sync needs a step above 0, the resolution of the exchange");
	return err;
}

static int easgd_init(struct gagg_replica *r, float *w)
{
	int err = agree(r);
	size_t i;

	if (err)
		return err;
	r->pull = r->arg[1] * ELASTIC_ONE / (100 * (uint32_t)gagg_size(r->comm));
	r->center = replica_alloc(r, sizeof(*r->center));
	r->delta = replica_alloc(r, sizeof(*r->delta));
	r->carry = replica_alloc(r, sizeof(*r->carry));
	if (!r->center || !r->delta || !r->carry)
		return GAGG_ERR_NOMEM;
	err = check(r, w);
	for (i = 0; !err && i < r->count; i++)
		r->center[i] = (int32_t)steps_nearest(w[i] * r->grid);
	return err;
}

static int exchange(struct gagg_replica *r, float *w)
{
	int err = check(r, w);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < r->count; i++) {
		double x = replica_settled(replica_at(r, w, i));

		r->delta[i] = elastic_delta(steps_nearest(x), r->center[i], r->pull);
		x -= r->delta[i];
		w[i] = (float)(x / r->grid);
		r->carry[i] = x - w[i] * r->grid;
	}
	err = gagg_allreduce(r->delta, r->delta, r->count, GAGG_INT32, GAGG_SUM, r->comm, NULL);
	for (i = 0; !err && i < r->count; i++)
		r->center[i] += r->delta[i];
	return err;
}

static int easgd_step(struct gagg_replica *r, float *w, const float *update)
{
	(void)update;
	return r->clock % r->arg[0] ? GAGG_OK : exchange(r, w);
}

static int easgd_finish(struct gagg_replica *r, float *w)
{
	int err = exchange(r, w);
	size_t i;

	for (i = 0; !err && i < r->count; i++) {
		w[i] = (float)(r->center[i] / r->grid);
		r->carry[i] = 0;
	}
	return err;
}

const struct replica_mode replica_easgd = {
	.name = "easgd-sync",
	.args = 2,
	.init = easgd_init,
	.step = easgd_step,
	.finish = easgd_finish,
};
