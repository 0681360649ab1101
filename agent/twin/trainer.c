// SPDX-License-Identifier: GPL-2.0
#include "channel.h"
#include "group.h"
#include "trainer.h"

static const struct gagg_site *trainer_site(const struct trainers *trainers, u16 id)
{
	const struct channel *ch = channel_find(trainers->group, id);

	return ch ? &ch->site : NULL;
}

static struct gagg_chan *trainer_chan(void *ctx, u16 id)
{
	const struct trainers *trainers = ctx;
	const struct gagg_site *site = trainer_site(trainers, id);

	return site ? site->part[trainers->shard] : NULL;
}

static u64 trainer_filled(void *ctx, struct gagg_chan *chan, u32 local)
{
	const struct gagg_site *site = trainer_site(ctx, chan->id);

	return site ? gagg_site_filled(site, local) : 0;
}

static struct gagg_cdesc trainer_desc(void *ctx, struct gagg_chan *chan, u32 local, u32 slot)
{
	const struct gagg_site *site = trainer_site(ctx, chan->id);

	return site ? gagg_site_desc(site, local, slot) : (struct gagg_cdesc){ 0 };
}

void trainers_env(struct gagg_env *env, struct trainers *trainers, struct group *g,
		  unsigned int shard)
{
	trainers->group = g;
	trainers->shard = shard;
	env->ctx = trainers;
	env->chan = trainer_chan;
	env->filled = trainer_filled;
	env->desc = trainer_desc;
}
