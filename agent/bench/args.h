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
 * @sizes:	if there are any, the sizes, and @min to @step mean nothing
 * @nsizes:	how many
 * @iters:	operations of each size that are timed
 * @warmup:	and that come before, not timed
 * @budget:	stop with fewer when they have taken so many seconds; 0: never
 * @seed:	of the elements
 * @json:	as JSON
 * @plan:	reductions of floating point have a plan
 * @algorithm:	of a system that has several: names, with commas between, of
 *		which the best is taken; NULL: of all
 * @idle_file:	see usage_init(); NULL: none
 * @group:	to join
 * @rank:	to be; -1: any
 * @ranks:	of systems that have to be told: how many there are
 * @rendezvous:	of the same: a folder, where they find each other
 * @socket:	gaggd's; NULL: the usual one
 * @timeout:	seconds to join, and for each operation
 * @local:	so many ranks on this machine, with twins of their own; 0: one of a group
 * @help:	was asked for; nothing else holds then
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
