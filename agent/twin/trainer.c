// SPDX-License-Identifier: GPL-2.0
#include "channel.h"
#include "group.h"
#include "trainer.h"
#include "core/trainer.h"

static const struct gagg_site *trainer_site(const struct gagg_trainers *trainers, u16 id)
{
	const struct channel *ch = channel_find(trainers->group, id);

	return ch ? &ch->site : NULL;
}

/* the twin has no tracepoints */
static void trainer_trace_filled(const struct gagg_trainers *trainers, u16 id, u32 local,
				 u64 filled)
{
	(void)trainers;
	(void)id;
	(void)local;
	(void)filled;
}

static void trainer_trace_desc(const struct gagg_trainers *trainers, u16 id, u32 local, u32 slot,
			       const struct gagg_cdesc *desc)
{
	(void)trainers;
	(void)id;
	(void)local;
	(void)slot;
	(void)desc;
}

void trainers_env(struct gagg_env *env, struct gagg_trainers *trainers, struct group *g,
		  unsigned int shard)
{
	trainers->group = g;
	trainers->shard = shard;
	gagg_trainers_lend(env, trainers);
}
