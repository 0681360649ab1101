/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What this host has of a channel, which says how much memory either kind needs.
 *
 * Private to the core.
 */
#ifndef GAGG_CORE_STAKE_H
#define GAGG_CORE_STAKE_H

#include "chan.h"

/**
 * struct gagg_stake - what a host has of a channel
 * @members:	ranks of the channel
 * @nlocals:	how many of them live here
 * @nhomes:	nodes that are homes
 * @home:	this one is
 */
struct gagg_stake {
	u64 members;
	u32 nlocals;
	u32 nhomes;
	bool home;
};

/* where what a kind needs begins in the block of a channel */
#define GAGG_CHAN_END	(((u32)sizeof(struct gagg_chan) + 7) & ~7U)

#endif
