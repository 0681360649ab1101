/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What carries collectives out: libgagg here; in selftests/bench/ what users
 * would pick instead, so that all are timed and checked by the same code.
 */
#ifndef BENCH_SYSTEM_H
#define BENCH_SYSTEM_H

#include "op.h"

/**
 * struct bench_counters - of a group, in a network namespace
 * @datagrams:	sent
 * @resent:	contributions and results sent again
 */
struct bench_counters {
	int64_t datagrams;
	int64_t resent;
};

/**
 * struct bench_system - one rank's handle
 * @name:	of the system
 * @wire:	how elements travel
 * @rank:	whose handle this is
 * @size:	ranks
 * @bound:	by how much a sum of @size contributions of a magnitude up to
 *		BENCH_ABSMAX may be wrong, before it is rounded
 * @in_place:	all-reduce finds in @recv what the rank contributes
 * @algorithms:	of all-reduce, to choose from; names, ends with NULL; NULL: no
 *		choice
 * @select:	take the @i-th for the calls that follow
 * @begin:	operations that follow are like @op; may be NULL
 * @end:	no more of them; may be NULL
 * @load:	those that follow read the @in bytes at @send, and write the @out bytes
 *		at @recv; not timed. Of who has them in another memory; may be NULL
 * @fetch:	what they have written is to be there; not timed; may be NULL
 * @run:	carry out one; of a broadcast, @recv is what is sent, too
 * @start:	begin an all-reduce; NULL: there is no such thing
 * @wait:	until it is complete
 * @barrier:	return when every rank has called it
 * @gather:	@bytes of each rank into @all of each rank, by rank
 * @counters:	false: there are none; may be NULL
 * @error:	the last error as a sentence
 *
 * Functions return 0, or not on errors, which end the measurement.
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
 * By how much a sum of @n floating-point numbers of type @dtype, up to
 * BENCH_ABSMAX, may be wrong when it is added up in that type in any order:
 * n - 1 roundings of partial sums, none larger than n.
 */
double bench_bound_ieee(enum bench_dtype dtype, int n);

#endif
