/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunks in a row that share an action of the core, one after the other. A trace has each.
 */
#ifndef GAGG_RUN_H
#define GAGG_RUN_H

#include "core/core.h"
#include "trace.h"

/* gagg_act_next(), of an action of @shard */
static inline bool gagg_run_next(const struct gagg_geom *g, u32 shard, struct gagg_act *a)
{
	if (!gagg_act_next(a))
		return false;
	trace_gagg_act(g, shard, a);
	return true;
}

#endif
