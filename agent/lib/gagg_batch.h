/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * libgagg: batches divided by speed (sync modes bsp and localsgd). Ranks of different speeds have
 * different shares of a batch, so that they come to its end together. For each batch all ranks call
 * gagg_batch_next(), sum up the gradients of the samples that it returns, and call
 * gagg_batch_mean(). Every sample counts alike on any rank. Documentation/sync-modes.md explains
 * what is measured, and how shares follow from it.
 *
 * In groups with localsgd ranks divide the batches of each step alike, and tell the number of their
 * samples to gagg_replica_samples(); gagg_batch_mean() is not needed.
 *
 * If ranks take turns (sync mode r2sp) each has a batch of its own: a rank that is blocked until
 * its turn computes more samples instead. Then nothing is collective, and there is no mean. A rank
 * calls gagg_batch_next() between gagg_get() and gagg_inc(), and scales its increments by its
 * number of samples over the number that it had at first.
 *
 * Threads. Batches belong to the thread that their communicator belongs to (gagg.h). While another
 * thread is in a call on the communicator, or on anything of it, a call here that returns an enum
 * gagg_error returns GAGG_ERR_BUSY: nothing has changed, and nothing was started.
 * gagg_batch_computed() and gagg_batch_free() do not notice another thread: none may be in a call
 * on the batch.
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
 * @total:	samples of the batch; 1 to 2^31 - 1. r2sp: samples of all ranks together at first,
 *		and the most that one rank may come to have
 * @min:	least share of a rank; 0 counts as 1
 * @max:	largest share of a rank, such as its memory allows; 0: no limit
 * @period:	steps from one division to the next, at least 1. Each is an
 *		all-gather of some bytes (not with r2sp)
 *
 * All ranks pass the same values; with r2sp @min, @max and @period may differ.
 */
struct gagg_batch_config {
	size_t size;
	uint32_t total;
	uint32_t min;
	uint32_t max;
	uint32_t period;
};

/**
 * struct gagg_batch_rank - a rank's share, and the measurements that it follows from
 * @share:	samples of the batch
 * @samples:	samples computed in the last period that is over; 0: none is
 * @compute_ns:	time in that period without an operation in flight, in ns
 * @wait_ns:	time in that period with an operation in flight, in ns
 * @speed:	samples per second of computing, smoothed over periods (r2sp: in that period); 0:
 *		not known
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
 * @comm:	communicator, in a group with sync mode bsp, localsgd or r2sp; outlives the batch
 * @cfg:	how; copied
 * @batch:	receives it; NULL on error. gagg_batch_free() frees it
 *
 * Collective (not with r2sp). Shares are equal at first. After gagg_reattach() the batch can only
 * be freed (other calls: GAGG_ERR_CLOSED).
 *
 * Return: 0, GAGG_ERR_INVALID (no such shares are possible, or ranks differ in
 * @cfg) or GAGG_ERR_UNSUPPORTED (another sync mode, or a host does not measure
 * times), on all ranks alike; GAGG_ERR_NOMEM, GAGG_ERR_BUSY, or why the epoch has ended.
 */
int gagg_batch_create(struct gagg_comm *comm, const struct gagg_batch_config *cfg,
		      struct gagg_batch **batch);

/**
 * gagg_batch_next() - the next batch, and this rank's samples in it
 * @batch:	batch
 * @first:	receives the position in the batch of this rank's first sample, from 0
 * @count:	receives the number of this rank's samples, between the bounds. The samples of all
 *		ranks, in the order of ranks, are the batch. r2sp: the batch is the rank's own, and
 *		@first is the number of samples that it has had before, modulo 2^32
 *
 * Collective. When a period is over, ranks exchange how many samples they have computed in how much
 * time, and shares change in the same way on all ranks. The kernel measures that time: from the end
 * of the last operation in flight, of any communicator of the session, to the start of the next.
 * With r2sp there is no exchange, and a batch grows by the samples that fit into the time in which
 * the rank was blocked. Every 16 periods it begins anew with what it had at first, so it shrinks
 * when the rank that has blocked it is slow no more.
 *
 * Return: 0, GAGG_ERR_CLOSED, GAGG_ERR_BUSY, or an error of the exchange.
 */
int gagg_batch_next(struct gagg_batch *batch, uint32_t *first, uint32_t *count);

/**
 * gagg_batch_computed() - report how long this rank has computed
 * @batch:	batch
 * @ns:		nanoseconds, of this step; those of a period add up
 *
 * For trainers that compute while operations are in flight: the kernel would take that for waiting.
 * In a period with such reports they count instead of the kernel's measurement.
 */
void gagg_batch_computed(struct gagg_batch *batch, uint64_t ns);

/**
 * gagg_batch_mean() - mean over the samples of all ranks
 * @batch:	batch
 * @sum:	@count elements: sums over this rank's samples, zeros if it has none
 * @mean:	receives @count elements; may be @sum
 * @count:	elements, at least 1
 * @dtype:	a floating-point type
 * @samples:	samples in @sum, at most this rank's share; less when the data ends
 * @plan:	as for gagg_allreduce()
 *
 * Collective. The samples of all ranks are added up as integers, along with the sums; the sums are
 * divided by that number before they are rounded, once. If no rank has a sample, @mean is the sum.
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
 * Return: 0, GAGG_ERR_BUSY, GAGG_ERR_INVALID; GAGG_ERR_UNSUPPORTED for another rank with r2sp.
 */
int gagg_batch_info(const struct gagg_batch *batch, int rank, struct gagg_batch_rank *info);

/**
 * gagg_batch_free() - free a batch
 * @batch:	batch; NULL: nothing happens
 */
void gagg_batch_free(struct gagg_batch *batch);

#ifdef __cplusplus
}
#endif

#endif /* GAGG_LIB_BATCH_H */
