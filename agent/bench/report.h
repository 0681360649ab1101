/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rows, as text in the columns of nccl-tests and some more, or as JSON; both from one table. Rank 0
 * prints; calls on other ranks do nothing.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "run.h"

/**
 * struct bench_row - measurements of one size
 * @op:		the operation
 * @bytes:	its size
 * @algorithm:	name of the best one; NULL: there was no choice
 * @ops:	operations timed
 * @wrong:	wrong elements of their results, and of those of the warm-up
 * @time_us:	mean time
 * @p50_us:	median
 * @p99_us:	99th percentile
 * @max_us:	the longest
 * @cpu_s_per_gb: CPU time of all hosts for 10^9 bytes of @bytes; zero or negative: too short for
 *		the clocks
 * @counted:	the next two are valid
 * @datagrams:	sent by all hosts, per operation
 * @resent:	contributions and results sent again, per operation
 * @switches:	context switches of a rank's process, per operation
 * @machine_switches: context switches of all hosts, per operation
 * @comm_us:	overlap: median of the all-reduce alone
 * @compute_us:	overlap: median of the computing alone
 */
struct bench_row {
	struct bench_op op;
	size_t bytes;
	const char *algorithm;
	size_t ops;
	size_t wrong;
	double time_us;
	double p50_us;
	double p99_us;
	double max_us;
	double cpu_s_per_gb;
	bool counted;
	double datagrams;
	double resent;
	double switches;
	double machine_switches;
	double comm_us;
	double compute_us;
};

/* Fills a row from totals, and sorts their times. */
void row_fill(struct bench_row *row, const struct bench_total *t, int ranks);

void report_begin(const struct bench_args *args, const struct bench_system *sys);
void report_row(const struct bench_args *args, const struct bench_system *sys,
		const struct bench_row *row);
void report_end(const struct bench_args *args, const struct bench_system *sys);

#endif
