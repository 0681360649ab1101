/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * libgagg: replicas (sync modes localsgd, easgd, easgd-sync, hpsgd, gossip-*, push-sum). Each rank
 * trains weights of its own: again and again it computes an update and calls gagg_replica_step().
 * All ranks make the same number of steps before gagg_replica_finish().
 *
 * Threads. Replicas belong to the thread that their communicator belongs to (gagg.h). While another
 * thread is in a call on the communicator, or on anything of it, a call here returns GAGG_ERR_BUSY:
 * nothing has changed, and nothing was started. Collectives that such a call makes itself do not
 * count. gagg_replica_free() waits instead.
 */
#ifndef GAGG_LIB_REPLICA_H
#define GAGG_LIB_REPLICA_H

#include "gagg.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gagg_replica;

/**
 * gagg_replica_create() - begin to train
 * @comm:	communicator
 * @weights:	@count elements of float32; receives those of rank 0
 * @count:	elements, at least 1; the same on all ranks
 * @step:	easgd, easgd-sync, gossip-*, push-sum: resolution of what is exchanged, the
 *		same on all ranks; a weight stays below 2^30 steps in magnitude. Unless
 *		lane-type is int64, gossip-* and push-sum: 2^24; easgd: the largest
 *		power of two that is at most 2^31 / (1 + 2 * ranks * ALPHA / 100). Else unused
 * @replica:	receives it; NULL on error
 *
 * Collective. The replica uses the communicator. The program may call collectives of its own
 * between steps in the modes localsgd and easgd-sync, on all ranks after the same step; in hpsgd on
 * another communicator only. Groups that gossip have no collectives. Groups with easgd have none
 * either, but tables (gagg_table.h): each exchange is a gagg_clock() of the tables as well, and all
 * ranks call gagg_replica_finish() after the same number of the program's own gagg_clock().
 *
 * Return: 0, GAGG_ERR_UNSUPPORTED (another sync mode), GAGG_ERR_INVALID (no weights; easgd,
 * easgd-sync, gossip-*, push-sum: @step is no positive number or not the same on all ranks, a
 * weight is not finite or too large; stores: no room; all but the first of these on all ranks
 * alike), GAGG_ERR_NOMEM, GAGG_ERR_BUSY, or why rank 0's weights have not come.
 */
int gagg_replica_create(struct gagg_comm *comm, float *weights, size_t count,
			double step, struct gagg_replica **replica);

/**
 * gagg_replica_step() - add an update, and exchange weights when it is time
 * @replica:	replica
 * @weights:	this rank's weights, as the last call left them
 * @update:	what to add to them, such as the gradient times minus the rate
 *
 * localsgd: at every TAU-th step the weights become the mean of all ranks'. easgd-sync: at every
 * TAU-th step the weights are moved towards the centre, and the centre towards them; easgd: the
 * same, without waiting for other ranks. hpsgd: an all-reduce of updates is under way. When it is
 * done, all ranks add its mean, at the same step, to the weights of its start; updates since then
 * are part of the next all-reduce. gossip-*, push-sum: at every TAU-th step the weights are
 * exchanged with another rank's.
 *
 * Return: 0; GAGG_ERR_INVALID (easgd, easgd-sync, gossip-*, push-sum: a weight is not finite, or
 * beyond the limit of gagg_replica_create(); gossip-push: too many replicas were sent; easgd: the
 * centre is beyond the limit, nothing was exchanged, and this replica never exchanges again. The
 * other ranks wait for this one, at the latest in gagg_replica_finish(), until it calls
 * gagg_abort()); GAGG_ERR_BUSY (the weights have not changed); GAGG_ERR_TIMEOUT (stores); or why
 * the epoch has ended.
 */
int gagg_replica_step(struct gagg_replica *replica, float *weights, const float *update);

/**
 * gagg_replica_state() - average what an updater remembers along with the weights
 * @replica:	replica
 * @state:	@count elements of float32, such as momentum; receives those of rank 0. It is
 *		read and written in gagg_replica_step() and gagg_replica_finish(), and must stay
 *		valid until gagg_replica_free()
 * @count:	elements, at least 1; the same on all ranks
 *
 * localsgd: @state becomes the mean of all ranks' whenever the weights do. With TAU = 1, and with
 * all states of an updater averaged, training is that of averaged gradients, but for rounding, if
 * the updater is linear in state and gradient (momentum). A replica has at most four states.
 *
 * Collective, after the same number of steps, in the same order.
 *
 * Return: 0; GAGG_ERR_UNSUPPORTED (another sync mode); GAGG_ERR_INVALID (no elements, or too many
 * states); GAGG_ERR_NOMEM; GAGG_ERR_BUSY; GAGG_ERR_CLOSED; or why rank 0's state has not come.
 */
int gagg_replica_state(struct gagg_replica *replica, float *state, size_t count);

/**
 * gagg_replica_samples() - tell how many samples the next update was learned from
 * @replica:	replica
 * @samples:	how many, such as gagg_batch_next() has returned; they add up until the next
 *		mean, where they are at most (2^31 - 1) / ranks
 *
 * localsgd: in a mean each rank then counts by its samples since the last one; if no rank has any,
 * all count alike. With TAU = 1 and updates that are the gradients' mean over a rank's own samples
 * the weights move by the mean over all samples. All ranks call it before their first mean, or none
 * does.
 *
 * Return: 0; GAGG_ERR_UNSUPPORTED (another sync mode); GAGG_ERR_INVALID (too many);
 * GAGG_ERR_NOMEM; GAGG_ERR_BUSY; GAGG_ERR_CLOSED. A rank that does not call it although others do
 * ends the epoch in the mean: GAGG_ERR_DESYNC.
 */
int gagg_replica_samples(struct gagg_replica *replica, uint32_t samples);

/**
 * gagg_replica_finish() - the common weights of all ranks
 * @replica:	replica; training may go on afterwards
 * @weights:	receives the mean or (easgd, easgd-sync) the centre, bit for bit the same
 *		on all ranks
 *
 * Collective, after the same number of steps.
 *
 * Return: as gagg_replica_step().
 */
int gagg_replica_finish(struct gagg_replica *replica, float *weights);

/**
 * gagg_replica_centre() - the centre of elastic averaging, as this rank knows it
 * @replica:	replica
 * @weights:	receives it
 *
 * easgd-sync: after the last exchange, the same bits on all ranks that have made as many. easgd: as
 * this rank has read it last, in its last exchange, with what it has added then; others may have
 * added since. Before the first exchange it is the weights of gagg_replica_create(), rounded to
 * steps. The authors of elastic averaging evaluate the centre, not a replica. Sends nothing: each
 * rank may call it whenever it likes.
 *
 * Return: 0; GAGG_ERR_UNSUPPORTED (another sync mode); GAGG_ERR_INVALID (easgd: the centre has gone
 * beyond the limit of gagg_replica_create(), and this rank does not know where it is);
 * GAGG_ERR_BUSY; GAGG_ERR_CLOSED; or why the epoch has ended.
 */
int gagg_replica_centre(const struct gagg_replica *replica, float *weights);

/**
 * gagg_replica_free() - free a replica
 * @replica:	replica; NULL: nothing happens
 *
 * To be called after gagg_replica_finish(), or when the communicator has failed; before
 * gagg_finalize() and gagg_abort(). After gagg_reattach() the replica can only be freed: other
 * calls return GAGG_ERR_CLOSED. Its place in the store (easgd, gossip-*, push-sum) becomes free
 * with the communicator.
 */
void gagg_replica_free(struct gagg_replica *replica);

#ifdef __cplusplus
}
#endif

#endif /* GAGG_LIB_REPLICA_H */
