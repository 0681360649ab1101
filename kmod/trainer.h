/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trainers' memory as the core reads it: how far it is filled, and the descriptors.
 */
#ifndef GAGG_TRAINER_H
#define GAGG_TRAINER_H

#include "core/core.h"

struct gagg_group;
struct gagg_port;

/* the trainers of a group on one shard: the context of the core's callbacks */
struct gagg_trainers {
	struct gagg_group *grp;
	u32 shard;
};

/**
 * gagg_trainers_env - make the callbacks for a call of the core
 * @env:	gets the callbacks, with @trainers as their context
 * @trainers:	gets @grp and the port's shard; on the caller's stack, as long as @env is used
 * @port:	its lock is held here and in the call
 * @grp:	the group, whose table of channels the callbacks read
 */
void gagg_trainers_env(struct gagg_env *env, struct gagg_trainers *trainers,
		       const struct gagg_port *port, struct gagg_group *grp);

#endif
