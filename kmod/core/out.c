// SPDX-License-Identifier: GPL-2.0
/*
 * The outbox: the queue of actions, and runs that wait for company.
 *
 * Why the queue of actions never overflows: a call starts with an empty queue.
 * One chunk causes at most 64 flushed RESEND runs (a void), two PUBLISH, a RESULT,
 * 63 flushed DONE runs, 16 OP_DONE and one DESYNC, and 64 READY runs wait in a
 * refill: 211; and one WAITS a call. So loops over chunks, and over gaps in a refill, stop
 * while GAGG_ACTS_STEP are spare. Two PULLs fit as well, of the gaps that may have to make place
 * for those of a result: gaps are disjoint, so it leaves the rest of one at most, and one
 * that begins behind all others. gagg_shard_flush()
 * emits at most 64 acknowledgements, 64 runs of results and 64 of RESENDs; a timer at
 * most one query for each of 64 homes. A store's loops stop at the few actions that
 * one step of theirs causes (STEP in store/home.c and store/worker.c).
 */
#include "out.h"

struct gagg_act *gagg_shard_emit(struct gagg_shard *sh, u8 type, u16 channel)
{
	struct gagg_act *a;

	if (sh->nacts == GAGG_ACTS)	/* see above: does not happen */
		sh->nacts--;
	a = &sh->act[sh->nacts++];
	/* what sends fills all of m, and as much of a body as is sent */
	a->type = type;
	a->node = 0;
	a->local = 0;
	a->more = 0;
	a->at = 0;
	a->channel = channel;
	a->nodes = 0;
	a->m.type = 0;
	a->m.len = 0;
	memset(&a->pub, 0, sizeof(a->pub));
	return a;
}

struct gagg_act *gagg_shard_act(struct gagg_shard *sh)
{
	if (sh->head && gagg_act_next(&sh->act[sh->head - 1]))
		return &sh->act[sh->head - 1];
	if (sh->head < sh->nacts)
		return &sh->act[sh->head++];
	sh->head = 0;
	sh->nacts = 0;
	sh->more = 0;
	return NULL;
}

void gagg_shard_msg(const struct gagg_shard *sh, const struct gagg_geom *g, u8 type,
		    u16 channel, u16 src, struct gagg_msg *m)
{
	memset(m, 0, sizeof(*m));
	m->type = type;
	m->group = g->group;
	m->epoch = (u32)sh->epoch;
	m->cookie = gagg_shard_cookie(sh, g, type);
	m->channel = channel;
	m->src = src;
	m->run = 1;
}

void gagg_run_flush(struct gagg_shard *sh, struct gagg_run *run, u32 node)
{
	struct gagg_act *a;

	if (!run->m.run)
		return;
	a = gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, run->m.channel);
	a->node = (u8)node;
	a->m = run->m;
	run->m.run = 0;
}

/*
 * No more chunks than the window has: receivers drop longer runs, which would be long walks.
 * First results never are more where all ranks are needed, since no member has pushed a window
 * beyond a result that waits here. But a batch may hold old questions beside new ones, what is
 * parked for a node may be more than it lacks by now, and in a quorum the others go on without
 * it. READY, QUERY and PULL have other places: they begin with what is not done, or is in a
 * home's log, and end within the window.
 */
static bool out_continues(const struct gagg_geom *g, const struct gagg_run *run,
			  const struct gagg_msg *m, bool pns)
{
	const struct gagg_msg *r = &run->m;

	return r->run && r->run < g->window && run->next == m->chunk &&
	       r->type == m->type && r->flags == m->flags && r->channel == m->channel &&
	       r->round == m->round && r->sig == m->sig && r->lanes == m->lanes &&
	       r->exp == m->exp && r->want == m->want && r->aux == m->aux &&
	       r->laneop == m->laneop && r->weight == m->weight &&
	       (!pns || r->pn + r->run == m->pn);
}

void gagg_run_add(struct gagg_shard *sh, const struct gagg_geom *g, u32 homes,
		  struct gagg_run *run, u32 node, const struct gagg_msg *m, bool pns)
{
	if (out_continues(g, run, m, pns)) {
		run->m.run++;
	} else {
		gagg_run_flush(sh, run, node);
		run->m = *m;
	}
	run->next = gagg_geom_next(g, homes, m->chunk);
}
