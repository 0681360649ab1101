/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A communicator: a channel, the ranks on it, the requests in flight.
 *
 * It belongs to one thread at a time, and also to a thread of the library (progress.h) while its
 * requests need more than the kernel. @lock guards what both access: the cursors, the queue of
 * requests and its contents, @refused, @asleep, @stop. All else belongs to the calling thread,
 * which is in @caller (atomic). No thread sleeps while it holds @lock, except on @moved.
 *
 * Three cursors run over the channel's virtual chunks, all private copies:
 * taken <= filled <= cursor. Chunks below @taken have been read, those below
 * @filled are in the ring, those below @cursor belong to a request. Filling
 * stays below taken + ring.
 */
#ifndef GAGG_COMM_H
#define GAGG_COMM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "error.h"
#include "gagg.h"
#include "known.h"
#include "region.h"
#include "session.h"

/**
 * struct gagg_comm - see above
 * @session: shared with other communicators
 * @next: in the session's list
 * @known: entry in the process's list
 * @region: the channel's memory
 * @size: ranks
 * @rank: this rank in the communicator
 * @ranks: group's rank by rank
 * @lock: see above
 * @moved: signalled when a thread has come back from the kernel, or there is something to do
 * @caller: the program's thread that is in a call, by comm_enter(); NULL: none
 * @calls: calls that @caller has entered and not left: some calls make others
 * @helper: the library's thread, if @helped
 * @helped: there is one
 * @stop: the library's thread must end
 * @asleep: a thread waits in the kernel; one at a time
 * @refused: negative errno that ended a submission or a wait, for the calling thread to handle
 * @cursor: first virtual chunk of the next request
 * @filled: first one not in the ring
 * @taken: first one whose result was not read
 * @first: oldest request in flight
 * @last: newest
 * @to_fill: oldest request with chunks that are not in the ring
 * @to_submit: oldest request that was not submitted to the kernel
 * @finished: requests that have ended, and were not freed by the user yet
 * @epochs: number of epochs that it has been in
 * @placed: bytes of tensors by home, of communicators that gagg_comm_tensor() has made of this one
 * @tables: tables of the store, by ascending chunks
 * @old_tables: tables of the stores of earlier epochs
 * @store_op: last op on the store
 * @store_clock: clocks of this rank
 * @store_reads: reads that no call has waited for
 * @store_waited: ns for ops on the store, since the last gagg_clock()
 * @store_pace: number of gagg_clock() since the first, and their time without that wait
 * @failed: enum gagg_error that ended the communicator; GAGG_OK
 * @failure: the kernel's reason, if there is one
 * @result: result of the last operation
 * @scratch: exponents of a call without a plan
 * @scratch_size: its bytes
 * @error: last sentence
 */
struct gagg_comm {
	struct session *session;
	struct gagg_comm *next;
	struct known known;
	struct region region;
	int size;
	int rank;
	uint8_t ranks[GAGG_RANKS_MAX];
	pthread_mutex_t lock;
	pthread_cond_t moved;
	const void *caller;
	unsigned int calls;
	pthread_t helper;
	bool helped;
	bool stop;
	bool asleep;
	int refused;
	uint64_t cursor;
	uint64_t filled;
	uint64_t taken;
	struct gagg_request *first;
	struct gagg_request *last;
	struct gagg_request *to_fill;
	struct gagg_request *to_submit;
	struct gagg_request *finished;
	uint64_t epochs;
	uint64_t placed[GAGG_RANKS_MAX];
	struct gagg_table *tables;
	struct gagg_table *old_tables;
	uint64_t store_op;
	uint64_t store_clock;
	uint32_t store_reads;
	uint64_t store_waited;
	struct {
		uint64_t last;	/* monotonic ns; 0: none yet */
		uint64_t clocks;
		uint64_t busy;
	} store_pace;
	int failed;
	struct gagg_failure failure;
	struct gagg_result result;
	uint8_t *scratch;
	uint64_t scratch_size;
	char error[ERROR_MAX];
};

/* lanes of floating-point sums in one of 32 bits: the group's wire format */
static inline uint32_t comm_packed(const struct gagg_comm *c)
{
	uint32_t flags = c->region.geo.flags;

	return flags & GAGG_GEO_INT16 ? 2 : flags & GAGG_GEO_INT8 ? 4 : 1;
}

/* such lanes (elements) in a chunk */
static inline uint32_t comm_float_lanes(const struct gagg_comm *c)
{
	return c->region.geo.lanes * comm_packed(c);
}

/* Set the sentence; returns @code. */
int comm_error(struct gagg_comm *c, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The thread's sentence (error.h) becomes the sentence of @c, whose call has failed; returns @code.
 */
int comm_error_take(struct gagg_comm *c, int code);

/* End @c: requests in flight fail with @code, so do later calls. Returns it. */
int comm_fail(struct gagg_comm *c, int code);

/* The error that a call on @c must return at once, or GAGG_OK. */
int comm_check(struct gagg_comm *c);

/*
 * The same for a call on an object that was made in epoch number @at of @c; @what: "table",
 * "replica", "batch". The library counts epochs itself, since a group that is made anew numbers
 * from the start.
 */
int comm_check_epoch(struct gagg_comm *c, uint64_t at, const char *what);

/*
 * Begin and end of a call on @c. comm_enter() returns GAGG_OK, or GAGG_ERR_BUSY if another thread
 * is in a call: then nothing has changed, only this thread gets the sentence, and comm_exit() must
 * not be called. NULL: a request whose communicator was freed.
 */
int comm_enter(struct gagg_comm *c);
void comm_exit(struct gagg_comm *c);

/* After session_lost(): ends @c, whose memory and thread belong to the parent process. */
void comm_lose(struct gagg_comm *c);

/* Ends @c because an operation had no end within the timeout; the sentence names it. */
int comm_fail_late(struct gagg_comm *c);

/*
 * A wait of @timeout_ms has timed out, and the operation goes on: sets a sentence. Returns
 * GAGG_ERR_TIMEOUT.
 */
int comm_wait_late(struct gagg_comm *c, int timeout_ms);

/*
 * session_tell() about the operation that @c waits for, unless the session has told of one. No lock
 * held.
 */
void comm_tell_late(struct gagg_comm *c);

/* Ends @c because its epoch is over, according to the kernel. */
int comm_fail_epoch(struct gagg_comm *c);

/* A new communicator of @geo; or NULL, and the thread has a sentence. */
struct gagg_comm *comm_new(struct session *s, const struct gagg_geometry *geo,
			   int *err);

/* Map @geo, start at virtual chunk 0. */
int comm_map(struct gagg_comm *c, const struct gagg_geometry *geo);

/* Free it with its requests. */
void comm_delete(struct gagg_comm *c);

/* gagg_init() with the session that broker_open() has opened as @cfg says, which it owns */
int comm_join(struct gagg_comm **comm, int fd, const struct gagg_config *cfg);

#endif
