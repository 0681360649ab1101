// SPDX-License-Identifier: GPL-2.0
/*
 * Which states of a ring are the same.
 */
#include "cluster_int.h"

static u32 to_be_sent_again(u32 n, u32 c, u32 l, u32 h)
{
	struct gagg_chan *ch = chan_of(n, c);
	u32 i, again = 0;

	for (i = 0; i < su.ring; i++)
		again += gagg_geom_home(&geom[n], ch->nhomes, i) == h &&
			 (gagg_chan_pushed(ch, i, l)->state & GAGG_AGAIN);
	return again;
}

/* whatever the time: what is missing was pulled, and may be again by the timer */
static void gaps_normalise(struct gagg_chan *ch)
{
	u32 h, i;

	ch->pull_at = ch->pull_at == GAGG_NEVER ? GAGG_NEVER : LATER;
	for (h = 0; h < ch->nhomes; h++) {
		gagg_chan_gaps(ch, h)->at = ch->pull_at;
		for (i = 0; i < GAGG_GAPS; i++) {
			struct gagg_gap *gap = &gagg_chan_gaps(ch, h)->gap[i];

			if (gap->first != gap->end && !gap->wait)
				fail("a gap was not pulled");
			gap->at = LATER;
			gap->wait = 1;
			/* nothing was overtaken, no silence is long */
			gap->seen = NOW;
			gap->silent = 0;
			gap->pn = 0;
			gap->pulled = 0;
			gap->cut_pn = 0;
			gap->lanes = false;
			if (gap->first == gap->end)
				memset(gap, 0, sizeof(*gap));
		}
	}
}

bool chunks_timed(u32 n, u32 c)
{
	const struct gagg_chan *ch = chan_of(n, c);

	return ch->query_at != GAGG_NEVER || ch->due_at != GAGG_NEVER;
}

void chunks_normalise(u32 n, u32 c)
{
	struct part *p = &cur->node[n].part[c];
	struct gagg_chan *ch = chan_of(n, c);
	u32 i, l, h, again;

	ch->query_at = ch->query_at == GAGG_NEVER ? GAGG_NEVER : 1;
	ch->query_wait = 0;
	ch->stuck_at = 0;
	ch->watched_at = 0;
	ch->watched = 0;
	ch->moved = 0;	/* or every QUERY would take two steps of the timer */
	ch->poll_at = GAGG_NEVER;
	ch->poll_wait = 0;
	ch->due_at = ch->due_at == GAGG_NEVER ? GAGG_NEVER : 1;
	if (ch->parked || ch->repair_at != GAGG_NEVER)
		fail("node %u: results are parked still", n);
	gaps_normalise(ch);
	memset(&ch->delays, 0, sizeof(ch->delays));
	for (i = 0; i < su.ring; i++) {
		for (l = 0; l < ch->nlocals; l++) {
			struct gagg_pushed *q = gagg_chan_pushed(ch, i, l);

			if (!q->state)
				memset(q, 0, sizeof(*q));
		}
		if (reads_all(n, c, i) &&
		    ch->self_home != gagg_geom_home(&geom[n], ch->nhomes, i))
			p->result[i] = 0;
	}
	for (l = 0; l < ch->nlocals; l++)
		for (h = 0; h < ch->nhomes; h++) {
			struct gagg_way *w = gagg_chan_way(ch, l, h);

			again = to_be_sent_again(n, c, l, h);
			if (w->nagain != again)
				fail("node %u: %u to be sent again, not %u", n, again, w->nagain);
			if (!w->nagain)
				memset(&w->again, 0, sizeof(w->again));
			if (w->ready.m.run)
				fail("node %u: a READY was not sent", n);
			memset(&w->ready, 0, sizeof(w->ready));
		}
	for (i = 0; i < su.window && ch->self_home != 0xff; i++) {
		struct gagg_acc *a = GAGG_CHAN_AT(ch, off_acc, struct gagg_acc) + i;

		if (!a->bits)
			memset(a, 0, sizeof(*a));
		if (!a->summed)
			p->acc[i] = 0;
	}
}

static bool all_done(u32 n, const struct gagg_msg *m)
{
	struct gagg_chan *ch = chan_of(n, m->channel);
	u32 slot = m->chunk, k;

	for (k = 0; k < m->run && slot < su.ring; k++) {
		if ((s32)(*gagg_chan_done(ch, slot) - m->round) < 0)
			return false;
		slot = gagg_geom_next(&geom[n], ch->nhomes, slot);
	}
	return true;
}

/* a contribution to what is published at its home: it is counted or was said to
 * be late, and its sender has the result
 */
static bool is_settled(const struct datagram *d, const struct gagg_msg *m)
{
	struct gagg_chan *ch = chan_of(d->to, m->channel);
	u32 slot = m->chunk, k;

	if (!geom[d->to].quorum)
		return all_done(d->to, m);
	for (k = 0; k < m->run && slot < su.ring; k++) {
		s32 ahead = (s32)(m->round - *gagg_chan_pub(ch, slot));
		const struct gagg_late *l =
			&GAGG_CHAN_AT(ch, off_late, struct gagg_late)[slot];

		if (ahead > 0 || (!ahead && !(l->bits & GAGG_BIT(m->src)) &&
				  (!(l->late & GAGG_BIT(m->src)) || !all_done(d->from, m))))
			return false;
		slot = gagg_geom_next(&geom[d->to], ch->nhomes, slot);
	}
	return true;
}

/* rounds after these are published there */
static bool all_published(u32 n, const struct gagg_msg *m)
{
	struct gagg_chan *ch = chan_of(n, m->channel);
	u32 slot = m->chunk, k;

	for (k = 0; k < m->run && slot < su.ring; k++) {
		if ((s32)(*gagg_chan_pub(ch, slot) - m->round - 1) < 0)
			return false;
		slot = gagg_geom_next(&geom[n], ch->nhomes, slot);
	}
	return true;
}

/* a result that was pulled is waited for, though the chunk is done: it stops a timer */
static bool closes_gap(struct gagg_chan *ch, u32 h, const struct gagg_msg *m)
{
	u32 i;

	for (i = 0; i < GAGG_GAPS; i++) {
		const struct gagg_gap *gap = &gagg_chan_gaps(ch, h)->gap[i];

		if (gap->first != gap->end && (s32)(m->pn + m->run - gap->first) > 0 &&
		    (s32)(gap->end - m->pn) > 0)
			return true;
	}
	return false;
}

bool chunks_dead(const struct datagram *d, const struct gagg_msg *m)
{
	struct gagg_chan *ch = chan_of(d->to, m->channel);
	u32 h, k, pn;

	switch (m->type) {
	case GAGG_T_CONTRIB:
	case GAGG_T_READY:
		return is_settled(d, m) &&
		       (cur->node[d->to].arrived[d->from] & GAGG_BIT(m->pn - 1));
	case GAGG_T_QUERY:
		return all_published(d->to, m);
	case GAGG_T_RESEND:
	case GAGG_T_WAITS:
		return all_done(d->to, m);
	case GAGG_T_TOLD:
		for (h = 0; ch->home[h] != d->from; h++)
			;
		return all_done(d->to, m) && (s32)(m->pn - ch->home_rpn[h]) <= 0;
	case GAGG_T_RESULT:
	case GAGG_T_DONE:
		for (h = 0; ch->home[h] != d->from; h++)
			;
		return all_done(d->to, m) && (s32)(m->pn + m->run - ch->home_rpn[h]) <= 0 &&
		       !closes_gap(ch, h, m);
	case GAGG_T_PULL:
		for (k = 0, pn = m->pn; k < m->run; k++, pn++) {
			u32 slot = GAGG_CHAN_AT(ch, off_publog, u32)[pn & (su.window - 1)];

			if (GAGG_CHAN_AT(ch, off_res, struct gagg_res)[slot].rpn == pn)
				return false;
		}
		return true;
	}
	return false;
}
