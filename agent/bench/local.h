/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All ranks of a group on this machine, without any set-up before: each has a gagg-twin of its own,
 * on 127.0.0.1 and the addresses after it.
 */
#ifndef BENCH_LOCAL_H
#define BENCH_LOCAL_H

#include "args.h"
#include "run.h"

/*
 * Calls @measure in a process for each of @args->local ranks, with arguments for joining their
 * group. gagg-twin is searched beside this program, in ../sbin, and in PATH. Returns the worst
 * result of @measure, after the twins have ended. Signals end all processes.
 */
int local_run(const struct bench_args *args,
	      enum bench_exit (*measure)(const struct bench_args *args));

#endif
