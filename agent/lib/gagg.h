/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * libgagg: collectives that the kernel carries out.
 *
 * Ranks of a group exchange and reduce buffers. The library turns elements into
 * fixed-point lanes in memory that the kernel reads (agent/lib/quant.h), one
 * system call starts an operation, and from there on the kernel sends, adds and
 * repeats without the caller: an operation in flight needs no thread.
 *
 * Here are communicators and collectives, and how errors are told; with them come
 * gagg_table.h, gagg_replica.h and gagg_batch.h.
 *
 * Longer than 600 lines: four fifths are the contract of each call.
 *
 * Calls are collective: every rank of a communicator makes the same calls with
 * the same arguments in the same order. Ranks that do not are told so by name
 * (GAGG_ERR_DESYNC) instead of hanging.
 *
 * Errors. Functions that return int return 0 or a negative enum gagg_error; gagg_last_error() has
 * it as a sentence. GAGG_ERR_INVALID, _UNSUPPORTED, _NOMEM and _BUSY leave everything as it was.
 * All others of an operation end the communicator: operations in flight fail, their receive buffers
 * hold unspecified values, later calls return the same error, until gagg_reattach() or
 * gagg_abort(). The library never ends the process. If a process gives up because the time of a
 * blocking call is over, and calls exit() without gagg_abort(), its rank has left in order. If it
 * ends in any other way, the other ranks get the error that the rank died.
 *
 * A process that has waited for ten seconds for others to join, or for an operation, gets a message
 * once on the error output, whatever its timeout is. It names the ranks that have not joined, or
 * the operation and the ranks that have not contributed to it. A process that has waited for a
 * quarter of a second or longer until its timeout gets the message as well. If a read of a table
 * waits for ranks that are furthest behind, they are named, provided that the host holds a part of
 * the table. A contribution that was sent and lost counts as not contributed.
 *
 * Threads. A communicator, and all that belongs to it (requests, plans, tables, replicas, batches),
 * belong to one thread at a time: while one is in a collective, in gagg_wait() or gagg_test(), or
 * in a call on a table, a replica or a batch, such calls of a second one return GAGG_ERR_BUSY. Some
 * functions do not notice another thread, so the caller must not call them while one is in a call:
 * gagg_cache(), gagg_cache_hits(), gagg_staleness(), gagg_batch_computed(), gagg_batch_free(),
 * gagg_plan_create(), gagg_plan_feedback(), gagg_prep_wait() and gagg_last_result().
 * gagg_replica_free() never returns GAGG_ERR_BUSY: it waits for the replica's operation. Different
 * communicators may be used by different threads at once, those of one gagg_init() too: what they
 * share (the file, the list of communicators, channel numbers) is locked inside. gagg_finalize(),
 * gagg_abort() and gagg_reattach() concern all communicators that were split from theirs: no other
 * thread may be in a call on one of them. gagg_finalize() and gagg_reattach() return GAGG_ERR_BUSY
 * if a thread is in one of the calls that return it.
 *
 * After fork() the parent is the rank. In the child calls return GAGG_ERR_CLOSED; gagg_finalize(),
 * gagg_abort() and gagg_comm_free() free memory and do nothing else. A signal that a thread handles
 * ends no call: a program that handles SIGINT by setting a flag, as Python does, sees it only when
 * the call ends, so SIG_DFL is better, or gagg_wait() with a short time again and again.
 *
 * Results are bit-identical on every rank and depend on the contributions only,
 * not on the order in which they arrive. See Documentation/numerics.md for the
 * error bound of sums.
 */
#ifndef GAGG_H
#define GAGG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** GAGG_RANK_ANY - as gagg_config.rank: the lowest free worker of this host */
#define GAGG_RANK_ANY		UINT32_MAX
/** GAGG_COLOR_NONE - as color of gagg_comm_split(): be in no new communicator */
#define GAGG_COLOR_NONE		(-1)
/** GAGG_FOREVER - as timeout: none */
#define GAGG_FOREVER		(-1)

/**
 * enum gagg_error - what functions return
 * @GAGG_OK:		success
 * @GAGG_ERR_INVALID:	an argument is wrong; nothing was started
 * @GAGG_ERR_UNSUPPORTED: this element type and operator, or this group, are not
 *			supported; nothing was started
 * @GAGG_ERR_NOMEM:	no memory; nothing was started
 * @GAGG_ERR_BUSY:	in use by an operation in flight, or by a call of another thread;
 *			nothing was started
 * @GAGG_ERR_TIMEOUT:	the timeout has passed. From gagg_wait(), which leaves the request: the
 *		operation goes on; from any other function: the communicator has ended
 * @GAGG_ERR_BROKER:	gaggd does not answer, or refuses
 * @GAGG_ERR_MISMATCH:	a host has another configuration of the group
 * @GAGG_ERR_PEER:	the epoch has ended: gagg_failure() tells why
 * @GAGG_ERR_DESYNC:	the epoch has ended: two ranks made different calls
 * @GAGG_ERR_CLOSED:	the communicator belongs to an epoch that was left
 * @GAGG_ERR_SYSTEM:	a system call failed; gagg_last_error() names it
 */
enum gagg_error {
	GAGG_OK			= 0,
	GAGG_ERR_INVALID	= -1,
	GAGG_ERR_UNSUPPORTED	= -2,
	GAGG_ERR_NOMEM		= -3,
	GAGG_ERR_BUSY		= -4,
	GAGG_ERR_TIMEOUT	= -5,
	GAGG_ERR_BROKER		= -6,
	GAGG_ERR_MISMATCH	= -7,
	GAGG_ERR_PEER		= -8,
	GAGG_ERR_DESYNC		= -9,
	GAGG_ERR_CLOSED		= -10,
	GAGG_ERR_SYSTEM		= -11
};

/**
 * enum gagg_dtype - element types
 * @GAGG_FLOAT32:	IEEE 754 binary32
 * @GAGG_FLOAT16:	IEEE 754 binary16
 * @GAGG_BFLOAT16:	upper half of a binary32
 * @GAGG_INT32:		two's complement; sums wrap, see gagg_result.overflow
 * @GAGG_INT64:		two's complement; sums, modulo 2^64, and elements of tables
 * @GAGG_FLOAT64:	IEEE 754 binary64; elements of tables only
 * @GAGG_BYTE:		any bytes; what all-gather and broadcast move, not
 *			reducible
 *
 * In the machine's byte order, any alignment.
 */
enum gagg_dtype {
	GAGG_FLOAT32	= 1,
	GAGG_FLOAT16	= 2,
	GAGG_BFLOAT16	= 3,
	GAGG_INT32	= 4,
	GAGG_BYTE	= 5,
	GAGG_INT64	= 6,
	GAGG_FLOAT64	= 7
};

/**
 * enum gagg_op - operators
 * @GAGG_SUM:	sum. Floating point: of values rounded to block fixed point
 * @GAGG_MEAN:	sum divided by the number of ranks that contributed to it, rounded once; floating
 *		point
 * @GAGG_MIN:	smallest, exact; -0 is below +0
 * @GAGG_MAX:	largest, exact
 *
 * NaN in any contribution (sums: infinity, too) makes NaN of every element of
 * its chunk of the result, a few hundred elements (gagg_wire() has more), and
 * gagg_result.nonfinite_rank names the lowest rank that had it.
 */
enum gagg_op {
	GAGG_SUM	= 1,
	GAGG_MEAN	= 2,
	GAGG_MIN	= 3,
	GAGG_MAX	= 4
};

struct gagg_comm;
struct gagg_plan;
struct gagg_request;

/**
 * struct gagg_config - how to join
 * @size:	sizeof(struct gagg_config)
 * @rank:	rank that the caller becomes, or GAGG_RANK_ANY
 * @group:	name of the group, as given to "gaggctl group create"
 * @socket:	where gaggd listens; NULL: $GAGG_SOCKET (ignored in a program with more rights than
 *		its caller), or /run/gagg/gaggd.sock
 * @timeout_ms:	longest wait for the other ranks to join, and longest duration of each blocking
 *		call, in milliseconds. 0: $GAGG_TIMEOUT_MS, where 0 means no limit, or ten minutes
 *		if that is not set; GAGG_FOREVER: no limit
 */
struct gagg_config {
	size_t size;
	uint32_t rank;
	const char *group;
	const char *socket;
	int timeout_ms;
};

/**
 * struct gagg_result - facts about a completed operation
 * @contributors:	fewest ranks that are in any chunk of the result; 0 for
 *			an operation of no elements
 * @nonfinite_rank:	lowest rank of the group that contributed NaN (or, to a
 *			sum, infinity); -1: none
 * @overflow:		not 0: a sum of GAGG_INT32 may have wrapped. A warning: 0
 *			is a proof that it has not. Sums of GAGG_INT64: always 0
 * @late:		chunks of the result (some hundred elements each, see gagg_wire()) that were
 *		complete without this rank's contribution; 0 unless the sync mode has a quorum
 *
 * For a reduce-scatter the facts are about the rank's own part.
 */
struct gagg_result {
	uint32_t contributors;
	int32_t nonfinite_rank;
	int overflow;
	uint64_t late;
};

/**
 * struct gagg_failure - why an epoch has ended
 * @reason:	enum gagg_reason of <linux/gagg_wire.h>; 0: it has not
 * @rank:	rank of the group that the reason is about
 * @other:	GAGG_ERR_DESYNC: rank that @rank disagrees with
 * @epoch:	number of the epoch
 */
struct gagg_failure {
	uint32_t reason;
	uint32_t rank;
	uint32_t other;
	uint64_t epoch;
};

/* --- joining and leaving -------------------------------------------------- */

/**
 * gagg_init() - become a rank of a group
 * @comm:	receives the communicator of all ranks; NULL on error
 * @cfg:	how; copied
 *
 * Asks gaggd for a session, joins, and waits until every worker of the group
 * has joined.
 *
 * Return: 0, GAGG_ERR_BROKER, _MISMATCH, _PEER, _TIMEOUT, _NOMEM, _INVALID, _SYSTEM;
 * GAGG_ERR_UNSUPPORTED: libgagg and the module, or gagg-twin, are of versions that do not
 * understand each other. gagg_last_error(NULL) has the sentence.
 */
int gagg_init(struct gagg_comm **comm, const struct gagg_config *cfg);

/**
 * gagg_init_fd() - as gagg_init(), with a session that is already open
 * @comm:	receives the communicator of all ranks; NULL on error
 * @fd:		file of /dev/gagg bound to a rank. The library owns it from now on, also after an
 *		error
 * @timeout_ms:	as in struct gagg_config
 *
 * Return: as gagg_init().
 */
int gagg_init_fd(struct gagg_comm **comm, int fd, int timeout_ms);

/**
 * gagg_open_rank() - open a session without gaggd
 * @group:	name of a group in the caller's network namespace
 * @rank:	rank that the caller becomes; must be a worker of this host
 *
 * Needs CAP_NET_ADMIN.
 *
 * Return: a file descriptor for gagg_init_fd(), or a negative enum gagg_error.
 */
int gagg_open_rank(const char *group, uint32_t rank);

/**
 * gagg_finalize() - leave when all ranks are done
 * @comm:	from gagg_init(); freed unless GAGG_ERR_BUSY is returned. NULL: nothing happens
 *
 * A barrier, then the session is closed. Communicators that were split from @comm can only be freed
 * afterwards. Requests in flight end. Requests that were not waited for can still be waited for;
 * each keeps some hundred bytes until then. Plans remain.
 *
 * Return: 0, also if a rank has left during the barrier, even if it has given up
 * (GAGG_ERR_TIMEOUT): a rank that has made all calls does not learn of that. GAGG_ERR_BUSY: another
 * thread is in a call. GAGG_ERR_INVALID: @comm was freed before (see gagg_comm_free()). Otherwise
 * the error of the barrier. gagg_last_error(NULL) has the sentence.
 */
int gagg_finalize(struct gagg_comm *comm);

/**
 * gagg_abort() - leave at once
 * @comm:	from gagg_init(); freed. NULL, or freed before: nothing happens
 *
 * The epoch ends for all ranks. Waits for no other process.
 */
void gagg_abort(struct gagg_comm *comm);

/**
 * gagg_reattach() - join again after a failure
 * @comm:	from gagg_init()
 *
 * Waits until every worker has joined the next epoch. Requests in flight have failed. Communicators
 * that were split from @comm return GAGG_ERR_CLOSED; they have to be freed and split again. Calls
 * on tables, replicas and batches return it, too; these have to be created again. Plans stay valid,
 * but forget their exponents if the group's lanes have changed. If the gagg-twin of this host was
 * started again, this opens a new session, as gagg_init() does, and gagg_fd() returns another
 * descriptor.
 *
 * Return: as gagg_init(). After an error it may be called again.
 */
int gagg_reattach(struct gagg_comm *comm);

/* --- communicators -------------------------------------------------------- */

/**
 * gagg_rank() - the caller's rank in @comm
 * @comm:	communicator
 * Return: 0 to gagg_size() - 1.
 */
int gagg_rank(const struct gagg_comm *comm);

/**
 * gagg_size() - number of ranks in @comm
 * @comm:	communicator
 * Return: 1 to 64.
 */
int gagg_size(const struct gagg_comm *comm);

/**
 * gagg_group_rank() - rank of the group behind a rank of @comm
 * @comm:	communicator
 * @rank:	0 to gagg_size() - 1
 *
 * Sentences, struct gagg_result and struct gagg_failure use the group's ranks.
 *
 * Return: the rank, or GAGG_ERR_INVALID.
 */
int gagg_group_rank(const struct gagg_comm *comm, int rank);

/**
 * gagg_sync() - sync mode of the group
 * @comm:	communicator
 * Return: as "gaggctl group create" accepts it, such as "ssp:4"; of an algorithm over rounds
 * that this library does not know, such as "rounds-0x85:3". Valid until gagg_reattach() and as
 * long as the communicator.
 */
const char *gagg_sync(const struct gagg_comm *comm);

/**
 * gagg_wire() - the wire format of floating-point sums in the group
 * @comm:	communicator
 *
 * The elements of a chunk share an exponent and become NaN together. With 32 bits a chunk has as
 * many elements as the group has lanes (344 unless "lanes" is set; at most 2240). With 16 bits a
 * chunk of a sum or mean has twice as many elements, with 8 bits four times: one NaN spreads to up
 * to 688 or 1376 elements; with the most lanes to 4480 or 8960.
 *
 * Return: bits of a lane: 32, or 16 or 8 with "wire int16" or "wire int8" of "gaggctl
 * group create".
 */
int gagg_wire(const struct gagg_comm *comm);

/**
 * gagg_fd() - file descriptor of the session
 * @comm:	any communicator of it
 *
 * Readable when operations have completed, as an eventfd is: read() of 8 bytes
 * returns how many since the last one, and rearms it. Then gagg_test().
 *
 * When the epoch ends the descriptor hangs up: read() fails with EPIPE, after it has returned the
 * operations that were completed before.
 *
 * In a session of gagg-twin, the aggregator in userspace, operations count from the first call of
 * this function on, a read may return a part of them, and the end of the epoch is a read that
 * returns 0 operations.
 *
 * Return: a descriptor that the library still owns; GAGG_ERR_CLOSED in a forked child.
 */
int gagg_fd(const struct gagg_comm *comm);

/**
 * gagg_comm_split() - divide a communicator
 * @comm:	communicator; all its ranks call
 * @color:	ranks of one color get one new communicator; negative: none
 * @key:	orders the ranks of the new one; equal keys: by rank in @comm
 * @newcomm:	receives it, or NULL for a negative @color
 *
 * Return: 0 or an error.
 */
int gagg_comm_split(struct gagg_comm *comm, int color, int key,
		    struct gagg_comm **newcomm);

/**
 * gagg_comm_tensor() - make a communicator for the operations on one tensor
 * @comm:	communicator; all its ranks call, for the same tensors in the same order
 * @bytes:	size of the tensor, the same on all ranks
 * @newcomm:	receives it: the ranks of @comm in their order
 *
 * With "placement tensor" of the group all chunks of a communicator have one home, the baseline of
 * parameter servers that place whole variables. This call chooses the home that has the fewest
 * bytes of tensors of @comm so far, those that were freed too (a tensor at a time, as TensorFlow's
 * GreedyLoadBalancingStrategy; in descending order of size it is Graham's LPT rule, 1969). If all
 * numbers of channels with that home are given away, it is another. The home of a communicator of
 * gagg_comm_split() follows from its number, in turn. With another placement the call is
 * gagg_comm_split() with one color.
 *
 * Return: 0 or an error.
 */
int gagg_comm_tensor(struct gagg_comm *comm, uint64_t bytes, struct gagg_comm **newcomm);

/**
 * gagg_comm_free() - free a communicator of gagg_comm_split() or gagg_comm_tensor()
 * @comm:	communicator; NULL: nothing happens
 *
 * Return: 0; GAGG_ERR_BUSY: operations are in flight, or another thread is in a call;
 * GAGG_ERR_INVALID: @comm is from gagg_init(), or was freed before (gagg_last_error(NULL)). The
 * latter is noticed as long as no new communicator has the same address.
 */
int gagg_comm_free(struct gagg_comm *comm);

/* --- collectives ---------------------------------------------------------- */

/**
 * gagg_plan_create() - remember exponents between calls
 * @comm:	communicator that the plan will be used with
 * @count:	elements of the all-reduce; of a reduce-scatter: @recvcount times
 *		gagg_size()
 * @dtype:	a floating-point type
 * @plan:	receives the plan
 *
 * For a buffer that is summed again and again, such as gradients. The exponents of the next call
 * are predicted from the last result, which saves an exchange that blocking calls otherwise need.
 * All ranks use a plan, or none does. One operation at a time.
 *
 * Return: 0, GAGG_ERR_NOMEM, _INVALID, _UNSUPPORTED.
 */
int gagg_plan_create(struct gagg_comm *comm, size_t count,
		     enum gagg_dtype dtype, struct gagg_plan **plan);

/**
 * gagg_plan_feedback() - send the error of quantising with the next call
 * @comm:	communicator of the plan
 * @plan:	from gagg_plan_create(), not in use by a request in flight
 * @residual:	as many elements as the plan has; at first zero, or as saved before. The caller owns
 *		it, and keeps it until gagg_plan_free(); it may be read, saved and written between
 *		operations
 *
 * From now on an operation with @plan sends the elements plus @residual. It leaves in @residual the
 * part that did not enter the sum as this rank's contribution (error feedback: Seide et al. 2014,
 * Karimireddy et al. 2019). So over all steps the sum of contributions differs from the sum of
 * elements by @residual, one step's error, and by the roundings of @residual itself to float32:
 * with wire int16 and int8, in each step less than 2^-23 of the value of a lane of 1. @sendbuf must
 * not change until the operation has ended. If a rank has NaN or infinity in a chunk, or elements
 * plus @residual beyond float32 (which counts as infinity), its residual of that chunk does not
 * change. For groups with wire int16 or int8; in others the error is below that of float32.
 *
 * If rounds do not wait for all ranks (a quorum): with CARRY 1 the whole of a contribution that
 * came too late is left in @residual, and this call adds to @residual what @plan has kept of
 * earlier operations. With CARRY 0 such a contribution is dropped, and @residual does not change.
 *
 * The error of narrowing a sum to the width of its contributions is the same on all ranks, and is
 * not kept: see Documentation/numerics.md.
 *
 * Return: 0, GAGG_ERR_INVALID, _BUSY.
 */
int gagg_plan_feedback(struct gagg_comm *comm, struct gagg_plan *plan, float *residual);

/**
 * gagg_plan_free() - free a plan
 * @plan:	freed; NULL: nothing happens
 *
 * Return: 0; GAGG_ERR_BUSY: a request in flight uses the plan, nothing has changed: wait for the
 * request first; or GAGG_ERR_INVALID: the plan was freed before, and no other plan has its address.
 * gagg_last_error(NULL) has the sentence.
 */
int gagg_plan_free(struct gagg_plan *plan);

/**
 * gagg_allreduce() - reduce elementwise, result to all
 * @sendbuf:	@count elements
 * @recvbuf:	@count elements; may be @sendbuf, must not overlap it otherwise
 * @count:	elements; the same on all ranks
 * @dtype:	GAGG_FLOAT32, _FLOAT16, _BFLOAT16: all operators; GAGG_INT32: all
 *		but GAGG_MEAN; GAGG_INT64: GAGG_SUM, modulo 2^64
 * @op:		operator
 * @comm:	communicator
 * @plan:	for sums and means of floating point, or NULL
 *
 * For up to one ring of data (64 MiB by default) a call makes at most two system calls, and one of
 * them sleeps. For each ring beyond that it makes at most four more.
 *
 * Without a plan, blocking sums of floating point first exchange one byte per chunk, with two calls
 * more, so that all ranks use one exponent from the start; on non-blocking calls each rank uses its
 * own exponents, and the kernel aligns them. So without a plan the blocking form on one rank does
 * not match the non-blocking form on another.
 *
 * Return: 0 or an error.
 */
int gagg_allreduce(const void *sendbuf, void *recvbuf, size_t count,
		   enum gagg_dtype dtype, enum gagg_op op,
		   struct gagg_comm *comm, struct gagg_plan *plan);

/**
 * gagg_reduce_scatter() - reduce elementwise, one part of the result to each rank
 * @sendbuf:	gagg_size() times @recvcount elements, part after part
 * @recvbuf:	@recvcount elements: part gagg_rank(). May be the start of
 *		@sendbuf, or that part's place in it, must not overlap it otherwise
 * @recvcount:	elements of a part
 * @dtype:	as gagg_allreduce()
 * @op:		as gagg_allreduce()
 * @comm:	communicator
 * @plan:	as gagg_allreduce()
 *
 * Return: 0 or an error.
 */
int gagg_reduce_scatter(const void *sendbuf, void *recvbuf, size_t recvcount,
			enum gagg_dtype dtype, enum gagg_op op,
			struct gagg_comm *comm, struct gagg_plan *plan);

/**
 * gagg_allgather() - the bytes of all ranks to all ranks
 * @sendbuf:	@sendbytes bytes; may be this rank's place in @recvbuf, must not overlap it
 *		otherwise
 * @sendbytes:	the same on all ranks
 * @recvbuf:	gagg_size() times @sendbytes bytes, by rank
 * @comm:	communicator
 *
 * Return: 0 or an error.
 */
int gagg_allgather(const void *sendbuf, size_t sendbytes, void *recvbuf,
		   struct gagg_comm *comm);

/**
 * gagg_broadcast() - the bytes of one rank to all ranks
 * @buf:	@bytes bytes; read on @root, written elsewhere
 * @bytes:	the same on all ranks
 * @root:	rank in @comm
 * @comm:	communicator
 *
 * Return: 0 or an error.
 */
int gagg_broadcast(void *buf, size_t bytes, int root, struct gagg_comm *comm);

/**
 * gagg_barrier() - return when every rank has called it
 * @comm:	communicator
 * Return: 0 or an error.
 */
int gagg_barrier(struct gagg_comm *comm);

/*
 * The non-blocking forms. They quantise as much as the ring has room for, start the operation and
 * return; then the kernel goes on by itself. The rest of an operation that is longer than the ring,
 * and operations beyond 32 in flight on a communicator, need more work: a thread of the library
 * does it, which handles no signals. So a caller may block anywhere, where MPI allows it to,
 * whatever operations it has in flight. If the system cannot create a thread, the rest waits for
 * the caller's next call on that communicator. Operations of one communicator complete in the order
 * in which they were started. Until a request is done its send buffer must not change and its
 * receive buffer must not be read. On error *req is NULL.
 */

/** gagg_iallreduce() - start gagg_allreduce(); @req receives the request */
int gagg_iallreduce(const void *sendbuf, void *recvbuf, size_t count,
		    enum gagg_dtype dtype, enum gagg_op op,
		    struct gagg_comm *comm, struct gagg_plan *plan,
		    struct gagg_request **req);

/** gagg_ireduce_scatter() - start gagg_reduce_scatter() */
int gagg_ireduce_scatter(const void *sendbuf, void *recvbuf, size_t recvcount,
			 enum gagg_dtype dtype, enum gagg_op op,
			 struct gagg_comm *comm, struct gagg_plan *plan,
			 struct gagg_request **req);

/** gagg_iallgather() - start gagg_allgather() */
int gagg_iallgather(const void *sendbuf, size_t sendbytes, void *recvbuf,
		    struct gagg_comm *comm, struct gagg_request **req);

/** gagg_ibroadcast() - start gagg_broadcast() */
int gagg_ibroadcast(void *buf, size_t bytes, int root, struct gagg_comm *comm,
		    struct gagg_request **req);

/** gagg_ibarrier() - start gagg_barrier() */
int gagg_ibarrier(struct gagg_comm *comm, struct gagg_request **req);

/**
 * gagg_wait() - finish an operation
 * @req:	the request. When the operation has ended it is freed, and *@req becomes NULL. If
 *		*@req is NULL, nothing happens
 * @timeout_ms:	milliseconds; negative: no limit; 0: look once
 *
 * Return: 0 or the error of the operation (GAGG_ERR_CLOSED if its communicator was freed before the
 * operation had ended). Or GAGG_ERR_TIMEOUT, or GAGG_ERR_BUSY if another thread is in a call on the
 * communicator: then the operation goes on, and *@req does not change.
 */
int gagg_wait(struct gagg_request **req, int timeout_ms);

/**
 * gagg_test() - finish an operation if it is done
 * @req:	as gagg_wait()
 * @done:	receives 1 if the operation is complete or has failed, or if *@req is NULL; else 0
 *
 * Usually makes no system call.
 *
 * Return: 0 if not @done, else as gagg_wait().
 */
int gagg_test(struct gagg_request **req, int *done);

/* --- what has happened ---------------------------------------------------- */

/**
 * gagg_last_result() - facts about the last operation
 * @comm:	communicator
 * @res:	receives it
 *
 * The last operation is the one that the last blocking call, gagg_wait() or gagg_test() on @comm
 * has ended.
 */
void gagg_last_result(const struct gagg_comm *comm, struct gagg_result *res);

/**
 * gagg_strerror() - a few words for a code
 * @code:	enum gagg_error
 * Return: a constant string, never NULL.
 */
const char *gagg_strerror(int code);

/**
 * gagg_last_error() - the last error as a sentence
 * @comm:	communicator; or NULL: the error of the calling thread's last gagg_init(),
 *		gagg_finalize() or gagg_open_rank(), of a gagg_plan_free() that refuses, of a
 *		gagg_comm_free() of a communicator that was freed before, or of any call that
 *		returned GAGG_ERR_BUSY because of another thread
 *
 * Such as "rank 2 died (epoch 5 has ended)". If a call returned GAGG_ERR_BUSY because another
 * thread is in one, only the calling thread gets the sentence.
 *
 * Return: the sentence, valid until the next call with the same @comm; "" if there was no error, or
 * (NULL) if that call has succeeded.
 */
const char *gagg_last_error(const struct gagg_comm *comm);

/**
 * gagg_failure() - why the epoch has ended, as numbers
 * @comm:	communicator
 * @f:		receives it
 */
void gagg_failure(const struct gagg_comm *comm, struct gagg_failure *f);

#ifdef __cplusplus
}
#endif

/* these headers use the declarations above */
#include "gagg_batch.h"
#include "gagg_job.h"
#include "gagg_replica.h"
#include "gagg_table.h"

#endif /* GAGG_H */
