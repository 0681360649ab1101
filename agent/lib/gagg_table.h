/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * libgagg: tables, of groups with a store (sync modes asp, ssp, dssp, r2sp, ako; easgd).
 * Instead of collectives, elements that live in the kernels of the group's hosts.
 * Each rank, in turns: gagg_get(), compute, gagg_inc(), gagg_clock(). All elements
 * are zero when the epoch starts; gagg_set() and gagg_restore() give them other
 * values.
 *
 * Collective calls on tables are those that say so: all ranks make them after as
 * many gagg_clock() each. They wait for the slowest rank, whatever the sync mode,
 * and count as several clocks.
 *
 * Threads. Tables belong to the thread that their communicator belongs to (gagg.h). While
 * another thread is in a call on the communicator, or on anything of it, a call here that
 * returns an enum gagg_error returns GAGG_ERR_BUSY: nothing has changed, and nothing was
 * started. gagg_cache() and gagg_cache_hits() cannot refuse: no other thread may be in a
 * call. gagg_has_store() and gagg_ako_partitions() may be called at any time.
 */
#ifndef GAGG_LIB_TABLE_H
#define GAGG_LIB_TABLE_H

#include "gagg.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gagg_table;

/**
 * gagg_has_store() - has the group a store for tables
 * @comm:	communicator
 * Return: 1, or 0: it has collectives, or replicas that gossip.
 */
int gagg_has_store(const struct gagg_comm *comm);

/**
 * gagg_table_create() - place elements in the store
 * @comm:	communicator; the table is freed with it. After gagg_reattach() the store is
 *		another one: calls on the table return GAGG_ERR_CLOSED, and what it had of memory
 *		is freed but for some hundred bytes
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
 * Return: 0, GAGG_ERR_UNSUPPORTED, GAGG_ERR_INVALID, GAGG_ERR_NOMEM, GAGG_ERR_BUSY, or why
 * the epoch has ended.
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
 * Return: 0, GAGG_ERR_BUSY, or GAGG_ERR_INVALID: an increment is not finite, or there are 2^31
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
 * Return: 0, GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT (of gagg_init()), or why the epoch has ended.
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
 * Return: 0, GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT, or why the epoch has ended.
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
 * too few clocks), GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT, or why the epoch has ended.
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
 * read and the addition. Sync mode easgd does all of that for float32
 * (gagg_replica.h), and carries what floats cannot hold.
 *
 * Return: 0, GAGG_ERR_INVALID (alpha, or an element is not finite, or 2^53 steps and
 * more, or has increments of 2^30 steps that are not pushed: nothing was changed),
 * GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT, or why the epoch has ended.
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
 * such rank; on @root: an element is not finite, or 2^53 steps and more), GAGG_ERR_BUSY and
 * GAGG_ERR_NOMEM: this rank has not begun, and the others wait for it.
 */
int gagg_set(struct gagg_table *table, const void *values, int root);

/**
 * gagg_checkpoint() - save all tables
 * @comm:	communicator
 * @path:	on rank @root: a file, or "agent:NAME": gaggd of this rank's host keeps
 *		it in its own directory, for this group. NAME is 1 to 31 of
 *		A-Z a-z 0-9 . _ -, the first neither . nor -. A file of that name
 *		is "./agent:NAME"
 * @root:	rank
 *
 * Collective. What was saved under that name before is replaced when all is written,
 * or not at all. A file is called @path.new before it takes that place, and follows no link:
 * what has these names goes. The tables are saved as gagg_snapshot() has them, in whole
 * steps, with a checksum. Increments that were not pushed, and what rounding has
 * left over of others (less than a step of each rank), are not in it.
 *
 * With gaggd the trainer needs no directory of its own: whoever may train in the group
 * may save and restore. It requires a communicator of gagg_init(). gaggd gives a save up that is
 * not written within ten minutes, and one more for each GiB; this call waits as long
 * for the answer. If none comes, or gaggd ends meanwhile, the checkpoint may be
 * kept or not, and the error says so.
 *
 * Return: 0. On @root alone, and all else goes on: GAGG_ERR_SYSTEM (the file cannot be
 * written), GAGG_ERR_BROKER (gaggd refuses or cannot be asked), GAGG_ERR_INVALID
 * (not of gagg_init(), or a name too long), GAGG_ERR_NOMEM. GAGG_ERR_BUSY: this rank has
 * not begun. On all: GAGG_ERR_INVALID
 * (no such rank), GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_checkpoint(struct gagg_comm *comm, const char *path, int root);

/**
 * gagg_restore() - give all tables the values that were saved
 * @comm:	communicator, with the tables that were saved
 * @path:	on rank @root: as of gagg_checkpoint(); what gaggd keeps is on the host of
 *		the rank that has saved it
 * @root:	rank
 *
 * Collective, as gagg_set(); the number of ranks and their sync mode may be others
 * than when the tables were saved.
 *
 * Return: 0, GAGG_ERR_TIMEOUT, or why the epoch has ended. GAGG_ERR_SYSTEM (@root
 * cannot read the file), GAGG_ERR_BROKER (gaggd refuses, has no such checkpoint, and says
 * which it has, or cannot be asked), GAGG_ERR_INVALID (it is no checkpoint of these
 * tables, or damaged), GAGG_ERR_BUSY and GAGG_ERR_NOMEM: this rank has not begun, and the
 * others wait for it.
 */
int gagg_restore(struct gagg_comm *comm, const char *path, int root);

/**
 * gagg_clock() - push this rank's increments, of all tables
 * @comm:	communicator
 *
 * Returns when the increments of the clock before are in the store; those of
 * this one are on their way, and will be added exactly once.
 *
 * Return: 0, GAGG_ERR_BUSY, GAGG_ERR_TIMEOUT, or why the epoch has ended.
 */
int gagg_clock(struct gagg_comm *comm);

#ifdef __cplusplus
}
#endif

#endif /* GAGG_LIB_TABLE_H */
