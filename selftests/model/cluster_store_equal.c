// SPDX-License-Identifier: GPL-2.0
/*
 * Which states of a store are the same.
 */
#include "cluster_int.h"

static struct gagg_store_way *way_at(struct gagg_chan *ch, u32 l, u32 h)
{
	struct gagg_store *st = gagg_store_of(ch);

	return (struct gagg_store_way *)((char *)st + st->off_way) + l * ch->nhomes + h;
}

static u8 *state_at(struct gagg_chan *ch, u32 slot, u32 l, u32 h)
{
	struct gagg_store *st = gagg_store_of(ch);
	u32 at = slot * ch->nlocals + l;

	return (u8 *)st + st->off_state + (geom[0].copies ? at * ch->nhomes + h : at);
}

static bool is_read(const struct gagg_chan *ch, u32 l, const struct gagg_store_way *w)
{
	return ch->local[l].op[(w->done + 1) % GAGG_OPS].flags & GAGG_OP_READ;
}

static void normalise_way(u32 n, struct gagg_chan *ch, u32 l, u32 h)
{
	struct gagg_store_way *w = way_at(ch, l, h);
	u32 slot, known = !w->begun ? 0 : is_read(ch, l, w) ? w->fresh : w->next;

	if (!w->begun) {
		struct gagg_store_way was = *w;

		memset(w, 0, sizeof(*w));
		w->done = was.done;
		w->seen = was.seen;
		w->ask_at = was.ask_at;
	}
	w->ask_at = w->ask_at == GAGG_NEVER ? GAGG_NEVER : 1;
	w->wait = 0;
	w->answers = 0;		/* windows here are too small to be widened */
	/* which ranks ask for admission by clocks */
	if (!geom[n].snapshot)
		w->seen = 0;
	if (!w->again)
		w->again_at = 0;
	for (slot = known; slot < su.ring; slot++)
		if (geom[n].copies || gagg_geom_home(&geom[n], ch->nhomes, slot) == h)
			*state_at(ch, slot, l, h) = 0;
}

bool chunks_timed(u32 n, u32 c)
{
	return gagg_store_of(chan_of(n, c))->ask_at != GAGG_NEVER;
}

void chunks_normalise(u32 n, u32 c)
{
	struct gagg_chan *ch = chan_of(n, c);
	struct gagg_store *st = gagg_store_of(ch);
	u32 l, h, i, rank;

	st->ask_at = st->ask_at == GAGG_NEVER ? GAGG_NEVER : 1;
	st->run_at = GAGG_NEVER;
	/* which is first matters where one call cannot do all */
	st->calls = 0;
	st->serve_first = 0;
	st->work_first = 0;
	for (l = 0; l < ch->nlocals; l++)
		for (h = 0; h < ch->nhomes; h++)
			normalise_way(n, ch, l, h);
	for (rank = 0; rank < GAGG_RANKS; rank++)
		for (i = 0; i < GAGG_PULLS; i++)
			if (!st->park[rank].pull[i].run)
				memset(&st->park[rank].pull[i], 0, sizeof(st->park[rank].pull[i]));
}

/* an answer, to a read or (update) to whether it may go on */
static bool is_answered(const struct datagram *d, const struct gagg_msg *m)
{
	struct gagg_chan *ch = chan_of(d->to, m->channel);
	u32 l = (u32)gagg_chan_local(ch, m->aux);
	struct gagg_store_way *w = way_at(ch, l, (u32)gagg_chan_home(ch, d->from));

	if (geom[0].snapshot && m->round > w->seen)
		return false;
	if (m->number != w->done + 1)
		return m->number <= w->done;
	if (!is_read(ch, l, w))
		return w->admitted;
	return cur->node[d->to].part[m->channel].come[l] & (1U << m->chunk);
}

bool chunks_dead(const struct datagram *d, const struct gagg_msg *m)
{
	struct gagg_store *st = gagg_store_of(chan_of(d->to, m->channel));
	u64 arrived = cur->node[d->to].arrived[d->from];

	switch (m->type) {
	case GAGG_T_CONTRIB:
		/* the next clock is begun when all of the last one has been applied */
		return arrived & GAGG_BIT(m->pn - 1);
	case GAGG_T_READY:
		return (arrived & GAGG_BIT(m->pn - 1)) && st->clocks.clock[m->src] >= m->round;
	case GAGG_T_PULL:
		return m->number < st->park[m->src].number;
	case GAGG_T_RESULT:
		return is_answered(d, m);
	}
	return false;
}
