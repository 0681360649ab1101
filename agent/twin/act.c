// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "act.h"
#include "channel.h"
#include "epoch.h"
#include "group.h"
#include "op.h"
#include "port.h"
#include "reduce.h"
#include "trainer.h"
#include "tx.h"
#include "worker.h"

struct gagg_host {
	struct port *port;
	struct group *group;
};

#include "core/act.h"

struct gagg_batch *act_new(void)
{
	struct gagg_batch *b = calloc(1, sizeof(*b));

	if (b)
		b->loops = twin_loops;
	return b;
}

void act_free(struct gagg_batch *b)
{
	free(b);
}

static void act_trace_call(const struct gagg_host *h, const struct gagg_work *w)
{
	(void)h;
	(void)w;
}

static void act_trace(const struct gagg_host *h, const struct gagg_act *a)
{
	(void)h;
	(void)a;
}

static struct gagg_site *act_site(const struct gagg_host *h, u16 id)
{
	struct channel *ch = channel_find(h->group, id);

	return ch ? &ch->site : NULL;
}

/*
 * 1. The core knows only channels of the table. 2. A seat goes without an op in flight, or the
 * shard has stopped before. The control thread says it: it alone writes the log.
 */
static void act_lacks(const struct gagg_host *h, const struct gagg_act *a)
{
	(void)a;
	h->group->part[h->port->worker->index].lacks = true;
}

static void act_open(const struct gagg_host *h)
{
	tx_open(h->port, h->group);
}

static void act_close(const struct gagg_host *h)
{
	tx_close(h->port);
}

static void act_contrib(const struct gagg_host *h, struct gagg_act *a, void *const *mem)
{
	tx_contrib(h->port, a, mem);
}

static void act_result(const struct gagg_host *h, struct gagg_act *a, void *const *mem)
{
	tx_result(h->port, a, mem);
}

static void act_ctrl(const struct gagg_host *h, const struct gagg_act *a)
{
	tx_ctrl(h->port, a);
}

static void act_end(const struct gagg_host *h, const struct gagg_end *end)
{
	epoch_end(h->group, end);
}

static void act_want(const struct gagg_host *h, u64 epoch, const struct gagg_act *a)
{
	channel_want(h->group, epoch, a->channel, a->members);
}

static void act_tell_chunks(const struct gagg_host *h, struct gagg_site *site, u32 local)
{
	(void)h;
	seat_progress(channel_of(site)->seat[local]);
}

static void act_tell_ops(const struct gagg_host *h, struct gagg_site *site, u32 local,
			 u64 number)
{
	seat_done(channel_of(site)->seat[local], h->port->worker->index, number);
}

void act_settle(struct worker *w)
{
	gagg_batch_settle(w->batch);
}

void act_drain(struct port *p, struct group *g)
{
	const struct gagg_host host = { .port = p, .group = g };
	struct gagg_batch *b = p->worker->batch;

	gagg_batch_open(b, &host, g->part[p->worker->index].core, &g->geom);
	gagg_batch_drain(b);
}

bool act_work(struct port *p, struct group *g, u64 now, u64 *at)
{
	const struct gagg_host host = { .port = p, .group = g };
	struct part *part = &g->part[p->worker->index];
	struct gagg_trainers trainers;
	struct gagg_env env;
	struct gagg_work work = {
		.sh = part->core,
		.g = &g->geom,
		.env = &env,
		.channel = part->channel,
		.channels = g->table.taken,
		.now = now,
	};

	trainers_env(&env, &trainers, g, p->worker->index);
	return gagg_batch_work(p->worker->batch, &host, &work, at);
}
