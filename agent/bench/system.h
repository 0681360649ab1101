/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A system that carries out collectives: libgagg here; in selftests/bench/ those that users would
 * choose instead, so that the same code times and checks all of them.
 */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include "op.h"

/**
 * struct bench_counters - counters of a group, in a network namespace
 * @datagrams:	datagrams sent
 * @resent:	contributions and results sent again
 */
struct bench_counters {
	int64_t datagrams;
	int64_t resent;
};

/**
 * struct bench_system - one rank's handle
 * @name:	name of the system
 * @wire:	wire format of elements
 * @rank:	rank of this handle
 * @size:	number of ranks
 * @bound:	largest error of a sum of @size contributions of a magnitude up to BENCH_ABSMAX,
 *		before it is rounded
 * @in_place:	all-reduce finds the rank's contribution in @recv
 * @algorithms:	names of algorithms for all-reduce, ends with NULL; NULL: no choice
 * @select:	use the @i-th algorithm from now on
 * @begin:	the next operations are like @op; may be NULL
 * @end:	there are no more of them; may be NULL
 * @load:	the next operations read the @in bytes at @send, and write the @out bytes at @recv;
 *		not timed. For a system with buffers in another memory; may be NULL
 * @fetch:	bring back what they have written; not timed; may be NULL
 * @run:	carry out one operation; a broadcast also sends from @recv
 * @start:	begin an all-reduce; NULL: not supported
 * @wait:	wait until it is complete
 * @barrier:	return when every rank has called it
 * @gather:	@bytes of each rank into @all of each rank, by rank
 * @counters:	read counters; false: there are none; may be NULL
 * @error:	the last error as a sentence
 *
 * Functions return 0, or another value on errors, which end the measurement.
 */
struct bench_system {
	const char *name;
	const char *wire;
	int rank;
	int size;
	double bound;
	bool in_place;
	const char *const *algorithms;
	int (*select)(struct bench_system *sys, int i);
	int (*begin)(struct bench_system *sys, const struct bench_op *op);
	void (*end)(struct bench_system *sys);
	int (*load)(struct bench_system *sys, const void *send, size_t in, void *recv,
		    size_t out);
	int (*fetch)(struct bench_system *sys);
	int (*run)(struct bench_system *sys, const struct bench_op *op, const void *send,
		   void *recv);
	int (*start)(struct bench_system *sys, const struct bench_op *op, const void *send,
		     void *recv);
	int (*wait)(struct bench_system *sys);
	int (*barrier)(struct bench_system *sys);
	int (*gather)(struct bench_system *sys, const void *mine, size_t bytes, void *all);
	bool (*counters)(struct bench_system *sys, struct bench_counters *c);
	const char *(*error)(struct bench_system *sys);
};

/*
 * Largest error of a sum of @n floating-point numbers of type @dtype, up to BENCH_ABSMAX, that is
 * added up in that type in any order: n - 1 roundings of partial sums, none larger than n.
 */
double bench_bound_ieee(enum bench_dtype dtype, int n);

#endif
