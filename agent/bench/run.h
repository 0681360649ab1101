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
 * @args:	what is measured
 * @sys:	system that is measured
 * @machine:	this rank reports the usage of its machine
 * @net:	this rank reports the counters of its network namespace
 * @number:	number of the next operation
 * @send:	buffers of a batch, one after the other
 * @recv:	receive buffers of a batch
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
 * struct bench_total - measurements of one size, the same on all ranks
 * @times:	time of each operation, mean of the ranks, us
 * @n:		operations
 * @wrong:	wrong elements, on all ranks
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

/* Most operations of @op in a batch: results are checked at its end. */
int bench_batch_max(const struct bench *b, const struct bench_op *op);

/* The buffer in which the first operation finds this rank's contribution. */
void *bench_input(const struct bench *b, const struct bench_op *op);

/*
 * Runs @m operations back to back, checks them, and adds them to @t, which has room for their
 * times. All ranks begin together. Returns 0, or another value on errors.
 */
int bench_batch(struct bench *b, const struct bench_op *op, int m, struct bench_total *t);

/* Chooses the best algorithm for @op. @name receives its name, or NULL. */
int bench_choose(struct bench *b, const struct bench_op *op, const char **name);

struct bench_row;

/* Measures one size of BENCH_OVERLAP. */
int bench_overlap(struct bench *b, const struct bench_op *op, struct bench_row *row);

#endif
