// SPDX-License-Identifier: GPL-2.0
/*
 * The outbox: the queue of actions, and runs that wait for company.
 *
 * The queue of actions never overflows.
 * 1. A call begins with an empty queue.
 * 2. One chunk causes 211 actions at most: 64 flushed RESEND runs (a void), two PUBLISH, a RESULT,
 *    63 flushed DONE runs, 16 OP_DONE, one DESYNC, and 64 READY runs that wait in a refill. A call
 *    causes one WAITS.
 * 3. A result causes two PULLs at most, of gaps that make place for its own: gaps are disjoint, so
 *    it leaves the rest of one gap, and one more that begins behind all others.
 * 4. So loops over chunks, and over gaps in a refill, stop when fewer than GAGG_ACTS_STEP are
 *    spare.
 * 5. gagg_shard_flush() emits 64 acknowledgements, 64 runs of results and 64 of RESENDs at most; a
 *    timer one QUERY for each of 64 homes.
 * 6. A store's loops stop when fewer are spare than one step of theirs causes (STEP in store/home.c
 *    and store/worker.c).
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

void gagg_shard_msg(const struct gagg_shard *sh, const struct gagg_geom *g, u8 type, u16 src,
		    struct gagg_msg *m)
{
	memset(m, 0, sizeof(*m));
	m->type = type;
	m->group = g->group;
	m->epoch = (u32)sh->epoch;
	m->cookie = gagg_shard_cookie(sh, g, type);
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
 * May @m grow the run? A run has no more chunks than the window: receivers drop longer ones, which
 * would be long walks (R47).
 * 1. First results are within the window anyway where all ranks are needed: no member has pushed a
 *    window beyond a result that waits here.
 * 2. But a batch may hold old questions beside new ones, a node may lack less by now than is parked
 *    for it, and in a quorum the others go on without it.
 * 3. Runs of READY, QUERY and PULL are made elsewhere. They begin with a chunk that is not done, or
 *    is in a home's log, and end within the window.
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

void gagg_run_add(const struct gagg_visit *vis, struct gagg_run *run, u32 node,
		  const struct gagg_msg *m, bool pns)
{
	const struct gagg_geom *g = vis->g;

	if (out_continues(g, run, m, pns)) {
		run->m.run++;
	} else {
		gagg_run_flush(vis->sh, run, node);
		run->m = *m;
	}
	run->next = gagg_geom_next(g, vis->ch->nhomes, m->chunk);
}
