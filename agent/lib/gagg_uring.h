/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * libgagg: waiting for a request by io_uring. Requires <linux/io_uring.h> only; liburing uses the
 * same struct io_uring_sqe.
 */
#ifndef GAGG_URING_H
#define GAGG_URING_H

#include <linux/io_uring.h>
#include <gagg.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * gagg_prep_wait() - make an entry that completes when a request can go on
 * @sqe:	entry to be filled; user_data does not change
 * @req:	request in flight. It must not be freed before io_uring_enter()
 *		has taken the entry; one entry at a time
 *
 * The entry completes with 0 when the request is done, or, if the operation is longer than the
 * ring, when it is time to go on with it. It completes with a negative errno once the epoch has
 * ended. Then call gagg_test(): if the request is not done, this has given the kernel more to do,
 * and another entry can be made.
 *
 * Return: 0; GAGG_ERR_INVALID: the request is done already, call gagg_test(); or
 * GAGG_ERR_UNSUPPORTED: this is a session of gagg-twin, the aggregator in userspace.
 */
int gagg_prep_wait(struct io_uring_sqe *sqe, struct gagg_request *req);

#ifdef __cplusplus
}
#endif

#endif /* GAGG_URING_H */
