/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All ranks of a group on this machine, without anything that was set up before: each has
 * a gagg-twin of its own, on 127.0.0.1 and the addresses after it.
 */
#ifndef BENCH_LOCAL_H
#define BENCH_LOCAL_H

#include "args.h"
#include "run.h"

/*
 * Calls @measure in a process for each of @args->local ranks, with arguments by which it
 * joins them. gagg-twin is found beside this program, in ../sbin, or by PATH. Returns the
 * worst of what @measure has; twins have ended by then. Signals end all of them.
 */
int local_run(const struct bench_args *args,
	      enum bench_exit (*measure)(const struct bench_args *args));

#endif
