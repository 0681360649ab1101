/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The callbacks of struct gagg_env: trainers' memory, found by the id of a channel.
 *
 * One source of each host includes this. It defines struct gagg_trainers, the context of the
 * callbacks, before, with the shard as its member @shard; and after it the functions that are only
 * declared here.
 */
#ifndef GAGG_CORE_TRAINER_H
#define GAGG_CORE_TRAINER_H

#include "site.h"

/* the channel, by its id; NULL: there is none */
static const struct gagg_site *trainer_site(const struct gagg_trainers *trainers, u16 id);
/* what the core has read */
static void trainer_trace_filled(const struct gagg_trainers *trainers, u16 id, u32 local,
				 u64 filled);
static void trainer_trace_desc(const struct gagg_trainers *trainers, u16 id, u32 local, u32 slot,
			       const struct gagg_cdesc *desc);

static struct gagg_chan *gagg_trainer_chan(void *ctx, u16 id)
{
	const struct gagg_trainers *trainers = ctx;
	const struct gagg_site *site = trainer_site(trainers, id);

	return site ? site->part[trainers->shard] : NULL;
}

static u64 gagg_trainer_filled(void *ctx, struct gagg_chan *ch, u32 local)
{
	const struct gagg_trainers *trainers = ctx;
	const struct gagg_site *site = trainer_site(trainers, ch->id);
	u64 filled = site ? gagg_site_filled(site, local) : 0;

	trainer_trace_filled(trainers, ch->id, local, filled);
	return filled;
}

static struct gagg_cdesc gagg_trainer_desc(void *ctx, struct gagg_chan *ch, u32 local, u32 slot)
{
	const struct gagg_trainers *trainers = ctx;
	const struct gagg_site *site = trainer_site(trainers, ch->id);
	struct gagg_cdesc desc = { 0 };

	if (site)
		desc = gagg_site_desc(site, local, slot);
	trainer_trace_desc(trainers, ch->id, local, slot, &desc);
	return desc;
}

/* @trainers: as long as @env is used; its members are the host's to set */
static inline void gagg_trainers_lend(struct gagg_env *env, struct gagg_trainers *trainers)
{
	env->ctx = trainers;
	env->chan = gagg_trainer_chan;
	env->filled = gagg_trainer_filled;
	env->desc = gagg_trainer_desc;
}

#endif
