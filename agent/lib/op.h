/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Making requests.
 */
#ifndef GAGG_OP_H
#define GAGG_OP_H

#include "request.h"

/* A request that is not started yet: free() it on error. NULL and *@err. */
struct gagg_request *op_new(struct gagg_comm *c, enum gagg_kind kind,
			    const struct transfer *how, uint8_t laneop, int *err);

/* Cut it into chunks: @parts parts of @length lanes, both > 0. */
int op_cut(struct gagg_request *r, uint64_t parts, uint64_t length);

/* Start it and wait for its end, within the session's time; @r is freed. */
int op_run(struct gagg_request *r);

/*
 * Agrees with the other ranks on one exponent per chunk of @r, a sum that was not started: sets
 * @r->tries.
 */
int op_agree(struct gagg_request *r);

/**
 * struct op_mean - a mean over samples, with different numbers of samples on ranks
 * @samples: samples of this rank
 * @total: receives the samples of all ranks
 * @req: request for that sum, while it is in flight
 */
struct op_mean {
	int32_t samples;
	int32_t total;
	struct gagg_request *req;
};

/**
 * struct op_reduction - a reduction, as its caller asks for it
 * @kind: all-reduce, which has one part, or reduce-scatter, which has a part for each rank
 * @dtype: of elements
 * @op: operator
 * @send: elements of all parts
 * @recv: receives those of this rank's part
 * @count: elements of a part
 * @plan: or NULL
 * @by: the mean is over these samples; NULL: over ranks
 *
 * Buffers, @plan and @by are the caller's until the request ends.
 */
struct op_reduction {
	enum gagg_kind kind;
	enum gagg_dtype dtype;
	enum gagg_op op;
	const void *send;
	void *recv;
	size_t count;
	struct gagg_plan *plan;
	struct op_mean *by;
};

/*
 * gagg_allreduce() of sums, divided by all ranks' samples: @a->by. Their number is summed
 * by an op of its own, just ahead: requests end in order, so the number is there
 * when the first sum is read, which is divided before it is rounded.
 */
int op_mean_by(struct gagg_comm *c, const struct op_reduction *a);

#endif
