// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "channel.h"
#include "group.h"
#include "trainer.h"

static struct gagg_chan *trainer_chan(void *ctx, u16 id)
{
	const struct trainers *trainers = ctx;
	struct channel *ch = channel_find(trainers->group, id);

	return ch ? ch->part[trainers->shard] : NULL;
}

static const struct seat *trainer_seat(const struct trainers *trainers,
				       const struct gagg_chan *chan, u32 local)
{
	struct channel *ch = channel_find(trainers->group, chan->id);

	return ch ? ch->seat[local] : NULL;
}

/* written by the trainer: read once; acquire pairs with its release */
static u64 trainer_filled(void *ctx, struct gagg_chan *chan, u32 local)
{
	const struct seat *seat = trainer_seat(ctx, chan, local);
	const struct gagg_push *push;

	if (!seat)
		return 0;
	push = seat->push.addr;
	return __atomic_load_n(&push->filled, __ATOMIC_ACQUIRE);
}

static struct gagg_cdesc trainer_desc(void *ctx, struct gagg_chan *chan, u32 local, u32 slot)
{
	const struct seat *seat = trainer_seat(ctx, chan, local);
	struct gagg_cdesc desc = { 0 };
	const u64 *at;
	u64 raw;

	_Static_assert(sizeof(desc) == sizeof(raw), "one word");
	if (!seat)
		return desc;
	at = (const u64 *)((const char *)seat->push.addr + GAGG_DESC_OFFSET);
	raw = __atomic_load_n(at + slot, __ATOMIC_RELAXED);
	memcpy(&desc, &raw, sizeof(desc));
	desc.flags &= GAGG_C_ZERO | GAGG_C_NONFINITE | GAGG_C_NORESULT;
	return desc;
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
