// SPDX-License-Identifier: GPL-2.0
#include <linux/mm.h>
#include "act.h"
#include "channel.h"
#include "epoch.h"
#include "group.h"
#include "op.h"
#include "simd.h"
#include "trace.h"
#include "trainer.h"
#include "tx.h"

struct gagg_host {
	struct gagg_port *port;
	struct gagg_group *grp;
};

#include "core/act.h"

int gagg_act_init(struct gagg_port *port)
{
	port->batch = kvzalloc(sizeof(*port->batch), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!port->batch)
		return -ENOMEM;
	port->batch->loops = &gagg_simd_loops;
	return 0;
}

void gagg_act_exit(struct gagg_port *port)
{
	kvfree(port->batch);
	port->batch = NULL;
}

static void act_trace_call(const struct gagg_host *h, const struct gagg_work *w)
{
	trace_gagg_call(&h->grp->geom, h->port->index, w->call, w->id, w->now, w->again);
}

static void act_trace(const struct gagg_host *h, const struct gagg_act *a)
{
	trace_gagg_act(&h->grp->geom, h->port->index, a);
}

static struct gagg_site *act_site(const struct gagg_host *h, u16 id)
{
	struct gagg_channel *ch = gagg_channel_find(h->grp, id);

	return ch ? &ch->site : NULL;
}

/*
 * 1. The core knows only channels of the table. 2. A seat goes only after the shard has stopped,
 * or when it has no ops.
 */
static void act_lacks(const struct gagg_host *h, const struct gagg_act *a)
{
	WARN_ON_ONCE(1);
}

static void act_open(const struct gagg_host *h)
{
	gagg_tx_open(h->port, h->grp);
}

static void act_close(const struct gagg_host *h)
{
	gagg_tx_close(h->port);
}

static void act_contrib(const struct gagg_host *h, struct gagg_act *a, void *const *mem)
{
	gagg_tx_contrib(h->port, a, mem);
}

static void act_result(const struct gagg_host *h, struct gagg_act *a, void *const *mem)
{
	gagg_tx_result(h->port, a, mem);
}

static void act_ctrl(const struct gagg_host *h, const struct gagg_act *a)
{
	gagg_tx_ctrl(h->port, a);
}

static void act_end(const struct gagg_host *h, const struct gagg_end *end)
{
	gagg_epoch_end(h->grp, end);
}

static void act_want(const struct gagg_host *h, u64 epoch, const struct gagg_act *a)
{
	gagg_channel_want(h->grp, epoch, a->channel, a->members);
}

static void act_tell_chunks(const struct gagg_host *h, struct gagg_site *site, u32 local)
{
	gagg_op_progress(gagg_channel_of(site)->session[local]);
}

static void act_tell_ops(const struct gagg_host *h, struct gagg_site *site, u32 local,
			 u64 number)
{
	struct gagg_channel *ch = gagg_channel_of(site);

	gagg_op_done(ch->session[local], ch->seat[local], h->port->index, number);
}

void gagg_act_settle(struct gagg_port *port)
{
	lockdep_assert_held(&port->lock);
	gagg_batch_settle(port->batch);
}

void gagg_act_drain(struct gagg_port *port, struct gagg_group *grp)
{
	const struct gagg_host host = { .port = port, .grp = grp };

	lockdep_assert_held(&port->lock);
	gagg_batch_open(port->batch, &host, grp->part[port->index].core, &grp->geom);
	gagg_batch_drain(port->batch);
}

bool gagg_act_work(struct gagg_port *port, struct gagg_group *grp, u64 now, u64 *at)
{
	const struct gagg_host host = { .port = port, .grp = grp };
	struct gagg_part *part = &grp->part[port->index];
	struct gagg_trainers trainers;
	struct gagg_env env;
	struct gagg_work work = {
		.sh = part->core,
		.g = &grp->geom,
		.env = &env,
		.channel = part->channel,
		.channels = grp->table.taken,
		.now = now,
	};

	lockdep_assert_held(&port->lock);
	gagg_trainers_env(&env, &trainers, port, grp);
	return gagg_batch_work(port->batch, &host, &work, at);
}
