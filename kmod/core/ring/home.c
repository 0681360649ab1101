// SPDX-License-Identifier: GPL-2.0
/*
 * The home of a chunk: contributions come in and are summed. What goes out is in result.c.
 *
 * The result is a pure function of the contributions (protocol.md R2):
 * E is the largest exponent of those with lanes, each is shifted once, from its
 * original, by E minus its own. A larger exponent that comes late voids the sum
 * of what other hosts have sent; they are asked for the same bytes again. Local
 * contributions are never in the accumulator: they are added last, by PUBLISH,
 * so a void does not concern them.
 *
 * Two buffers (protocol.md R4): the open round lives in the accumulator, the published
 * one in the result region until the next one is complete - and by then every
 * member has contributed to it, which says that it has read the last.
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

/* the accumulation that @m is for, begun if there is none; NULL: its place
 * is taken, which nobody who keeps the window can cause
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

void gagg_home_desync(struct gagg_shard *sh, struct gagg_chan *ch, const struct gagg_msg *m,
		      u32 other, u32 sig, u32 call)
{
	struct gagg_act *act = gagg_shard_emit(sh, GAGG_ACT_DESYNC, ch->id);

	act->end.reason = GAGG_R_DESYNC;
	act->end.rank = m->src;
	act->end.other = (u16)other;
	act->end.sig = m->sig;
	act->end.other_sig = sig;
	act->end.call = m->aux;
	act->end.other_call = call;
}

/* true if @m belongs to the collective that @a was begun for */
static bool home_agrees(struct gagg_shard *sh, struct gagg_chan *ch, const struct gagg_acc *a,
			const struct gagg_msg *m)
{
	if (a->sig == m->sig && a->laneop == m->laneop && a->lanes == m->lanes &&
	    a->flags == (m->flags & GAGG_WF_RAW))
		return true;
	gagg_home_desync(sh, ch, m, a->first, a->sig, a->call);
	return false;
}

/* ask ranks for the same bytes again */
static void home_ask_again(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
			   u32 slot, u32 round, u64 ranks)
{
	for (; ranks; ranks &= ranks - 1) {
		u32 rank = gagg_lowest(ranks);
		struct gagg_msg m;

		gagg_shard_msg(sh, g, GAGG_T_RESEND, ch->id, g->self, &m);
		m.chunk = slot;
		m.round = round;
		m.aux = rank;
		gagg_run_add(sh, g, ch->nhomes, &sh->resend_run[rank], g->node_of[rank],
			     &m, false);
		sh->resends = 1;
	}
}

/* is its exponent too large for what was added? */
static bool home_voids(const struct gagg_acc *a, const struct gagg_msg *m)
{
	return gagg_wire_has_lanes(m) && m->exp > a->exp && a->summed;
}

static void home_void_sum(struct gagg_shard *sh, const struct gagg_geom *g,
			  struct gagg_chan *ch, struct gagg_acc *a)
{
	home_ask_again(sh, g, ch, a->slot, a->round, a->summed);
	gagg_round(g, voided, a);
	a->bits &= ~a->summed;
	a->summed = 0;
	sh->n[GAGG_N_VOIDS]++;
}

/* count a contribution (its lanes, if any, are added by the caller) */
static inline void home_count(struct gagg_shard *sh, const struct gagg_geom *g,
			      struct gagg_chan *ch, struct gagg_acc *a, const struct gagg_msg *m,
			      bool lanes, u64 now)
{
	a->bits |= GAGG_BIT(m->src);
	gagg_round(g, counted, g, ch, a, m->src, now);
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
	sh->n[GAGG_N_CONTRIBUTIONS]++;
}

/* what will the round be that @m is for, when it is counted */
static inline enum gagg_then home_then(const struct gagg_geom *g, const struct gagg_chan *ch,
				       const struct gagg_acc *a, const struct gagg_msg *m)
{
	return gagg_round(g, foreseen, ch, a->bits | GAGG_BIT(m->src));
}

static void home_maybe_publish(struct gagg_shard *sh, const struct gagg_geom *g,
			       struct gagg_chan *ch, struct gagg_acc *a, bool to_result, u64 now)
{
	if (gagg_round(g, complete, g, ch, a, a->bits, now))
		gagg_result_publish(sh, g, ch, a, to_result, now);
}

void gagg_home_due(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		   u64 now)
{
	u64 next = GAGG_NEVER;
	u32 i;

	ch->due_at = now;
	for (i = 0; i < g->window; i++) {
		struct gagg_acc *a = gagg_chan_acc(g, ch, i);

		if (gagg_shard_spare(sh) < GAGG_ACTS_STEP)
			return;
		if (a->bits)
			home_maybe_publish(sh, g, ch, a, false, now);
		if (a->bits && ch->limit != GAGG_NEVER && a->opened + ch->limit > now)
			next = gagg_min64(next, a->opened + ch->limit);
	}
	/* many chunks a look */
	ch->due_at = next == GAGG_NEVER ? next : gagg_max64(next, now + DUE_STEP);
}

/*
 * verdict on a remote contribution; GAGG_RX_ADD: it counts, @a is its place
 *
 * Every mode adds to the open round alone.
 */
static enum gagg_rx home_admit(struct gagg_shard *sh, const struct gagg_geom *g,
			       struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
			       struct gagg_todo *todo, struct gagg_acc **ap)
{
	s32 ahead = (s32)(m->round - (*gagg_chan_pub(ch, m->chunk) + 1));
	struct gagg_acc *a;

	gagg_round(g, pushed, g, ch, m, now);

	/* cannot happen within an epoch */
	if (ahead > 0)
		return gagg_drop(todo, GAGG_DROP_ROUND);
	if (ahead) {
		/* an acknowledgement is all that it needs, unless it is late */
		sh->n[GAGG_N_STALE]++;
		gagg_round(g, is_late, sh, g, ch, m, now);
		return GAGG_RX_OK;
	}
	a = home_acc_open(g, ch, m, now);
	if (!a)
		return gagg_drop(todo, GAGG_DROP_WINDOW);
	if (a->bits & GAGG_BIT(m->src)) {
		sh->n[GAGG_N_DUPLICATES]++;
		return GAGG_RX_OK;
	}
	if (!home_agrees(sh, ch, a, m))
		return gagg_drop(todo, GAGG_DROP_OP);
	*ap = a;
	return GAGG_RX_ADD;
}

static inline enum gagg_rx home_contrib(struct gagg_shard *sh, const struct gagg_geom *g,
					struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
					struct gagg_todo *todo, struct gagg_acc **ap)
{
	enum gagg_rx rx = home_admit(sh, g, ch, m, now, todo, ap);
	struct gagg_acc *a = *ap;

	if (rx != GAGG_RX_ADD)
		return rx;
	if (m->exp > a->exp && a->summed)
		home_void_sum(sh, g, ch, a);
	if (m->exp > a->exp)
		a->exp = m->exp;
	todo->slot = m->chunk;
	todo->acc = m->chunk & (g->window - 1);
	todo->first = !a->summed;
	todo->shift = a->exp - m->exp;
	todo->laneop = a->laneop;
	todo->lanes = a->lanes;
	todo->to_result = !gagg_lane_narrow(a->laneop) &&
			  home_then(g, ch, a, m) == GAGG_THEN_COMPLETE;
	return GAGG_RX_ADD;
}

static inline void home_commit(struct gagg_shard *sh, const struct gagg_geom *g,
			       struct gagg_chan *ch, struct gagg_acc *a, const struct gagg_msg *m,
			       bool to_result, u64 now)
{
	home_count(sh, g, ch, a, m, true, now);
	a->summed |= GAGG_BIT(m->src);
	home_maybe_publish(sh, g, ch, a, to_result, now);
}

enum gagg_rx gagg_home_contrib(struct gagg_shard *sh, const struct gagg_geom *g,
			       struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
			       struct gagg_todo *todo)
{
	struct gagg_acc *a = NULL;

	return home_contrib(sh, g, ch, m, now, todo, &a);
}

void gagg_home_commit(struct gagg_shard *sh, const struct gagg_geom *g,
		      struct gagg_chan *ch, const struct gagg_msg *m, bool to_result, u64 now)
{
	home_commit(sh, g, ch, gagg_chan_acc(g, ch, m->chunk), m, to_result, now);
}

static noinline enum gagg_rx home_next_any(struct gagg_shard *sh, const struct gagg_geom *g,
					   struct gagg_chan *ch, const struct gagg_msg *m,
					   u64 now, struct gagg_todo *todo)
{
	struct gagg_acc *a = NULL;
	enum gagg_rx rx = home_contrib(sh, g, ch, m, now, todo, &a);

	if (rx == GAGG_RX_ADD)
		home_commit(sh, g, ch, a, m, todo->to_result, now);
	return rx;
}

/*
 * What home_next_any() does with most of them: of those that neither begin a sum nor
 * complete it. An accumulation with bits is its slot's open round.
 */
enum gagg_rx gagg_home_next(struct gagg_shard *sh, const struct gagg_geom *g,
			    struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
			    struct gagg_todo *todo)
{
	struct gagg_acc *a = gagg_chan_acc(g, ch, m->chunk);
	u64 bits = a->bits | GAGG_BIT(m->src);

	if (!(a->bits & a->summed) || bits == a->bits ||
	    gagg_round(g, foreseen, ch, bits) != GAGG_THEN_OPEN ||
	    a->slot != m->chunk || a->round != m->round || a->sig != m->sig ||
	    a->laneop != m->laneop || a->lanes != m->lanes ||
	    a->flags != (m->flags & (GAGG_WF_RAW | GAGG_WF_NORESULT)) ||
	    m->exp > a->exp || m->want > a->want)
		return home_next_any(sh, g, ch, m, now, todo);
	a->bits = bits;
	a->summed |= GAGG_BIT(m->src);
	sh->n[GAGG_N_CONTRIBUTIONS]++;
	todo->slot = m->chunk;
	todo->acc = m->chunk & (g->window - 1);
	todo->first = 0;
	todo->to_result = 0;
	todo->shift = a->exp - m->exp;
	return GAGG_RX_ADD;
}

enum gagg_rx gagg_home_ready(struct gagg_shard *sh, const struct gagg_geom *g,
			     struct gagg_chan *ch, struct gagg_msg *m, u64 now,
			     struct gagg_todo *todo)
{
	while (m->run) {
		struct gagg_acc *a;
		enum gagg_rx rx;

		if (gagg_shard_spare(sh) < GAGG_ACTS_STEP)
			return GAGG_RX_AGAIN;
		if (m->chunk >= g->ring)
			return gagg_drop(todo, GAGG_DROP_CHUNK);
		rx = home_admit(sh, g, ch, m, now, todo, &a);
		if (rx == GAGG_RX_DROP)
			return rx;
		if (rx == GAGG_RX_ADD) {
			home_count(sh, g, ch, a, m, false, now);
			home_maybe_publish(sh, g, ch, a, false, now);
		}
		m->chunk = gagg_geom_next(g, ch->nhomes, m->chunk);
		m->run--;
	}
	return GAGG_RX_OK;
}

bool gagg_home_take_room(struct gagg_shard *sh, const struct gagg_geom *g,
			 struct gagg_chan *ch, const struct gagg_msg *m, u64 now)
{
	/* The window keeps the place free for the chunk (chan.h), and what is over has no bits. */
	const struct gagg_acc *a = gagg_chan_acc(g, ch, m->chunk);
	u64 nodes, left, at = 0;

	/* if others may complete it, it does not wait for the room */
	if (home_then(g, ch, a, m) != GAGG_THEN_COMPLETE || home_voids(a, m))
		return true;
	nodes = gagg_result_goes_to(g, ch, a, m);
	for (left = nodes; left; left &= left - 1)
		at = gagg_max64(at, gagg_cwnd_result_at(&sh->path[gagg_lowest(left)], now));
	if (at) {
		ch->repair_at = gagg_min64(ch->repair_at, at);
		return false;
	}
	for (left = nodes; left; left &= left - 1)
		gagg_cwnd_result(&sh->path[gagg_lowest(left)], now);
	return true;
}

void gagg_home_push(struct gagg_shard *sh, const struct gagg_geom *g,
		    struct gagg_chan *ch, const struct gagg_msg *m, u64 now)
{
	struct gagg_acc *a;

	gagg_round(g, pushed, g, ch, m, now);
	if (gagg_round(g, is_late, sh, g, ch, m, now))
		return;
	/* the window keeps the place free, see chan.h */
	a = home_acc_open(g, ch, m, now);
	if (!a || !home_agrees(sh, ch, a, m))
		return;
	if (home_voids(a, m))
		home_void_sum(sh, g, ch, a);
	home_count(sh, g, ch, a, m, gagg_wire_has_lanes(m), now);
	home_maybe_publish(sh, g, ch, a, false, now);
}

enum gagg_rx gagg_home_query(struct gagg_shard *sh, const struct gagg_geom *g,
			     struct gagg_chan *ch, u32 node, struct gagg_msg *m, u64 now,
			     struct gagg_todo *todo)
{
	bool told = false;

	while (m->run) {
		u32 done;

		if (gagg_shard_spare(sh) < GAGG_ACTS_STEP)
			return GAGG_RX_AGAIN;
		if (m->chunk >= g->ring)
			return gagg_drop(todo, GAGG_DROP_CHUNK);
		done = *gagg_chan_pub(ch, m->chunk);
		if (m->round == done && gagg_chan_res(ch, m->chunk)->valid) {
			if (m->flags & GAGG_WF_REPAIR)
				gagg_repair_park(sh, g, ch, m->chunk, node, now);
			else
				gagg_result_told(sh, g, ch, m->chunk, node);
		} else if (m->round == done + 1) {
			const struct gagg_acc *a = gagg_chan_acc(g, ch, m->chunk);
			bool open = a->bits && a->slot == m->chunk && a->round == m->round;

			home_ask_again(sh, g, ch, m->chunk, m->round,
				       g->ranks_of[node] & ch->members &
					       ~(open ? a->bits : 0));
			if (open && !told)
				told = gagg_missing_tell(sh, g, ch, a, node, now);
		}
		m->chunk = gagg_geom_next(g, ch->nhomes, m->chunk);
		m->run--;
	}
	return GAGG_RX_OK;
}
