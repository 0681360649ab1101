/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * libgagg: collectives that the kernel carries out.
 *
 * Ranks of a group exchange and reduce buffers. The library turns elements into
 * fixed-point lanes in memory that the kernel reads (agent/lib/quant.h), one
 * system call starts an operation, and from there on the kernel sends, adds and
 * repeats without the caller: an operation in flight needs no thread.
 *
 * Calls are collective: every rank of a communicator makes the same calls with
 * the same arguments in the same order. Ranks that do not are told so by name
 * (GAGG_ERR_DESYNC) instead of hanging.
 *
 * Errors. Functions that return int return 0 or a negative enum gagg_error;
 * gagg_last_error() has it as a sentence. GAGG_ERR_INVALID, _UNSUPPORTED,
 * _NOMEM and _BUSY leave everything as it was. All others of an operation end
 * the communicator: operations in flight fail, their receive buffers hold
 * unspecified values, later calls return the same error, until
 * gagg_reattach() or gagg_abort(). The library never ends the process.
 *
 * Threads. A communicator, its requests and its plans belong to one thread at a
 * time. Different communicators may be used by different threads at once, those
 * of one gagg_init() too: what they share (the file, the list of communicators,
 * channel numbers) is locked inside. gagg_finalize(), gagg_abort() and
 * gagg_reattach() concern all communicators that were split from theirs: no
 * other thread may be in a call on one of them. After fork() only the parent
 * may use a communicator.
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
 * @GAGG_ERR_BUSY:	in use by an operation in flight; nothing was started
 * @GAGG_ERR_TIMEOUT:	time is over. gagg_wait(): the request goes on; anything
 *			else: the communicator has ended
 * @GAGG_ERR_BROKER:	gaggd cannot be asked, or refuses
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
	GAGG_INT64	= 6
};

/**
 * enum gagg_op - operators
 * @GAGG_SUM:	sum. Floating point: of values rounded to block fixed point
 * @GAGG_MEAN:	sum divided by the number of ranks that are in it, rounded once;
 *		floating point
 * @GAGG_MIN:	smallest, exact; -0 is below +0
 * @GAGG_MAX:	largest, exact
 *
 * NaN in any contribution (sums: infinity, too) makes NaN of every element of
 * its chunk of the result, a few hundred elements, and
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
 * @rank:	rank to be, or GAGG_RANK_ANY
 * @group:	name of the group, as given to "gaggctl group create"
 * @socket:	where gaggd listens; NULL: $GAGG_SOCKET, or
 *		/run/gagg/gaggd.sock
 * @timeout_ms:	longest wait for the other ranks to join, and longest duration
 *		of each blocking call, in milliseconds; 0 or less: no limit
 */
struct gagg_config {
	size_t size;
	uint32_t rank;
	const char *group;
	const char *socket;
	int timeout_ms;
};

/**
 * struct gagg_result - what is to be said about a completed operation
 * @contributors:	fewest ranks that are in any chunk of the result; 0 for
 *			an operation of no elements
 * @nonfinite_rank:	lowest rank of the group that contributed NaN (or, to a
 *			sum, infinity); -1: none
 * @overflow:		not 0: a sum of GAGG_INT32 may have wrapped. A warning: 0
 *			is a proof that it has not. Sums of GAGG_INT64: always 0
 * @late:		chunks of the result (some hundred elements each) that were
 *			complete before this rank's contribution came; 0 unless the
 *			sync mode has a quorum
 *
 * Of a reduce-scatter, each rank hears about its own part.
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
 * @rank:	rank of the group it is about
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
 * Return: 0, GAGG_ERR_BROKER, _MISMATCH, _TIMEOUT, _NOMEM, _INVALID, _SYSTEM.
 * gagg_last_error(NULL) has the sentence.
 */
int gagg_init(struct gagg_comm **comm, const struct gagg_config *cfg);

/**
 * gagg_init_fd() - the same with a session that was opened by other means
 * @comm:	receives the communicator of all ranks; NULL on error
 * @fd:		file of /dev/gagg bound to a rank. It becomes the library's, also
 *		on error
 * @timeout_ms:	as in struct gagg_config
 *
 * Return: as gagg_init().
 */
int gagg_init_fd(struct gagg_comm **comm, int fd, int timeout_ms);

/**
 * gagg_open_rank() - open a session without gaggd
 * @group:	name of a group in the caller's network namespace
 * @rank:	rank to be; must be a worker of this host
 *
 * Needs CAP_NET_ADMIN.
 *
 * Return: a file descriptor for gagg_init_fd(), or a negative enum gagg_error.
 */
int gagg_open_rank(const char *group, uint32_t rank);

/**
 * gagg_finalize() - leave when everybody is done
 * @comm:	from gagg_init(); freed in any case. NULL: nothing happens
 *
 * A barrier, then the session is closed. Communicators that were split from it
 * can only be freed afterwards; requests in flight end, requests not waited for
 * are freed, plans remain.
 *
 * Return: 0, also if a rank has left during the barrier; else the error of the
 * barrier (gagg_last_error(NULL)).
 */
int gagg_finalize(struct gagg_comm *comm);

/**
 * gagg_abort() - leave at once
 * @comm:	from gagg_init(); freed. NULL: nothing happens
 *
 * The epoch ends for everybody.
 */
void gagg_abort(struct gagg_comm *comm);

/**
 * gagg_reattach() - join again after a failure
 * @comm:	from gagg_init()
 *
 * Waits until every worker has joined the next epoch. Requests in flight have
 * failed; communicators that were split from @comm return GAGG_ERR_CLOSED and
 * have to be freed and split again; plans stay valid.
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
 * Sentences, struct gagg_result and struct gagg_failure speak of the group's
 * ranks.
 *
 * Return: the rank, or GAGG_ERR_INVALID.
 */
int gagg_group_rank(const struct gagg_comm *comm, int rank);

/**
 * gagg_weight() - sum of the members' weights
 * @comm:	communicator
 *
 * Sums and means need weights of 1, where this equals gagg_size(); otherwise
 * they return GAGG_ERR_UNSUPPORTED.
 */
uint32_t gagg_weight(const struct gagg_comm *comm);

/**
 * gagg_sync() - sync mode of the group
 * @comm:	communicator
 * Return: as "gaggctl group create" takes it, such as "ssp:4"; valid until
 * gagg_reattach() and as long as the communicator.
 */
const char *gagg_sync(const struct gagg_comm *comm);

/**
 * gagg_fd() - file descriptor of the session
 * @comm:	any communicator of it
 *
 * Readable when operations have completed, as an eventfd is: read() of 8 bytes
 * returns how many since the last one, and rearms it. Then gagg_test().
 *
 * In a session of gagg-twin, the aggregator in userspace, it counts from the first
 * call of this function on, and does not hang up when the epoch ends.
 *
 * Return: a descriptor that stays the library's.
 */
int gagg_fd(const struct gagg_comm *comm);

/**
 * gagg_comm_split() - divide a communicator
 * @comm:	communicator; all its ranks call
 * @color:	ranks of one color come into one new communicator; negative:
 *		into none
 * @key:	orders the ranks of the new one; equal keys: by rank in @comm
 * @newcomm:	receives it, or NULL for a negative @color
 *
 * Return: 0 or an error.
 */
int gagg_comm_split(struct gagg_comm *comm, int color, int key,
		    struct gagg_comm **newcomm);

/**
 * gagg_comm_free() - give back what gagg_comm_split() made
 * @comm:	communicator; NULL: nothing happens
 *
 * Return: 0, GAGG_ERR_BUSY with operations in flight, GAGG_ERR_INVALID for one
 * of gagg_init().
 */
int gagg_comm_free(struct gagg_comm *comm);

/* --- collectives ---------------------------------------------------------- */

/**
 * gagg_plan_create() - remember exponents between calls
 * @comm:	communicator it will be used with
 * @count:	elements of the all-reduce; of a reduce-scatter: @recvcount times
 *		gagg_size()
 * @dtype:	a floating-point type
 * @plan:	receives the plan
 *
 * For a buffer that is summed again and again, such as gradients: the exponents
 * of the next call are predicted from the result of the last, which saves an
 * exchange that blocking calls need otherwise. Same on all ranks: with or
 * without a plan. One operation at a time.
 *
 * Return: 0, GAGG_ERR_NOMEM, _INVALID, _UNSUPPORTED.
 */
int gagg_plan_create(struct gagg_comm *comm, size_t count,
		     enum gagg_dtype dtype, struct gagg_plan **plan);

/**
 * gagg_plan_free() - forget
 * @plan:	not in use by a request in flight; NULL: nothing happens
 */
void gagg_plan_free(struct gagg_plan *plan);

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
 * A call makes at most four system calls for up to one ring of data (64 MiB by
 * default), and at most four more for each ring beyond it.
 *
 * Without a plan, blocking calls first exchange one byte per chunk, so that
 * all ranks use one exponent from the start; non-blocking calls use their own,
 * and the kernel aligns them. So without a plan, the blocking form on one rank
 * does not match the non-blocking form on another.
 *
 * Return: 0 or an error.
 */
int gagg_allreduce(const void *sendbuf, void *recvbuf, size_t count,
		   enum gagg_dtype dtype, enum gagg_op op,
		   struct gagg_comm *comm, struct gagg_plan *plan);

/**
 * gagg_reduce_scatter() - reduce elementwise, to each rank its part
 * @sendbuf:	gagg_size() times @recvcount elements, part after part
 * @recvbuf:	@recvcount elements: part gagg_rank(). May be the start of
 *		@sendbuf, or that part's place in it
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
 * gagg_allgather() - everybody's bytes to everybody
 * @sendbuf:	@sendbytes bytes; may be its own place in @recvbuf
 * @sendbytes:	the same on all ranks
 * @recvbuf:	gagg_size() times @sendbytes bytes, by rank
 * @comm:	communicator
 *
 * Return: 0 or an error.
 */
int gagg_allgather(const void *sendbuf, size_t sendbytes, void *recvbuf,
		   struct gagg_comm *comm);

/**
 * gagg_broadcast() - one rank's bytes to everybody
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
 * The non-blocking forms. They quantise what the ring has room for, start the
 * operation and return; the kernel goes on by itself. Operations of one
 * communicator complete in the order they were started. Until a request is
 * done its send buffer must not change and its receive buffer must not be read.
 * On error *req is NULL.
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
 * @req:	request; freed, unless the return value is GAGG_ERR_TIMEOUT
 * @timeout_ms:	milliseconds; negative: no limit; 0: look once
 *
 * Return: the result of the operation, or GAGG_ERR_TIMEOUT: it goes on.
 */
int gagg_wait(struct gagg_request *req, int timeout_ms);

/**
 * gagg_test() - finish an operation if it is done
 * @req:	request; freed if @done
 * @done:	receives 1 if the operation is complete or has failed, else 0
 *
 * Makes no system call as a rule.
 *
 * Return: 0 if not @done, else the result of the operation.
 */
int gagg_test(struct gagg_request *req, int *done);

/*
 * Groups with a store (sync modes asp, ssp, dssp, r2sp, ako): instead of
 * collectives, tables of elements that live in the kernels of the group's hosts.
 * Each rank, in turns: gagg_get(), compute, gagg_inc(), gagg_clock(). All elements
 * are zero when the epoch starts; gagg_set() and gagg_restore() give them other
 * values.
 *
 * Collective calls on tables are those that say so: all ranks make them after as
 * many gagg_clock() each. They wait for the slowest rank, whatever the sync mode,
 * and count as several clocks.
 */
struct gagg_table;

/**
 * gagg_has_store() - has the group a store for tables
 * @comm:	communicator
 * Return: 1, or 0: it has collectives, or replicas that gossip.
 */
int gagg_has_store(const struct gagg_comm *comm);

/**
 * gagg_table_create() - place elements in the store
 * @comm:	communicator; the table is freed with it
 * @count:	elements
 * @dtype:	GAGG_FLOAT32, GAGG_INT32 or GAGG_INT64
 * @step:	float32: resolution of the elements, the same on all ranks. Integers: 1
 * @table:	receives it; NULL on error
 *
 * All ranks create the same tables in the same order. An element moves by less than
 * 2^31 steps between two gagg_get(), or it is off by a multiple of 2^32 from then on; in
 * groups with lane-type int64 by less than 2^63. Elements of GAGG_INT64 are added in
 * both.
 *
 * Return: 0, GAGG_ERR_UNSUPPORTED, GAGG_ERR_INVALID, GAGG_ERR_NOMEM, or why the
 * epoch has ended.
 */
int gagg_table_create(struct gagg_comm *comm, size_t count, enum gagg_dtype dtype,
		      double step, struct gagg_table **table);

/**
 * gagg_inc() - add to the elements of a table
 * @table:	table
 * @delta:	as many elements as it has
 *
 * Makes no system call: increments collect until gagg_clock(), which rounds them
 * to steps and keeps the rest for the next clock. gagg_get() shows them at once, in
 * whole steps.
 *
 * Return: 0, or GAGG_ERR_INVALID: an increment is not finite, or there are 2^31
 * steps and more to be pushed (lane-type int64: 2^53 of float32, 2^63 of integers);
 * nothing was added.
 */
int gagg_inc(struct gagg_table *table, const void *delta);

/**
 * gagg_get() - read a table
 * @table:	table
 * @values:	receives its elements
 *
 * Waits until the sync mode lets this rank read. Shows all increments of this
 * rank, and of the others at least what the mode promises.
 *
 * Return: 0, GAGG_ERR_TIMEOUT (of gagg_init()), or why the epoch has ended.
 */
int gagg_get(struct gagg_table *table, void *values);

/**
 * gagg_cache() - read a table less often
 * @table:	table
 * @on:		0: no (the default)
 *
 * Where the sync mode has a bound of S clocks (ssp, dssp) gagg_get() at clock c then
 * asks nobody if the table, as it was read last, holds all updates stamped
 * c - S - 1 or less; own ones are added to it. So about one gagg_get() in S + 1
 * reads, and the values are older than they would have to be: see
 * Documentation/sync-modes.md. Without a bound nothing changes.
 */
void gagg_cache(struct gagg_table *table, int on);

/**
 * gagg_cache_hits() - gagg_get() that asked nobody
 * @table:	table
 * Return: how many, since gagg_table_create().
 */
uint64_t gagg_cache_hits(const struct gagg_table *table);

/**
 * gagg_snapshot() - read a table as it is at a clock
 * @table:	table
 * @values:	receives its elements, the same on all ranks
 *
 * Collective. Shows all increments that were pushed before, and nothing else.
 *
 * Return: 0, GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_snapshot(struct gagg_table *table, void *values);

/**
 * gagg_ako_partitions() - how many partitions the sync mode ako should have
 * @rate:	gagg_clock() a second that a rank makes when it waits for nobody
 * @bytes:	of the tables, 4 for each element (lane-type int64: 8)
 * @ranks:	of the group, at least 2
 * @bandwidth:	of a rank's link that may be used, in bytes a second
 *
 * With one partition each rank sends all of the tables to all others at each clock;
 * with P of them a P-th of that. The least P that fits the link, as the authors of Ako
 * have it, within 1 and 1024: P of ako:P:S.
 *
 * Return: that number, or GAGG_ERR_INVALID.
 */
int gagg_ako_partitions(double rate, double bytes, int ranks, double bandwidth);

/**
 * struct gagg_ako - what ako's number of partitions comes from
 * @rate:	gagg_clock() a second that this rank makes when it waits for nobody: the
 *		mean of those that it has made
 * @bytes:	of all tables, in whole chunks
 * @bandwidth:	bytes a second that others have acknowledged while all ranks were
 *		sending
 * @partitions:	gagg_ako_partitions() of these
 */
struct gagg_ako {
	double rate;
	double bytes;
	double bandwidth;
	int partitions;
};

/**
 * gagg_ako_measure() - how many partitions this rank would have
 * @comm:	communicator of a group with sync mode ako, with its tables
 * @found:	receives it
 *
 * Collective, after two gagg_clock() or more. All ranks send all of their tables to all
 * others, zeros, in as many clocks as the group has partitions; elements stay what they
 * are. Tables so small that this is a matter of round trips, rather than of
 * the link, make @bandwidth small. A group keeps its P: give the largest of all ranks
 * to "gaggctl group set NAME sync ako:P:S" when the epoch has ended.
 *
 * Return: 0, GAGG_ERR_UNSUPPORTED (another sync mode), GAGG_ERR_INVALID (no table, or
 * too few clocks), GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_ako_measure(struct gagg_comm *comm, struct gagg_ako *found);

/**
 * gagg_elastic() - a replica and a table draw each other closer
 * @table:	the centre
 * @replica:	as many elements; changed
 * @alpha:	above 0, at most 1; how much of their difference each moves
 *
 * One exchange of elastic averaging (EASGD), as gagg_get(), gagg_inc() and
 * gagg_clock() in one: e = alpha * (replica - table), in whole steps, is taken from
 * the replica and added to the table. Integers: the sum of the table and all
 * replicas does not change. float32: nor does it, as long as replicas are
 * multiples of the step that floats can hold. To be called every few steps of
 * training, in a group with sync mode asp; other ranks may exchange between the
 * read and the addition.
 *
 * Return: 0, GAGG_ERR_INVALID (alpha, or an element is not finite, or 2^53 steps and
 * more, or has increments of 2^30 steps that are not pushed: nothing was changed),
 * GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_elastic(struct gagg_table *table, void *replica, double alpha);

/**
 * gagg_set() - give a table values
 * @table:	table
 * @values:	on rank @root: its elements; rounded to steps
 * @root:	rank
 *
 * Collective. Whatever was added before, or waits for gagg_clock(), is gone.
 *
 * Return: 0, GAGG_ERR_TIMEOUT, or why the epoch has ended. GAGG_ERR_INVALID (no
 * such rank; on @root: an element is not finite, or 2^53 steps and more) and
 * GAGG_ERR_NOMEM: this rank has not begun, and the others wait for it.
 */
int gagg_set(struct gagg_table *table, const void *values, int root);

/**
 * gagg_checkpoint() - write all tables into a file
 * @comm:	communicator
 * @path:	on rank @root: the file, replaced when all is written, or not at all
 * @root:	rank
 *
 * Collective. The file holds the tables as gagg_snapshot() has them, in whole
 * steps, with a checksum. Increments that were not pushed, and what rounding has
 * left over of others (less than a step of each rank), are not in it.
 *
 * Return: 0, GAGG_ERR_SYSTEM: @root cannot write the file, all else goes on;
 * GAGG_ERR_INVALID, GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_checkpoint(struct gagg_comm *comm, const char *path, int root);

/**
 * gagg_restore() - give all tables the values of a file
 * @comm:	communicator, with the tables that the file was written of
 * @path:	on rank @root: the file
 * @root:	rank
 *
 * Collective, as gagg_set(); the number of ranks and their sync mode may be others
 * than when the file was written.
 *
 * Return: 0, GAGG_ERR_TIMEOUT, or why the epoch has ended. GAGG_ERR_SYSTEM (@root
 * cannot read the file), GAGG_ERR_INVALID (it is no checkpoint of these
 * tables) and GAGG_ERR_NOMEM: this rank has not begun, and the others wait for it.
 */
int gagg_restore(struct gagg_comm *comm, const char *path, int root);

/**
 * gagg_clock() - push this rank's increments, of all tables
 * @comm:	communicator
 *
 * Returns when the increments of the clock before are in the store; those of
 * this one are on their way, and will be added exactly once.
 *
 * Return: 0, GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_clock(struct gagg_comm *comm);

/*
 * Replicas (sync modes localsgd, easgd-sync, hpsgd, gossip-*, push-sum): each rank
 * trains weights of its own, in turns: compute an update of them,
 * gagg_replica_step(). All ranks make the same number of steps before
 * gagg_replica_finish().
 */
struct gagg_replica;

/**
 * gagg_replica_create() - begin to train
 * @comm:	communicator
 * @weights:	@count elements of float32; receives those of rank 0
 * @count:	elements, at least 1; the same on all ranks
 * @step:	easgd-sync, gossip-*, push-sum: resolution of what is exchanged, the same on
 *		all ranks; a weight stays below 2^30 steps in magnitude (gossip-* and
 *		push-sum: 2^24, unless lane-type is int64). Else unused
 * @replica:	receives it; NULL on error
 *
 * All ranks call. The replica is the communicator's user: collectives of the
 * program's own may be called between steps in the modes localsgd and easgd-sync,
 * by all ranks after the same step; in hpsgd on another communicator only. Groups
 * that gossip have none.
 *
 * Return: 0, GAGG_ERR_UNSUPPORTED (another sync mode), GAGG_ERR_INVALID (no
 * weights; easgd-sync: @step is no positive number or not that of rank 0, a weight
 * is not finite or too far away; on all ranks alike, but for gossip with another step:
 * the others wait for that rank), GAGG_ERR_NOMEM, or an error of the broadcast.
 */
int gagg_replica_create(struct gagg_comm *comm, float *weights, size_t count,
			double step, struct gagg_replica **replica);

/**
 * gagg_replica_step() - add an update, exchange when it is time
 * @replica:	replica
 * @weights:	this rank's weights, as the last call left them
 * @update:	what to add to them, such as the gradient times minus the rate
 *
 * localsgd: at every TAU-th step the weights become the mean of all ranks'.
 * easgd-sync: at every TAU-th step the weights are moved towards the centre, and
 * the centre towards them. hpsgd: an all-reduce of updates is under way; when it
 * is done, all ranks take its mean at the same step, onto the weights of its
 * start; what they have learned meanwhile is part of the next. gossip-*, push-sum: at
 * every TAU-th step the weights are exchanged with another rank's.
 *
 * Return: 0; GAGG_ERR_INVALID (easgd-sync: a weight is not finite, or 2^30 steps
 * and more; gossip-*, push-sum: 2^24, see gagg_replica_create(); gossip-push: too
 * many replicas were sent. The others wait for this rank, which gagg_abort() tells
 * them); or why the epoch has ended.
 */
int gagg_replica_step(struct gagg_replica *replica, float *weights, const float *update);

/**
 * gagg_replica_finish() - the weights that all have learned together
 * @replica:	replica; training may go on afterwards
 * @weights:	receives the mean or (easgd-sync) the centre, bit for bit the same on all
 *		ranks
 *
 * All ranks call, after the same number of steps.
 *
 * Return: as gagg_replica_step().
 */
int gagg_replica_finish(struct gagg_replica *replica, float *weights);

/**
 * gagg_replica_free() - end
 * @replica:	replica; NULL: nothing happens
 *
 * After gagg_replica_finish(), or when the communicator has failed; before
 * gagg_finalize(), gagg_abort() and gagg_reattach(). The place that one which gossips
 * has in the store is free again with the communicator.
 */
void gagg_replica_free(struct gagg_replica *replica);

/*
 * Batches divided by speed (sync mode bsp). Ranks of different speeds have
 * different shares of a batch, so that they come to its end together. All ranks,
 * for each batch: gagg_batch_next(), sum up the gradients of the samples that it
 * says, gagg_batch_mean(). Every sample counts alike, whoever has it. Documentation/
 * sync-modes.md has what is measured, and how shares follow.
 *
 * Where ranks take turns (sync mode r2sp) each has a batch of its own: who is blocked
 * until its turn computes more samples instead. Nothing is collective then, and
 * there is no mean: a rank takes gagg_batch_next() between gagg_get() and
 * gagg_inc(), and scales what it adds by its samples over those it had at first.
 */
struct gagg_batch;

/**
 * struct gagg_batch_config - a batch that is to be divided
 * @size:	sizeof(struct gagg_batch_config)
 * @total:	samples of the batch; 1 to 2^31 - 1. r2sp: of all ranks together at
 *		first, and the most that one may come to have
 * @min:	least share of a rank; 0 counts as 1
 * @max:	largest share of a rank, such as its memory allows; 0: no limit
 * @period:	steps from one division to the next, at least 1. Each is an
 *		all-gather of some bytes (not with r2sp)
 *
 * The same on all ranks; with r2sp @min, @max and @period may differ.
 */
struct gagg_batch_config {
	size_t size;
	uint32_t total;
	uint32_t min;
	uint32_t max;
	uint32_t period;
};

/**
 * struct gagg_batch_rank - a rank's part, and what it is made of
 * @share:	samples of the batch
 * @samples:	computed in the last period that is over; 0: none is
 * @compute_ns:	time in it without an operation in flight, in ns
 * @wait_ns:	time in it with one
 * @speed:	samples a second of computing, smoothed over periods (r2sp: of that
 *		one); 0: not known
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
 * @comm:	communicator, in a group with sync mode bsp or r2sp; outlives the batch
 * @cfg:	how; copied
 * @batch:	receives it; NULL on error. gagg_batch_free() frees it
 *
 * Collective (not with r2sp). Shares are alike at first. A batch belongs to its
 * communicator's thread. After gagg_reattach() it is of no more use than to be freed
 * (GAGG_ERR_CLOSED).
 *
 * Return: 0, GAGG_ERR_INVALID (no such shares are possible, or ranks differ in
 * @cfg) or GAGG_ERR_UNSUPPORTED (another sync mode, or a host does not measure
 * times), on all ranks alike; GAGG_ERR_NOMEM, or why the epoch has ended.
 */
int gagg_batch_create(struct gagg_comm *comm, const struct gagg_batch_config *cfg,
		      struct gagg_batch **batch);

/**
 * gagg_batch_next() - the next batch: which samples are this rank's
 * @batch:	batch
 * @first:	receives the place in the batch of the first of them, from 0
 * @count:	receives their number, between the bounds; the parts of all ranks, in
 *		their order, are the batch. r2sp: the batch is the rank's own, and
 *		@first the number of samples that it has had before, modulo 2^32
 *
 * Collective. When a period is over, ranks tell each other what they have computed
 * in how much time, and shares change, on all ranks alike. That time is what their
 * kernels have measured: from the end of the last operation in flight, of any
 * communicator of the session, to the start of the next. With r2sp nobody is told, and
 * a batch grows by what fits into the time in which the rank was blocked.
 *
 * Return: 0, GAGG_ERR_CLOSED, or an error of the exchange.
 */
int gagg_batch_next(struct gagg_batch *batch, uint32_t *first, uint32_t *count);

/**
 * gagg_batch_computed() - say how long this rank has computed
 * @batch:	batch
 * @ns:		nanoseconds, of this step; those of a period add up
 *
 * For trainers that compute while operations are in flight, which the kernel takes
 * for waiting: what they say counts instead, of periods in which they say
 * anything.
 */
void gagg_batch_computed(struct gagg_batch *batch, uint64_t ns);

/**
 * gagg_batch_mean() - mean over the samples of all ranks
 * @batch:	batch
 * @sum:	@count elements: sums over this rank's samples, zeros if it has none
 * @mean:	receives @count elements; may be @sum
 * @count:	elements, at least 1
 * @dtype:	a floating-point type
 * @samples:	samples in @sum, at most this rank's share, or less where data has come
 *		to an end
 * @plan:	as of gagg_allreduce()
 *
 * Collective. The samples of all ranks are added up as integers, along with the
 * sums; these are divided by that number before they are rounded, once. Without any
 * sample of any rank @mean is the sum.
 *
 * Return: as gagg_allreduce(); GAGG_ERR_INVALID also for too many @samples,
 * GAGG_ERR_CLOSED, GAGG_ERR_UNSUPPORTED with r2sp.
 */
int gagg_batch_mean(struct gagg_batch *batch, const void *sum, void *mean, size_t count,
		    enum gagg_dtype dtype, uint32_t samples, struct gagg_plan *plan);

/**
 * gagg_batch_info() - what is known of a rank
 * @batch:	batch
 * @rank:	0 to gagg_size() - 1
 * @info:	receives it
 *
 * Return: 0, GAGG_ERR_INVALID; GAGG_ERR_UNSUPPORTED of another rank with r2sp.
 */
int gagg_batch_info(const struct gagg_batch *batch, int rank, struct gagg_batch_rank *info);

/**
 * gagg_batch_free() - forget
 * @batch:	batch; NULL: nothing happens
 */
void gagg_batch_free(struct gagg_batch *batch);

/**
 * gagg_last_result() - what is to be said about the last operation
 * @comm:	communicator
 * @res:	receives it
 *
 * The operation is the one that the last blocking call, gagg_wait() or
 * gagg_test() on @comm has ended.
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
 * @comm:	communicator, or NULL: of the calling thread's last gagg_init(),
 *		gagg_finalize() or gagg_open_rank()
 *
 * Such as "rank 2 died (epoch 5 has ended)".
 *
 * Return: valid until the next call with the same @comm; "" if there was none.
 */
const char *gagg_last_error(const struct gagg_comm *comm);

/**
 * gagg_failure() - why the epoch has ended, for programs
 * @comm:	communicator
 * @f:		receives it
 */
void gagg_failure(const struct gagg_comm *comm, struct gagg_failure *f);

#ifdef __cplusplus
}
#endif
#endif /* GAGG_H */
