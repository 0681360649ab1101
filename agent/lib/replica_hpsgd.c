// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Training that goes on while gradients are summed up (HPSGD, also known as
 * hierarchical local SGD). A rank makes steps on its replica; meanwhile an
 * all-reduce of earlier updates is under way. When it is done:
 *
 *	base += mean of it;  replica = base;  start one of the updates since
 *
 * Updates of the replica since the start leave it, and come back as part of the next mean: each
 * update is in exactly one all-reduce, one round late. All ranks do this at the same step, see
 * switch.h.
 *
 * Ops on the communicator alternate on every rank: updates, offers, updates, ...
 */
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "replica.h"

static int hpsgd_init(struct gagg_replica *r, float *w)
{
	r->sw.bound = (int32_t)r->arg[0];
	r->base = replica_alloc(r, sizeof(*r->base));
	r->learned = replica_alloc(r, sizeof(*r->learned));
	r->flight = replica_alloc(r, sizeof(*r->flight));
	if (!r->base || !r->learned || !r->flight)
		return GAGG_ERR_NOMEM;
	memcpy(r->base, w, r->count * sizeof(*w));
	return GAGG_OK;
}

/* starts the all-reduce of all updates since the last one */
static int hpsgd_launch(struct gagg_replica *r)
{
	float *sum = r->learned;

	r->learned = r->flight;
	r->flight = sum;
	memset(r->learned, 0, r->count * sizeof(*r->learned));
	switch_start(&r->sw);
	return gagg_iallreduce(sum, sum, r->count, GAGG_FLOAT32, GAGG_MEAN, r->comm, r->plan,
			       &r->req);
}

static int hpsgd_offer(struct gagg_replica *r)
{
	r->offer = switch_offer(&r->sw);
	return gagg_iallreduce(&r->offer, &r->offer, 1, GAGG_INT32, GAGG_MAX, r->comm, NULL,
			       &r->req);
}

/* ends the operation in flight if it is done, or must be waited for */
static int hpsgd_look(struct gagg_replica *r, bool wait, int *done)
{
	struct gagg_comm *c = r->comm;
	int ms = c->session->timeout_ms, err;

	if (!wait)
		return gagg_test(&r->req, done);
	err = gagg_wait(&r->req, ms > 0 ? ms : GAGG_FOREVER);
	*done = !r->req;
	return *done ? err : comm_fail_late(c);
}

static void hpsgd_take(struct gagg_replica *r, float *w)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		r->base[i] += r->flight[i];
	memcpy(w, r->base, r->count * sizeof(*w));
}

/* goes on as far as the operations in flight allow */
static int hpsgd_advance(struct gagg_replica *r, bool wait)
{
	while (r->req) {
		int done, err = hpsgd_look(r, wait || switch_must_wait(&r->sw), &done);

		if (err || !done)
			return err;
		if (r->sw.phase == SWITCH_FLYING)
			err = hpsgd_offer(r);
		else
			switch_agree(&r->sw, r->offer);
		if (err)
			return err;
	}
	return GAGG_OK;
}

static int hpsgd_step(struct gagg_replica *r, float *w, const float *update)
{
	size_t i;
	int err;

	for (i = 0; i < r->count; i++)
		r->learned[i] += update[i];
	switch_tick(&r->sw);
	err = hpsgd_advance(r, false);
	if (err || !switch_applies(&r->sw))
		return err;
	if (r->sw.phase == SWITCH_AGREED)
		hpsgd_take(r, w);
	return hpsgd_launch(r);
}

/*
 * All ranks are at the same clock, hence in the same all-reduce: there is none that only some of
 * them have taken.
 */
static int hpsgd_finish(struct gagg_replica *r, float *w)
{
	int err = hpsgd_advance(r, true);

	if (!err && r->sw.phase == SWITCH_AGREED)
		hpsgd_take(r, w);
	if (!err)
		err = hpsgd_launch(r);
	if (!err)
		err = hpsgd_advance(r, true);
	if (err)
		return err;
	hpsgd_take(r, w);
	r->sw.phase = SWITCH_IDLE;
	return GAGG_OK;
}

const struct replica_mode replica_hpsgd = {
	.number = GAGG_SYNC_HPSGD,
	.init = hpsgd_init,
	.step = hpsgd_step,
	.finish = hpsgd_finish,
};
