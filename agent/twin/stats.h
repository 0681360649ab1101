/* SPDX-License-Identifier: GPL-2.0 */
/* Counters. Control thread. */
#ifndef GAGG_TWIN_STATS_H
#define GAGG_TWIN_STATS_H

#include <linux/gagg_netlink.h>

#include "core/core.h"

struct group;
struct twin;

/* read adds to @value, by enum gagg_stats_attr; print writes a line of JSON for each group */
void stats_read(struct group *g, u64 value[GAGG_SA_MAX + 1]);
void stats_print(struct twin *t);

#endif
