/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A request: one operation, from its start to its end.
 *
 * Requests of a communicator are a queue: filled in order, submitted in order,
 * done in order. Whoever waits for one moves all that are before it.
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
 * struct transfer - how elements become lanes, and lanes elements
 * @fill: write the contribution to a chunk
 * @take: read the result of a chunk
 * @fill_run: as @fill, of up to @n chunks whose slots are in a row; returns how many
 *	it has done, and leaves the next to @fill. NULL: as if it returned 0
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
 * @comm: whose queue; NULL: it was freed, see request_leave()
 * @known: in the process's, after that
 * @how: by kind, operator and type
 * @cut: chunks
 * @submit: what the kernel is told
 * @send: user's elements; of part p at p * @part_bytes
 * @recv: where results go
 * @part_bytes: bytes of a part
 * @dtype: element type
 * @owner: the only rank that contributes to all parts (broadcast), or -1: each
 *	to its own (all-gather)
 * @mean: sums are divided by the number of ranks that are in them
 * @by: not NULL: by that number instead, once the requests before this have ended
 * @plan: exponents, or NULL
 * @tries: exponents agreed upon, or NULL
 * @start: first virtual chunk
 * @filled: chunks that are in the ring
 * @taken: chunks whose results were read
 * @done: it has ended
 * @status: how
 * @result: what is to be said about it
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
extern const struct transfer transfer_bytes;	/* bytes of everybody */
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

/* lanes of 32 bits that an element takes; bytes are four to a lane */
static inline unsigned int dtype_lanes(enum gagg_dtype t)
{
	return t == GAGG_INT64 ? 2 : 1;
}

/* from the start of its part to a piece, which holds whole elements */
static inline uint64_t piece_offset(const struct gagg_request *r, const struct piece *p)
{
	return p->first / dtype_lanes(r->dtype) * dtype_size(r->dtype);
}

/* what a rank contributes to a piece */
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
 * Enqueue @r, fill what there is room for (the first window before the kernel
 * is told, so that it begins early), submit. An error leaves @r ended.
 */
void request_start(struct gagg_request *r);

/* Put into the ring what there is room for. */
void request_fill(struct gagg_comm *c);

/* Do requests of @c go on only if somebody steps? Lock held. */
bool request_needs(const struct gagg_comm *c);

/*
 * Take what is there, submit what the kernel takes, fill at most @max chunks; true
 * if something moved. Lock held.
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
 * What to sleep for, without a time limit: as much as is worth a wake-up. @r
 * is not done, and request_fill() has nothing to do. Lock held.
 */
void request_wish(const struct gagg_request *r, struct gagg_ioc_wait *arg);

/* gagg_wait() of who is in a call already, or has to wait beside another thread. */
int request_finish(struct gagg_request **req, int timeout_ms);

/* @r has ended: its status, its result to the communicator; freed. */
int request_reap(struct gagg_request *r);

/* @r has ended without being started: there was nothing to do. */
void request_skip(struct gagg_request *r);

/* End the first request of the queue. Lock held. */
void request_end(struct gagg_comm *c, int status);

/* A finished one. */
void request_free(struct gagg_request *r);

/*
 * A finished one, whose communicator is about to go: the caller's handle is good until
 * gagg_wait(), and then it is freed.
 */
void request_leave(struct gagg_request *r);

/*
 * wait_target() - chunk up to which to sleep
 * @taken: first chunk that was not read
 * @limit: first chunk that waits for this rank, at most @end
 * @end: end of the operation
 * @ring: chunks in the ring
 *
 * While the operation is longer than the ring, a quarter of the ring at a time.
 * Then all: what comes while it is awake is read at once, but it is not woken for it.
 *
 * Returns a chunk above @taken, given that @limit is.
 */
uint64_t wait_target(uint64_t taken, uint64_t limit, uint64_t end, uint32_t ring);

#endif
