/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The measurement: all sizes of one operation.
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "args.h"
#include "system.h"
#include "usage.h"

enum bench_exit {
	BENCH_OK,
	BENCH_WRONG,	/* a result, or an operation has failed */
	BENCH_USAGE,
	BENCH_NO_GROUP,	/* could not join */
};

/* All ranks call it with the same @args. Rank 0 prints. */
enum bench_exit bench_run(const struct bench_args *args, struct bench_system *sys);

/* --- for the parts of the measurement ------------------------------------ */

/**
 * struct bench - one rank's measurement
 * @args:	what to measure
 * @sys:	with what
 * @machine:	this rank tells what its machine has spent
 * @net:	this rank tells the counters of its network namespace
 * @number:	of the next operation
 * @send:	buffers of a batch, one after the other
 * @recv:	the same
 */
struct bench {
	const struct bench_args *args;
	struct bench_system *sys;
	bool machine;
	bool net;
	uint64_t number;
	char *send;
	char *recv;
};

#define BENCH_BATCH	32	/* most operations in a batch */

/**
 * struct bench_total - what has been measured of one size, the same on all ranks
 * @times:	of each operation, mean of the ranks, us
 * @n:		operations
 * @wrong:	elements, of all ranks
 * @busy:	CPU time of all machines, ns
 * @switches:	context switches of all machines
 * @own:	context switches of all ranks' processes
 * @counted:	there are counters
 * @c:		counters of all network namespaces
 */
struct bench_total {
	double *times;
	size_t n;
	size_t wrong;
	int64_t busy;
	int64_t switches;
	int64_t own;
	bool counted;
	struct bench_counters c;
};

/* Most operations of @op in a batch: results wait to be checked until its end. */
int bench_batch_max(const struct bench *b, const struct bench_op *op);

/* Where the first operation finds what this rank contributes. */
void *bench_input(const struct bench *b, const struct bench_op *op);

/*
 * @m operations back to back, checked, added to @t, whose times have room. All
 * ranks begin together. Returns 0, or not.
 */
int bench_batch(struct bench *b, const struct bench_op *op, int m, struct bench_total *t);

/* Take the best algorithm for @op. @name receives its name, or NULL. */
int bench_choose(struct bench *b, const struct bench_op *op, const char **name);

struct bench_row;

/* All of one size of BENCH_OVERLAP. */
int bench_overlap(struct bench *b, const struct bench_op *op, struct bench_row *row);

#endif
