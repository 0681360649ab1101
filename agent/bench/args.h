/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line of gagg-bench, and of the drivers of other systems, which have the same options.
 */
#ifndef BENCH_ARGS_H
#define BENCH_ARGS_H

#include "op.h"

#define BENCH_SIZES	16

/**
 * struct bench_args - what to measure, and how
 * @kind:	operation
 * @dtype:	type of its elements
 * @redop:	operator
 * @root:	of broadcasts
 * @min:	first size, bytes
 * @max:	last size
 * @factor:	the next size is so many times the last one; 0: see @step
 * @step:	the next size is so many bytes more
 * @sizes:	the sizes, if there are any: then @min to @step are not used
 * @nsizes:	number of @sizes
 * @iters:	operations of each size that are timed
 * @warmup:	operations before them that are not timed
 * @pause:	ms before each operation, not timed
 * @budget:	seconds after which fewer operations suffice; 0: no limit
 * @seed:	seed of the elements
 * @json:	print JSON
 * @plan:	floating-point reductions have a plan
 * @algorithm:	for a system with several: names separated by commas, the best of these is used;
 *		NULL: the best of all
 * @idle_file:	see usage_init(); NULL: none
 * @group:	group to join
 * @rank:	rank to join as; -1: any
 * @ranks:	number of ranks, for systems that must be told
 * @rendezvous:	for the same systems: a folder where ranks find each other
 * @socket:	socket of gaggd; NULL: the usual one
 * @timeout:	seconds to join, and for each operation
 * @local:	number of ranks on this machine, with twins of their own; 0: be one rank of a group
 * @help:	help was asked for; the other fields are not valid then
 * @error:	what is wrong with the command line, as a sentence
 */
struct bench_args {
	enum bench_kind kind;
	enum bench_dtype dtype;
	enum bench_redop redop;
	int root;
	size_t min;
	size_t max;
	size_t factor;
	size_t step;
	size_t sizes[BENCH_SIZES];
	int nsizes;
	int iters;
	int warmup;
	int pause;
	double budget;
	uint64_t seed;
	bool json;
	bool plan;
	const char *algorithm;
	const char *idle_file;
	const char *group;
	int rank;
	int ranks;
	const char *rendezvous;
	const char *socket;
	int timeout;
	int local;
	bool help;
	char error[128];
};

/* Returns false with @error. Keeps pointers into @argv. */
bool bench_args_parse(struct bench_args *a, int argc, char **argv);

/* The size after @size, or 0: that was the last one. The first is after 0. */
size_t bench_args_next(const struct bench_args *a, size_t size);

/* Is @name among those of --algorithm? */
bool bench_args_algorithm(const struct bench_args *a, const char *name);

extern const char bench_args_usage[];

#endif
