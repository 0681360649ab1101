// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include "act.h"
#include "channel.h"
#include "chunk.h"
#include "epoch.h"
#include "group.h"
#include "memory.h"
#include "op.h"
#include "run.h"
#include "session.h"
#include "simd.h"
#include "trace.h"
#include "tx.h"

struct gagg_batch {
	struct gagg_group *grp;		/* whose actions these are; NULL: there are none */
	u64 progressed;			/* channels, by index, with news for trainers */
	u32 done[GAGG_CHANNELS_MAX];	/* their locals with ops done */
	u64 number[GAGG_CHANNELS_MAX][GAGG_LOCALS];	/* the last of these ops */
};

int gagg_act_init(struct gagg_port *port)
{
	port->batch = kvzalloc(sizeof(*port->batch), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return port->batch ? 0 : -ENOMEM;
}

void gagg_act_exit(struct gagg_port *port)
{
	kvfree(port->batch);
	port->batch = NULL;
}

static void act_publish_lanes(const struct gagg_geom *g, struct gagg_channel *ch, u32 shard,
			      const struct gagg_publish *pub)
{
	const struct gagg_mem *to = pub->hold == GAGG_HOLD_PUT ? &ch->held : &ch->result;
	struct gagg_lanes lanes;
	u32 left;

	lanes.result = gagg_chunk_at(g, to, pub->slot);
	for (left = pub->locals; left; left &= left - 1) {
		u32 l = gagg_lowest(left);

		/* a seat goes only after the shard has stopped */
		if (WARN_ON_ONCE(!ch->seat[l]))
			return;
		lanes.local[l] = gagg_chunk_at(g, &ch->seat[l]->contrib, pub->slot);
	}
	if (pub->hold == GAGG_HOLD_TAKE)
		lanes.acc = gagg_chunk_at(g, &ch->held, pub->slot);
	else if (pub->from_acc || pub->narrow)
		lanes.acc = gagg_acc_at(g, ch, shard, pub->slot & (g->window - 1));
	gagg_publish_lanes(pub, ch->part[shard], &lanes, &gagg_simd_loops);
}

static void act_publish(struct gagg_group *grp, struct gagg_channel *ch, u32 shard,
			const struct gagg_publish *pub)
{
	struct gagg_rdesc *rd = gagg_mem_at(&ch->done, GAGG_DESC_OFFSET +
					    (u64)pub->slot * sizeof(*rd));

	if (gagg_publish_writes(pub))
		act_publish_lanes(&grp->geom, ch, shard, pub);
	if (pub->hold == GAGG_HOLD_PUT)
		return;
	gagg_publish_desc(pub, ch->part[shard], rd);
	/* pairs with the trainer's load: what it describes is there before it */
	smp_store_release(&rd->published, grp->part[shard].core->epoch << 32 | pub->round);
}

/* the chunk of a store that updates are added to, or the one beside it */
static void *act_updated(const struct gagg_geom *g, struct gagg_channel *ch, u32 slot, bool beside)
{
	return gagg_chunk_at(g, beside ? &ch->acc : &ch->result, slot);
}

/* add an update to @chunk; @first: it is the first beside the store */
static void act_update(const struct gagg_geom *g, void *chunk, bool first, const void *lanes)
{
	gagg_reduce_chunk(gagg_store_laneop(g), chunk, first ? NULL : chunk, lanes, g->lanes, 0);
}

void gagg_act_add(const struct gagg_geom *g, struct gagg_channel *ch,
		  const struct gagg_todo *todo, const void *lanes)
{
	act_update(g, act_updated(g, ch, todo->slot, todo->beside), todo->first, lanes);
}

void gagg_act_place(const struct gagg_geom *g, struct gagg_channel *ch,
		    const struct gagg_todo *todo, const void *lanes)
{
	struct gagg_seat *seat = ch->seat[todo->local];

	/* a seat goes only after the shard has stopped, or when it has no ops */
	if (!WARN_ON_ONCE(!seat))
		memcpy(gagg_chunk_at(g, &seat->copy, todo->slot), lanes, todo->lanes * 4);
}

static void act_read(const struct gagg_geom *g, struct gagg_seat *seat,
		     const struct gagg_keep *k, const void *chunk)
{
	u32 *fresh = gagg_mem_at(&seat->copy, gagg_copy_fresh(g) + k->slot * sizeof(*fresh));

	if (!k->placed)
		memcpy(gagg_chunk_at(g, &seat->copy, k->slot), chunk, g->lanes * 4);
	WRITE_ONCE(*fresh, k->fresh);
}

/* FOLD, ADD_LOCAL, READ */
static void act_on_store(const struct gagg_geom *g, struct gagg_channel *ch,
			 const struct gagg_act *a)
{
	const struct gagg_keep *k = &a->keep;
	void *chunk = gagg_chunk_at(g, &ch->result, k->slot);
	struct gagg_seat *seat;

	if (a->type == GAGG_ACT_FOLD) {
		gagg_reduce_chunk(gagg_store_laneop(g), chunk, chunk,
				  gagg_chunk_at(g, &ch->acc, k->slot), g->lanes, 0);
		return;
	}
	seat = ch->seat[a->local];
	if (WARN_ON_ONCE(!seat))
		return;
	if (a->type == GAGG_ACT_ADD_LOCAL)
		act_update(g, act_updated(g, ch, k->slot, k->beside), k->first,
			   gagg_chunk_at(g, &seat->contrib, k->slot));
	else
		act_read(g, seat, k, chunk);
}

/* once a batch; everything that was published is, by now */
static void act_tell_trainers(struct gagg_port *port, u32 index)
{
	struct gagg_batch *b = port->batch;
	struct gagg_channel *ch = b->grp->channel[index];
	u32 l;

	/* chunks first: who hears of an op may look at its chunks */
	gagg_channel_progress(ch, port->index);
	for (l = 0; l < GAGG_LOCALS; l++) {
		if (!ch->seat[l])
			continue;
		if (b->done[index] & GAGG_BIT(l))
			gagg_op_done(ch->session[l], ch->seat[l], port->index,
				     b->number[index][l]);
		gagg_op_progress(ch->session[l]);
	}
	b->done[index] = 0;
}

void gagg_act_settle(struct gagg_port *port)
{
	struct gagg_batch *b = port->batch;

	lockdep_assert_held(&port->lock);
	gagg_tx_close(port);
	for (; b->progressed; b->progressed &= b->progressed - 1)
		act_tell_trainers(port, gagg_lowest(b->progressed));
	b->grp = NULL;
}

static void act_on_channel(struct gagg_port *port, struct gagg_group *grp, struct gagg_act *a)
{
	struct gagg_channel *ch = gagg_channel_find(grp, a->channel);
	const struct gagg_geom *g = &grp->geom;
	struct gagg_batch *b = port->batch;

	/* cannot be: the core knows only what is in the table */
	if (WARN_ON_ONCE(!ch))
		return;
	switch (a->type) {
	case GAGG_ACT_SEND_CONTRIB:
		if (ch->seat[a->local])
			gagg_tx_contrib(port, a, &ch->seat[a->local]->contrib);
		break;
	case GAGG_ACT_SEND_RESULT:
		/* its lanes were shifted when it was published */
		if (unlikely(gagg_lane_narrow(a->m.laneop)))
			gagg_publish_shift(ch->part[port->index], &a->m);
		gagg_tx_result(port, a, gagg_channel_results(g, ch));
		break;
	case GAGG_ACT_PUBLISH:
		do
			act_publish(grp, ch, port->index, &a->pub);
		while (gagg_run_next(g, port->index, a));
		b->progressed |= GAGG_BIT(ch->index);
		break;
	case GAGG_ACT_OP_DONE:
		b->progressed |= GAGG_BIT(ch->index);
		b->done[ch->index] |= GAGG_BIT(a->local);
		b->number[ch->index][a->local] = a->number;
		break;
	case GAGG_ACT_FOLD:
	case GAGG_ACT_ADD_LOCAL:
	case GAGG_ACT_READ:
		act_on_store(g, ch, a);
		break;
	}
}

void gagg_act_drain(struct gagg_port *port, struct gagg_group *grp)
{
	struct gagg_shard *core = grp->part[port->index].core;
	struct gagg_act *a;

	lockdep_assert_held(&port->lock);
	if (port->batch->grp != grp) {
		gagg_act_settle(port);
		port->batch->grp = grp;
		gagg_tx_open(port, grp);
	}
	while ((a = gagg_shard_act(core))) {
		trace_gagg_act(&grp->geom, port->index, a);
		switch (a->type) {
		case GAGG_ACT_SEND_CTRL:
			gagg_tx_ctrl(port, a);
			break;
		case GAGG_ACT_DESYNC:
			gagg_epoch_end(grp, &a->end);
			break;
		case GAGG_ACT_OPEN:
			gagg_channel_want(grp, core->epoch, a->channel, a->members);
			break;
		default:
			act_on_channel(port, grp, a);
		}
	}
}
