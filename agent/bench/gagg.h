/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_GAGG_H
#define BENCH_GAGG_H

#include "args.h"
#include "system.h"

/* Join as @args say. NULL: could not, which has been said. */
struct bench_system *gagg_system_join(const struct bench_args *args);

/* Leave: in order if @ok, when every rank does, else at once. */
void gagg_system_leave(struct bench_system *sys, bool ok);

#endif
