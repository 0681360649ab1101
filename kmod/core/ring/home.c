// SPDX-License-Identifier: GPL-2.0
/*
 * The home of a chunk: contributions come in and are summed. What goes out is in result.c.
 *
 * The result is a pure function of the contributions (protocol.md R2). E is the largest exponent
 * of those with lanes; each of them is shifted once, from its original, by E minus its own.
 * 1. A larger exponent may come last: then the sum of what other hosts have sent is void (R6),
 *    and they are asked for the same bytes again.
 * 2. A void does not concern local contributions, which are never in the accumulator: PUBLISH
 *    adds them last.
 *
 * Two buffers are enough (R4). The open round is in the accumulator, the published one in the
 * result ring, until the next one is complete. By then every member has contributed to the next
 * one, and does so only after it has read the result.
 */
#include "cwnd.h"
#include "ring/round.h"

#define DUE_STEP	(100 * GAGG_USEC)

static void home_begin(struct gagg_chan *ch, struct gagg_acc *a, const struct gagg_msg *m, u64 now)
{
	memset(a, 0, sizeof(*a));
	a->slot = m->chunk;
	a->round = m->round;
	a->sig = m->sig;
	a->call = m->aux;
	a->laneop = m->laneop;
	a->lanes = m->lanes;
	a->flags = m->flags & GAGG_WF_RAW;
	a->first = (u8)m->src;
	a->nonfinite = 0xff;
	a->opened = now;
	/* an older one comes first */
	if (ch->limit != GAGG_NEVER && ch->due_at == GAGG_NEVER)
		ch->due_at = now + ch->limit;
}

/* the accumulation that @m is for, begun if there is none; NULL: another one has its place, which
 * no host causes that keeps the window (chan.h)
 */
static inline struct gagg_acc *home_acc_open(const struct gagg_geom *g, struct gagg_chan *ch,
					     const struct gagg_msg *m, u64 now)
{
	struct gagg_acc *a = gagg_chan_acc(g, ch, m->chunk);

	if (a->bits)
		return a->slot == m->chunk && a->round == m->round ? a : NULL;
	home_begin(ch, a, m, now);
	return a;
}

void gagg_home_desync(const struct gagg_visit *vis, const struct gagg_msg *m, u32 other, u32 sig,
		      u32 call)
{
	struct gagg_act *act = gagg_shard_emit(vis->sh, GAGG_ACT_DESYNC, vis->ch->id);

	act->end.reason = GAGG_R_DESYNC;
	act->end.rank = m->src;
	act->end.other = (u16)other;
	act->end.sig = m->sig;
	act->end.other_sig = sig;
	act->end.call = m->aux;
	act->end.other_call = call;
}

/* true if @m belongs to the collective that @a was begun for */
static bool home_agrees(const struct gagg_visit *vis, const struct gagg_acc *a,
			const struct gagg_msg *m)
{
	if (a->sig == m->sig && a->laneop == m->laneop && a->lanes == m->lanes &&
	    a->flags == (m->flags & GAGG_WF_RAW))
		return true;
	gagg_home_desync(vis, m, a->first, a->sig, a->call);
	return false;
}

/* asks ranks for the same bytes again (R6, R14) */
static void home_ask_again(const struct gagg_visit *vis, u32 slot, u32 round, u64 ranks)
{
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;

	for (; ranks; ranks &= ranks - 1) {
		u32 rank = gagg_lowest(ranks);
		struct gagg_msg m;

		gagg_visit_msg(vis, GAGG_T_RESEND, g->self, &m);
		m.chunk = slot;
		m.round = round;
		m.aux = rank;
		gagg_run_add(vis, &sh->resend_run[rank], g->node_of[rank], &m, false);
		sh->resends = 1;
	}
}

/* is the exponent of @m too large for what was added (R6)? */
static bool home_voids(const struct gagg_acc *a, const struct gagg_msg *m)
{
	return gagg_wire_has_lanes(m) && m->exp > a->exp && a->summed;
}

static void home_void_sum(const struct gagg_visit *vis, struct gagg_acc *a)
{
	home_ask_again(vis, a->slot, a->round, a->summed);
	gagg_round(vis->g, voided, a);
	a->bits &= ~a->summed;
	a->summed = 0;
	vis->sh->n[GAGG_N_VOIDS]++;
}

/* count a contribution (its lanes, if any, are added by the caller) */
static inline void home_count(const struct gagg_visit *vis, struct gagg_acc *a,
			      const struct gagg_msg *m, bool lanes)
{
	a->bits |= GAGG_BIT(m->src);
	gagg_round(vis->g, counted, vis, a, m->src);
	if (m->flags & GAGG_WF_NORESULT)
		a->noresult |= GAGG_BIT(m->src);
	if (m->want > a->want)
		a->want = m->want;
	if ((m->flags & GAGG_WF_NONFINITE) && m->src < a->nonfinite)
		a->nonfinite = (u8)m->src;
	if (!lanes && m->exp > a->zexp)
		a->zexp = m->exp;
	if (lanes && m->exp > a->exp)
		a->exp = m->exp;
	vis->sh->n[GAGG_N_CONTRIBUTIONS]++;
}

/* what will the round be that @m is for, when it is counted */
static inline enum gagg_then home_then(const struct gagg_geom *g, const struct gagg_chan *ch,
				       const struct gagg_acc *a, const struct gagg_msg *m)
{
	return gagg_round(g, foreseen, ch, a->bits | GAGG_BIT(m->src));
}

static void home_maybe_publish(const struct gagg_visit *vis, struct gagg_acc *a, bool to_result)
{
	if (gagg_round(vis->g, complete, vis, a, a->bits))
		gagg_result_publish(vis, a, to_result);
}

void gagg_home_due(const struct gagg_visit *vis)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	u64 now = vis->now;
	u64 next = GAGG_NEVER;
	u32 i;

	ch->due_at = now;
	for (i = 0; i < g->window; i++) {
		struct gagg_acc *a = gagg_chan_acc(g, ch, i);

		if (gagg_shard_spare(vis->sh) < GAGG_ACTS_STEP)
			return;
		if (a->bits)
			home_maybe_publish(vis, a, false);
		if (a->bits && ch->limit != GAGG_NEVER && a->opened + ch->limit > now)
			next = gagg_min64(next, a->opened + ch->limit);
	}
	/* many chunks a look */
	ch->due_at = next == GAGG_NEVER ? next : gagg_max64(next, now + DUE_STEP);
}

/*
 * verdict on a remote contribution (R5 to R11); GAGG_RX_ADD: it counts, and *@ap is its place
 *
 * Every mode adds to the open round alone.
 */
static enum gagg_rx home_admit(struct gagg_arrival *in, const struct gagg_msg *m,
			       struct gagg_acc **ap)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	s32 ahead = (s32)(m->round - (*gagg_chan_pub(ch, m->chunk) + 1));
	struct gagg_acc *a;

	gagg_round(g, pushed, vis, m);

	/* R10: cannot happen within an epoch */
	if (ahead > 0)
		return gagg_drop(in, GAGG_DROP_ROUND);
	if (ahead) {
		/* R9: it was acknowledged, which is all; in a quorum it may be late (R17) */
		sh->n[GAGG_N_STALE]++;
		gagg_round(g, is_late, vis, m);
		return GAGG_RX_OK;
	}
	a = home_acc_open(g, ch, m, vis->now);
	if (!a)
		return gagg_drop(in, GAGG_DROP_WINDOW);
	if (a->bits & GAGG_BIT(m->src)) {
		sh->n[GAGG_N_DUPLICATES]++;
		return GAGG_RX_OK;
	}
	if (!home_agrees(vis, a, m))
		return gagg_drop(in, GAGG_DROP_OP);
	*ap = a;
	return GAGG_RX_ADD;
}

static inline enum gagg_rx home_contrib(struct gagg_arrival *in, const struct gagg_msg *m,
					struct gagg_acc **ap)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_todo *todo = &in->todo;
	enum gagg_rx rx = home_admit(in, m, ap);
	struct gagg_acc *a = *ap;

	if (rx != GAGG_RX_ADD)
		return rx;
	if (m->exp > a->exp && a->summed)
		home_void_sum(vis, a);
	if (m->exp > a->exp)
		a->exp = m->exp;
	todo->slot = m->chunk;
	todo->area = GAGG_AREA_ACC;
	todo->acc = m->chunk & (g->window - 1);
	todo->first = !a->summed;
	todo->shift = a->exp - m->exp;
	todo->laneop = a->laneop;
	todo->lanes = a->lanes;
	todo->to_result = !gagg_lane_narrow(a->laneop) &&
			  home_then(g, vis->ch, a, m) == GAGG_THEN_COMPLETE;
	return GAGG_RX_ADD;
}

static inline void home_commit(const struct gagg_visit *vis, struct gagg_acc *a,
			       const struct gagg_msg *m, bool to_result)
{
	home_count(vis, a, m, true);
	a->summed |= GAGG_BIT(m->src);
	home_maybe_publish(vis, a, to_result);
}

enum gagg_rx gagg_home_contrib(struct gagg_arrival *in, const struct gagg_msg *m)
{
	struct gagg_acc *a = NULL;

	return home_contrib(in, m, &a);
}

void gagg_home_commit(const struct gagg_arrival *in)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_msg *m = &in->todo.m;

	home_commit(vis, gagg_chan_acc(vis->g, vis->ch, m->chunk), m, in->todo.to_result);
}

static noinline enum gagg_rx home_next_any(struct gagg_arrival *in)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_msg *m = &in->todo.m;
	struct gagg_acc *a = NULL;
	enum gagg_rx rx = home_contrib(in, m, &a);

	if (rx == GAGG_RX_ADD)
		home_commit(vis, a, m, in->todo.to_result);
	return rx;
}

/*
 * R5 once more, for most contributions: those that neither begin a sum nor complete it. It does
 * what home_next_any() does with these, which the tests next__* of test_shard compare. An
 * accumulation with bits is its slot's open round, so that is not looked up.
 */
enum gagg_rx gagg_home_next(struct gagg_arrival *in)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	struct gagg_todo *todo = &in->todo;
	const struct gagg_msg *m = &in->todo.m;
	struct gagg_acc *a = gagg_chan_acc(g, ch, m->chunk);
	u64 bits = a->bits | GAGG_BIT(m->src);

	if (!(a->bits & a->summed) || bits == a->bits ||
	    gagg_round(g, foreseen, ch, bits) != GAGG_THEN_OPEN ||
	    a->slot != m->chunk || a->round != m->round || a->sig != m->sig ||
	    a->laneop != m->laneop || a->lanes != m->lanes ||
	    a->flags != (m->flags & (GAGG_WF_RAW | GAGG_WF_NORESULT)) ||
	    m->exp > a->exp || m->want > a->want)
		return home_next_any(in);
	a->bits = bits;
	a->summed |= GAGG_BIT(m->src);
	vis->sh->n[GAGG_N_CONTRIBUTIONS]++;
	todo->slot = m->chunk;
	todo->acc = m->chunk & (g->window - 1);
	todo->first = 0;
	todo->to_result = 0;
	todo->shift = a->exp - m->exp;
	return GAGG_RX_ADD;
}

enum gagg_rx gagg_home_ready(struct gagg_arrival *in, struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;

	while (m->run) {
		struct gagg_acc *a;
		enum gagg_rx rx;

		if (gagg_shard_spare(vis->sh) < GAGG_ACTS_STEP)
			return GAGG_RX_AGAIN;
		if (m->chunk >= g->ring)
			return gagg_drop(in, GAGG_DROP_CHUNK);
		rx = home_admit(in, m, &a);
		if (rx == GAGG_RX_DROP)
			return rx;
		if (rx == GAGG_RX_ADD) {
			home_count(vis, a, m, false);
			home_maybe_publish(vis, a, false);
		}
		m->chunk = gagg_geom_next(g, vis->ch->nhomes, m->chunk);
		m->run--;
	}
	return GAGG_RX_OK;
}

bool gagg_home_take_room(const struct gagg_visit *vis, const struct gagg_msg *m)
{
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	/* The window keeps the place free for the chunk (chan.h), and what is over has no bits. */
	const struct gagg_acc *a = gagg_chan_acc(g, ch, m->chunk);
	u64 nodes, left, at = 0;

	/* it waits for the room only if it is sure to complete the chunk */
	if (home_then(g, ch, a, m) != GAGG_THEN_COMPLETE || home_voids(a, m))
		return true;
	nodes = gagg_result_goes_to(g, ch, a, m);
	for (left = nodes; left; left &= left - 1)
		at = gagg_max64(at, gagg_cwnd_result_at(&sh->path[gagg_lowest(left)], vis->now));
	if (at) {
		ch->repair_at = gagg_min64(ch->repair_at, at);
		return false;
	}
	for (left = nodes; left; left &= left - 1)
		gagg_cwnd_result(&sh->path[gagg_lowest(left)], vis->now);
	return true;
}

void gagg_home_push(const struct gagg_visit *vis, const struct gagg_msg *m)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_acc *a;

	gagg_round(g, pushed, vis, m);
	if (gagg_round(g, is_late, vis, m))
		return;
	/* the window keeps the place free, see chan.h */
	a = home_acc_open(g, vis->ch, m, vis->now);
	if (!a || !home_agrees(vis, a, m))
		return;
	if (home_voids(a, m))
		home_void_sum(vis, a);
	home_count(vis, a, m, gagg_wire_has_lanes(m));
	home_maybe_publish(vis, a, false);
}

enum gagg_rx gagg_home_query(struct gagg_arrival *in, struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	u32 node = in->node;
	bool told = false;

	while (m->run) {
		u32 done;

		if (gagg_shard_spare(vis->sh) < GAGG_ACTS_STEP)
			return GAGG_RX_AGAIN;
		if (m->chunk >= g->ring)
			return gagg_drop(in, GAGG_DROP_CHUNK);
		done = *gagg_chan_pub(ch, m->chunk);
		if (m->round == done && gagg_chan_res(ch, m->chunk)->valid) {
			if (m->flags & GAGG_WF_REPAIR)
				gagg_repair_park(vis, m->chunk, node);
			else
				gagg_result_told(vis, m->chunk, node);
		} else if (m->round == done + 1) {
			const struct gagg_acc *a = gagg_chan_acc(g, ch, m->chunk);
			bool open = a->bits && a->slot == m->chunk && a->round == m->round;

			home_ask_again(vis, m->chunk, m->round,
				       g->ranks_of[node] & ch->members &
					       ~(open ? a->bits : 0));
			if (open && !told)
				told = gagg_missing_tell(vis, a, node);
		}
		m->chunk = gagg_geom_next(g, ch->nhomes, m->chunk);
		m->run--;
	}
	return GAGG_RX_OK;
}
