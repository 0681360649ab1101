/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core's loops over lanes, compiled also for AVX2; which of them run is
 * decided once, at run time.
 */
#ifndef GAGG_TWIN_REDUCE_H
#define GAGG_TWIN_REDUCE_H

#include "core/core.h"

extern const struct gagg_loops *twin_loops;

#ifdef __x86_64__
/* kmod/core/reduce.c under another name, see twin.mk */
extern const struct gagg_loops gagg_loops_avx2;
#endif

/* before any other thread runs */
void reduce_init(void);

#endif
