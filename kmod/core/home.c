// SPDX-License-Identifier: GPL-2.0
/*
 * The home of a chunk: contributions come in, a result goes out.
 *
 * The result is a pure function of the contributions (PROTOCOL rule 3):
 * E is the largest exponent of those with lanes, each is shifted once, from its
 * original, by E minus its own. A larger exponent that comes late voids the sum
 * of what other hosts have sent; they are asked for the same bytes again. Local
 * contributions are never in the accumulator: they are added last, by PUBLISH,
 * so a void does not concern them.
 *
 * Two buffers (rule 7): the open round lives in the accumulator, the published
 * one in the result region until the next one is complete - and by then every
 * member has contributed to it, which says that it has read the last.
 */
#include "internal.h"

#define DUE_STEP	(100 * GAGG_USEC)

static struct gagg_acc *acc_at(const struct gagg_geom *g, struct gagg_chan *ch, u32 slot)
{
	return GAGG_CHAN_AT(ch, off_acc, struct gagg_acc) + (slot & (g->window - 1));
}

static u32 *publog_at(const struct gagg_geom *g, struct gagg_chan *ch, u32 rpn)
{
	return GAGG_CHAN_AT(ch, off_publog, u32) + (rpn & (g->window - 1));
}

static void begin(struct gagg_chan *ch, struct gagg_acc *a, const struct gagg_msg *m, u64 now)
{
	memset(a, 0, sizeof(*a));
	a->slot = m->chunk;
	a->round = m->round;
	a->sig = m->sig;
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
static inline struct gagg_acc *acc_open(const struct gagg_geom *g, struct gagg_chan *ch,
					const struct gagg_msg *m, u64 now)
{
	struct gagg_acc *a = acc_at(g, ch, m->chunk);

	if (a->bits)
		return a->slot == m->chunk && a->round == m->round ? a : NULL;
	begin(ch, a, m, now);
	return a;
}

static void desync(struct gagg_shard *sh, struct gagg_chan *ch, const struct gagg_msg *m,
		   u32 other, u32 sig)
{
	struct gagg_act *act = gagg_shard_emit(sh, GAGG_ACT_DESYNC, ch->id);

	act->desync.rank = m->src;
	act->desync.other = (u16)other;
	act->desync.sig = m->sig;
	act->desync.other_sig = sig;
}

/* true if @m belongs to the collective that @a was begun for */
static bool agrees(struct gagg_shard *sh, struct gagg_chan *ch, const struct gagg_acc *a,
		   const struct gagg_msg *m)
{
	if (a->sig == m->sig && a->laneop == m->laneop && a->lanes == m->lanes &&
	    a->flags == (m->flags & GAGG_WF_RAW))
		return true;
	desync(sh, ch, m, a->first, a->sig);
	return false;
}

/* ask ranks for the same bytes again */
static void ask_again(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
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

static void void_sum(struct gagg_shard *sh, const struct gagg_geom *g,
		     struct gagg_chan *ch, struct gagg_acc *a)
{
	ask_again(sh, g, ch, a->slot, a->round, a->summed);
	a->bits &= ~a->summed;
	a->summed = 0;
	sh->n[GAGG_N_VOIDS]++;
}

/* count a contribution (its lanes, if any, are added by the caller) */
static inline void count(struct gagg_shard *sh, const struct gagg_geom *g,
			 struct gagg_chan *ch, struct gagg_acc *a, const struct gagg_msg *m,
			 bool lanes, u64 now)
{
	a->bits |= GAGG_BIT(m->src);
	if (g->quorum)
		gagg_quorum_count(g, ch, a, m->src, now);
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

/* header of the result in a slot, for whoever it is sent to */
static void result_msg(struct gagg_shard *sh, const struct gagg_geom *g,
		       struct gagg_chan *ch, u32 slot, u8 type, struct gagg_msg *m)
{
	const struct gagg_res *r = gagg_chan_res(ch, slot);

	gagg_shard_msg(sh, g, type, ch->id, g->self, m);
	m->flags = r->flags;
	m->laneop = r->laneop;
	m->sig = r->sig;
	m->chunk = slot;
	m->round = *gagg_chan_pub(ch, slot);
	m->lanes = r->lanes;
	m->exp = r->exp;
	m->want = r->want;
	m->pn = r->rpn;
	m->aux = r->aux;
	if (g->quorum)
		gagg_quorum_put(gagg_chan_late(ch, slot)->bits, r->aux >> 16, m);
	if (type == GAGG_T_DONE)
		m->flags &= ~(u16)GAGG_WF_RAW;
}

static bool res_has_lanes(const struct gagg_res *r)
{
	return !(r->flags & (GAGG_WF_ZERO | GAGG_WF_NONFINITE));
}

static void send_lanes(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		       u32 slot)
{
	u64 nodes = gagg_chan_res(ch, slot)->nodes, left;
	struct gagg_act *a;

	/* in the order of their packet numbers: no gap is seen */
	for (left = nodes; left; left &= left - 1)
		gagg_run_flush(sh, &sh->result_run[gagg_lowest(left)], gagg_lowest(left));
	a = gagg_shard_emit(sh, GAGG_ACT_SEND_RESULT, ch->id);
	result_msg(sh, g, ch, slot, GAGG_T_RESULT, &a->m);
	a->nodes = nodes;
}

/*
 * Tell every node with a member; the lanes to those that want them, unless they are
 * @sent with those of the chunk before.
 */
static void tell(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		 u32 slot, bool sent)
{
	const struct gagg_res *r = gagg_chan_res(ch, slot);
	u64 plain = ch->member_nodes, left;
	struct gagg_msg m;

	if (res_has_lanes(r)) {
		plain &= ~r->nodes;
		if (r->nodes && !sent)
			send_lanes(sh, g, ch, slot);
	}
	if (!plain)
		return;
	result_msg(sh, g, ch, slot, res_has_lanes(r) ? GAGG_T_DONE : GAGG_T_RESULT, &m);
	for (left = plain; left; left &= left - 1)
		gagg_run_add(sh, g, ch->nhomes, &sh->result_run[gagg_lowest(left)],
			     gagg_lowest(left), &m, true);
}

/* tell one node again */
static void repair(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		   u32 slot, u32 node)
{
	const struct gagg_res *r = gagg_chan_res(ch, slot);
	struct gagg_msg m;

	sh->n[GAGG_N_REPAIRS]++;
	if (res_has_lanes(r) && (r->nodes & GAGG_BIT(node))) {
		struct gagg_act *a = gagg_shard_emit(sh, GAGG_ACT_SEND_RESULT, ch->id);

		result_msg(sh, g, ch, slot, GAGG_T_RESULT, &a->m);
		a->m.flags |= GAGG_WF_REPAIR;
		a->nodes = GAGG_BIT(node);
		return;
	}
	result_msg(sh, g, ch, slot, res_has_lanes(r) ? GAGG_T_DONE : GAGG_T_RESULT, &m);
	m.flags |= GAGG_WF_REPAIR;
	gagg_run_add(sh, g, ch->nhomes, &sh->result_run[node], node, &m, true);
}

/*
 * Behind all results that were sent so far, tell a node that this one is among
 * them: so it knows what is lost, and what is only late.
 */
static void tell_sent(struct gagg_shard *sh, const struct gagg_geom *g,
		      struct gagg_chan *ch, u32 slot, u32 node)
{
	struct gagg_msg m;

	gagg_shard_msg(sh, g, GAGG_T_TOLD, ch->id, g->self, &m);
	m.chunk = slot;
	m.round = *gagg_chan_pub(ch, slot);
	m.pn = ch->rpn;
	gagg_run_add(sh, g, ch->nhomes, &sh->result_run[node], node, &m, false);
}

/* local ranks whose lanes are still to be added to the result */
static u32 local_lanes(struct gagg_chan *ch, u32 slot)
{
	u32 l, mask = 0;

	for (l = 0; l < ch->nlocals; l++) {
		const struct gagg_pushed *p = gagg_chan_pushed(ch, slot, l);

		if ((p->state & GAGG_PUSHED) &&
		    !(p->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE)))
			mask |= 1U << l;
	}
	return mask;
}

static u64 nodes_that_want(const struct gagg_geom *g, const struct gagg_chan *ch,
			   u64 noresult)
{
	u64 left, want = 0;

	if (!noresult)
		return ch->member_nodes;
	for (left = ch->member_nodes; left; left &= left - 1)
		if (g->ranks_of[gagg_lowest(left)] & ch->members & ~noresult)
			want |= left & -left;
	return want;
}

/* what is said about a result, and how to make it */
static struct gagg_publish *announce(struct gagg_shard *sh, const struct gagg_geom *g,
				     struct gagg_chan *ch, u32 slot, u32 round, u64 bits)
{
	const struct gagg_res *r = gagg_chan_res(ch, slot);
	struct gagg_publish *pub = &gagg_shard_emit(sh, GAGG_ACT_PUBLISH, ch->id)->pub;

	pub->slot = slot;
	pub->round = round;
	pub->lanes = res_has_lanes(r) ? r->lanes : 0;
	pub->laneop = r->laneop;
	pub->narrow = pub->lanes && gagg_lane_narrow(r->laneop);
	pub->raw = !!(r->flags & GAGG_WF_RAW);
	pub->exp = r->exp;
	pub->want = r->want;
	pub->flags = (r->flags & GAGG_WF_ZERO ? GAGG_C_ZERO : 0) |
		     (r->flags & GAGG_WF_NONFINITE ? GAGG_C_NONFINITE : 0) |
		     (r->flags & GAGG_WF_OVERFLOW ? GAGG_C_OVERFLOW : 0);
	pub->contributors = (u8)gagg_weight64(bits);
	pub->nonfinite = (u16)(r->aux >> 16);
	pub->counted = g->quorum ? gagg_quorum_locals(ch, bits) : gagg_all_locals(ch);
	return pub;
}

/*
 * Does a result join the PUBLISH and the SEND_RESULT of the one before it? It must
 * differ from that by slot, packet number and exponents only. Every result is published,
 * so with nothing behind these two its packet number is the next, and what would have to
 * leave before its lanes has left before theirs.
 */
static bool joins(struct gagg_shard *sh, struct gagg_chan *ch, const struct gagg_publish *how)
{
	const struct gagg_res *r = gagg_chan_res(ch, how->slot);
	struct gagg_act *pub, *send;

	if (sh->nacts < 2)
		return false;
	pub = &sh->act[sh->nacts - 2];
	send = &sh->act[sh->nacts - 1];
	if (pub->type != GAGG_ACT_PUBLISH || send->type != GAGG_ACT_SEND_RESULT ||
	    pub->more == GAGG_RUN - 1 || pub->pub.slot + pub->more + 1 != how->slot ||
	    pub->pub.round != how->round || pub->pub.locals != how->locals ||
	    pub->pub.placed != how->placed || pub->pub.from_acc != how->from_acc ||
	    pub->pub.narrow || send->channel != ch->id || send->nodes != r->nodes ||
	    send->m.sig != r->sig || send->m.laneop != r->laneop ||
	    send->m.lanes != r->lanes || send->m.flags != r->flags || send->m.aux != r->aux)
		return false;
	pub->each[pub->more].exp = r->exp;
	pub->each[pub->more++].want = r->want;
	send->each[send->more].exp = r->exp;
	send->each[send->more++].want = r->want;
	/* as much work as two actions */
	sh->more += 2;
	return true;
}

/* quorum: the ranks of this node take a result when all have come to its round */
static void take_kept(struct gagg_shard *sh, const struct gagg_geom *g,
		      struct gagg_chan *ch, u32 slot, u64 now)
{
	u32 round = *gagg_chan_pub(ch, slot);

	if (*gagg_chan_done(ch, slot) == round || !gagg_worker_all_pushed(ch, slot))
		return;
	announce(sh, g, ch, slot, round, gagg_chan_late(ch, slot)->bits)->keep = GAGG_KEEP_TAKE;
	gagg_chan_taken(sh, g, ch, slot, round, now);
}

/* the result's header, as it is kept */
static void conclude(struct gagg_shard *sh, const struct gagg_geom *g,
		     struct gagg_chan *ch, struct gagg_acc *a, bool lanes)
{
	struct gagg_res *r = gagg_chan_res(ch, a->slot);

	r->valid = 1;
	r->sig = a->sig;
	r->rpn = ch->rpn++;
	r->lanes = a->lanes;
	r->laneop = a->laneop;
	r->exp = lanes ? a->exp : a->zexp;
	r->want = a->want;
	r->flags = a->flags;
	r->aux = gagg_weight64(a->bits);
	r->nodes = nodes_that_want(g, ch, a->noresult);
	if (a->nonfinite != 0xff) {
		r->flags |= GAGG_WF_NONFINITE;
		r->aux |= (u32)a->nonfinite << 16;
		sh->n[GAGG_N_NONFINITE]++;
	} else if (!lanes) {
		r->flags |= GAGG_WF_ZERO;
	}
	if (res_has_lanes(r) && (a->flags & GAGG_WF_RAW) &&
	    a->laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD) &&
	    a->want && a->want + ch->headroom > 31) {
		r->flags |= GAGG_WF_OVERFLOW;
		sh->n[GAGG_N_OVERFLOW]++;
	}
	*publog_at(g, ch, r->rpn) = a->slot;
	sh->n[GAGG_N_CHUNKS]++;
}

static void publish(struct gagg_shard *sh, const struct gagg_geom *g,
		    struct gagg_chan *ch, struct gagg_acc *a, bool to_result, u64 now)
{
	const struct gagg_publish how = {
		.slot = a->slot,
		.round = a->round,
		.locals = local_lanes(ch, a->slot),
		.placed = to_result,
		.from_acc = a->summed && !to_result,
	};
	struct gagg_publish *pub = NULL;
	bool joined;

	conclude(sh, g, ch, a, a->summed || how.locals);
	joined = !g->quorum && joins(sh, ch, &how);
	if (!joined)
		pub = announce(sh, g, ch, a->slot, a->round, a->bits);
	if (pub && pub->lanes) {
		pub->locals = how.locals;
		pub->placed = how.placed;
		pub->from_acc = how.from_acc;
	}
	if (g->quorum) {
		struct gagg_late *late = gagg_chan_late(ch, a->slot);

		pub->keep = GAGG_KEEP_STORE;
		late->bits = a->bits;
		late->late = 0;
		late->opened = a->opened;
		*gagg_chan_pub(ch, a->slot) = a->round;
		take_kept(sh, g, ch, a->slot, now);
	}
	a->bits = 0;
	/*
	 * PUBLISH reads the exponents of the local contributions when the queue
	 * is drained: gagg_chan_taken() leaves them in place and clears only
	 * the state, and no push can come between.
	 */
	if (!g->quorum)
		gagg_chan_taken(sh, g, ch, a->slot, a->round, now);
	tell(sh, g, ch, a->slot, joined);
}

/* would the open round be complete with @bits */
static bool ripe(const struct gagg_geom *g, const struct gagg_chan *ch,
		 const struct gagg_acc *a, u64 bits, u64 now)
{
	return g->quorum ? gagg_quorum_ripe(g, ch, a, bits, now) : bits == ch->members;
}

static void maybe_publish(struct gagg_shard *sh, const struct gagg_geom *g,
			  struct gagg_chan *ch, struct gagg_acc *a, bool to_result, u64 now)
{
	if (ripe(g, ch, a, a->bits, now))
		publish(sh, g, ch, a, to_result, now);
}

void gagg_home_due(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		   u64 now)
{
	u64 next = GAGG_NEVER;
	u32 i;

	ch->due_at = now;
	for (i = 0; i < g->window; i++) {
		struct gagg_acc *a = acc_at(g, ch, i);

		if (gagg_shard_spare(sh) < GAGG_ACTS_STEP)
			return;
		if (a->bits)
			maybe_publish(sh, g, ch, a, false, now);
		if (a->bits && ch->limit != GAGG_NEVER && a->opened + ch->limit > now)
			next = gagg_min64(next, a->opened + ch->limit);
	}
	/* many chunks a look */
	ch->due_at = next == GAGG_NEVER ? next : gagg_max64(next, now + DUE_STEP);
}

/* the round is over, or another rank's: what came late is answered with it */
static void late(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		 const struct gagg_msg *m, u64 now)
{
	struct gagg_late *l = gagg_chan_late(ch, m->chunk);
	const struct gagg_res *r = gagg_chan_res(ch, m->chunk);
	u32 node = g->node_of[m->src];

	if (m->round != *gagg_chan_pub(ch, m->chunk) || !r->valid ||
	    (l->bits & GAGG_BIT(m->src)))
		return;
	if (r->sig != m->sig) {
		desync(sh, ch, m, gagg_lowest(l->bits), r->sig);
		return;
	}
	if (!(l->late & GAGG_BIT(m->src))) {
		l->late |= GAGG_BIT(m->src);
		sh->n[GAGG_N_LATE]++;
		gagg_quorum_delay(g, ch, l->opened, now);
	}
	if (node == g->self)
		take_kept(sh, g, ch, m->chunk, now);
	else
		repair(sh, g, ch, m->chunk, node);
}

static enum gagg_rx drop(struct gagg_todo *todo, enum gagg_drop why)
{
	todo->drop = why;
	return GAGG_RX_DROP;
}

/* what every mode adds to is the open round; it says what becomes of others */
static enum gagg_take take(const struct gagg_geom *g, s32 ahead)
{
	return ahead ? gagg_sync_get(g->sync.mode)->take(ahead) : GAGG_TAKE_ADD;
}

/* verdict on a remote contribution; GAGG_RX_ADD: it counts, @a is its place */
static enum gagg_rx admit(struct gagg_shard *sh, const struct gagg_geom *g,
			  struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
			  struct gagg_todo *todo, struct gagg_acc **ap)
{
	s32 ahead = (s32)(m->round - (*gagg_chan_pub(ch, m->chunk) + 1));
	struct gagg_acc *a;

	if (g->quorum && (ahead == 0 || ahead == -1))
		gagg_quorum_pushed(g, ch, m->src, m->chunk, m->round, now);

	switch (take(g, ahead)) {
	case GAGG_TAKE_ADD:
		break;
	case GAGG_TAKE_OLD:
	case GAGG_TAKE_STALE:
		/* its acknowledgement was late or lost: that is all it needs */
		sh->n[GAGG_N_STALE]++;
		if (g->quorum)
			late(sh, g, ch, m, now);
		return GAGG_RX_OK;
	case GAGG_TAKE_AHEAD:
		return drop(todo, GAGG_DROP_ROUND);
	}
	a = acc_open(g, ch, m, now);
	if (!a)
		return drop(todo, GAGG_DROP_WINDOW);
	if (a->bits & GAGG_BIT(m->src)) {
		sh->n[GAGG_N_DUPLICATES]++;
		return GAGG_RX_OK;
	}
	if (!agrees(sh, ch, a, m))
		return drop(todo, GAGG_DROP_OP);
	*ap = a;
	return GAGG_RX_ADD;
}

static inline enum gagg_rx contrib(struct gagg_shard *sh, const struct gagg_geom *g,
				   struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
				   struct gagg_todo *todo, struct gagg_acc **ap)
{
	enum gagg_rx rx = admit(sh, g, ch, m, now, todo, ap);
	struct gagg_acc *a = *ap;

	if (rx != GAGG_RX_ADD)
		return rx;
	if (m->exp > a->exp && a->summed)
		void_sum(sh, g, ch, a);
	if (m->exp > a->exp)
		a->exp = m->exp;
	todo->slot = m->chunk;
	todo->acc = m->chunk & (g->window - 1);
	todo->store = !a->summed;
	todo->shift = a->exp - m->exp;
	todo->laneop = a->laneop;
	todo->lanes = a->lanes;
	todo->to_result = !g->quorum && !gagg_lane_narrow(a->laneop) &&
			  ripe(g, ch, a, a->bits | GAGG_BIT(m->src), now);
	return GAGG_RX_ADD;
}

static inline void commit(struct gagg_shard *sh, const struct gagg_geom *g,
			  struct gagg_chan *ch, struct gagg_acc *a, const struct gagg_msg *m,
			  bool to_result, u64 now)
{
	count(sh, g, ch, a, m, true, now);
	a->summed |= GAGG_BIT(m->src);
	maybe_publish(sh, g, ch, a, to_result, now);
}

enum gagg_rx gagg_home_contrib(struct gagg_shard *sh, const struct gagg_geom *g,
			       struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
			       struct gagg_todo *todo)
{
	struct gagg_acc *a = NULL;

	return contrib(sh, g, ch, m, now, todo, &a);
}

void gagg_home_commit(struct gagg_shard *sh, const struct gagg_geom *g,
		      struct gagg_chan *ch, const struct gagg_msg *m, bool to_result, u64 now)
{
	commit(sh, g, ch, acc_at(g, ch, m->chunk), m, to_result, now);
}

static noinline enum gagg_rx next_any(struct gagg_shard *sh, const struct gagg_geom *g,
				      struct gagg_chan *ch, const struct gagg_msg *m,
				      u64 now, struct gagg_todo *todo)
{
	struct gagg_acc *a = NULL;
	enum gagg_rx rx = contrib(sh, g, ch, m, now, todo, &a);

	if (rx == GAGG_RX_ADD)
		commit(sh, g, ch, a, m, todo->to_result, now);
	return rx;
}

/*
 * What next_any() does with most of them: of those that neither begin a sum nor
 * complete it. An accumulation with bits is its slot's open round.
 */
enum gagg_rx gagg_home_next(struct gagg_shard *sh, const struct gagg_geom *g,
			    struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
			    struct gagg_todo *todo)
{
	struct gagg_acc *a = acc_at(g, ch, m->chunk);
	u64 bits = a->bits | GAGG_BIT(m->src);

	if (!(a->bits & a->summed) || bits == a->bits || bits == ch->members ||
	    a->slot != m->chunk || a->round != m->round || a->sig != m->sig ||
	    a->laneop != m->laneop || a->lanes != m->lanes ||
	    a->flags != (m->flags & (GAGG_WF_RAW | GAGG_WF_NORESULT)) ||
	    m->exp > a->exp || m->want > a->want || g->quorum)
		return next_any(sh, g, ch, m, now, todo);
	a->bits = bits;
	a->summed |= GAGG_BIT(m->src);
	sh->n[GAGG_N_CONTRIBUTIONS]++;
	todo->slot = m->chunk;
	todo->acc = m->chunk & (g->window - 1);
	todo->store = 0;
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
			return drop(todo, GAGG_DROP_CHUNK);
		rx = admit(sh, g, ch, m, now, todo, &a);
		if (rx == GAGG_RX_DROP)
			return rx;
		if (rx == GAGG_RX_ADD) {
			count(sh, g, ch, a, m, false, now);
			maybe_publish(sh, g, ch, a, false, now);
		}
		m->chunk = gagg_geom_next(g, ch->nhomes, m->chunk);
		m->run--;
	}
	return GAGG_RX_OK;
}

void gagg_home_push(struct gagg_shard *sh, const struct gagg_geom *g,
		    struct gagg_chan *ch, const struct gagg_msg *m, u64 now)
{
	struct gagg_acc *a;

	if (g->quorum) {
		gagg_quorum_pushed(g, ch, m->src, m->chunk, m->round, now);
		if (m->round == *gagg_chan_pub(ch, m->chunk)) {
			late(sh, g, ch, m, now);
			return;
		}
	}
	/* the window keeps the place free, see chan.h */
	a = acc_open(g, ch, m, now);
	if (!a || !agrees(sh, ch, a, m))
		return;
	if (gagg_wire_has_lanes(m) && m->exp > a->exp && a->summed)
		void_sum(sh, g, ch, a);
	count(sh, g, ch, a, m, gagg_wire_has_lanes(m), now);
	maybe_publish(sh, g, ch, a, false, now);
}

enum gagg_rx gagg_home_query(struct gagg_shard *sh, const struct gagg_geom *g,
			     struct gagg_chan *ch, u32 node, struct gagg_msg *m,
			     struct gagg_todo *todo)
{
	while (m->run) {
		u32 done;

		if (gagg_shard_spare(sh) < GAGG_ACTS_STEP)
			return GAGG_RX_AGAIN;
		if (m->chunk >= g->ring)
			return drop(todo, GAGG_DROP_CHUNK);
		done = *gagg_chan_pub(ch, m->chunk);
		if (m->round == done && gagg_chan_res(ch, m->chunk)->valid) {
			if (m->flags & GAGG_WF_REPAIR)
				repair(sh, g, ch, m->chunk, node);
			else
				tell_sent(sh, g, ch, m->chunk, node);
		} else if (m->round == done + 1) {
			const struct gagg_acc *a = acc_at(g, ch, m->chunk);
			bool open = a->bits && a->slot == m->chunk && a->round == m->round;

			ask_again(sh, g, ch, m->chunk, m->round, g->ranks_of[node] & ch->members &
				  ~(open ? a->bits : 0));
		}
		m->chunk = gagg_geom_next(g, ch->nhomes, m->chunk);
		m->run--;
	}
	return GAGG_RX_OK;
}

enum gagg_rx gagg_home_pull(struct gagg_shard *sh, const struct gagg_geom *g,
			    struct gagg_chan *ch, u32 node, struct gagg_msg *m)
{
	while (m->run) {
		/* how many results ago; the log holds the last `window` */
		u32 ago = ch->rpn - m->pn;

		if (gagg_shard_spare(sh) < GAGG_ACTS_STEP)
			return GAGG_RX_AGAIN;
		if (ago >= 1 && ago <= g->window) {
			u32 slot = *publog_at(g, ch, m->pn);
			const struct gagg_res *r = gagg_chan_res(ch, slot);

			if (r->valid && r->rpn == m->pn)
				repair(sh, g, ch, slot, node);
		}
		m->pn++;
		m->run--;
	}
	return GAGG_RX_OK;
}
