// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "act.h"
#include "channel.h"
#include "epoch.h"
#include "group.h"
#include "keep.h"
#include "op.h"
#include "port.h"
#include "reduce.h"
#include "tx.h"
#include "worker.h"

struct batch {
	struct group *group;		/* whose actions these are; NULL: there are none */
	u64 progressed;			/* channels, by index, with news for trainers */
	u32 done[GAGG_CHANNELS_MAX];	/* their locals with ops done */
	u64 number[GAGG_CHANNELS_MAX][GAGG_LOCALS];	/* the last of these ops */
};

struct batch *act_new(void)
{
	return calloc(1, sizeof(struct batch));
}

void act_free(struct batch *b)
{
	free(b);
}

static void act_publish_lanes(const struct gagg_geom *g, struct channel *ch,
			      unsigned int shard, const struct gagg_publish *pub)
{
	const struct memory *to = pub->hold == GAGG_HOLD_PUT ? &ch->held : &ch->result;
	struct gagg_lanes lanes;
	u32 left;

	lanes.result = chunk_at(g, to, pub->slot);
	for (left = pub->locals; left; left &= left - 1) {
		u32 l = gagg_lowest(left);

		/* a seat goes without an op in flight, or the shard has stopped before */
		lanes.local[l] = chunk_at(g, &ch->seat[l]->contrib, pub->slot);
	}
	if (pub->hold == GAGG_HOLD_TAKE)
		lanes.acc = chunk_at(g, &ch->held, pub->slot);
	else if (pub->from_acc || pub->narrow)
		lanes.acc = acc_at(g, ch, shard, pub->slot & (g->window - 1));
	gagg_publish_lanes(pub, ch->part[shard], &lanes, twin_loops);
}

static void act_publish(struct group *g, struct channel *ch, unsigned int shard,
			const struct gagg_publish *pub)
{
	struct gagg_rdesc *rd = (void *)((char *)ch->done.addr + GAGG_DESC_OFFSET);

	rd += pub->slot;
	if (gagg_publish_writes(pub))
		act_publish_lanes(&g->geom, ch, shard, pub);
	if (pub->hold == GAGG_HOLD_PUT)
		return;
	gagg_publish_desc(pub, ch->part[shard], rd);
	/* pairs with the trainer's load: what it describes is there before it */
	__atomic_store_n(&rd->published, g->part[shard].core->epoch << 32 | pub->round,
			 __ATOMIC_RELEASE);
}

static void act_tell_trainers(struct batch *b, unsigned int shard, u32 index)
{
	struct channel *ch = b->group->channel[index];
	u32 l;

	/* chunks first: who hears of an op may look at its chunks */
	channel_progress(ch, shard);
	for (l = 0; l < GAGG_LOCALS; l++)
		if ((b->done[index] & GAGG_BIT(l)) && ch->seat[l])
			seat_done(ch->seat[l], shard, b->number[index][l]);
	b->done[index] = 0;
}

void act_settle(struct worker *w)
{
	struct batch *b = w->batch;

	if (!b->group)
		return;
	tx_close(b->group->part[w->index].port);
	for (; b->progressed; b->progressed &= b->progressed - 1)
		act_tell_trainers(b, w->index, gagg_lowest(b->progressed));
	b->group = NULL;
}

static void act_on_channel(struct port *p, struct group *grp, struct gagg_act *a)
{
	struct channel *ch = channel_find(grp, a->channel);
	const struct gagg_geom *g = &grp->geom;
	struct batch *b = p->worker->batch;

	switch (a->type) {
	case GAGG_ACT_SEND_CONTRIB:
		if (ch->seat[a->local])
			tx_contrib(p, a, &ch->seat[a->local]->contrib);
		break;
	case GAGG_ACT_SEND_RESULT:
		/* its lanes were shifted when it was published */
		if (gagg_lane_narrow(a->m.laneop))
			gagg_publish_shift(ch->part[p->worker->index], &a->m);
		tx_result(p, a, channel_results(g, ch));
		break;
	case GAGG_ACT_PUBLISH:
		do
			act_publish(grp, ch, p->worker->index, &a->pub);
		while (gagg_act_next(a));
		b->progressed |= GAGG_BIT(ch->index);
		break;
	case GAGG_ACT_OP_DONE:
		b->progressed |= GAGG_BIT(ch->index);
		b->done[ch->index] |= (u32)GAGG_BIT(a->local);
		b->number[ch->index][a->local] = a->number;
		break;
	case GAGG_ACT_FOLD:
	case GAGG_ACT_ADD_LOCAL:
	case GAGG_ACT_READ:
		keep_act(g, ch, a);
		break;
	}
}

void act_drain(struct port *p, struct group *g)
{
	struct gagg_shard *core = g->part[p->worker->index].core;
	struct batch *b = p->worker->batch;
	struct gagg_act *a;

	if (b->group != g) {
		act_settle(p->worker);
		b->group = g;
		tx_open(p, g);
	}
	while ((a = gagg_shard_act(core))) {
		switch (a->type) {
		case GAGG_ACT_SEND_CTRL:
			tx_ctrl(p, a);
			break;
		case GAGG_ACT_DESYNC:
			epoch_end(g, &a->end);
			break;
		case GAGG_ACT_OPEN:
			channel_want(g, core->epoch, a->channel, a->members);
			break;
		default:
			act_on_channel(p, g, a);
		}
	}
}
