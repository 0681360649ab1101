/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Actions are carried out: what is published becomes readable, bursts are sent, and trainers are
 * told of what is done, all at once, at the end of a batch.
 *
 * One source of each host includes this. It defines struct gagg_host, on whose behalf it acts (a
 * port and a group, say), before, and after it the functions that are only declared here: what a
 * host alone can do. All are static, so the compiler makes one program of both, in which nothing is
 * called through a pointer but the loops over lanes.
 *
 * A host holds the lock of the shard from a batch's first action to its end.
 */
#ifndef GAGG_CORE_ACT_H
#define GAGG_CORE_ACT_H

#include "ring/publish.h"
#include "site.h"
#include "work.h"

/* a call into the shard was made, and its actions follow */
static void act_trace_call(const struct gagg_host *h, const struct gagg_work *w);
/* an action is carried out, or the next chunk of its run is published */
static void act_trace(const struct gagg_host *h, const struct gagg_act *a);
/* the channel, by its id; NULL: there is none, which cannot be */
static struct gagg_site *act_site(const struct gagg_host *h, u16 id);
/* an action asks for what is not there, which cannot be */
static void act_lacks(const struct gagg_host *h, const struct gagg_act *a);

/*
 * Actions become bursts from open to close. A host sends all chunks of a run of contributions or
 * results (gagg_act_next()), with their lanes, if any, which are in @mem.
 */
static void act_open(const struct gagg_host *h);
static void act_close(const struct gagg_host *h);
static void act_contrib(const struct gagg_host *h, struct gagg_act *a, void *const *mem);
static void act_result(const struct gagg_host *h, struct gagg_act *a, void *const *mem);
static void act_ctrl(const struct gagg_host *h, const struct gagg_act *a);

/* the epoch ends; a channel of that id and @a->members is to be made in @epoch */
static void act_end(const struct gagg_host *h, const struct gagg_end *end);
static void act_want(const struct gagg_host *h, u64 epoch, const struct gagg_act *a);

/* to a local rank's trainer: chunks are done; ops up to @number are done in the shard */
static void act_tell_chunks(const struct gagg_host *h, struct gagg_site *site, u32 local);
static void act_tell_ops(const struct gagg_host *h, struct gagg_site *site, u32 local,
			 u64 number);

/**
 * struct gagg_batch - what a shard's actions have come to, to be told at the end
 * @host:	whose actions these are
 * @sh:		their shard; NULL: there are none
 * @g:		geometry of its group
 * @loops:	add lanes; the host sets it once
 * @progressed:	channels, by index, with news for trainers
 * @news:	of each of them: @done are local ranks with ops that are done, up to @number
 */
struct gagg_batch {
	struct gagg_host host;
	struct gagg_shard *sh;
	const struct gagg_geom *g;
	const struct gagg_loops *loops;
	u64 progressed;
	struct {
		struct gagg_site *site;
		u32 done;
		u64 number[GAGG_LOCALS];
	} news[GAGG_CHANNELS_MAX];
};

static inline void gagg_batch_tell(struct gagg_batch *b, u32 index)
{
	struct gagg_site *site = b->news[index].site;
	u32 l;

	/* chunks first: a trainer that hears of an op may look at its chunks */
	gagg_site_progress(site, b->sh->index);
	for (l = 0; l < GAGG_LOCALS; l++) {
		if (!site->lent[l].push)
			continue;
		act_tell_chunks(&b->host, site, l);
		if (b->news[index].done & GAGG_BIT(l))
			act_tell_ops(&b->host, site, l, b->news[index].number[l]);
	}
	b->news[index].done = 0;
}

/* the end: bursts are closed, and trainers are told; all that was published is, by now */
static inline void gagg_batch_settle(struct gagg_batch *b)
{
	if (!b->sh)
		return;
	act_close(&b->host);
	for (; b->progressed; b->progressed &= b->progressed - 1)
		gagg_batch_tell(b, gagg_lowest(b->progressed));
	b->sh = NULL;
}

static inline void gagg_batch_note(struct gagg_batch *b, struct gagg_site *site)
{
	b->progressed |= GAGG_BIT(site->index);
	b->news[site->index].site = site;
}

static inline void gagg_batch_publish(struct gagg_batch *b, struct gagg_site *site,
				      struct gagg_act *a)
{
	gagg_batch_note(b, site);
	for (;;) {
		if (!gagg_site_publish(site, b->sh, b->g, &a->pub, b->loops))
			act_lacks(&b->host, a);
		if (!gagg_act_next(a))
			return;
		act_trace(&b->host, a);
	}
}

static inline void gagg_batch_op_done(struct gagg_batch *b, struct gagg_site *site,
				      const struct gagg_act *a)
{
	gagg_batch_note(b, site);
	b->news[site->index].done |= (u32)GAGG_BIT(a->local);
	b->news[site->index].number[a->local] = a->number;
}

static inline void gagg_batch_act_on(struct gagg_batch *b, struct gagg_site *site,
				     struct gagg_act *a)
{
	switch (a->type) {
	case GAGG_ACT_SEND_CONTRIB:
		/* a rank that has left sends no more */
		if (site->lent[a->local].contrib)
			act_contrib(&b->host, a, site->lent[a->local].contrib);
		break;
	case GAGG_ACT_SEND_RESULT:
		/* its lanes were shifted when it was published */
		if (gagg_lane_narrow(a->m.laneop))
			gagg_publish_shift(site->part[b->sh->index], &a->m);
		act_result(&b->host, a, gagg_site_results(site));
		break;
	case GAGG_ACT_PUBLISH:
		gagg_batch_publish(b, site, a);
		break;
	case GAGG_ACT_OP_DONE:
		gagg_batch_op_done(b, site, a);
		break;
	case GAGG_ACT_FOLD:
	case GAGG_ACT_ADD_LOCAL:
	case GAGG_ACT_READ:
		if (!gagg_site_keep(site, b->g, a, b->loops))
			act_lacks(&b->host, a);
		break;
	}
}

static inline void gagg_batch_act(struct gagg_batch *b, struct gagg_act *a)
{
	struct gagg_site *site;

	act_trace(&b->host, a);
	switch (a->type) {
	case GAGG_ACT_SEND_CTRL:
		act_ctrl(&b->host, a);
		break;
	case GAGG_ACT_DESYNC:
		act_end(&b->host, &a->end);
		break;
	case GAGG_ACT_OPEN:
		act_want(&b->host, b->sh->epoch, a);
		break;
	default:
		site = act_site(&b->host, a->channel);
		if (site)
			gagg_batch_act_on(b, site, a);
		else
			act_lacks(&b->host, a);
	}
}

/* actions of @sh follow: if the last ones were another's, that batch ends */
static inline void gagg_batch_open(struct gagg_batch *b, const struct gagg_host *h,
				   struct gagg_shard *sh, const struct gagg_geom *g)
{
	if (b->sh == sh)
		return;
	gagg_batch_settle(b);
	b->host = *h;
	b->sh = sh;
	b->g = g;
	act_open(&b->host);
}

/* carry out what the shard wants done */
static inline void gagg_batch_drain(struct gagg_batch *b)
{
	struct gagg_act *a;

	while ((a = gagg_shard_act(b->sh)))
		gagg_batch_act(b, a);
}

/*
 * A turn of @h's shard, as part of the batch. true: there is more to do at once. @at becomes the
 * time to look again, if that is earlier. A shard without an epoch changes nothing.
 */
static inline bool gagg_batch_work(struct gagg_batch *b, const struct gagg_host *h,
				   struct gagg_work *w, u64 *at)
{
	if (!w->sh->running)
		return false;
	while (gagg_work_step(w)) {
		act_trace_call(h, w);
		if (!w->sh->nacts)
			continue;
		gagg_batch_open(b, h, w->sh, w->g);
		gagg_batch_drain(b);
	}
	*at = gagg_min64(*at, gagg_work_deadline(w));
	return w->more;
}

#endif
