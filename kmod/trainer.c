// SPDX-License-Identifier: GPL-2.0
#include "channel.h"
#include "group.h"
#include "memory.h"
#include "session.h"
#include "trace.h"
#include "trainer.h"

static struct gagg_chan *trainer_chan(void *ctx, u16 id)
{
	const struct gagg_trainers *trainers = ctx;
	struct gagg_channel *ch = gagg_channel_find(trainers->grp, id);

	return ch ? ch->part[trainers->shard] : NULL;
}

static struct gagg_seat *trainer_seat(const struct gagg_trainers *trainers,
				      const struct gagg_chan *chan, u32 local)
{
	struct gagg_channel *ch = gagg_channel_find(trainers->grp, chan->id);

	return ch ? ch->seat[local] : NULL;
}

/* written by the trainer: read once; acquire pairs with its release, so that
 * what it describes is seen
 */
static u64 trainer_filled(void *ctx, struct gagg_chan *chan, u32 local)
{
	const struct gagg_seat *seat = trainer_seat(ctx, chan, local);
	const struct gagg_trainers *trainers = ctx;
	struct gagg_push *push;
	u64 filled = 0;

	if (seat) {
		push = seat->push.block[0];
		filled = smp_load_acquire(&push->filled); /* see above */
	}
	trace_gagg_filled(&trainers->grp->geom, trainers->shard, chan->id, local, filled);
	return filled;
}

static struct gagg_cdesc trainer_desc(void *ctx, struct gagg_chan *chan, u32 local, u32 slot)
{
	const struct gagg_seat *seat = trainer_seat(ctx, chan, local);
	const struct gagg_trainers *trainers = ctx;
	union {
		u64 raw;
		struct gagg_cdesc desc;
	} d = { };

	BUILD_BUG_ON(sizeof(d.desc) != sizeof(d.raw));
	if (seat)
		d.raw = READ_ONCE(*(u64 *)gagg_mem_at(&seat->push, GAGG_DESC_OFFSET +
						      (u64)slot * sizeof(d.raw)));
	d.desc.flags &= GAGG_C_ZERO | GAGG_C_NONFINITE | GAGG_C_NORESULT;
	trace_gagg_desc(&trainers->grp->geom, trainers->shard, chan->id, local, slot, &d.desc);
	return d.desc;
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
