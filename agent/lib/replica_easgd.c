// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Elastic averaging (Zhang, Choromanska, LeCun, NIPS 2015). Every TAU steps a replica and the
 * common centre move towards each other:
 *
 *	e_i = alpha * (x_i - centre);  x_i -= e_i;  centre += e_i
 *
 * easgd-sync	all ranks at once, alpha = BETA / n. Each has the centre, which is
 *		never sent, and adds the sum of all e_i
 * easgd	each by itself, alpha = ALPHA, as in mpiT: the centre is a table of the
 *		store, which is read and then added to; others may come between
 *
 * A centre is an integer number of steps of the grid, e_i is one, added on one
 * side and subtracted on the other. So the sum of all replicas and the centre is
 * conserved to the bit. What a float32 cannot hold of x_i is carried to the next
 * exchange.
 *
 * If x_i is between two points of the grid, subtracting e_i must not lose bits, as happens to
 * doubles that move away from zero. Hence positions are multiples of 1 / REPLICA_FINE: with at most
 * 31 bits before the point that is exact.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "elastic.h"
#include "replica.h"
#include "steps.h"
#include "store.h"

/* as many bits as above, minus one for the sign of a distance */
#define MOST_BITS	30

static int easgd_check(struct gagg_replica *r, const float *w)
{
	double far = 1 << r->bits;
	size_t i;

	for (i = 0; i < r->count; i++)
		if (!(fabs(replica_at(r, w, i)) <= far - 1))
			return comm_error(r->comm, GAGG_ERR_INVALID,
					  "weight %zu is not finite, or 2^%d steps and more", i,
					  r->bits);
	return GAGG_OK;
}

/* moves a weight towards the centre; returns the steps, which the centre must get */
static int32_t easgd_give(struct gagg_replica *r, float *w, size_t i, int64_t center)
{
	double x = replica_settled(replica_at(r, w, i));
	int32_t e = elastic_delta(steps_nearest(x), center, r->pull);

	x -= e;
	w[i] = (float)(x / r->grid);
	r->carry[i] = x - w[i] * r->grid;
	return e;
}

static float easgd_weight(const struct gagg_replica *r, int64_t center)
{
	return (float)((double)center / r->grid);
}

/* puts a weight where the centre is */
static void easgd_join(struct gagg_replica *r, float *w, size_t i, int64_t center)
{
	w[i] = easgd_weight(r, center);
	r->carry[i] = 0;
}

/* --- easgd-sync ---------------------------------------------------------
 *
 * No sum wraps: e_i is rounded towards zero and alpha <= 1/n, so the centre stays
 * within the hull of where it was and the replicas, and the e_i of one sign add up
 * to |x - centre| at most, which is below 2^31.
 */

/* All ranks come to the same conclusion, so none waits for another one that has left. */
static int easgd_agree(struct gagg_replica *r)
{
	double grids[GAGG_RANKS_MAX];
	int err = gagg_allgather(&r->grid, sizeof(r->grid), grids, r->comm), i;

	for (i = 0; !err && i < gagg_size(r->comm); i++)
		if (memcmp(&grids[i], &grids[0], sizeof(grids[0])))
			err = comm_error(r->comm, GAGG_ERR_INVALID,
					 "rank %d has another step than rank 0", i);
	return err ? err : replica_check_grid(r);
}

static int easgd_sync_init(struct gagg_replica *r, float *w)
{
	int err = easgd_agree(r);
	size_t i;

	if (err)
		return err;
	r->bits = MOST_BITS;
	r->pull = r->arg[1] * ELASTIC_ONE / (100 * (uint32_t)gagg_size(r->comm));
	r->center = replica_alloc(r, sizeof(*r->center));
	r->delta = replica_alloc(r, sizeof(*r->delta));
	r->carry = replica_alloc(r, sizeof(*r->carry));
	if (!r->center || !r->delta || !r->carry)
		return GAGG_ERR_NOMEM;
	err = easgd_check(r, w);
	for (i = 0; !err && i < r->count; i++)
		r->center[i] = (int32_t)steps_nearest(w[i] * r->grid);
	return err;
}

static int easgd_sync_exchange(struct gagg_replica *r, float *w)
{
	int err = easgd_check(r, w);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < r->count; i++)
		r->delta[i] = easgd_give(r, w, i, r->center[i]);
	err = gagg_allreduce(r->delta, r->delta, r->count, GAGG_INT32, GAGG_SUM, r->comm, NULL);
	for (i = 0; !err && i < r->count; i++)
		r->center[i] += r->delta[i];
	return err;
}

static int easgd_sync_step(struct gagg_replica *r, float *w, const float *update)
{
	(void)update;
	return r->clock % r->arg[0] ? GAGG_OK : easgd_sync_exchange(r, w);
}

static int easgd_sync_finish(struct gagg_replica *r, float *w)
{
	int err = easgd_sync_exchange(r, w);
	size_t i;

	for (i = 0; !err && i < r->count; i++)
		easgd_join(r, w, i, r->center[i]);
	return err;
}

static int easgd_sync_centre(const struct gagg_replica *r, float *w)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		w[i] = easgd_weight(r, r->center[i]);
	return GAGG_OK;
}

const struct replica_mode replica_easgd_sync = {
	.number = GAGG_SYNC_EASGD_SYNC,
	.init = easgd_sync_init,
	.step = easgd_sync_step,
	.finish = easgd_sync_finish,
	.centre = easgd_sync_centre,
};

/* --- easgd --------------------------------------------------------------
 *
 * Let weights, and the centre as it was read, be within M. Since whichever read was
 * the last one each rank has added one e_i at most, of alpha * 2 * M at most: so the
 * centre is within M * (1 + 2 * n * alpha). If that is 2^31 at most, then a lane of
 * 32 bits tells whether the centre is within M, and where, by the difference to what
 * was read before, which was within M, too. A rank that finds it elsewhere adds
 * nothing, and never again: what it has read may be 2^32 off.
 */

#define LANE_REACH	2147483648.0

static int easgd_step_bits(const struct gagg_replica *r)
{
	double reach = 1 + 2.0 * gagg_size(r->comm) * r->pull / ELASTIC_ONE;
	int bits = MOST_BITS;

	while (!store_wide(r->comm) && reach * (1 << bits) > LANE_REACH)
		bits--;
	return bits;
}

static int easgd_need_center(const struct gagg_replica *r)
{
	return !r->astray ? GAGG_OK :
		comm_error(r->comm, GAGG_ERR_INVALID,
			   "the centre of weight %zu has gone 2^%d steps away or farther: use a smaller ALPHA than that of %s, or a larger step",
			   r->astray - 1, r->bits, gagg_sync(r->comm));
}

static int easgd_check_center(struct gagg_replica *r)
{
	int64_t far = 1 << r->bits;
	size_t i;

	for (i = 0; i < r->count && !r->astray; i++) {
		int64_t center = store_element(r->table, i);

		if (center <= -far || center >= far)
			r->astray = i + 1;
	}
	return easgd_need_center(r);
}

/* writes rank 0's @values, of 64 bits, to the centre and to all ranks */
static int easgd_publish(struct gagg_replica *r, int64_t *values)
{
	int err = store_put(r->table, r->comm->rank ? NULL : values);
	size_t i;

	for (i = 0; !err && i < r->count; i++)
		values[i] = store_pushed(r->table, i);
	return err;
}

static int easgd_publish_weights(struct gagg_replica *r, float *w, int64_t *values)
{
	size_t i;
	int err;

	for (i = 0; i < r->count; i++) {
		int32_t bits;

		memcpy(&bits, &w[i], sizeof(bits));
		values[i] = bits;
	}
	err = easgd_publish(r, values);
	for (i = 0; !err && i < r->count; i++) {
		int32_t bits = (int32_t)values[i];

		memcpy(&w[i], &bits, sizeof(bits));
	}
	return err;
}

/* As easgd_agree(). Each rank with a step other than rank 0's adds one. */
static int easgd_publish_grid(struct gagg_replica *r, int64_t *values)
{
	int64_t grid, others;
	int err;

	memcpy(&grid, &r->grid, sizeof(grid));
	values[0] = grid;
	err = easgd_publish(r, values);
	if (err)
		return err;
	store_owe(r->table, 0, values[0] != grid);
	err = gagg_clock(r->comm);
	if (!err)
		err = store_snapshot(r->table);
	if (err)
		return err;
	others = steps_sub(store_pushed(r->table, 0), values[0]);
	return !others ? replica_check_grid(r) :
		comm_error(r->comm, GAGG_ERR_INVALID,
			   "ranks with another step than rank 0: %lld", (long long)others);
}

static int easgd_publish_all(struct gagg_replica *r, float *w, int64_t *values)
{
	int err = easgd_publish_weights(r, w, values);
	size_t i;

	if (!err)
		err = easgd_publish_grid(r, values);
	if (!err)
		err = easgd_check(r, w);
	if (err)
		return err;
	for (i = 0; i < r->count; i++)
		values[i] = steps_nearest(w[i] * r->grid);
	return easgd_publish(r, values);
}

/* ALPHA, in percent and decimals of one, times ELASTIC_ONE; hosts refuse what would be 0 */
static uint32_t easgd_alpha(const struct gagg_replica *r)
{
	uint64_t alpha = (uint64_t)r->arg[1] * GAGG_SYNC_DECIMALS + r->arg[2];

	return (uint32_t)(alpha * ELASTIC_ONE / (100 * GAGG_SYNC_DECIMALS));
}

static int easgd_init(struct gagg_replica *r, float *w)
{
	/* an invalid step is refused later, when all ranks know of it */
	double step = replica_has_grid(r) ? r->step : 1;
	int64_t *values;
	int err;

	r->pull = easgd_alpha(r);
	r->bits = easgd_step_bits(r);
	r->carry = replica_alloc(r, sizeof(*r->carry));
	values = replica_alloc(r, sizeof(*values));
	err = !r->carry || !values ? GAGG_ERR_NOMEM :
	      store_table(r->comm, r->count, GAGG_FLOAT32, step, &r->table);
	if (!err)
		err = easgd_publish_all(r, w, values);
	free(values);
	return err;
}

static int easgd_exchange(struct gagg_replica *r, float *w)
{
	int err = easgd_check(r, w);
	size_t i;

	if (!err)
		err = store_read(r->table);
	if (!err)
		err = easgd_check_center(r);
	if (err)
		return err;
	for (i = 0; i < r->count; i++)
		store_owe(r->table, i, easgd_give(r, w, i, store_element(r->table, i)));
	return gagg_clock(r->comm);
}

static int easgd_step(struct gagg_replica *r, float *w, const float *update)
{
	(void)update;
	return r->clock % r->arg[0] ? GAGG_OK : easgd_exchange(r, w);
}

static int easgd_finish(struct gagg_replica *r, float *w)
{
	int err = easgd_exchange(r, w);
	size_t i;

	if (!err)
		err = store_snapshot(r->table);
	if (!err)
		err = easgd_check_center(r);
	for (i = 0; !err && i < r->count; i++)
		easgd_join(r, w, i, store_element(r->table, i));
	return err;
}

/* as it was read for the last exchange, and what this rank has added since */
static int easgd_centre(const struct gagg_replica *r, float *w)
{
	int err = easgd_need_center(r);
	size_t i;

	for (i = 0; !err && i < r->count; i++)
		w[i] = easgd_weight(r, store_element(r->table, i));
	return err;
}

const struct replica_mode replica_easgd = {
	.number = GAGG_SYNC_EASGD,
	.store = true,
	.init = easgd_init,
	.step = easgd_step,
	.finish = easgd_finish,
	.centre = easgd_centre,
};
