// SPDX-License-Identifier: GPL-2.0
/*
 * Bulk-synchronous: a round is complete when every member has contributed to
 * it, and nobody can be more than one round away from the open one.
 */
#include "sync.h"

enum gagg_take gagg_sync_take_open(s32 ahead)
{
	if (!ahead)
		return GAGG_TAKE_ADD;
	if (ahead > 0)
		return GAGG_TAKE_AHEAD;
	return ahead == -1 ? GAGG_TAKE_OLD : GAGG_TAKE_STALE;
}

const struct gagg_sync_ops gagg_sync_bsp = {
	.name = "bsp",
	.about = "bulk-synchronous rounds: collectives, complete when all have contributed",
	.usage = "bsp has no parameters",
	.take = gagg_sync_take_open,
	.narrow = true,
};
