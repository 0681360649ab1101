/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_GAGG_H
#define BENCH_GAGG_H

#include "args.h"
#include "system.h"

/* Joins according to @args. NULL: failed, and the error was printed. */
struct bench_system *gagg_system_join(const struct bench_args *args);

/* Leaves: in order if @ok, together with all ranks; else at once. */
void gagg_system_leave(struct bench_system *sys, bool ok);

#endif
