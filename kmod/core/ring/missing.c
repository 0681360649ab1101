// SPDX-License-Identifier: GPL-2.0
/*
 * Missing: ranks that have not contributed to what an op waits for (R14, R29).
 *
 * A chunk's home knows them. It names them (WAITS) to a node that asks for the chunk's result
 * (QUERY), once the chunk has been open for a while. A rank counts as missing as well if its
 * contribution is under way, or was lost and is not repaired yet: the home knows no more than that
 * it has not arrived.
 */
#include "ring/internal.h"

/* As long as questions are apart at most: the answer to one of them names the missing. */
#define OPEN_LONG	GAGG_QUERY_WAIT_MAX

/* Ranks that are asked again, after a void, have come. */
static u64 missing_lacks(const struct gagg_chan *ch, const struct gagg_acc *a)
{
	return ch->members & ~(a->bits | a->seen);
}

bool gagg_missing_tell(const struct gagg_visit *vis, const struct gagg_acc *a, u32 node)
{
	struct gagg_chan *ch = vis->ch;
	u64 ranks = missing_lacks(ch, a);
	struct gagg_act *act;

	if (!ranks || vis->now < a->opened + OPEN_LONG)
		return false;
	act = gagg_shard_emit(vis->sh, GAGG_ACT_SEND_CTRL, ch->id);
	act->node = (u8)node;
	gagg_visit_msg(vis, GAGG_T_WAITS, vis->g->self, &act->m);
	act->m.chunk = a->slot;
	act->m.round = a->round;
	act->m.aux = (u32)ranks;
	act->m.ranks = (u32)(ranks >> 32);
	return true;
}

enum gagg_rx gagg_missing_told(struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_chan *ch = vis->ch;
	int h = gagg_chan_home(ch, in->node);
	const struct gagg_cur *base;
	struct gagg_lack *lack;

	if (h < 0 || (int)gagg_geom_home(vis->g, ch->nhomes, m->chunk) != h)
		return gagg_drop(in, GAGG_DROP_CHUNK);
	base = &ch->home_base[h];
	if (m->chunk != base->slot || m->round != base->round)
		return GAGG_RX_OK;
	lack = gagg_chan_lack(ch, (u32)h);
	lack->v = base->v;
	lack->ranks = ((u64)m->ranks << 32 | m->aux) & ch->members;
	return GAGG_RX_OK;
}

/* local ranks that have not pushed the open round of a slot */
static u64 missing_not_pushed(struct gagg_chan *ch, u32 slot)
{
	u64 ranks = 0;
	u32 l;

	for (l = 0; l < ch->nlocals; l++)
		if (!(gagg_chan_pushed(ch, slot, l)->state & GAGG_PUSHED))
			ranks |= GAGG_BIT(ch->local[l].rank);
	return ranks;
}

/* of a chunk that is homed here. In a quorum it may be published already: then it waits for local
 * ranks only
 */
static u64 missing_here(const struct gagg_geom *g, struct gagg_chan *ch,
			const struct gagg_cur *c)
{
	const struct gagg_acc *a = gagg_chan_acc(g, ch, c->slot);

	if (*gagg_chan_pub(ch, c->slot) + 1 != c->round)
		return 0;
	if (a->bits && a->slot == c->slot && a->round == c->round)
		return missing_lacks(ch, a);
	return ch->members;
}

u64 gagg_ring_missing(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_op *op)
{
	u64 ranks = 0;
	u32 h;

	for (h = 0; h < ch->nhomes; h++) {
		const struct gagg_cur *c = &ch->home_base[h];
		const struct gagg_lack *lack = gagg_chan_lack(ch, h);

		if (c->v < op->start || c->v >= op->end)
			continue;
		ranks |= missing_not_pushed(ch, c->slot);
		if (h == ch->self_home)
			ranks |= missing_here(g, ch, c);
		else if (lack->v == c->v)
			ranks |= lack->ranks;
	}
	return ranks;
}
