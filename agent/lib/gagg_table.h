/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * libgagg: tables, in groups with a store (sync modes asp, ssp, dssp, r2sp, ako; easgd). Instead of
 * collectives there are elements that live in the kernels of the group's hosts. Each rank repeats:
 * gagg_get(), compute, gagg_inc(), gagg_clock(). All elements are zero when the epoch starts;
 * gagg_set() and gagg_restore() give them other values.
 *
 * Some calls on tables are collective, as stated below: all ranks make them after the same number
 * of gagg_clock(). They wait for the slowest rank in any sync mode, and count as several clocks.
 *
 * Threads. Tables belong to the thread that their communicator belongs to (gagg.h). While another
 * thread is in a call on the communicator, or on anything of it, a call here that returns an enum
 * gagg_error returns GAGG_ERR_BUSY: nothing has changed, and nothing was started. gagg_cache(),
 * gagg_cache_hits() and gagg_staleness() do not notice another thread: none may be in a call.
 * gagg_has_store() and gagg_ako_partitions() may be called at any time.
 */
#ifndef GAGG_LIB_TABLE_H
#define GAGG_LIB_TABLE_H

#include "gagg.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gagg_table;

/**
 * gagg_has_store() - does the group have a store for tables?
 * @comm:	communicator
 * Return: 1; or 0: the group has collectives, or replicas that gossip.
 */
int gagg_has_store(const struct gagg_comm *comm);

/**
 * gagg_table_create() - place elements in the store
 * @comm:	communicator; the table is freed with it. After gagg_reattach() the store is another
 *		one: calls on the table return GAGG_ERR_CLOSED, and its memory is freed except for
 *		some hundred bytes
 * @count:	elements
 * @dtype:	GAGG_FLOAT32, GAGG_FLOAT64, GAGG_INT32 or GAGG_INT64
 * @step:	floats: resolution of the elements, the same on all ranks. Integers: 1
 * @table:	receives it; NULL on error
 *
 * All ranks create the same tables in the same order. An element must move by less than 2^31 steps
 * between two reads of its chunk (in groups with lane-type int64: 2^63); to use what was read
 * before is no read. Otherwise it is off by a multiple of 2^32 from then on. Both lane types can
 * hold 64 bits of steps, and so elements of GAGG_INT64. A float that is read is the number of steps
 * times @step, calculated in double and rounded to @dtype.
 *
 * Return: 0, GAGG_ERR_UNSUPPORTED, GAGG_ERR_INVALID, GAGG_ERR_NOMEM, GAGG_ERR_BUSY, or why
 * the epoch has ended.
 */
int gagg_table_create(struct gagg_comm *comm, size_t count, enum gagg_dtype dtype,
		      double step, struct gagg_table **table);

/**
 * gagg_inc() - add to the elements of a table
 * @table:	table
 * @delta:	as many elements as the table has
 *
 * Makes no system call: increments collect until gagg_clock(), which rounds them
 * to steps and keeps the rest for the next clock. gagg_get() shows them at once, in
 * whole steps. Floats wait as doubles: while less than 2^n steps do, each increment is kept to
 * 2^(n - 53) of a step.
 *
 * Return: 0, GAGG_ERR_BUSY, or GAGG_ERR_INVALID: an increment is not finite, or 2^31 steps or more
 * would have to be pushed (lane-type int64: 2^53 for floats, 2^63 for integers); nothing was
 * added.
 */
int gagg_inc(struct gagg_table *table, const void *delta);

/**
 * gagg_inc_range() - add to some elements of a table
 * @table:	table
 * @first:	the first of them
 * @count:	how many, at least 1
 * @delta:	as many elements
 *
 * As gagg_inc(). At the next gagg_clock() a chunk carries no payload if nothing was added to it,
 * rounding has left nothing, and (ako) no clock of the last P had anything.
 *
 * Return: as gagg_inc(); GAGG_ERR_INVALID, too, if the table does not have them all.
 */
int gagg_inc_range(struct gagg_table *table, size_t first, size_t count, const void *delta);

/**
 * gagg_get() - read a table
 * @table:	table
 * @values:	receives its elements
 *
 * Waits until the sync mode lets this rank read. The values include all increments of this rank,
 * and at least those of other ranks that the mode promises.
 *
 * Return: 0, GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT (of gagg_init()), or why the epoch has ended.
 */
int gagg_get(struct gagg_table *table, void *values);

/* gagg_get_range(): what the sync mode promises */
#define GAGG_STALENESS_MODE	UINT32_MAX

/**
 * gagg_get_range() - read some elements of a table
 * @table:	table
 * @first:	the first of them
 * @count:	how many, at least 1
 * @staleness:	clocks, or GAGG_STALENESS_MODE
 * @values:	receives them
 *
 * With GAGG_STALENESS_MODE as gagg_get(), gagg_cache() included. With a number, at clock c of this
 * rank, the values include all increments of others stamped c - @staleness - 1 or less. So the
 * range is not read if it was read since the clock c - @staleness of the slowest rank. If it is
 * read, and the sync mode lets this rank see less, the call waits until all ranks have come to
 * clock c. That is more than is asked for, if @staleness is not 0. (Staleness per read: Ho et al.,
 * NIPS 2013, section 3.) Whole chunks are read: `lanes` of the group says how many elements one
 * has (lane-type int64: half of them).
 *
 * Return: as gagg_get(); GAGG_ERR_INVALID if the table does not have them all; GAGG_ERR_UNSUPPORTED
 * with a number in a group with ako, whose ranks do not know what they lack.
 */
int gagg_get_range(struct gagg_table *table, size_t first, size_t count, uint32_t staleness,
		   void *values);

/**
 * gagg_prefetch() - begin to read some elements of a table
 * @table:	table
 * @first:	the first of them
 * @count:	how many, at least 1
 *
 * Does not wait, unless 16 reads of this communicator are under way: then it waits for these. Until
 * the next gagg_clock(), gagg_get() and gagg_get_range() of elements in chunks that were prefetched
 * begin no read. They wait for what is under way, unless what was read before is enough; and for a
 * read more, if @staleness is a number that the prefetch does not meet. gagg_clock() waits for what
 * is under way, too: let it follow when that is there.
 *
 * Return: 0, GAGG_ERR_INVALID (the table does not have them all), GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT,
 * or why the epoch has ended.
 */
int gagg_prefetch(struct gagg_table *table, size_t first, size_t count);

/**
 * gagg_staleness() - how much of other ranks the last read may lack
 * @table:	table
 *
 * Of the last gagg_get() or gagg_get_range(): n, if it was at clock c, and its values include all
 * increments of others stamped c - n - 1 or less. They may include more. A program may scale its
 * rate by it.
 *
 * Return: clocks; UINT32_MAX before the first read, and in groups with ako.
 */
uint32_t gagg_staleness(const struct gagg_table *table);

/**
 * gagg_cache() - let gagg_get() use what was read before
 * @table:	table
 * @on:		0: no (the default)
 *
 * If the sync mode has a bound of S clocks (ssp, dssp), gagg_get() at clock c then sends no read if
 * the table, as last read, holds all updates stamped c - S - 1 or less; own updates are added to
 * it. So about one gagg_get() in S + 1 reads, and the values are older than without the cache: see
 * Documentation/sync-modes.md. Without a bound nothing changes.
 */
void gagg_cache(struct gagg_table *table, int on);

/**
 * gagg_cache_hits() - number of gagg_get() and gagg_get_range() that used what was read before
 * @table:	table
 * Return: the number since gagg_table_create().
 */
uint64_t gagg_cache_hits(const struct gagg_table *table);

/**
 * gagg_snapshot() - read a table as it is at a clock
 * @table:	table
 * @values:	receives its elements, the same on all ranks
 *
 * Collective. The values include all increments that were pushed before, and nothing else.
 *
 * Return: 0, GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_snapshot(struct gagg_table *table, void *values);

/**
 * gagg_ako_partitions() - how many partitions the sync mode ako should have
 * @rate:	gagg_clock() per second that a rank makes when it waits for no other rank
 * @bytes:	bytes of the tables, 4 for each element (lane-type int64: 8)
 * @ranks:	ranks of the group, at least 2
 * @bandwidth:	share of a rank's link that may be used, in bytes per second
 *
 * With one partition each rank sends all of the tables to all others at each clock; with P
 * partitions a P-th of that. This finds the least P that fits the link, as the authors of Ako do,
 * between 1 and 1024: P of ako:P:S.
 *
 * Return: the number of partitions, or GAGG_ERR_INVALID.
 */
int gagg_ako_partitions(double rate, double bytes, int ranks, double bandwidth);

/**
 * struct gagg_ako - measurements that ako's number of partitions follows from
 * @rate:	gagg_clock() per second that this rank makes when it waits for no other rank: the
 *		mean so far
 * @bytes:	bytes of all tables, in whole chunks
 * @bandwidth:	bytes per second that others have acknowledged while all ranks were sending
 * @partitions:	gagg_ako_partitions() of these
 */
struct gagg_ako {
	double rate;
	double bytes;
	double bandwidth;
	int partitions;
};

/**
 * gagg_ako_measure() - measure how many partitions suit this rank
 * @comm:	communicator of a group with sync mode ako, with its tables
 * @found:	receives it
 *
 * Collective, after two gagg_clock() or more. All ranks send zeros for all of their tables to all
 * others, in as many clocks as the group has partitions; elements do not change. If tables are so
 * small that round trips count rather than the link, @bandwidth is too small. The group's P does
 * not change: pass the largest @partitions of all ranks to "gaggctl group set NAME sync ako:P:S"
 * when the epoch has ended.
 *
 * Return: 0, GAGG_ERR_UNSUPPORTED (another sync mode), GAGG_ERR_INVALID (no table, or
 * too few clocks), GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_ako_measure(struct gagg_comm *comm, struct gagg_ako *found);

/**
 * gagg_elastic() - move a replica and a table towards each other
 * @table:	the centre
 * @replica:	as many elements; changed
 * @alpha:	above 0, at most 1; the part of their difference by which each moves
 *
 * One exchange of elastic averaging (EASGD), as gagg_get(), gagg_inc() and gagg_clock() in one: e =
 * alpha * (replica - table), in whole steps, is taken from the replica and added to the table.
 * Integers: the sum of the table and all replicas does not change. Floats: it does not change as
 * long as replicas are multiples of the step that their type can hold (float64: if the step is a
 * power of two). To be called every few steps of training, in a group with sync mode asp. Other
 * ranks may exchange between the read and the addition. Sync mode easgd does all of this for
 * float32 (gagg_replica.h), and carries the part that floats cannot hold.
 *
 * Return: 0, GAGG_ERR_INVALID (@alpha is out of range; or an element is not finite, or has 2^53
 * steps or more, or has increments of 2^30 steps that are not pushed; nothing has changed),
 * GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_elastic(struct gagg_table *table, void *replica, double alpha);

/**
 * gagg_set() - give a table values
 * @table:	table
 * @values:	on rank @root: the elements; they are rounded to steps
 * @root:	rank
 *
 * Collective. All increments that were added before, or wait for gagg_clock(), are discarded.
 *
 * Return: 0, GAGG_ERR_TIMEOUT, or why the epoch has ended. With GAGG_ERR_INVALID (no such rank; on
 * @root: an element is not finite, or has 2^53 steps or more), GAGG_ERR_BUSY and GAGG_ERR_NOMEM
 * this rank has not begun, and the others wait for it.
 */
int gagg_set(struct gagg_table *table, const void *values, int root);

/**
 * gagg_checkpoint() - save all tables
 * @comm:	communicator
 * @path:	on rank @root: a file, or "agent:NAME": gaggd of this rank's host keeps it in its
 *		own directory, for this group. NAME is 1 to 31 of A-Z a-z 0-9 . _ -, the first
 *		neither . nor -. For a file of that name use "./agent:NAME"
 * @root:	rank
 *
 * Collective. An older checkpoint of that name is replaced when the new one is complete, or not at
 * all. A file is named @path.new until then. Links are not followed: whatever has one of these
 * names is replaced. The tables are saved as gagg_snapshot() reads them, in whole steps, with a
 * checksum. Not saved are increments that were not pushed, and what rounding has left of others
 * (less than a step for each rank).
 *
 * With gaggd the trainer needs no directory of its own: each user that may train in the group may
 * save and restore. This requires a communicator of gagg_init(). gaggd gives up a save that is not
 * written within ten minutes, plus one for each GiB; this call waits as long for the answer. If
 * none comes, or gaggd ends meanwhile, the checkpoint may be kept or not, and the error says so.
 *
 * Return: 0. On @root only, and nothing else fails: GAGG_ERR_SYSTEM (the file cannot be written),
 * GAGG_ERR_BROKER (gaggd refuses or cannot be asked), GAGG_ERR_INVALID (not of gagg_init(), or a
 * name too long), GAGG_ERR_NOMEM. GAGG_ERR_BUSY: this rank has not begun. On all: GAGG_ERR_INVALID
 * (no such rank), GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_checkpoint(struct gagg_comm *comm, const char *path, int root);

/**
 * gagg_restore() - give all tables the values of a checkpoint
 * @comm:	communicator, with the tables that were saved
 * @path:	on rank @root: as for gagg_checkpoint(); gaggd keeps checkpoints on the host of the
 *		rank that has saved them
 * @root:	rank
 *
 * Collective, as gagg_set(). Number of ranks and sync mode may differ from those when the tables
 * were saved.
 *
 * Return: 0, GAGG_ERR_TIMEOUT, or why the epoch has ended. GAGG_ERR_SYSTEM (@root cannot read the
 * file), GAGG_ERR_BROKER (gaggd does not answer, refuses, or has no such checkpoint: the sentence
 * names those that it has), GAGG_ERR_INVALID (the file is no checkpoint of these tables, or
 * damaged), GAGG_ERR_BUSY and GAGG_ERR_NOMEM: this rank has not begun, and the others wait for it.
 */
int gagg_restore(struct gagg_comm *comm, const char *path, int root);

/**
 * gagg_clock() - push this rank's increments, of all tables
 * @comm:	communicator
 *
 * Returns when the increments of the last clock are in the store. Those of this clock are on their
 * way, and will be added exactly once.
 *
 * Return: 0, GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_clock(struct gagg_comm *comm);

#ifdef __cplusplus
}
#endif

#endif /* GAGG_LIB_TABLE_H */
