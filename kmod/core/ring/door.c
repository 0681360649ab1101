// SPDX-License-Identifier: GPL-2.0
/*
 * What arrives for a ring: a datagram is given to the home or to the worker.
 */
#include "ring/internal.h"

/* what a worker says to a home */
static enum gagg_rx door_home(struct gagg_arrival *in, struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;

	if (!gagg_rank_at(g, m->src, in->node, ch->members))
		return gagg_drop(in, GAGG_DROP_RANK);
	if (m->run > g->window)
		return gagg_drop(in, GAGG_DROP_WINDOW);
	if (ch->self_home == 0xff)
		return gagg_drop(in, GAGG_DROP_CHUNK);
	if (m->type == GAGG_T_PULL) {
		gagg_result_pull(in, m);
		return GAGG_RX_OK;
	}
	if (gagg_geom_home(g, ch->nhomes, m->chunk) != ch->self_home)
		return gagg_drop(in, GAGG_DROP_CHUNK);
	if (m->type == GAGG_T_QUERY)
		return gagg_home_query(in, m);
	if (!gagg_chan_takes(g, m->laneop, m->lanes, m->flags & GAGG_WF_RAW) ||
	    m->lanes > g->lanes)
		return gagg_drop(in, GAGG_DROP_OP);
	gagg_path_rx(&vis->sh->path[in->node], m->pn, in->ce);
	/* the flags alone do not say that lanes follow the header */
	if (!gagg_wire_has_lanes(m))
		return gagg_home_ready(in, m);
	return gagg_home_contrib(in, m);
}

/* what a home says to a worker, of what that has sent */
static inline bool door_is_answer(u8 type)
{
	return type == GAGG_T_RESULT || type == GAGG_T_DONE || type == GAGG_T_TOLD ||
	       type == GAGG_T_RESEND;
}

enum gagg_rx gagg_ring_rx(struct gagg_arrival *in, struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;
	u32 node = in->node;

	if (m->type != GAGG_T_PULL &&
	    (m->chunk >= g->ring || gagg_geom_shard(g, vis->ch->nhomes, m->chunk) != sh->index))
		return gagg_drop(in, GAGG_DROP_CHUNK);
	if (door_is_answer(m->type)) {
		if (m->run > g->window)
			return gagg_drop(in, GAGG_DROP_WINDOW);
		gagg_path_heard(&sh->path[node], vis->now);
	}
	switch (m->type) {
	case GAGG_T_CONTRIB:
	case GAGG_T_READY:
	case GAGG_T_QUERY:
	case GAGG_T_PULL:
		return door_home(in, m);
	case GAGG_T_RESULT:
	case GAGG_T_DONE:
		return m->src == node ? gagg_worker_result(in, m) : gagg_drop(in, GAGG_DROP_RANK);
	case GAGG_T_TOLD:
		return m->src == node ? gagg_worker_told(in, m) : gagg_drop(in, GAGG_DROP_RANK);
	case GAGG_T_WAITS:
		return m->src == node ? gagg_missing_told(in, m) : gagg_drop(in, GAGG_DROP_RANK);
	case GAGG_T_RESEND:
		return m->src == node ? gagg_worker_resend(in, m) : gagg_drop(in, GAGG_DROP_RANK);
	}
	return gagg_drop(in, GAGG_DROP_TYPE);
}

void gagg_ring_commit(const struct gagg_arrival *in)
{
	if (in->todo.m.type == GAGG_T_CONTRIB)
		gagg_home_commit(in);
	else
		gagg_worker_commit(in);
}

bool gagg_ring_waits(u8 type)
{
	return type == GAGG_T_CONTRIB || type == GAGG_T_READY || type == GAGG_T_QUERY;
}

u64 gagg_ring_deadline(struct gagg_chan *ch)
{
	return gagg_min64(gagg_min64(gagg_min64(ch->query_at, ch->pull_at),
				     gagg_min64(ch->poll_at, ch->due_at)), ch->repair_at);
}
