// SPDX-License-Identifier: GPL-2.0
/*
 * The join object of a group, and what follows from it.
 *
 * The core decides under join_lock. What it wants is kept in g->due. epoch_run(), in the control
 * thread, sends and does it, and sets the timer. Until it has run, datagrams of a new epoch are
 * dropped, and their senders repeat them.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "channel.h"
#include "epoch.h"
#include "group.h"
#include "mtu.h"
#include "news.h"
#include "queue.h"
#include "session.h"
#include "twin.h"
#include "tx.h"
#include "worker.h"
#include "../conf/roster.h"
#include "../gaggd/log.h"

/* --- what is said --------------------------------------------------------- */

/*
 * The datagram is made under the lock, and sent without it. One that was sent a moment ago is not
 * sent again. For a HELLO that asks this is checked before it is made, since making it counts as
 * sending it.
 */
static void epoch_say(struct group *g, u8 type, u32 node)
{
	bool wide = type == GAGG_JOIN_SEND_WIDE, sent = true;
	struct gagg_word w;

	if (type == GAGG_JOIN_SEND_HELLO && tx_is_said(g, 0, node, false))
		return;
	pthread_mutex_lock(&g->join_lock);
	gagg_join_say(g->join, &g->geom, type, node, &w);
	pthread_mutex_unlock(&g->join_lock);
	for (; w.shards; w.shards &= w.shards - 1) {
		u32 shard = gagg_lowest(w.shards);

		sent &= !(wide && tx_is_said(g, shard, node, true)) &&
			tx_control(g, shard, node, &w);
	}
	if (!wide || !sent)
		return;
	pthread_mutex_lock(&g->join_lock);
	gagg_join_sent(g->join, node);
	pthread_mutex_unlock(&g->join_lock);
}

static void epoch_say_all(struct group *g, struct gagg_due *taken)
{
	u32 node;
	u8 type;

	while ((type = gagg_due_next(taken, &node)) != GAGG_JOIN_TYPES)
		epoch_say(g, type, node);
}

/*
 * The most lanes that fit the MTUs of this host. Finding out needs some system calls for each other
 * host. So it is done before a HELLO that tells it, and not again for a while.
 */
static void epoch_find_limit(struct group *g)
{
	u64 now = now_ns();
	u32 lanes;

	if (g->cfg.lanes || now < g->limit_at)
		return;
	g->limit_at = now + GAGG_SEC;
	if (!mtu_lanes(g, &lanes))
		return;
	pthread_mutex_lock(&g->join_lock);
	gagg_join_limit(g->join, &g->geom, lanes, now_ns());
	gagg_due_collect(&g->due, g->join);
	pthread_mutex_unlock(&g->join_lock);
}

/* --- what is done --------------------------------------------------------- */

static void epoch_over(struct group *g, const struct gagg_end *end)
{
	struct gagg_site *gone[GAGG_CHANNELS_MAX];
	u64 epoch = g->epoch;
	u32 i, n;

	workers_lock(g);
	for (i = 0; i < g->geom.shards; i++)
		gagg_shard_stop(g->part[i].core);
	n = channels_unlink(g, gone);
	g->geom.lanes = g->geom.room;
	workers_unlock(g);
	g->epoch = 0;
	for (i = 0; i < GAGG_RANKS; i++)
		if (g->session[i])
			session_ended(g->session[i], end->reason);
	while (n)
		channel_put(channel_of(gone[--n]));
	log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_INFO,
		    "group \"%s\": epoch %llu has ended: %s, rank %u", g->cfg.name,
		    (unsigned long long)epoch, nl_reason_name(end->reason), end->rank);
}

static int epoch_begin(struct group *g, const struct gagg_step *step)
{
	u32 i, trip[GAGG_NODES];
	struct gagg_site *site;
	int err;

	err = channel_fresh(g, &site);
	if (err)
		return err;
	gagg_site_begin(site, step->epoch);
	pthread_mutex_lock(&g->join_lock);
	gagg_join_trips(g->join, &g->geom, trip);
	pthread_mutex_unlock(&g->join_lock);
	workers_lock(g);
	g->geom.lanes = step->lanes;
	for (i = 0; i < g->geom.shards; i++) {
		gagg_shard_start(g->part[i].core, &g->geom, step->epoch, step->cookie);
		gagg_shard_trips(g->part[i].core, &g->geom, trip);
	}
	workers_unlock(g);
	g->epoch = step->epoch;
	g->epochs++;
	for (i = 0; i < GAGG_RANKS; i++)
		if (g->session[i])
			session_started(g->session[i], step->epoch);
	workers_kick(g);
	log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_INFO,
		    "group \"%s\": epoch %llu has started, of %u lanes a datagram", g->cfg.name,
		    (unsigned long long)step->epoch, step->lanes);
	return 0;
}

static void epoch_never(struct group *g, u64 ranks, u32 reason)
{
	for (; ranks; ranks &= ranks - 1) {
		struct session *s = g->session[gagg_lowest(ranks)];

		if (s && s->state == TWIN_ATTACHED)
			session_ended(s, reason);
	}
}

/* moves the group to the state of its join object */
static void epoch_follow(struct group *g)
{
	const struct gagg_end no_memory = gagg_end_here(&g->geom, GAGG_R_ADMIN);
	struct gagg_step step;

	pthread_mutex_lock(&g->join_lock);
	gagg_follow(g->join, &g->geom, g->epoch, false, &step);
	pthread_mutex_unlock(&g->join_lock);
	if (step.over)
		epoch_over(g, &step.end);
	epoch_never(g, step.never, step.end.reason);
	if (step.epoch && epoch_begin(g, &step)) {
		/* no rank can train in this epoch */
		log_err("group \"%s\": no memory for its ring", g->cfg.name);
		epoch_end(g, &no_memory);
	}
}

static bool epoch_run_group(struct group *g)
{
	struct gagg_due taken;
	bool any, hello;
	u32 r, types;

	pthread_mutex_lock(&g->join_lock);
	hello = g->due.nodes[GAGG_JOIN_SEND_HELLO];
	pthread_mutex_unlock(&g->join_lock);
	if (hello)
		epoch_find_limit(g);
	pthread_mutex_lock(&g->join_lock);
	types = gagg_due_take(&g->due, GAGG_DUE_ALL, &taken);
	any = types || g->wants.n;
	pthread_mutex_unlock(&g->join_lock);
	epoch_say_all(g, &taken);
	if (types & GAGG_DUE_FOLLOW)
		epoch_follow(g);
	channels_make(g);
	if (types & GAGG_DUE_NEWS)
		news_tell(g);
	for (r = 0; r < GAGG_RANKS; r++)
		if (g->session[r])
			any |= session_expel(g->session[r]);
	return any;
}

static void epoch_set_timer(struct twin *t)
{
	struct itimerspec it = { 0 };
	u64 at = GAGG_NEVER;
	unsigned int i;

	for (i = 0; i < t->n_groups; i++) {
		struct group *g = t->groups[i];

		pthread_mutex_lock(&g->join_lock);
		at = gagg_min64(at, gagg_join_deadline(g->join, &g->geom));
		pthread_mutex_unlock(&g->join_lock);
	}
	if (at != GAGG_NEVER) {
		it.it_value.tv_sec = (time_t)(at / GAGG_SEC);
		it.it_value.tv_nsec = (long)(at % GAGG_SEC) + !at;
	}
	timerfd_settime(t->timer_fd, TFD_TIMER_ABSTIME, &it, NULL);
}

static void epoch_timer(struct group *g)
{
	bool unfit = g->said.unfit, lacks = false;
	u32 i;

	g->said.unfit = false;
	for (i = 0; i < g->geom.shards; i++) {
		struct part *part = &g->part[i];

		worker_lock(part->port->worker);
		pthread_mutex_lock(&g->join_lock);
		gagg_follow_hear(g->join, part->core);
		pthread_mutex_unlock(&g->join_lock);
		unfit |= part->unfit;
		part->unfit = false;
		lacks |= part->lacks;
		part->lacks = false;
		worker_unlock(part->port->worker);
	}
	if (lacks)
		log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_ERR,
			    "group \"%s\": an action asked for what is not there: a fault of gagg-twin",
			    g->cfg.name);
	if (unfit) {
		struct gagg_ioc_status st = { 0 };

		epoch_status(g, &st);
		mtu_tell(g, st.lanes);
		g->limit_at = 0;
	}
	pthread_mutex_lock(&g->join_lock);
	gagg_follow_timer(g->join, &g->geom, unfit, random64(), now_ns());
	gagg_due_collect(&g->due, g->join);
	pthread_mutex_unlock(&g->join_lock);
}

static void epoch_timers(struct twin *t)
{
	unsigned int i;

	for (i = 0; i < t->n_groups; i++) {
		struct group *g = t->groups[i];
		u64 at;

		pthread_mutex_lock(&g->join_lock);
		at = gagg_join_deadline(g->join, &g->geom);
		pthread_mutex_unlock(&g->join_lock);
		if (at <= now_ns())
			epoch_timer(g);
	}
}

/* does nothing else: that could enter again the code that is calling */
void epoch_breathe(struct twin *t)
{
	struct gagg_due taken;
	unsigned int i;

	epoch_timers(t);
	for (i = 0; i < t->n_groups; i++) {
		struct group *g = t->groups[i];

		pthread_mutex_lock(&g->join_lock);
		gagg_due_take(&g->due, GAGG_DUE_HELLO, &taken);
		pthread_mutex_unlock(&g->join_lock);
		epoch_say_all(g, &taken);
	}
}

void epoch_run(struct twin *t)
{
	bool more = true;
	unsigned int i;

	while (more) {
		more = false;
		epoch_timers(t);
		for (i = 0; i < t->n_groups; i++)
			more |= epoch_run_group(t->groups[i]);
	}
	epoch_set_timer(t);
}

/* --- what happens to it --------------------------------------------------- */

int epoch_init(struct group *g)
{
	u32 digest[GAGG_DG_COUNT];
	struct gagg_roster roster;

	g->join = calloc(1, sizeof(*g->join));
	if (!g->join)
		return -ENOMEM;
	pthread_mutex_init(&g->join_lock, NULL);
	roster_of(&g->cfg, &roster);
	gagg_digest_group(&roster, &g->cfg.param, &g->geom.sync, digest);
	gagg_join_init(g->join, &g->geom, digest, random64() | 1);
	g->join->enabled = 1;
	return 0;
}

enum gagg_drop epoch_rx(struct group *g, u32 node, u32 shard, const struct gagg_msg *m,
			const void *body)
{
	struct gagg_join_dgram d = {
		.node = node,
		.shard = shard,
		.m = m,
		.body = body,
		.random = random64(),
	};
	enum gagg_drop why;
	bool call;

	pthread_mutex_lock(&g->join_lock);
	d.now = now_ns();
	why = gagg_join_rx(g->join, &g->geom, &d);
	gagg_due_collect(&g->due, g->join);
	/* the time of the next HELLO may have changed as well */
	call = gagg_due_types(&g->due) || !why;
	pthread_mutex_unlock(&g->join_lock);
	if (call)
		twin_call(g->twin);
	return why;
}

void epoch_attach(struct group *g, u32 rank)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_join_attach(g->join, &g->geom, rank, now_ns());
	gagg_due_collect(&g->due, g->join);
	pthread_mutex_unlock(&g->join_lock);
	/* START may depend on it: look again */
	g->limit_at = 0;
	/* a group on one host needs no message: its timer starts the epoch */
	epoch_timer(g);
	twin_call(g->twin);
}

void epoch_leave(struct group *g, u32 rank, u32 reason)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_join_leave(g->join, &g->geom, rank, reason, now_ns());
	gagg_due_collect(&g->due, g->join);
	pthread_mutex_unlock(&g->join_lock);
	twin_call(g->twin);
}

void epoch_end(struct group *g, const struct gagg_end *end)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_join_end(g->join, &g->geom, end, now_ns());
	gagg_due_collect(&g->due, g->join);
	pthread_mutex_unlock(&g->join_lock);
	twin_call(g->twin);
}

void epoch_status(struct group *g, struct gagg_ioc_status *st)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_join_status(g->join, &g->geom, g->epoch, now_ns(), st);
	pthread_mutex_unlock(&g->join_lock);
}

static void epoch_delete(struct group *g)
{
	const struct gagg_end end = gagg_end_here(&g->geom, GAGG_R_DELETED);
	struct gagg_due taken;
	unsigned int i;

	epoch_end(g, &end);
	/* sends them once */
	epoch_run_group(g);
	for (i = 1; i < GAGG_LAST_WORDS; i++) {
		pthread_mutex_lock(&g->join_lock);
		gagg_follow_last_words(g->join, &taken);
		pthread_mutex_unlock(&g->join_lock);
		epoch_say_all(g, &taken);
	}
}

void epoch_farewell(struct twin *t)
{
	unsigned int i;

	/* a group may be incomplete, if the twin ends before it has begun */
	for (i = 0; i < t->n_groups; i++)
		if (t->groups[i]->epoch)
			epoch_delete(t->groups[i]);
}
