// SPDX-License-Identifier: GPL-2.0
/*
 * Who is missing: ranks that have not contributed to what an op waits for.
 *
 * A chunk's home knows that, and says so (WAITS) to who asks for the chunk's result
 * (QUERY) when it has been open for a while. What is under way, or lost and not repaired
 * yet, is missing as well: no more is known than that it has not arrived.
 */
#include "ring/internal.h"

/* As long as questions are apart at most: who asks is answered then, and no sooner would help. */
#define OPEN_LONG	GAGG_QUERY_WAIT_MAX

/* Those that are asked again, after a void, have come. */
static u64 missing_lacks(const struct gagg_chan *ch, const struct gagg_acc *a)
{
	return ch->members & ~(a->bits | a->seen);
}

bool gagg_missing_tell(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		       const struct gagg_acc *a, u32 node, u64 now)
{
	u64 ranks = missing_lacks(ch, a);
	struct gagg_act *act;

	if (!ranks || now < a->opened + OPEN_LONG)
		return false;
	act = gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, ch->id);
	act->node = (u8)node;
	gagg_shard_msg(sh, g, GAGG_T_WAITS, ch->id, g->self, &act->m);
	act->m.chunk = a->slot;
	act->m.round = a->round;
	act->m.aux = (u32)ranks;
	act->m.ranks = (u32)(ranks >> 32);
	return true;
}

enum gagg_rx gagg_missing_told(const struct gagg_geom *g, struct gagg_chan *ch, u32 node,
			       const struct gagg_msg *m, struct gagg_todo *todo)
{
	int h = gagg_chan_home(ch, node);
	const struct gagg_cur *base;
	struct gagg_lack *lack;

	if (h < 0 || (int)gagg_geom_home(g, ch->nhomes, m->chunk) != h)
		return gagg_drop(todo, GAGG_DROP_CHUNK);
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

/* of a chunk that is homed here; quorum: it may be published, and wait for local ranks only */
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
