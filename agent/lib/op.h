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
 * Agree with the other ranks on one exponent per chunk of @r, which is a sum
 * and not started: sets @r->tries.
 */
int op_agree(struct gagg_request *r);

/**
 * struct op_mean - a mean over samples that ranks have different numbers of
 * @samples: of this rank
 * @total: receives those of all
 * @req: the sum of these, while it is under way
 */
struct op_mean {
	int32_t samples;
	int32_t total;
	struct gagg_request *req;
};

/*
 * gagg_allreduce() of sums, divided by all ranks' samples. Their number is summed
 * by an op of its own, just ahead: requests end in order, so the number is there
 * when the first sum is read, which is divided before it is rounded.
 */
int op_mean_by(const void *sum, void *mean, size_t count, enum gagg_dtype dtype,
	       struct gagg_comm *c, struct gagg_plan *plan, struct op_mean *by);

#endif
