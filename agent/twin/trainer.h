/* SPDX-License-Identifier: GPL-2.0 */
/* The trainers' memory as the core reads it. */
#ifndef GAGG_TWIN_TRAINER_H
#define GAGG_TWIN_TRAINER_H

#include "core/core.h"

struct group;

/* the trainers of a group on one shard: the context of the core's callbacks */
struct gagg_trainers {
	struct group *group;
	unsigned int shard;
};

/*
 * Makes the callbacks for a call of the core. Their context is @trainers, on the caller's stack.
 * From a worker that holds its lock during the call
 */
void trainers_env(struct gagg_env *env, struct gagg_trainers *trainers, struct group *g,
		  unsigned int shard);

#endif
