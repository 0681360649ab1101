// SPDX-License-Identifier: GPL-2.0
/*
 * Gaps: results whose packet numbers were skipped are asked for with PULL when a batch
 * was read to its end, since they may only have been overtaken in it; and again if what
 * that brings is lost, too.
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

/* The first answer may wait behind much that was sent before it: doubling up to a timeout. */
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
 * What is asked for first was lost for the window, too. Results without lanes are runs: of a gap
 * that one of those shows, or TOLD, nobody knows how many datagrams it was; one at least.
 */
static void gap_shrink(struct gagg_path *p, struct gagg_gap *gap, u64 now)
{
	gagg_cwnd_results_lost(p, gap->lanes ? gap->end - gap->first : 1, now);
	gap->cut_pn = p->cut_pn;
}

static void gap_ask_for(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
			u32 h, struct gagg_gap *gap, u64 now)
{
	struct gagg_act *a = gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, ch->id);

	a->node = ch->home[h];
	gagg_shard_msg(sh, g, GAGG_T_PULL, ch->id, ch->local[0].rank, &a->m);
	a->m.pn = gap->first;
	a->m.run = (u16)(gap->end - gap->first);
	sh->n[GAGG_N_PULLS]++;
	if (!gap->wait)
		gap_shrink(&sh->path[a->node], gap, now);
}

/* the place of another gap; of too many the oldest is left to QUERY, asked for once */
static struct gagg_gap *gap_add(struct gagg_shard *sh, const struct gagg_geom *g,
				struct gagg_chan *ch, u32 h, u64 now)
{
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
		gap_ask_for(sh, g, ch, h, oldest, now);
	return oldest;
}

/*
 * Results that come by themselves were not lost, but overtaken for so long: later gaps
 * wait for that. Longer than this home has known is told to the others, too: what
 * reorders one most often reorders all, and of many each sends too few to learn. What
 * had to be asked for was lost, and the time is forgotten by and by. (By multicast a
 * repair may come that others have asked for.)
 */
static void gap_learn(const struct gagg_geom *g, struct gagg_chan *ch, u32 h,
		      const struct gagg_gap *gap, bool repair, u64 now)
{
	u64 since = now > gap->seen ? now - gap->seen : 0;
	u32 late = (u32)gagg_min64(since, GAGG_QUERY_WAIT_MAX), i;

	if (repair && !gap->wait && g->heard_by_others)
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

/* it has cut the window; what has been cut since was for something else */
static void gap_was_late(struct gagg_path *p, const struct gagg_gap *gap)
{
	if (gap->cut_pn == p->cut_pn)
		gagg_cwnd_undo(p);
}

/* results that were skipped have come: what lies behind them is on its way, too, or is
 * asked for again as if it had been asked for now
 */
static void gap_close(struct gagg_shard *sh, const struct gagg_geom *g,
		      struct gagg_chan *ch, u32 h, const struct gagg_msg *m, u64 now)
{
	struct gagg_gap *all = gagg_chan_gaps(ch, h)->gap;
	u32 first = m->pn, end = first + m->run, i;

	for (i = 0; i < GAGG_GAPS; i++) {
		struct gagg_gap *gap = &all[i];
		struct gagg_gap rest = *gap;

		if ((s32)(end - gap->first) <= 0 || (s32)(gap->end - first) <= 0)
			continue;
		if (gap->wait && !(m->flags & GAGG_WF_REPAIR))
			gap_was_late(&sh->path[ch->home[h]], gap);
		gap_learn(g, ch, h, gap, m->flags & GAGG_WF_REPAIR, now);
		rest.first = end;
		rest.silent = 0;
		if (rest.wait)
			rest.at = now + rest.wait;
		gap->end = (s32)(first - gap->first) > 0 ? first : gap->first;
		/* what was asked for before it was lost, or has come */
		if (m->flags & GAGG_WF_REPAIR && !ch->overtaken[h])
			gap->pn = sh->path[ch->home[h]].told;
		if ((s32)(rest.end - end) > 0)
			*gap_add(sh, g, ch, h, now) = rest;
	}
}

/* the results before @end that have not come are a gap; false: there is none.
 * The home remembers its last `window` results only.
 */
bool gagg_gap_note(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		   u32 h, u32 end, bool lanes, u64 now)
{
	struct gagg_gaps *gaps = gagg_chan_gaps(ch, h);
	u32 n = end - ch->home_rpn[h];
	struct gagg_gap *gap;

	if ((s32)n <= 0)
		return false;
	n = (u32)gagg_min64(n, g->window);
	ch->home_rpn[h] = end;
	gap = gap_add(sh, g, ch, h, now);
	gap->first = end - n;
	gap->end = end;
	gap->wait = 0;
	gap->silent = 0;
	gap->lanes = lanes;
	gap->seen = now;
	gap->at = now + ch->overtaken[h] + ch->overtaken[h] / 8;
	/* a lower bound: gaps only become due later. gap_pull() finds the least anew */
	gaps->at = gagg_min64(gaps->at, gap->at);
	ch->pull_at = gagg_min64(ch->pull_at, gaps->at);
	return true;
}

/*
 * They were pulled, and may wait in a queue that has become longer. Not if
 * 1. something was acknowledged that was sent after the PULL, or what was pulled behind
 *    them has come: what the PULL brings was sent before that, and goes the same way; or
 * 2. a timeout has passed since.
 */
static bool gap_on_their_way(const struct gagg_gap *gap, const struct gagg_path *p)
{
	return gap->wait && gap->end - gap->first > FEW && gagg_pn_before(p->told, gap->pn) &&
	       gap->pulled + gap->wait < gagg_path_patience(p);
}

/* those of a home that are due; returns when the next one is */
static u64 gap_pull(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		    u32 h, u64 now)
{
	const struct gagg_path *p = &sh->path[ch->home[h]];
	struct gagg_gap *all = gagg_chan_gaps(ch, h)->gap;
	u64 next = GAGG_NEVER;
	u32 i;

	for (i = 0; i < GAGG_GAPS; i++) {
		struct gagg_gap *gap = &all[i];

		/* a home that is silent for so long is left to QUERY */
		if (gap->at <= now && gap->silent >= GAGG_QUERY_WAIT_MAX)
			gap->end = gap->first;
		if (gap->first == gap->end)
			continue;
		if (gap->at <= now && gap_on_their_way(gap, p)) {
			gap->silent += gap->wait;
			gap->pulled += gap->wait;
			gap->at = now + gap->wait;
		} else if (gap->at <= now && gagg_shard_spare(sh) >= GAGG_ACTS_STEP) {
			gap_ask_for(sh, g, ch, h, gap, now);
			gap_again_later(gap, p, now);
		}
		next = gagg_min64(next, gap->at);
	}
	return next;
}

/* those that are still there when a batch was read; and again, if the PULL was lost, or
 * what it was answered with
 */
void gagg_gap_pull(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		   u64 now)
{
	u32 h;

	ch->pull_at = GAGG_NEVER;
	for (h = 0; h < ch->nhomes; h++) {
		struct gagg_gaps *gaps = gagg_chan_gaps(ch, h);

		if (gaps->at <= now)
			gaps->at = gap_pull(sh, g, ch, h, now);
		ch->pull_at = gagg_min64(ch->pull_at, gaps->at);
	}
}

/*
 * Note results whose packet numbers were skipped. A repetition that
 * is the next one closes the gap as well; one that is not says nothing about
 * what lies between.
 */
void gagg_gap_seen(struct gagg_shard *sh, const struct gagg_geom *g,
		   struct gagg_chan *ch, u32 h, const struct gagg_msg *m, u64 now)
{
	s32 gap = (s32)(m->pn - ch->home_rpn[h]);

	if (gap < 0)
		gap_close(sh, g, ch, h, m, now);
	if (gap + m->run <= 0 || (gap > 0 && (m->flags & GAGG_WF_REPAIR)))
		return;
	if (gap > 0)
		gagg_gap_note(sh, g, ch, h, m->pn, gagg_wire_has_lanes(m), now);
	ch->home_rpn[h] = m->pn + m->run;
}
