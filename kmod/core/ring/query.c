// SPDX-License-Identifier: GPL-2.0
/*
 * Questions (QUERY): a worker asks what became of chunks whose results a home owes (R30). It asks
 * after a time, or as soon as a home that was heard falls silent (R34, R36).
 */
#include "ring/internal.h"

#define QUERY_RUN	64
#define POLL_WAIT_MAX	(2 * GAGG_MSEC)
#define TAIL		8	/* flying datagrams of a path that has nothing left to send */

struct gagg_act *gagg_query_ask(const struct gagg_visit *vis, u32 h)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	struct gagg_act *a = gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, ch->id);

	a->node = ch->home[h];
	gagg_visit_msg(vis, GAGG_T_QUERY, ch->local[0].rank, &a->m);
	sh->n[GAGG_N_QUERIES]++;
	return a;
}

/*
 * asks a home about its oldest open chunks
 *
 * 1. One rank asks for all that live here: a result comes for the node, and RESEND says which rank
 *    it means.
 * 2. The run names chunks as well that are done, between those that are not: where every other
 *    result is lost, one question is still about many.
 */
static void query(const struct gagg_visit *vis, u32 h)
{
	struct gagg_chan *ch = vis->ch;
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
		gagg_cur_next(vis->g, ch, &c);
	}
	if (!run)
		return;
	a = gagg_query_ask(vis, h);
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

/* So little is under way that nothing waits in a queue of this node, and answers do not, either. */
static bool query_drained(const struct gagg_visit *vis)
{
	const struct gagg_chan *ch = vis->ch;
	u32 h;

	for (h = 0; h < ch->nhomes; h++)
		if (vis->sh->path[ch->home[h]].flying > TAIL)
			return false;
	return true;
}

/* asks the homes that owe results and are due; returns GAGG_NEVER then. If none is due, returns
 * when the first of them will be, which may answer until then
 */
static u64 query_homes(const struct gagg_visit *vis)
{
	struct gagg_chan *ch = vis->ch;
	bool tail = query_drained(vis);
	u64 next = GAGG_NEVER;
	bool due = false;
	u32 h;

	for (h = 0; h < ch->nhomes; h++) {
		const struct gagg_path *p = &vis->sh->path[ch->home[h]];
		u64 at = ch->stuck_at;

		if (h == ch->self_home || !query_owed(ch, h))
			continue;
		if (tail)
			at = gagg_min64(at, p->heard + gagg_path_quiet(p));
		if (at > vis->now) {
			next = gagg_min64(next, at);
			continue;
		}
		due = true;
		if (!(ch->moved & GAGG_BIT(h)))
			query(vis, h);
	}
	ch->moved = 0;
	return due ? GAGG_NEVER : next;
}

/* no answer of the home that is watched comes sooner; ns */
static u64 query_answer(const struct gagg_visit *vis)
{
	const struct gagg_chan *ch = vis->ch;
	u64 trip = ch->watched == 0xff ? 0 : vis->sh->path[ch->home[ch->watched]].rtt_min;

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

void gagg_ring_timer(const struct gagg_visit *vis)
{
	struct gagg_chan *ch = vis->ch;
	u64 now = vis->now;
	u64 next;

	if (ch->poll_at <= now) {
		ch->poll_at = GAGG_NEVER;
		ch->poll_wait = (u32)gagg_min64(2ULL * ch->poll_wait, POLL_WAIT_MAX);
	}
	if (ch->due_at <= now)
		gagg_home_due(vis);
	if (ch->query_at > now || gagg_shard_spare(vis->sh) < GAGG_ACTS_STEP)
		return;
	next = query_homes(vis);
	if (next == GAGG_NEVER) {
		u64 wait = gagg_path_pause(ch->query_wait, now - ch->watched_at);

		next = now + gagg_path_bound(query_answer(vis), wait, GAGG_QUERY_WAIT_MAX, now);
	}
	ch->query_at = query_any_open(ch) ? next : GAGG_NEVER;
}
