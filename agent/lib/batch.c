// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Dynamic batch sizes. Every PERIOD steps the ranks exchange how many samples they have computed in
 * how much time, measured by their kernels. Then each calculates the same shares of the batch
 * (share.h). If ranks take turns there are no collectives and no common batch: each rank has its
 * own (pace.h), and exchanges nothing.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/gagg_wire.h>

#include "comm.h"
#include "op.h"
#include "pace.h"
#include "share.h"
#include "sys.h"

/* parameters that must be the same on all ranks; exchanged in this form */
struct terms {
	struct share_bounds bounds;
	uint32_t period;
	uint32_t measured;	/* the kernel of this rank measures times */
};

/* what a rank reports of a period; exchanged in this form */
struct said {
	struct share_work work;
	uint64_t wait_ns;
};

/**
 * struct gagg_batch - a batch that is divided among the ranks
 * @comm: communicator
 * @epoch: gagg_comm.epochs; in another one the batch is over
 * @period: steps from one division to the next
 * @steps: steps begun since the last division
 * @base: times of this rank at the last division
 * @own_ns: computing in this period, as the trainer has reported; 0: it has not
 * @control: controller of the shares
 * @said: reports of all ranks about the period before the last division
 * @alone: ranks take turns: only @pace, @at and this rank's entry of @said are used
 * @pace: controller of this rank's batch
 * @at: samples that this rank has taken
 */
struct gagg_batch {
	struct gagg_comm *comm;
	uint64_t epoch;
	uint32_t period;
	uint32_t steps;
	struct gagg_ioc_times base;
	uint64_t own_ns;
	struct share_control control;
	struct said said[GAGG_RANKS_MAX];
	bool alone;
	struct pace_control pace;
	uint32_t at;
};

static uint32_t batch_own_share(const struct gagg_batch *b)
{
	return b->alone ? b->pace.batch : b->control.share[b->comm->rank];
}

static int batch_read_times(struct gagg_comm *c, struct gagg_ioc_times *t)
{
	memset(t, 0, sizeof(*t));
	t->size = sizeof(*t);
	return sys_command(c->session->fd, GAGG_IOC_TIMES, t);
}

static int batch_cannot_read(struct gagg_comm *c, int err)
{
	if (err == -ENOTCONN || err == -EPIPE)
		return comm_fail_epoch(c);
	comm_error(c, 0, "times of computing: %s", strerror(-err));
	return comm_fail(c, GAGG_ERR_SYSTEM);
}

/* a period begins; the share is reported to the host's administrator */
static int batch_begin_period(struct gagg_batch *b)
{
	struct gagg_comm *c = b->comm;
	struct gagg_ioc_times *t = &b->base;
	int err;

	memset(t, 0, sizeof(*t));
	t->size = sizeof(*t);
	t->flags = GAGG_TIMES_SHARE;
	t->share = batch_own_share(b);
	t->batch = b->control.bounds.total;
	err = sys_command(c->session->fd, GAGG_IOC_TIMES, t);
	b->steps = 0;
	b->own_ns = 0;
	return err ? batch_cannot_read(c, err) : GAGG_OK;
}

#define NO_PERIOD	"the batch is divided anew after 1 step or more"

/* --- creating ------------------------------------------------------------- */

/* all ranks come to the same result, so none goes on alone */
static int batch_check(struct gagg_comm *c, const struct terms *terms)
{
	const char *wrong = share_check(&terms->bounds);
	int r;

	for (r = 0; r < c->size; r++)
		if (memcmp(&terms[r].bounds, &terms->bounds, sizeof(terms->bounds)) ||
		    terms[r].period != terms->period)
			return comm_error(c, GAGG_ERR_INVALID,
					  "rank %d divides another batch than rank %d",
					  c->ranks[r], c->ranks[0]);
	if (wrong)
		return comm_error(c, GAGG_ERR_INVALID, "%s", wrong);
	if (!terms->period)
		return comm_error(c, GAGG_ERR_INVALID, NO_PERIOD);
	for (r = 0; r < c->size; r++)
		if (!terms[r].measured)
			return comm_error(c, GAGG_ERR_UNSUPPORTED,
					  "the host of rank %d does not measure times of computing (its gagg is too old)",
					  c->ranks[r]);
	return GAGG_OK;
}

static int batch_create(struct gagg_batch *b, const struct gagg_batch_config *cfg)
{
	struct gagg_comm *c = b->comm;
	struct terms terms[GAGG_RANKS_MAX];
	struct terms *own = &terms[c->rank];
	struct gagg_ioc_times t;
	int err;

	*own = (struct terms){
		.bounds = {
			.ranks = (uint32_t)c->size,
			.total = cfg->total,
			.min = cfg->min ? cfg->min : 1,
			.max = cfg->max,
		},
		.period = cfg->period,
		.measured = !batch_read_times(c, &t),
	};
	err = gagg_allgather(own, sizeof(*own), terms, c);
	if (!err)
		err = batch_check(c, terms);
	if (err)
		return err;
	b->period = cfg->period;
	b->epoch = c->epochs;
	share_begin(&b->control, &own->bounds);
	return batch_begin_period(b);
}

/* a batch of this rank alone, which is no larger than that of all at first */
static int batch_create_alone(struct gagg_batch *b, const struct gagg_batch_config *cfg)
{
	struct gagg_comm *c = b->comm;
	const struct share_bounds all = {
		.ranks = (uint32_t)c->size,
		.total = cfg->total,
		.min = cfg->min ? cfg->min : 1,
		.max = cfg->max,
	};
	const char *wrong = share_check(&all);
	struct gagg_ioc_times t;

	if (wrong)
		return comm_error(c, GAGG_ERR_INVALID, "%s", wrong);
	if (!cfg->period)
		return comm_error(c, GAGG_ERR_INVALID, NO_PERIOD);
	if (batch_read_times(c, &t))
		return comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "this host does not measure times of computing (its gagg is too old)");
	share_begin(&b->control, &all);
	pace_begin(&b->pace, &(struct pace_bounds){
		.first = b->control.share[c->rank],
		.min = all.min,
		.max = all.max && all.max < all.total ? all.max : all.total,
	});
	b->period = cfg->period;
	b->epoch = c->epochs;
	return batch_begin_period(b);
}

static int batch_create_any(struct gagg_comm *c, const struct gagg_batch_config *cfg,
			    struct gagg_batch **batch)
{
	uint32_t mode = c->region.geo.mode;
	bool alone = mode == GAGG_SYNC_R2SP;
	struct gagg_batch *b;
	int err;

	if (cfg->size != sizeof(*cfg))
		return comm_error(c, GAGG_ERR_INVALID,
				  "gagg_batch_config.size is that of another libgagg");
	if (comm_check(c))
		return c->failed;
	/* in other modes replicas do not count by samples, or ranks do not wait */
	if (!alone && mode != GAGG_SYNC_BSP && mode != GAGG_SYNC_LOCALSGD)
		return comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "batches follow speeds in groups with sync mode bsp, localsgd or r2sp, not %s",
				  gagg_sync(c));
	b = calloc(1, sizeof(*b));
	if (!b)
		return comm_error(c, GAGG_ERR_NOMEM, "no memory for a batch");
	b->comm = c;
	b->alone = alone;
	err = alone ? batch_create_alone(b, cfg) : batch_create(b, cfg);
	if (err) {
		free(b);
		return err;
	}
	*batch = b;
	return GAGG_OK;
}

int gagg_batch_create(struct gagg_comm *c, const struct gagg_batch_config *cfg,
		      struct gagg_batch **batch)
{
	int err = comm_enter(c);

	*batch = NULL;
	if (err)
		return err;
	err = batch_create_any(c, cfg, batch);
	comm_exit(c);
	return err;
}

void gagg_batch_free(struct gagg_batch *batch)
{
	free(batch);
}

/* --- steps ---------------------------------------------------------------- */

static int batch_usable(const struct gagg_batch *b)
{
	return comm_check_epoch(b->comm, b->epoch, "batch");
}

/* the period is over: this rank's report */
static int batch_measure(struct gagg_batch *b)
{
	struct said *own = &b->said[b->comm->rank];
	struct gagg_ioc_times now;
	int err = batch_read_times(b->comm, &now);

	if (err)
		return batch_cannot_read(b->comm, err);
	own->work.samples = (uint64_t)b->steps * batch_own_share(b);
	own->work.compute_ns = b->own_ns ? b->own_ns : now.compute_ns - b->base.compute_ns;
	own->wait_ns = now.wait_ns - b->base.wait_ns;
	return GAGG_OK;
}

static void batch_adapt_alone(struct gagg_batch *b)
{
	const struct said *own = &b->said[b->comm->rank];
	const struct pace_work work = {
		.steps = b->steps,
		.samples = own->work.samples,
		.compute_ns = own->work.compute_ns,
		.wait_ns = own->wait_ns,
	};

	pace_step(&b->pace, &work);
}

/* exchanges reports with the other ranks */
static int batch_exchange(struct gagg_batch *b)
{
	struct gagg_comm *c = b->comm;
	struct said own = b->said[c->rank];
	struct share_work work[SHARE_RANKS];
	int r, err = gagg_allgather(&own, sizeof(own), b->said, c);

	if (err)
		return err;
	for (r = 0; r < c->size; r++)
		work[r] = b->said[r].work;
	share_step(&b->control, work);
	return GAGG_OK;
}

static int batch_end_period(struct gagg_batch *b)
{
	int err = batch_measure(b);

	if (!err && b->alone)
		batch_adapt_alone(b);
	else if (!err)
		err = batch_exchange(b);
	return err ? err : batch_begin_period(b);
}

static int batch_next(struct gagg_batch *b, uint32_t *first, uint32_t *count)
{
	const uint32_t *share = b->control.share;
	int r, err = batch_usable(b);

	if (!err && b->steps == b->period)
		err = batch_end_period(b);
	if (err)
		return err;
	b->steps++;
	*first = b->at;
	*count = batch_own_share(b);
	if (b->alone) {
		b->at += *count;
		return GAGG_OK;
	}
	for (r = 0; r < b->comm->rank; r++)
		*first += share[r];
	return GAGG_OK;
}

int gagg_batch_next(struct gagg_batch *b, uint32_t *first, uint32_t *count)
{
	int err = comm_enter(b->comm);

	if (err)
		return err;
	err = batch_next(b, first, count);
	comm_exit(b->comm);
	return err;
}

void gagg_batch_computed(struct gagg_batch *b, uint64_t ns)
{
	b->own_ns += ns;
}

static int batch_mean_of(struct gagg_batch *b, const struct op_reduction *mean, uint32_t samples)
{
	struct gagg_comm *c = b->comm;
	int err = batch_usable(b);

	if (err)
		return err;
	if (b->alone)
		return comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "ranks that take turns have no mean: add what was learned to a table");
	if (samples > b->control.share[c->rank])
		return comm_error(c, GAGG_ERR_INVALID, "a sum over %u samples, of a share of %u",
				  samples, b->control.share[c->rank]);
	if (!mean->count)
		return comm_error(c, GAGG_ERR_INVALID, "a mean of no elements");
	return op_mean_by(c, mean);
}

int gagg_batch_mean(struct gagg_batch *b, const void *sum, void *mean, size_t count,
		    enum gagg_dtype dtype, uint32_t samples, struct gagg_plan *plan)
{
	struct op_mean by = { .samples = (int32_t)samples };
	const struct op_reduction a = {
		.kind = GAGG_K_ALLREDUCE, .dtype = dtype, .op = GAGG_MEAN, .send = sum,
		.recv = mean, .count = count, .plan = plan, .by = &by,
	};
	int err = comm_enter(b->comm);

	if (err)
		return err;
	err = batch_mean_of(b, &a, samples);
	comm_exit(b->comm);
	return err;
}

static int batch_tell(const struct gagg_batch *b, int rank, struct gagg_batch_rank *info)
{
	if (rank < 0 || rank >= b->comm->size)
		return comm_error(b->comm, GAGG_ERR_INVALID, "rank %d is not one of %d", rank,
				  b->comm->size);
	if (b->alone && rank != b->comm->rank)
		return comm_error(b->comm, GAGG_ERR_UNSUPPORTED,
				  "ranks that take turns know of no batch but their own");
	info->share = b->alone ? b->pace.batch : b->control.share[rank];
	info->samples = b->said[rank].work.samples;
	info->compute_ns = b->said[rank].work.compute_ns;
	info->wait_ns = b->said[rank].wait_ns;
	info->speed = share_per_second(b->alone ? share_rate(info->samples, info->compute_ns) :
				       b->control.rate[rank]);
	return GAGG_OK;
}

int gagg_batch_info(const struct gagg_batch *b, int rank, struct gagg_batch_rank *info)
{
	int err = comm_enter(b->comm);

	if (err)
		return err;
	err = batch_tell(b, rank, info);
	comm_exit(b->comm);
	return err;
}
