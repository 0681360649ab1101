/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This host's share of a channel. The memory that each kind needs follows from it.
 *
 * Private to the core.
 */
#ifndef GAGG_CORE_STAKE_H
#define GAGG_CORE_STAKE_H

#include "chan.h"

/**
 * struct gagg_stake - a host's share of a channel
 * @members:	ranks of the channel
 * @nlocals:	how many of them are local
 * @nhomes:	nodes that are homes
 * @home:	this node is a home
 */
struct gagg_stake {
	u64 members;
	u32 nlocals;
	u32 nhomes;
	bool home;
};

/* offset in the block of a channel at which the memory of its kind begins */
#define GAGG_CHAN_END	(((u32)sizeof(struct gagg_chan) + 7) & ~7U)

#endif
