// SPDX-License-Identifier: GPL-2.0
#include "channel.h"
#include "group.h"
#include "trace.h"
#include "trainer.h"

static const struct gagg_site *trainer_site(const struct gagg_trainers *trainers, u16 id)
{
	const struct gagg_channel *ch = gagg_channel_find(trainers->grp, id);

	return ch ? &ch->site : NULL;
}

static struct gagg_chan *trainer_chan(void *ctx, u16 id)
{
	const struct gagg_trainers *trainers = ctx;
	const struct gagg_site *site = trainer_site(trainers, id);

	return site ? site->part[trainers->shard] : NULL;
}

static u64 trainer_filled(void *ctx, struct gagg_chan *chan, u32 local)
{
	const struct gagg_trainers *trainers = ctx;
	const struct gagg_site *site = trainer_site(trainers, chan->id);
	u64 filled = site ? gagg_site_filled(site, local) : 0;

	trace_gagg_filled(&trainers->grp->geom, trainers->shard, chan->id, local, filled);
	return filled;
}

static struct gagg_cdesc trainer_desc(void *ctx, struct gagg_chan *chan, u32 local, u32 slot)
{
	const struct gagg_trainers *trainers = ctx;
	const struct gagg_site *site = trainer_site(trainers, chan->id);
	struct gagg_cdesc desc = { };

	if (site)
		desc = gagg_site_desc(site, local, slot);
	trace_gagg_desc(&trainers->grp->geom, trainers->shard, chan->id, local, slot, &desc);
	return desc;
}

void gagg_trainers_env(struct gagg_env *env, struct gagg_trainers *trainers,
		       const struct gagg_port *port, struct gagg_group *grp)
{
	trainers->grp = grp;
	trainers->shard = port->index;
	env->ctx = trainers;
	env->chan = trainer_chan;
	env->filled = trainer_filled;
	env->desc = trainer_desc;
}
