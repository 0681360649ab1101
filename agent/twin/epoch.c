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

struct gagg_host {
	struct group *group;
	bool looks;	/* in epoch_run(): the control thread looks again at what is due */
	struct mtu_seen *seen;	/* while MTUs are read */
};

#include "core/step.h"

static struct gagg_hosted epoch_hosted(struct group *g, bool looks)
{
	return (struct gagg_hosted){
		.host.group = g,
		.host.looks = looks,
		.g = &g->geom,
		.join = g->join,
		.due = &g->due,
		.table = &g->table,
		.epoch = &g->epoch,
		.epochs = &g->epochs,
	};
}

static void epoch_lock_join(const struct gagg_host *h)
{
	pthread_mutex_lock(&h->group->join_lock);
}

static void epoch_unlock_join(const struct gagg_host *h)
{
	pthread_mutex_unlock(&h->group->join_lock);
}

static void epoch_lock_shard(const struct gagg_host *h, u32 s)
{
	worker_lock(h->group->part[s].port->worker);
}

static void epoch_unlock_shard(const struct gagg_host *h, u32 s)
{
	worker_unlock(h->group->part[s].port->worker);
}

static void epoch_lock(const struct gagg_host *h)
{
	workers_lock(h->group);
}

static void epoch_unlock(const struct gagg_host *h)
{
	workers_unlock(h->group);
}

static struct gagg_shard *epoch_shard(const struct gagg_host *h, u32 s)
{
	return h->group->part[s].core;
}

static u64 epoch_now_ns(void)
{
	return now_ns();
}

static u64 epoch_random(void)
{
	return random64();
}

static struct gagg_stats *epoch_stats(const struct gagg_host *h, u32 s)
{
	return &h->group->part[s].stats;
}

static void epoch_tell_unfit(const struct gagg_host *h)
{
	struct gagg_ioc_status st = { 0 };

	epoch_status(h->group, &st);
	mtu_tell(h->group, st.lanes);
	h->group->limit_at = 0;
}

static void epoch_call(const struct gagg_host *h, u32 types)
{
	(void)types;
	if (!h->looks)
		twin_call(h->group->twin);
}

/* --- what is said --------------------------------------------------------- */

static bool epoch_is_said(const struct gagg_host *h, u32 s, u32 node, bool wide)
{
	return tx_is_said(h->group, s, node, wide);
}

static enum gagg_fate epoch_send(const struct gagg_host *h, u32 s, u32 node,
				 const struct gagg_word *w)
{
	return tx_control(h->group, s, node, w);
}

static u32 epoch_mtu(const struct gagg_host *h, u32 node)
{
	return node == GAGG_TO_ALL ? mtu_to_all(h->group, h->seen) :
				     mtu_to(h->group, node, h->seen);
}

/* finding out needs some system calls for each other host: it is not done again for a while */
static void epoch_find_limit(struct group *g)
{
	struct gagg_hosted hosted = epoch_hosted(g, true);
	struct mtu_seen seen = { 0 };
	u64 now = now_ns();

	hosted.host.seen = &seen;
	if (now >= g->limit_at && gagg_step_limit(&hosted))
		g->limit_at = now + GAGG_SEC;
}

/* --- what is done --------------------------------------------------------- */

static int epoch_channel(const struct gagg_host *h, struct gagg_site **site)
{
	int err = channel_fresh(h->group, site);

	if (err)
		log_err("group \"%s\": no memory for its ring", h->group->cfg.name);
	return err;
}

static u32 epoch_unlink(const struct gagg_host *h, struct gagg_site **gone)
{
	return channels_unlink(h->group, gone);
}

static void epoch_give(const struct gagg_host *h, struct gagg_site *site)
{
	(void)h;
	channel_put(channel_of(site));
}

static enum gagg_session_state epoch_state(const struct gagg_host *h, u32 rank)
{
	const struct session *s = h->group->session[rank];

	return s ? s->state : GAGG_S_BOUND;
}

static void epoch_tell_runs(const struct gagg_host *h, u32 rank, u64 epoch)
{
	(void)epoch;
	session_started(h->group->session[rank]);
}

static void epoch_tell_ended(const struct gagg_host *h, u32 rank, u32 reason)
{
	session_ended(h->group->session[rank], reason);
}

static void epoch_trace_begun(const struct gagg_host *h, const struct gagg_step *step,
			      const struct gagg_site *site, const u32 trip[GAGG_NODES])
{
	(void)h;
	(void)step;
	(void)site;
	(void)trip;
}

static void epoch_trace_over(const struct gagg_host *h)
{
	(void)h;
}

static void epoch_begun(const struct gagg_host *h, const struct gagg_step *step)
{
	struct group *g = h->group;

	workers_kick(g);
	log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_INFO,
		    "group \"%s\": epoch %llu has started, of %u lanes a datagram", g->cfg.name,
		    (unsigned long long)step->epoch, step->lanes);
}

static void epoch_is_over(const struct gagg_host *h, u64 epoch, const struct gagg_end *end)
{
	const struct group *g = h->group;

	log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_INFO,
		    "group \"%s\": epoch %llu has ended: %s, rank %u", g->cfg.name,
		    (unsigned long long)epoch, nl_reason_name(end->reason), end->rank);
}

static bool epoch_run_group(struct group *g)
{
	const struct gagg_hosted hosted = epoch_hosted(g, false);
	struct gagg_step step;
	u32 r, types;
	bool any;

	epoch_find_limit(g);
	types = gagg_step_speak(&hosted, GAGG_DUE_ALL);
	pthread_mutex_lock(&g->join_lock);
	any = types || g->wants.n;
	pthread_mutex_unlock(&g->join_lock);
	if (types & GAGG_DUE_FOLLOW)
		gagg_step_follow(&hosted, false, &step);
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

static void epoch_tell_lacks(struct group *g)
{
	bool lacks = false;
	u32 s;

	for (s = 0; s < g->geom.shards; s++) {
		worker_lock(g->part[s].port->worker);
		lacks |= g->part[s].lacks;
		g->part[s].lacks = false;
		worker_unlock(g->part[s].port->worker);
	}
	if (lacks)
		log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_ERR,
			    "group \"%s\": an action asked for what is not there: a fault of gagg-twin",
			    g->cfg.name);
}

static void epoch_timer(struct group *g)
{
	const struct gagg_hosted hosted = epoch_hosted(g, true);

	gagg_step_timer(&hosted);
	epoch_tell_lacks(g);
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
	unsigned int i;

	epoch_timers(t);
	for (i = 0; i < t->n_groups; i++) {
		const struct gagg_hosted hosted = epoch_hosted(t->groups[i], true);

		gagg_step_speak(&hosted, GAGG_DUE_HELLO);
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
	struct gagg_hosted hosted;
	struct gagg_roster roster;

	g->join = calloc(1, sizeof(*g->join));
	if (!g->join)
		return -ENOMEM;
	pthread_mutex_init(&g->join_lock, NULL);
	pthread_mutex_init(&g->times_lock, NULL);
	roster_of(&g->cfg, &roster);
	hosted = epoch_hosted(g, false);
	gagg_step_create(&hosted, &roster, &g->cfg.param);
	return 0;
}

enum gagg_drop epoch_rx(struct group *g, u32 node, u32 shard, const struct gagg_msg *m,
			const void *body)
{
	const struct gagg_hosted hosted = epoch_hosted(g, false);
	struct gagg_join_dgram d = { .node = node, .shard = shard, .m = m, .body = body };

	return gagg_step_rx(&hosted, &d);
}

void epoch_attach(struct group *g, u32 rank)
{
	const struct gagg_hosted hosted = epoch_hosted(g, false);

	/* START may depend on it: look again */
	g->limit_at = 0;
	gagg_step_attach(&hosted, rank);
}

void epoch_leave(struct group *g, u32 rank, u32 reason)
{
	const struct gagg_hosted hosted = epoch_hosted(g, false);

	gagg_step_leave(&hosted, rank, reason);
}

void epoch_end(struct group *g, const struct gagg_end *end)
{
	const struct gagg_hosted hosted = epoch_hosted(g, false);

	gagg_step_end(&hosted, end);
}

void epoch_status(struct group *g, struct gagg_ioc_status *st)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_join_status(g->join, &g->geom, g->epoch, now_ns(), st);
	pthread_mutex_unlock(&g->join_lock);
}

u32 epoch_least_mtu(struct group *g)
{
	struct gagg_hosted hosted = epoch_hosted(g, true);
	struct mtu_seen seen = { 0 };

	hosted.host.seen = &seen;
	return gagg_step_mtu(&hosted);
}

static void epoch_delete(struct group *g)
{
	const struct gagg_hosted hosted = epoch_hosted(g, true);
	struct gagg_step step;

	gagg_step_delete(&hosted, &step);
}

void epoch_farewell(struct twin *t)
{
	unsigned int i;

	/* a group may be incomplete, if the twin ends before it has begun */
	for (i = 0; i < t->n_groups; i++)
		if (t->groups[i]->join)
			epoch_delete(t->groups[i]);
}
