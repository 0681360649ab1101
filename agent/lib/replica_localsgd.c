// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * localsgd, parameter averaging: the mean of all replicas every TAU steps, and of what their
 * updaters remember (momentum, second moments). Replicas count alike, or by the samples that they
 * have learned from since the last mean.
 *
 * With TAU = 1 that is the mean of gradients, but for rounding, if the updater is linear in the
 * gradient and all its states are averaged:
 *
 * 1. Before each step all ranks have the same weights and states.
 * 2. So the mean of what ranks make of their gradients is what the mean gradient makes of them.
 */
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "op.h"
#include "replica.h"

/* of weighted sums */
static int localsgd_room(struct gagg_replica *r, size_t count)
{
	float *room = count > r->room ? realloc(r->flight, count * sizeof(*room)) : r->flight;

	if (!room)
		return comm_error(r->comm, GAGG_ERR_NOMEM,
				  "no memory for a mean of %zu elements by samples", count);
	r->flight = room;
	r->room = count > r->room ? count : r->room;
	return GAGG_OK;
}

static int localsgd_mean_of(struct gagg_replica *r, float *w, size_t count,
			    struct gagg_plan *plan)
{
	struct op_mean by = { .samples = r->samples };
	const struct op_reduction mean = {
		.kind = GAGG_K_ALLREDUCE, .dtype = GAGG_FLOAT32, .op = GAGG_MEAN,
		.send = r->flight, .recv = r->flight, .count = count, .plan = plan, .by = &by,
	};
	size_t i;
	int err;

	if (r->by_samples) {
		/* a rank without samples has no say, even if a weight of it is infinite */
		for (i = 0; i < count; i++)
			r->flight[i] = r->samples ? w[i] * (float)r->samples : 0;
		err = op_mean_by(r->comm, &mean);
		if (err)
			return err;
		if (by.total) {
			memcpy(w, r->flight, count * sizeof(*w));
			return GAGG_OK;
		}
	}
	/* or no rank has a sample, as all of them know: then all count alike */
	return gagg_allreduce(w, w, count, GAGG_FLOAT32, GAGG_MEAN, r->comm, plan);
}

/* the weights come last: gagg_last_result() is about them */
static int localsgd_mean(struct gagg_replica *r, float *w)
{
	unsigned int i;
	int err;

	for (i = 0; i < r->states; i++) {
		const struct replica_state *s = &r->state[i];

		err = localsgd_mean_of(r, s->value, s->count, s->plan);
		if (err)
			return err;
	}
	err = localsgd_mean_of(r, w, r->count, r->plan);
	if (!err)
		r->samples = 0;
	return err;
}

static int localsgd_step(struct gagg_replica *r, float *w, const float *update)
{
	(void)update;
	return r->clock % r->arg[0] ? GAGG_OK : localsgd_mean(r, w);
}

static int localsgd_init(struct gagg_replica *r, float *w)
{
	(void)r;
	(void)w;
	return GAGG_OK;
}

static int localsgd_add_state(struct gagg_replica *r, float *value, size_t count)
{
	struct replica_state *s = &r->state[r->states];
	int err;

	if (r->states == REPLICA_STATES)
		return comm_error(r->comm, GAGG_ERR_INVALID,
				  "an updater has at most %d states", REPLICA_STATES);
	err = r->by_samples ? localsgd_room(r, count) : GAGG_OK;
	if (!err)
		err = gagg_broadcast(value, count * sizeof(*value), 0, r->comm);
	if (!err)
		err = gagg_plan_create(r->comm, count, GAGG_FLOAT32, &s->plan);
	if (err)
		return err;
	s->value = value;
	s->count = count;
	r->states++;
	return GAGG_OK;
}

static int localsgd_add_samples(struct gagg_replica *r, uint32_t samples)
{
	/* the sum of all ranks is an int32 */
	int32_t most = INT32_MAX / r->comm->size;
	size_t count = r->count;
	unsigned int i;
	int err;

	if (samples > (uint32_t)(most - r->samples))
		return comm_error(r->comm, GAGG_ERR_INVALID,
				  "%u samples more: a rank has at most %d between two means",
				  samples, most);
	for (i = 0; i < r->states; i++)
		count = r->state[i].count > count ? r->state[i].count : count;
	err = localsgd_room(r, count);
	if (err)
		return err;
	r->by_samples = true;
	r->samples += (int32_t)samples;
	return GAGG_OK;
}

const struct replica_mode replica_localsgd = {
	.number = GAGG_SYNC_LOCALSGD,
	.init = localsgd_init,
	.step = localsgd_step,
	.finish = localsgd_mean,
	.add_state = localsgd_add_state,
	.add_samples = localsgd_add_samples,
};
