/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A request: one operation, from its start to its end.
 *
 * Requests of a communicator are a queue: filled in order, submitted in order, done in order.
 * Waiting for one also moves those before it.
 */
#ifndef GAGG_REQUEST_H
#define GAGG_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include "comm.h"
#include "gagg.h"
#include "partition.h"
#include "plan.h"
#include "quant.h"

struct gagg_request;

/**
 * struct transfer - functions that turn elements into lanes, and lanes into elements
 * @fill: write the contribution to a chunk
 * @take: read the result of a chunk
 * @fill_run: as @fill, for up to @n chunks whose slots are in a row; returns how many it has done;
 *            the caller calls @fill for the next one. NULL: as if it returned 0
 * @take_run: as @take, likewise
 */
struct transfer {
	void (*fill)(const struct gagg_request *r, uint64_t i, int32_t *lanes,
		     struct gagg_cdesc *d);
	void (*take)(struct gagg_request *r, uint64_t i, const int32_t *lanes,
		     const struct gagg_rdesc *d);
	uint32_t (*fill_run)(const struct gagg_request *r, uint64_t i, uint32_t n,
			     unsigned char *lanes, struct gagg_cdesc *d);
	uint32_t (*take_run)(struct gagg_request *r, uint64_t i, uint32_t n,
			     const unsigned char *lanes, const struct gagg_rdesc *d);
};

/**
 * struct gagg_request - see above
 * @next: in the queue, or among the finished
 * @comm: communicator of the queue; NULL: it was freed, see request_leave()
 * @known: entry in the process's list, after that
 * @how: functions for kind, operator and type
 * @cut: chunks
 * @submit: argument for the kernel
 * @send: user's elements; of part p at p * @part_bytes
 * @recv: buffer for results
 * @part_bytes: bytes of a part
 * @dtype: element type
 * @owner: the only rank that contributes to all parts (broadcast), or -1: each
 *	to its own (all-gather)
 * @mean: sums are divided by the number of ranks that are in them
 * @by: not NULL: sums are divided by that number instead, known when the requests before this one
 *      have ended
 * @plan: exponents, or NULL
 * @tries: exponents agreed upon, or NULL
 * @start: first virtual chunk
 * @filled: chunks that are in the ring
 * @taken: chunks whose results were read
 * @done: the request has ended
 * @status: result code, 0 or negative
 * @result: facts for gagg_last_result()
 * @wait: argument of gagg_prep_wait(), which the kernel reads
 */
struct gagg_request {
	struct gagg_request *next;
	struct gagg_comm *comm;
	struct known known;
	const struct transfer *how;
	struct partition cut;
	struct gagg_ioc_submit submit;
	const unsigned char *send;
	unsigned char *recv;
	uint64_t part_bytes;
	enum gagg_dtype dtype;
	int owner;
	bool mean;
	const int32_t *by;
	struct gagg_plan *plan;
	const uint8_t *tries;
	uint64_t start;
	uint64_t filled;
	uint64_t taken;
	bool done;
	int status;
	struct gagg_result result;
	struct gagg_ioc_wait wait;
};

/* lanes.c */
extern const struct transfer transfer_sum;	/* floating point, block fixed point */
extern const struct transfer transfer_order;	/* floating point, as ordered lanes */
extern const struct transfer transfer_int;	/* int32 */
extern const struct transfer transfer_wide;	/* int64 */
extern const struct transfer transfer_copy;	/* bytes of owners */
extern const struct transfer transfer_bytes;	/* bytes of all ranks */
extern const struct transfer transfer_none;	/* nothing: a barrier */

static inline unsigned int dtype_size(enum gagg_dtype t)
{
	switch (t) {
	case GAGG_FLOAT32:
	case GAGG_INT32:
		return 4;
	case GAGG_INT64:
		return 8;
	case GAGG_BYTE:
		return 1;
	default:
		return 2;
	}
}

/* lanes of 32 bits that an element needs; a lane has four bytes */
static inline unsigned int dtype_lanes(enum gagg_dtype t)
{
	return t == GAGG_INT64 ? 2 : 1;
}

/* offset of a piece in its part; a piece has whole elements */
static inline uint64_t piece_offset(const struct gagg_request *r, const struct piece *p)
{
	return p->first / dtype_lanes(r->dtype) * dtype_size(r->dtype);
}

/* elements that this rank contributes to a piece */
static inline const void *piece_source(const struct gagg_request *r, const struct piece *p)
{
	return r->send + p->part * r->part_bytes + piece_offset(r, p);
}

/* of floating point */
static inline enum quant_type quant_type(enum gagg_dtype t)
{
	return t == GAGG_FLOAT32 ? QUANT_F32 : t == GAGG_FLOAT16 ? QUANT_F16 : QUANT_BF16;
}

/*
 * Enqueues @r, fills as much as there is room for (the first window before it submits, so that the
 * kernel begins early), submits. After an error @r has ended.
 */
void request_start(struct gagg_request *r);

/* Fills as many chunks as the ring has room for. */
void request_fill(struct gagg_comm *c);

/* Do requests of @c need a call of request_step() to go on? Lock held. */
bool request_needs(const struct gagg_comm *c);

/*
 * Takes results that are there, submits what the kernel accepts, fills at most @max chunks; true if
 * something moved. Lock held.
 */
bool request_step(struct gagg_comm *c, uint64_t max);

/*
 * After a step in which nothing moved: sleep until @r, which is not done, can go on,
 * for @ns at most. Lock held, and given back meanwhile.
 */
void request_sleep(struct gagg_request *r, uint64_t ns);

/* Work and wait until @r is done; false: @deadline is over before. */
bool request_wait(struct gagg_request *r, uint64_t deadline);

/*
 * Sets in @arg what to sleep for, without a time limit: as many chunks as are worth a wake-up. @r
 * is not done, and request_fill() has nothing to do. Lock held.
 */
void request_wish(const struct gagg_request *r, struct gagg_ioc_wait *arg);

/* gagg_wait() for a caller that is in a call already, or must wait beside another thread. */
int request_finish(struct gagg_request **req, int timeout_ms);

/* @r has ended: its status, its result to the communicator; freed. */
int request_reap(struct gagg_request *r);

/* @r has ended without being started: there was nothing to do. */
void request_skip(struct gagg_request *r);

/* End the first request of the queue. Lock held. */
void request_end(struct gagg_comm *c, int status);

/* Frees a finished request. */
void request_free(struct gagg_request *r);

/*
 * A finished request whose communicator is about to be freed. The caller's handle stays valid until
 * gagg_wait(), which frees it.
 */
void request_leave(struct gagg_request *r);

/*
 * wait_target() - the chunk to sleep for
 * @taken: first chunk that was not read
 * @limit: first chunk that waits for this rank, at most @end
 * @end: end of the operation
 * @ring: chunks in the ring
 *
 * While the operation is longer than the ring, the caller sleeps for a quarter of the ring at a
 * time. Then it sleeps until the end: results that come while it is awake are read at once, but do
 * not wake it.
 *
 * Returns a chunk above @taken, given that @limit is.
 */
uint64_t wait_target(uint64_t taken, uint64_t limit, uint64_t end, uint32_t ring);

#endif
