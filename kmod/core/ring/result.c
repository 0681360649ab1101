// SPDX-License-Identifier: GPL-2.0
/*
 * The result of a chunk at its home: concluded, published, sent, and sent again.
 */
#include "ring/round.h"

static u32 *result_publog_at(const struct gagg_geom *g, struct gagg_chan *ch, u32 rpn)
{
	return GAGG_CHAN_AT(ch, off_publog, u32) + (rpn & (g->window - 1));
}

/* header of the result in a slot, the same for all nodes */
static void result_msg(const struct gagg_visit *vis, u32 slot, u8 type, struct gagg_msg *m)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	const struct gagg_res *r = gagg_chan_res(ch, slot);

	gagg_visit_msg(vis, type, g->self, m);
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
	gagg_round(g, name, ch, slot, m);
	if (type == GAGG_T_DONE)
		m->flags &= ~(u16)GAGG_WF_RAW;
}

static void result_send_lanes(const struct gagg_visit *vis, u32 slot)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	u64 nodes = gagg_chan_res(ch, slot)->nodes, left;
	struct gagg_act *a;

	/* runs before it, which have lower packet numbers: else receivers would see a gap */
	for (left = nodes; left; left &= left - 1)
		gagg_run_flush(sh, &sh->result_run[gagg_lowest(left)], gagg_lowest(left));
	a = gagg_shard_emit(sh, GAGG_ACT_SEND_RESULT, ch->id);
	result_msg(vis, slot, GAGG_T_RESULT, &a->m);
	a->nodes = nodes;
}

/*
 * tells every node with a member (R8), with lanes where they are wanted; @sent: the lanes leave
 * with those of the chunk before
 */
static void result_tell(const struct gagg_visit *vis, u32 slot, bool sent)
{
	struct gagg_chan *ch = vis->ch;
	const struct gagg_res *r = gagg_chan_res(ch, slot);
	u64 plain = ch->member_nodes, left;
	struct gagg_msg m;

	if (gagg_res_has_lanes(r)) {
		plain &= ~r->nodes;
		if (r->nodes && !sent)
			result_send_lanes(vis, slot);
	}
	if (!plain)
		return;
	result_msg(vis, slot, gagg_res_has_lanes(r) ? GAGG_T_DONE : GAGG_T_RESULT, &m);
	for (left = plain; left; left &= left - 1)
		gagg_run_add(vis, &vis->sh->result_run[gagg_lowest(left)], gagg_lowest(left), &m,
			     true);
}

void gagg_result_repair(const struct gagg_visit *vis, u32 slot, u64 nodes)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	const struct gagg_res *r = gagg_chan_res(ch, slot);
	u64 lanes = gagg_res_has_lanes(r) ? nodes & r->nodes : 0, left;
	struct gagg_msg m;

	sh->n[GAGG_N_REPAIRS] += gagg_weight64(nodes);
	if (lanes) {
		struct gagg_act *a = gagg_shard_emit(sh, GAGG_ACT_SEND_RESULT, ch->id);

		result_msg(vis, slot, GAGG_T_RESULT, &a->m);
		a->m.flags |= GAGG_WF_REPAIR;
		a->nodes = lanes;
	}
	result_msg(vis, slot, gagg_res_has_lanes(r) ? GAGG_T_DONE : GAGG_T_RESULT, &m);
	m.flags |= GAGG_WF_REPAIR;
	for (left = nodes & ~lanes; left; left &= left - 1)
		gagg_run_add(vis, &sh->result_run[gagg_lowest(left)], gagg_lowest(left), &m, true);
}

void gagg_result_told(const struct gagg_visit *vis, u32 slot, u32 node)
{
	struct gagg_chan *ch = vis->ch;
	struct gagg_msg m;

	gagg_visit_msg(vis, GAGG_T_TOLD, vis->g->self, &m);
	m.chunk = slot;
	m.round = *gagg_chan_pub(ch, slot);
	m.pn = ch->rpn;
	gagg_run_add(vis, &vis->sh->result_run[node], node, &m, false);
}

/* local ranks whose lanes are still to be added to the result */
static u32 result_local_lanes(struct gagg_chan *ch, u32 slot)
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

static u64 result_nodes_that_want(const struct gagg_geom *g, const struct gagg_chan *ch,
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

u64 gagg_result_goes_to(const struct gagg_geom *g, struct gagg_chan *ch,
			const struct gagg_acc *a, const struct gagg_msg *m)
{
	if (a->nonfinite != 0xff || (m->flags & GAGG_WF_NONFINITE) ||
	    !(a->summed || result_local_lanes(ch, m->chunk)))
		return 0;
	return result_nodes_that_want(g, ch, a->noresult);
}

/* what is said about a result, and how to make it */
static struct gagg_publish *result_announce(const struct gagg_visit *vis, u32 slot, u32 round,
					    u64 bits)
{
	struct gagg_chan *ch = vis->ch;
	const struct gagg_res *r = gagg_chan_res(ch, slot);
	struct gagg_publish *pub = &gagg_shard_emit(vis->sh, GAGG_ACT_PUBLISH, ch->id)->pub;

	pub->slot = slot;
	pub->round = round;
	pub->lanes = gagg_res_has_lanes(r) ? r->lanes : 0;
	pub->laneop = r->laneop;
	pub->narrow = pub->lanes && gagg_lane_narrow(r->laneop);
	pub->raw = !!(r->flags & GAGG_WF_RAW);
	pub->exp = r->exp;
	pub->want = r->want;
	pub->flags = (r->flags & GAGG_WF_ZERO ? GAGG_C_ZERO : 0) |
		     (r->flags & GAGG_WF_NONFINITE ? GAGG_C_NONFINITE : 0) |
		     (r->flags & GAGG_WF_OVERFLOW ? GAGG_C_OVERFLOW : 0);
	pub->contributors = (u8)gagg_weight64(bits);
	pub->nonfinite = (u8)(r->aux >> 16);
	gagg_round(vis->g, announce, ch, bits, pub);
	return pub;
}

/*
 * Does a result join the PUBLISH and the SEND_RESULT of the one before it? It must differ from
 * that by slot, packet number and exponents only, and not be held.
 * 1. These two are the last in the queue, and every result is published: so its packet number is
 *    the next one.
 * 2. Runs that must leave before its lanes have left before theirs: nothing is behind these two.
 * 3. aux is not compared: where all members contribute, all results with lanes have the same.
 */
static bool result_joins(const struct gagg_visit *vis, const struct gagg_publish *how)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
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
	    pub->pub.narrow || pub->pub.hold ||
	    send->channel != ch->id || send->nodes != r->nodes ||
	    send->m.sig != r->sig || send->m.laneop != r->laneop ||
	    send->m.lanes != r->lanes || send->m.flags != r->flags)
		return false;
	pub->each[pub->more].exp = r->exp;
	pub->each[pub->more++].want = r->want;
	send->each[send->more].exp = r->exp;
	send->each[send->more++].want = r->want;
	/* as much work as two actions */
	sh->more += 2;
	return true;
}

void gagg_result_take_held(const struct gagg_visit *vis, u32 slot)
{
	struct gagg_chan *ch = vis->ch;
	u32 round = *gagg_chan_pub(ch, slot);

	if (*gagg_chan_done(ch, slot) == round || !gagg_worker_all_pushed(ch, slot))
		return;
	result_announce(vis, slot, round, gagg_chan_late(ch, slot)->bits)
		->hold = GAGG_HOLD_TAKE;
	gagg_ring_taken(vis, slot, round);
}

/* the result's header, as it is kept */
static void result_conclude(const struct gagg_visit *vis, struct gagg_acc *a, bool lanes)
{
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	struct gagg_res *r = gagg_chan_res(ch, a->slot);

	r->valid = 1;
	r->to_all = 0;
	r->sig = a->sig;
	r->rpn = ch->rpn++;
	r->lanes = a->lanes;
	r->laneop = a->laneop;
	r->exp = lanes ? a->exp : a->zexp;
	r->want = a->want;
	r->flags = a->flags;
	r->aux = gagg_weight64(a->bits);
	r->nodes = result_nodes_that_want(g, ch, a->noresult);
	if (a->nonfinite != 0xff) {
		r->flags |= GAGG_WF_NONFINITE;
		r->aux |= (u32)a->nonfinite << 16;
		sh->n[GAGG_N_NONFINITE]++;
	} else if (!lanes) {
		r->flags |= GAGG_WF_ZERO;
	}
	if (gagg_res_has_lanes(r) && (a->flags & GAGG_WF_RAW) &&
	    a->laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD) &&
	    a->want && a->want + ch->headroom > 31) {
		r->flags |= GAGG_WF_OVERFLOW;
		sh->n[GAGG_N_OVERFLOW]++;
	}
	*result_publog_at(g, ch, r->rpn) = a->slot;
	if (ch->parked)
		gagg_repair_over(g, ch, a->slot);
	/* once in a window all nodes may hear again: one datagram may have been lost by chance */
	if (!(r->rpn & (g->window - 1)))
		ch->deaf = 0;
	sh->n[GAGG_N_CHUNKS]++;
}

void gagg_result_publish(const struct gagg_visit *vis, struct gagg_acc *a, bool to_result)
{
	const struct gagg_publish how = {
		.slot = a->slot,
		.round = a->round,
		.locals = result_local_lanes(vis->ch, a->slot),
		.placed = to_result,
		.from_acc = a->summed && !to_result,
	};
	struct gagg_publish *pub = NULL;
	bool joined;

	result_conclude(vis, a, a->summed || how.locals);
	joined = result_joins(vis, &how);
	if (!joined)
		pub = result_announce(vis, a->slot, a->round, a->bits);
	if (pub && pub->lanes) {
		pub->locals = how.locals;
		pub->placed = how.placed;
		pub->from_acc = how.from_acc;
	}
	gagg_round(vis->g, published, vis, a);
	a->bits = 0;
	result_tell(vis, a->slot, joined);
}

void gagg_result_pull(const struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_chan *ch = vis->ch;
	u32 i;

	/* the log has the last `window`; the place of an older one has another number */
	for (i = 0; i < m->run; i++) {
		u32 slot = *result_publog_at(vis->g, ch, m->pn + i);
		const struct gagg_res *r = gagg_chan_res(ch, slot);

		if (r->valid && r->rpn == m->pn + i)
			gagg_repair_park(vis, slot, in->node);
	}
}
