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
int op_run(struct gagg_request *r, unsigned int waits);

/*
 * Agree with the other ranks on one exponent per chunk of @r, which is a sum
 * and not started: sets @r->tries.
 */
int op_agree(struct gagg_request *r);

#endif
