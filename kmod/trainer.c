// SPDX-License-Identifier: GPL-2.0
#include "channel.h"
#include "group.h"
#include "trace.h"
#include "trainer.h"
#include "core/trainer.h"

static const struct gagg_site *trainer_site(const struct gagg_trainers *trainers, u16 id)
{
	const struct gagg_channel *ch = gagg_channel_find(trainers->grp, id);

	return ch ? &ch->site : NULL;
}

static void trainer_trace_filled(const struct gagg_trainers *trainers, u16 id, u32 local,
				 u64 filled)
{
	trace_gagg_filled(&trainers->grp->geom, trainers->shard, id, local, filled);
}

static void trainer_trace_desc(const struct gagg_trainers *trainers, u16 id, u32 local, u32 slot,
			       const struct gagg_cdesc *desc)
{
	trace_gagg_desc(&trainers->grp->geom, trainers->shard, id, local, slot, desc);
}

void gagg_trainers_env(struct gagg_env *env, struct gagg_trainers *trainers,
		       const struct gagg_port *port, struct gagg_group *grp)
{
	trainers->grp = grp;
	trainers->shard = port->index;
	gagg_trainers_lend(env, trainers);
}
