// SPDX-License-Identifier: GPL-2.0
/*
 * Gaps: packet numbers of results that were skipped (R22, R23).
 *
 * A PULL asks for them only when a batch was read to its end: until then they may have been
 * overtaken in it. It is repeated if no result comes of it.
 */
#include "cwnd.h"
#include "ring/internal.h"

#define PULL_WAIT_MIN	(500 * GAGG_USEC)
#define FORGOTTEN	(8 * GAGG_USEC)	/* a wait that is as good as none */
#define FEW		4	/* results that may come twice rather than late */

/* what a home does not answer was lost, after about a round trip */
static u32 gap_pull_wait(const struct gagg_path *p)
{
	u64 wait = p->srtt ? gagg_max64(p->srtt + p->srtt / 8, PULL_WAIT_MIN) :
			     gagg_path_rto(p);

	return (u32)gagg_min64(wait, GAGG_QUERY_WAIT_MAX);
}

/* The wait doubles up to a timeout: the answer to the first PULL may be in a long queue. */
static void gap_again_later(struct gagg_gap *gap, const struct gagg_path *p, u64 now)
{
	u64 wait = gap_pull_wait(p);

	if (gap->wait) {
		gap->silent += gap->wait;
		wait = gagg_max64(gap->wait, gagg_min64(2ULL * gap->wait, GAGG_PATH_RTO_MIN));
		wait = gagg_path_pause(wait, gap->silent);
	}
	gap->wait = (u32)gagg_min64(wait, GAGG_QUERY_WAIT_MAX);
	gap->pulled = 0;
	gap->pn = p->next_pn;
	gap->at = now + gap->wait;
}

/*
 * A gap that is asked for the first time counts as lost datagrams for the window, too.
 *
 * How many they were is known only where results with lanes have shown the gap: each of them has
 * a number of its own. Results without lanes come in runs, and TOLD is none: one datagram at
 * least was lost.
 */
static void gap_shrink(struct gagg_path *p, struct gagg_gap *gap, u64 now)
{
	gagg_cwnd_results_lost(p, gap->lanes ? gap->end - gap->first : 1, now);
	gap->cut_pn = p->cut_pn;
}

static void gap_ask_for(const struct gagg_visit *vis, u32 h, struct gagg_gap *gap)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	struct gagg_act *a = gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, ch->id);

	a->node = ch->home[h];
	gagg_visit_msg(vis, GAGG_T_PULL, ch->local[0].rank, &a->m);
	a->m.pn = gap->first;
	a->m.run = (u16)(gap->end - gap->first);
	sh->n[GAGG_N_PULLS]++;
	if (!gap->wait)
		gap_shrink(&sh->path[a->node], gap, vis->now);
}

/* the place of another gap; of too many the oldest is left to QUERY, asked for once */
static struct gagg_gap *gap_add(const struct gagg_visit *vis, u32 h)
{
	struct gagg_chan *ch = vis->ch;
	struct gagg_gap *all = gagg_chan_gaps(ch, h)->gap, *oldest = all;
	u32 i;

	for (i = 0; i < GAGG_GAPS; i++) {
		struct gagg_gap *gap = &all[i];

		if (gap->first == gap->end)
			return gap;
		if ((s32)(gap->first - oldest->first) < 0)
			oldest = gap;
	}
	if (!oldest->wait && !ch->overtaken[h])
		gap_ask_for(vis, h, oldest);
	return oldest;
}

/*
 * How long results of a home are overtaken: later gaps of it wait for as long (R22).
 *
 * 1. Results that have come without a PULL were not lost, but overtaken until now.
 * 2. A time that is longer than the home's last one counts for all homes: what reorders the
 *    results of one most often reorders those of all, and each of many sends too few of them to
 *    learn from.
 * 3. Results that had to be asked for were lost: the time is forgotten by an eighth.
 * 4. By multicast a repair may come that another node has asked for: it says nothing.
 */
static void gap_learn(const struct gagg_visit *vis, u32 h, const struct gagg_gap *gap, bool repair)
{
	struct gagg_chan *ch = vis->ch;
	u64 since = vis->now > gap->seen ? vis->now - gap->seen : 0;
	u32 late = (u32)gagg_min64(since, GAGG_QUERY_WAIT_MAX), i;

	if (repair && !gap->wait && vis->g->heard_by_others)
		return;
	if (repair) {
		ch->overtaken[h] -= ch->overtaken[h] / 8;
		if (ch->overtaken[h] < FORGOTTEN)
			ch->overtaken[h] = 0;
		return;
	}
	if (ch->overtaken[h] >= late)
		return;
	for (i = 0; i < ch->nhomes; i++)
		ch->overtaken[i] = (u32)gagg_max64(ch->overtaken[i], late);
}

/* the gap was not lost: its cut of the window is undone, unless there was another one since */
static void gap_was_late(struct gagg_path *p, const struct gagg_gap *gap)
{
	if (gap->cut_pn == p->cut_pn)
		gagg_cwnd_undo(p);
}

/*
 * The results of @m close a gap, or a part of one. What lies behind them in it is a gap of its own:
 * if it was asked for, it is on its way, too, and its wait begins anew.
 */
static void gap_close(const struct gagg_visit *vis, u32 h, const struct gagg_msg *m)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	struct gagg_gap *all = gagg_chan_gaps(ch, h)->gap;
	u32 first = m->pn, end = first + m->run, i;

	for (i = 0; i < GAGG_GAPS; i++) {
		struct gagg_gap *gap = &all[i];
		struct gagg_gap rest = *gap;

		if ((s32)(end - gap->first) <= 0 || (s32)(gap->end - first) <= 0)
			continue;
		if (gap->wait && !(m->flags & GAGG_WF_REPAIR))
			gap_was_late(&sh->path[ch->home[h]], gap);
		gap_learn(vis, h, gap, m->flags & GAGG_WF_REPAIR);
		rest.first = end;
		rest.silent = 0;
		if (rest.wait)
			rest.at = vis->now + rest.wait;
		gap->end = (s32)(first - gap->first) > 0 ? first : gap->first;
		/* what was asked for before it was lost, or has come */
		if (m->flags & GAGG_WF_REPAIR && !ch->overtaken[h])
			gap->pn = sh->path[ch->home[h]].told;
		if ((s32)(rest.end - end) > 0)
			*gap_add(vis, h) = rest;
	}
}

/* of no more than the last `window` results, since the home remembers no others (R15) */
bool gagg_gap_note(const struct gagg_visit *vis, u32 h, u32 end, bool lanes)
{
	struct gagg_chan *ch = vis->ch;
	struct gagg_gaps *gaps = gagg_chan_gaps(ch, h);
	u32 n = end - ch->home_rpn[h];
	struct gagg_gap *gap;

	if ((s32)n <= 0)
		return false;
	n = (u32)gagg_min64(n, vis->g->window);
	ch->home_rpn[h] = end;
	gap = gap_add(vis, h);
	gap->first = end - n;
	gap->end = end;
	gap->wait = 0;
	gap->silent = 0;
	gap->lanes = lanes;
	gap->seen = vis->now;
	gap->at = vis->now + ch->overtaken[h] + ch->overtaken[h] / 8;
	/* a lower bound: gaps only become due later. gap_pull() finds the least anew */
	gaps->at = gagg_min64(gaps->at, gap->at);
	ch->pull_at = gagg_min64(ch->pull_at, gaps->at);
	return true;
}

/*
 * Results that were pulled may wait in a queue that has become longer (R23), unless
 * 1. something was acknowledged that was sent after the PULL, or results have come that were
 *    pulled behind them: the home has sent theirs before, and they go the same way; or
 * 2. a timeout has passed since the PULL.
 */
static bool gap_on_their_way(const struct gagg_gap *gap, const struct gagg_path *p)
{
	return gap->wait && gap->end - gap->first > FEW && gagg_pn_before(p->told, gap->pn) &&
	       gap->pulled + gap->wait < gagg_path_patience(p);
}

/* those of a home that are due; returns when the next one is */
static u64 gap_pull(const struct gagg_visit *vis, u32 h)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	u64 now = vis->now;
	const struct gagg_path *p = &sh->path[ch->home[h]];
	struct gagg_gap *all = gagg_chan_gaps(ch, h)->gap;
	u64 next = GAGG_NEVER;
	u32 i;

	for (i = 0; i < GAGG_GAPS; i++) {
		struct gagg_gap *gap = &all[i];

		/* a home that does not answer for so long is left to QUERY (R30) */
		if (gap->at <= now && gap->silent >= GAGG_QUERY_WAIT_MAX)
			gap->end = gap->first;
		if (gap->first == gap->end)
			continue;
		if (gap->at <= now && gap_on_their_way(gap, p)) {
			gap->silent += gap->wait;
			gap->pulled += gap->wait;
			gap->at = now + gap->wait;
		} else if (gap->at <= now && gagg_shard_spare(sh) >= GAGG_ACTS_STEP) {
			gap_ask_for(vis, h, gap);
			gap_again_later(gap, p, now);
		}
		next = gagg_min64(next, gap->at);
	}
	return next;
}

void gagg_gap_pull(const struct gagg_visit *vis)
{
	struct gagg_chan *ch = vis->ch;
	u32 h;

	ch->pull_at = GAGG_NEVER;
	for (h = 0; h < ch->nhomes; h++) {
		struct gagg_gaps *gaps = gagg_chan_gaps(ch, h);

		if (gaps->at <= vis->now)
			gaps->at = gap_pull(vis, h);
		ch->pull_at = gagg_min64(ch->pull_at, gaps->at);
	}
}

/*
 * A repetition (REPAIR) beyond the next number shows no gap: it was sent out of its turn. One
 * that has the next number moves it on, as any result does.
 */
void gagg_gap_seen(const struct gagg_visit *vis, u32 h, const struct gagg_msg *m)
{
	struct gagg_chan *ch = vis->ch;
	s32 gap = (s32)(m->pn - ch->home_rpn[h]);

	if (gap < 0)
		gap_close(vis, h, m);
	if (gap + m->run <= 0 || (gap > 0 && (m->flags & GAGG_WF_REPAIR)))
		return;
	if (gap > 0)
		gagg_gap_note(vis, h, m->pn, gagg_wire_has_lanes(m));
	ch->home_rpn[h] = m->pn + m->run;
}
