/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * libgagg: batches divided by speed (sync mode bsp). Ranks of different speeds have
 * different shares of a batch, so that they come to its end together. All ranks,
 * for each batch: gagg_batch_next(), sum up the gradients of the samples that it
 * says, gagg_batch_mean(). Every sample counts alike, whoever has it. Documentation/
 * sync-modes.md has what is measured, and how shares follow.
 *
 * Where ranks take turns (sync mode r2sp) each has a batch of its own: a rank that is
 * blocked until its turn computes more samples instead. Nothing is collective then, and
 * there is no mean: a rank calls gagg_batch_next() between gagg_get() and
 * gagg_inc(), and scales what it adds by its samples over those it had at first.
 *
 * Threads. Batches belong to the thread that their communicator belongs to (gagg.h). While
 * another thread is in a call on the communicator, or on anything of it, a call here that
 * returns an enum gagg_error returns GAGG_ERR_BUSY: nothing has changed, and nothing was
 * started. gagg_batch_computed() and gagg_batch_free() cannot refuse: no other thread may be
 * in a call on the batch.
 */
#ifndef GAGG_LIB_BATCH_H
#define GAGG_LIB_BATCH_H

#include "gagg.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gagg_batch;

/**
 * struct gagg_batch_config - a batch that is to be divided
 * @size:	sizeof(struct gagg_batch_config)
 * @total:	samples of the batch; 1 to 2^31 - 1. r2sp: of all ranks together at
 *		first, and the most that one may come to have
 * @min:	least share of a rank; 0 counts as 1
 * @max:	largest share of a rank, such as its memory allows; 0: no limit
 * @period:	steps from one division to the next, at least 1. Each is an
 *		all-gather of some bytes (not with r2sp)
 *
 * The same on all ranks; with r2sp @min, @max and @period may differ.
 */
struct gagg_batch_config {
	size_t size;
	uint32_t total;
	uint32_t min;
	uint32_t max;
	uint32_t period;
};

/**
 * struct gagg_batch_rank - a rank's part, and what it is made of
 * @share:	samples of the batch
 * @samples:	computed in the last period that is over; 0: none is
 * @compute_ns:	time in it without an operation in flight, in ns
 * @wait_ns:	time in it with one
 * @speed:	samples a second of computing, smoothed over periods (r2sp: of that
 *		one); 0: not known
 */
struct gagg_batch_rank {
	uint32_t share;
	uint64_t samples;
	uint64_t compute_ns;
	uint64_t wait_ns;
	double speed;
};

/**
 * gagg_batch_create() - begin to divide batches
 * @comm:	communicator, in a group with sync mode bsp or r2sp; outlives the batch
 * @cfg:	how; copied
 * @batch:	receives it; NULL on error. gagg_batch_free() frees it
 *
 * Collective (not with r2sp). Shares are alike at first. After gagg_reattach() it is of no
 * more use than to be freed (GAGG_ERR_CLOSED).
 *
 * Return: 0, GAGG_ERR_INVALID (no such shares are possible, or ranks differ in
 * @cfg) or GAGG_ERR_UNSUPPORTED (another sync mode, or a host does not measure
 * times), on all ranks alike; GAGG_ERR_NOMEM, GAGG_ERR_BUSY, or why the epoch has ended.
 */
int gagg_batch_create(struct gagg_comm *comm, const struct gagg_batch_config *cfg,
		      struct gagg_batch **batch);

/**
 * gagg_batch_next() - the next batch: which samples are this rank's
 * @batch:	batch
 * @first:	receives the place in the batch of the first of them, from 0
 * @count:	receives their number, between the bounds; the parts of all ranks, in
 *		their order, are the batch. r2sp: the batch is the rank's own, and
 *		@first the number of samples that it has had before, modulo 2^32
 *
 * Collective. When a period is over, ranks tell each other what they have computed
 * in how much time, and shares change, on all ranks alike. That time is what their
 * kernels have measured: from the end of the last operation in flight, of any
 * communicator of the session, to the start of the next. With r2sp nobody is told, and
 * a batch grows by what fits into the time in which the rank was blocked.
 *
 * Return: 0, GAGG_ERR_CLOSED, GAGG_ERR_BUSY, or an error of the exchange.
 */
int gagg_batch_next(struct gagg_batch *batch, uint32_t *first, uint32_t *count);

/**
 * gagg_batch_computed() - say how long this rank has computed
 * @batch:	batch
 * @ns:		nanoseconds, of this step; those of a period add up
 *
 * For trainers that compute while operations are in flight, which the kernel takes
 * for waiting: what they say counts instead, of periods in which they say
 * anything.
 */
void gagg_batch_computed(struct gagg_batch *batch, uint64_t ns);

/**
 * gagg_batch_mean() - mean over the samples of all ranks
 * @batch:	batch
 * @sum:	@count elements: sums over this rank's samples, zeros if it has none
 * @mean:	receives @count elements; may be @sum
 * @count:	elements, at least 1
 * @dtype:	a floating-point type
 * @samples:	samples in @sum, at most this rank's share, or less where data has come
 *		to an end
 * @plan:	as of gagg_allreduce()
 *
 * Collective. The samples of all ranks are added up as integers, along with the
 * sums; these are divided by that number before they are rounded, once. Without any
 * sample of any rank @mean is the sum.
 *
 * Return: as gagg_allreduce(); GAGG_ERR_INVALID also for too many @samples,
 * GAGG_ERR_CLOSED, GAGG_ERR_BUSY, GAGG_ERR_UNSUPPORTED with r2sp.
 */
int gagg_batch_mean(struct gagg_batch *batch, const void *sum, void *mean, size_t count,
		    enum gagg_dtype dtype, uint32_t samples, struct gagg_plan *plan);

/**
 * gagg_batch_info() - what is known of a rank
 * @batch:	batch
 * @rank:	0 to gagg_size() - 1
 * @info:	receives it
 *
 * Return: 0, GAGG_ERR_BUSY, GAGG_ERR_INVALID; GAGG_ERR_UNSUPPORTED of another rank with r2sp.
 */
int gagg_batch_info(const struct gagg_batch *batch, int rank, struct gagg_batch_rank *info);

/**
 * gagg_batch_free() - forget
 * @batch:	batch; NULL: nothing happens
 */
void gagg_batch_free(struct gagg_batch *batch);

#ifdef __cplusplus
}
#endif

#endif /* GAGG_LIB_BATCH_H */
