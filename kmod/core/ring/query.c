// SPDX-License-Identifier: GPL-2.0
/*
 * What became of it? Workers ask homes that owe them results: after a time, or as
 * soon as a home that has been heard falls silent.
 */
#include "ring/internal.h"

#define QUERY_RUN	64
#define POLL_WAIT_MAX	(2 * GAGG_MSEC)
#define TAIL		8	/* flying datagrams of a path that has nothing left to send */

struct gagg_act *gagg_query_ask(struct gagg_shard *sh, const struct gagg_geom *g,
				struct gagg_chan *ch, u32 h)
{
	struct gagg_act *a = gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, ch->id);

	a->node = ch->home[h];
	gagg_shard_msg(sh, g, GAGG_T_QUERY, ch->id, ch->local[0].rank, &a->m);
	sh->n[GAGG_N_QUERIES]++;
	return a;
}

/*
 * ask a home what became of the oldest open chunks. One rank asks for all that
 * live here: a result comes for the node, and RESEND for whom it may concern.
 * Chunks between them that are done are named as well: where every other result is lost,
 * one question is for many of them.
 */
static void query(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		  u32 h)
{
	struct gagg_way *w = gagg_chan_way(ch, 0, h);
	struct gagg_cur c = ch->home_base[h];
	u32 round = c.round, slot = c.slot, run = 0, n;
	struct gagg_act *a;

	for (n = 1; n <= QUERY_RUN && c.v < w->next.v && c.round == round; n++) {
		if (*gagg_chan_done(ch, c.slot) + 1 == c.round) {
			if ((gagg_chan_pushed(ch, c.slot, 0)->state &
			     (GAGG_ACKED | GAGG_AGAIN)) != GAGG_ACKED)
				break;
			run = n;
		}
		gagg_cur_next(g, ch, &c);
	}
	if (!run)
		return;
	a = gagg_query_ask(sh, g, ch, h);
	a->m.chunk = slot;
	a->m.round = round;
	a->m.run = (u16)run;
}

/* does home @h owe a result? A local rank has pushed a chunk of it that is not done */
static bool query_owed(struct gagg_chan *ch, u32 h)
{
	bool open = false;
	u32 l;

	for (l = 0; l < ch->nlocals; l++)
		open |= ch->home_base[h].v < gagg_chan_way(ch, l, h)->next.v;
	return open;
}

/* hardly anything of ours is under way: nothing waits in our queue, answers neither */
static bool query_drained(const struct gagg_shard *sh, const struct gagg_chan *ch)
{
	u32 h;

	for (h = 0; h < ch->nhomes; h++)
		if (sh->path[ch->home[h]].flying > TAIL)
			return false;
	return true;
}

/* Asks homes that owe results. None is due: says when one will be, which has been heard
 * and may still speak; else GAGG_NEVER.
 */
static u64 query_homes(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		       u64 now)
{
	bool tail = query_drained(sh, ch);
	u64 next = GAGG_NEVER;
	bool due = false;
	u32 h;

	for (h = 0; h < ch->nhomes; h++) {
		const struct gagg_path *p = &sh->path[ch->home[h]];
		u64 at = ch->stuck_at;

		if (h == ch->self_home || !query_owed(ch, h))
			continue;
		if (tail)
			at = gagg_min64(at, p->heard + gagg_path_quiet(p));
		if (at > now) {
			next = gagg_min64(next, at);
			continue;
		}
		due = true;
		if (!(ch->moved & GAGG_BIT(h)))
			query(sh, g, ch, h);
	}
	ch->moved = 0;
	return due ? GAGG_NEVER : next;
}

/* no answer of the home that is watched comes sooner; ns */
static u64 query_answer(const struct gagg_shard *sh, const struct gagg_chan *ch)
{
	u64 trip = ch->watched == 0xff ? 0 : sh->path[ch->home[ch->watched]].rtt_min;

	return trip + trip / 8;
}

static bool query_any_open(struct gagg_chan *ch)
{
	u32 h;

	for (h = 0; h < ch->nhomes; h++)
		if (query_owed(ch, h))
			return true;
	return false;
}

void gagg_ring_timer(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		     u64 now)
{
	u64 next;

	if (ch->poll_at <= now) {
		ch->poll_at = GAGG_NEVER;
		ch->poll_wait = (u32)gagg_min64(2ULL * ch->poll_wait, POLL_WAIT_MAX);
	}
	if (ch->due_at <= now)
		gagg_home_due(sh, g, ch, now);
	if (ch->query_at > now || gagg_shard_spare(sh) < GAGG_ACTS_STEP)
		return;
	next = query_homes(sh, g, ch, now);
	if (next == GAGG_NEVER) {
		u64 wait = gagg_path_pause(ch->query_wait, now - ch->watched_at);

		next = now + gagg_path_bound(query_answer(sh, ch), wait, GAGG_QUERY_WAIT_MAX, now);
	}
	ch->query_at = query_any_open(ch) ? next : GAGG_NEVER;
}
