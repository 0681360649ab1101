// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * What the modes of replicas have in common.
 */
#include <math.h>
#include <stdlib.h>

#include "comm.h"
#include "replica.h"
#include "request.h"
#include "sync_name.h"

static const struct replica_mode *const modes[] = {
	&replica_localsgd,
	&replica_easgd,
	&replica_easgd_sync,
	&replica_hpsgd,
	&replica_gossip_pull,
	&replica_gossip_push,
	&replica_gossip_pair,
	&replica_push_sum,
};

#define MODES	(sizeof(modes) / sizeof(modes[0]))

bool replica_has_grid(const struct gagg_replica *r)
{
	return r->grid > 0 && isfinite(r->grid);
}

int replica_check_grid(struct gagg_replica *r)
{
	return replica_has_grid(r) ? GAGG_OK :
		comm_error(r->comm, GAGG_ERR_INVALID,
			   "%s needs a step above 0, the resolution of the exchange",
			   sync_mode_find(r->mode->number)->name);
}

void *replica_alloc(struct gagg_replica *r, size_t size)
{
	void *p = calloc(r->count, size);

	if (!p)
		comm_error(r->comm, 0, "no memory for a replica of %zu elements", r->count);
	return p;
}

/* NULL: the mode has no replicas */
static const struct replica_mode *replica_find(uint32_t number)
{
	unsigned int i;

	for (i = 0; i < MODES; i++)
		if (modes[i]->number == number)
			return modes[i];
	return NULL;
}

/* the kernel carries parameters of algorithms over rounds without knowing their ranges */
static int replica_check_args(const struct gagg_replica *r)
{
	const struct sync_mode *mode = sync_mode_find(r->mode->number);
	unsigned int i;

	for (i = 0; sync_is_algorithm(mode->number) && i < GAGG_SYNC_ARGS; i++) {
		const struct sync_arg *a = &mode->arg[i];

		if (a->name ? r->arg[i] < a->min || r->arg[i] > a->max : r->arg[i])
			return comm_error(r->comm, GAGG_ERR_INVALID,
					  "sync mode %s: parameter %u is %u, which is out of range",
					  gagg_sync(r->comm), i + 1, r->arg[i]);
	}
	return GAGG_OK;
}

/* initial weights differ: all ranks take those of rank 0 */
static int replica_begin(struct gagg_replica *r, float *weights)
{
	int err;

	if (r->mode->store)
		return r->mode->init(r, weights);
	err = gagg_broadcast(weights, r->count * sizeof(*weights), 0, r->comm);

	if (!err)
		err = gagg_plan_create(r->comm, r->count, GAGG_FLOAT32, &r->plan);
	return err ? err : r->mode->init(r, weights);
}

static int replica_create(struct gagg_comm *c, float *weights, size_t count, double step,
			  struct gagg_replica **replica)
{
	struct gagg_replica *r;
	int err;

	if (comm_check(c))
		return c->failed;
	if (!weights || !count || count > SIZE_MAX / sizeof(double))
		return comm_error(c, GAGG_ERR_INVALID, "a replica needs weights");
	r = calloc(1, sizeof(*r));
	if (!r)
		return comm_error(c, GAGG_ERR_NOMEM, "no memory for a replica");
	r->comm = c;
	r->epoch = c->epochs;
	r->count = count;
	r->mode = replica_find(c->region.geo.mode);
	r->arg = c->region.geo.arg;
	if (!r->mode) {
		free(r);
		return comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "sync mode %s has no replicas", gagg_sync(c));
	}
	r->step = step;
	r->grid = 1 / step;
	err = replica_check_args(r);
	if (!err)
		err = replica_begin(r, weights);
	if (err) {
		gagg_replica_free(r);
		return err;
	}
	*replica = r;
	return GAGG_OK;
}

int gagg_replica_create(struct gagg_comm *c, float *weights, size_t count, double step,
			struct gagg_replica **replica)
{
	int err = comm_enter(c);

	*replica = NULL;
	if (err)
		return err;
	err = replica_create(c, weights, count, step, replica);
	comm_exit(c);
	return err;
}

static int replica_make_step(struct gagg_replica *r, float *weights, const float *update)
{
	size_t i;
	int err = comm_check_epoch(r->comm, r->epoch, "replica");

	if (err)
		return err;
	for (i = 0; i < r->count; i++)
		weights[i] += update[i];
	r->clock++;
	return r->mode->step(r, weights, update);
}

int gagg_replica_step(struct gagg_replica *r, float *weights, const float *update)
{
	int err = comm_enter(r->comm);

	if (err)
		return err;
	err = replica_make_step(r, weights, update);
	comm_exit(r->comm);
	return err;
}

int gagg_replica_finish(struct gagg_replica *r, float *weights)
{
	int err = comm_enter(r->comm);

	if (err)
		return err;
	err = comm_check_epoch(r->comm, r->epoch, "replica");
	if (!err)
		err = r->mode->finish(r, weights);
	comm_exit(r->comm);
	return err;
}

static int replica_show_centre(const struct gagg_replica *r, float *weights)
{
	int err = comm_check_epoch(r->comm, r->epoch, "replica");

	if (err)
		return err;
	return r->mode->centre ? r->mode->centre(r, weights) :
		comm_error(r->comm, GAGG_ERR_UNSUPPORTED,
			   "only easgd and easgd-sync have a centre, not %s", gagg_sync(r->comm));
}

int gagg_replica_centre(const struct gagg_replica *r, float *weights)
{
	int err = comm_enter(r->comm);

	if (err)
		return err;
	err = replica_show_centre(r, weights);
	comm_exit(r->comm);
	return err;
}

static int replica_add_state(struct gagg_replica *r, float *state, size_t count)
{
	int err = comm_check_epoch(r->comm, r->epoch, "replica");

	if (err)
		return err;
	if (!r->mode->add_state)
		return comm_error(r->comm, GAGG_ERR_UNSUPPORTED,
				  "only localsgd averages the state of an updater, not %s",
				  gagg_sync(r->comm));
	if (!state || !count || count > SIZE_MAX / sizeof(double))
		return comm_error(r->comm, GAGG_ERR_INVALID, "a state needs elements");
	return r->mode->add_state(r, state, count);
}

int gagg_replica_state(struct gagg_replica *r, float *state, size_t count)
{
	int err = comm_enter(r->comm);

	if (err)
		return err;
	err = replica_add_state(r, state, count);
	comm_exit(r->comm);
	return err;
}

static int replica_add_samples(struct gagg_replica *r, uint32_t samples)
{
	int err = comm_check_epoch(r->comm, r->epoch, "replica");

	if (err)
		return err;
	if (!r->mode->add_samples)
		return comm_error(r->comm, GAGG_ERR_UNSUPPORTED,
				  "only in localsgd replicas count by samples, not in %s",
				  gagg_sync(r->comm));
	return r->mode->add_samples(r, samples);
}

int gagg_replica_samples(struct gagg_replica *r, uint32_t samples)
{
	int err = comm_enter(r->comm);

	if (err)
		return err;
	err = replica_add_samples(r, samples);
	comm_exit(r->comm);
	return err;
}

void gagg_replica_free(struct gagg_replica *r)
{
	unsigned int i;

	if (!r)
		return;
	/*
	 * the operation writes to memory that is freed here, so this waits, even beside another
	 * thread
	 */
	if (r->req)
		request_finish(&r->req, GAGG_FOREVER);
	gagg_plan_free(r->plan);
	for (i = 0; i < r->states; i++)
		gagg_plan_free(r->state[i].plan);
	free(r->center);
	free(r->delta);
	free(r->carry);
	free(r->sent);
	free(r->base);
	free(r->learned);
	free(r->flight);
	free(r);
}
