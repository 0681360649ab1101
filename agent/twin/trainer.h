/* SPDX-License-Identifier: GPL-2.0 */
/* The trainers' memory as the core sees it. */
#ifndef GAGG_TWIN_TRAINER_H
#define GAGG_TWIN_TRAINER_H

#include "core/core.h"

struct group;

/* whose memory a call of the core may read: the context of its callbacks */
struct trainers {
	struct group *group;
	unsigned int shard;
};

/*
 * What a call of the core is given: callbacks, with @trainers, on the caller's stack, as
 * their context. A worker, which holds its lock in the call
 */
void trainers_env(struct gagg_env *env, struct trainers *trainers, struct group *g,
		  unsigned int shard);

#endif
