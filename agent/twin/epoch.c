// SPDX-License-Identifier: GPL-2.0
/*
 * The join object of a group, and what follows from it.
 *
 * The core decides under join_lock. What it wants said is kept as sets of nodes;
 * epoch_run(), in the control thread, says it, compares the core's state with the
 * group's, and sets the timer. Until it has run, datagrams of a new epoch are
 * dropped and repeated by their senders.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "channel.h"
#include "epoch.h"
#include "facts.h"
#include "group.h"
#include "mtu.h"
#include "queue.h"
#include "session.h"
#include "twin.h"
#include "tx.h"
#include "worker.h"
#include "../gaggd/log.h"

/* join_lock held: take what the core wants done */
static void collect(struct group *g)
{
	struct gagg_join *j = g->join;
	u32 i;

	for (i = 0; i < j->nacts; i++) {
		u64 node = GAGG_BIT(j->act[i].node);

		switch (j->act[i].type) {
		case GAGG_JOIN_SEND_HELLO:
			g->say_hello |= node;
			break;
		case GAGG_JOIN_SEND_START:
			g->say_start |= node;
			break;
		case GAGG_JOIN_SEND_ABORT:
			g->say_abort |= node;
			break;
		case GAGG_JOIN_SEND_WIDE:
			g->say_wide |= node;
			break;
		case GAGG_JOIN_NOTIFY:
			g->news = true;
			break;
		default:
			g->epoch_due = true;
		}
	}
	j->nacts = 0;
}

/* join_lock held: is there anything for the control thread? */
static bool due(const struct group *g)
{
	return g->say_hello || g->say_start || g->say_abort || g->say_wide || g->news ||
	       g->epoch_due;
}

/* --- what is said --------------------------------------------------------- */

/* the body is built under the lock, sent without */
static void say(struct group *g, u64 nodes, u8 type)
{
	union {
		struct gagg_hello hello;
		struct gagg_start start;
		struct gagg_abort abort;
	} body;
	struct gagg_msg m;

	for (; nodes; nodes &= nodes - 1) {
		u32 node = gagg_lowest(nodes);

		if (type == GAGG_T_HELLO && tx_is_said(g, 0, node, false))
			continue;
		memset(&body, 0, sizeof(body));
		pthread_mutex_lock(&g->join_lock);
		if (type == GAGG_T_HELLO)
			m.len = gagg_join_hello(g->join, &g->geom, node, &m, &body.hello);
		else if (type == GAGG_T_START)
			m.len = gagg_join_start(g->join, &g->geom, &m, &body.start);
		else
			m.len = gagg_join_abort_body(g->join, &g->geom, &m, &body.abort);
		pthread_mutex_unlock(&g->join_lock);
		tx_control(g, 0, node, &m, &body, m.len);
	}
}

/* HELLO as long as a chunk, on each shard that it is wanted on */
static void say_wide(struct group *g, u64 nodes)
{
	struct gagg_hello body;
	struct gagg_msg m;
	u32 shards;
	bool sent;

	for (; nodes; nodes &= nodes - 1) {
		u32 node = gagg_lowest(nodes);

		pthread_mutex_lock(&g->join_lock);
		gagg_join_wide(g->join, &g->geom, node, &m, &body);
		shards = g->join->peer[node].missed;
		pthread_mutex_unlock(&g->join_lock);
		for (sent = true; shards; shards &= shards - 1) {
			u32 shard = gagg_lowest(shards);

			sent &= !tx_is_said(g, shard, node, true) &&
				tx_control(g, shard, node, &m, &body, sizeof(body));
		}
		if (!sent)
			continue;
		pthread_mutex_lock(&g->join_lock);
		gagg_join_sent(g->join, node);
		pthread_mutex_unlock(&g->join_lock);
	}
}

static void say_blocked(struct group *g)
{
	u32 n;

	for (n = 0; n < g->geom.nodes; n++) {
		u16 in, out;
		bool is;

		pthread_mutex_lock(&g->join_lock);
		is = gagg_join_blocked(g->join, &g->geom, n, now_ns(), &in, &out);
		pthread_mutex_unlock(&g->join_lock);
		if (is)
			log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_WARN,
				    "group \"%s\": the host of rank %u is heard, but chunks do not pass%s (MTU of the path, or a firewall)",
				    g->cfg.name, gagg_lowest(g->geom.ranks_of[n]),
				    in && out ? " either way" : in ? " from it" : out ? " to it" :
				    " between it and another one");
	}
}

static void say_mismatch(struct group *g, const struct gagg_ioc_status *st)
{
	const struct gagg_mismatch bad = {
		st->mismatch, st->mismatch_here, st->mismatch_there,
	};
	struct nl_member m = { 0 };
	char what[NL_MISMATCH_MAX];

	facts_mismatch(&bad, &m);
	log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_WARN,
		    "group \"%s\": the host of rank %u is configured differently: %s",
		    g->cfg.name, st->mismatch_node, nl_mismatch_format(&m, what));
}

static void tell_mismatch(struct group *g)
{
	struct gagg_ioc_status st = { 0 };
	u32 r;

	epoch_status(g, &st);
	for (r = 0; r < GAGG_RANKS; r++)
		if (g->session[r])
			session_mismatch(g->session[r], st.mismatch || st.blocked);
	if (st.mismatch)
		say_mismatch(g, &st);
	say_blocked(g);
}

/*
 * What fits the MTUs of this host. It costs some system calls for each other one, so it is
 * looked at before HELLO tells it, and not again so soon.
 */
static void find_limit(struct group *g)
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
	collect(g);
	pthread_mutex_unlock(&g->join_lock);
}

/* --- what is done --------------------------------------------------------- */

static void over(struct group *g)
{
	struct channel *gone[GAGG_CHANNELS_MAX];
	struct gagg_ioc_status st = { 0 };
	u32 i, n = 0;

	workers_lock(g);
	for (i = 0; i < g->geom.shards; i++)
		gagg_shard_stop(g->part[i].core);
	for (i = 0; i < GAGG_CHANNELS_MAX; i++) {
		if (!g->channel[i])
			continue;
		gone[n++] = g->channel[i];
		g->channel[i] = NULL;
	}
	queues_forget(g);
	g->geom.lanes = g->geom.room;
	workers_unlock(g);
	g->epoch = 0;
	epoch_status(g, &st);
	for (i = 0; i < GAGG_RANKS; i++)
		if (g->session[i])
			session_ended(g->session[i], st.reason);
	while (n)
		channel_put(gone[--n]);
	log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_INFO,
		    "group \"%s\": epoch %llu has ended: %s, rank %u", g->cfg.name,
		    (unsigned long long)st.epoch, nl_reason_name(st.reason), st.rank);
}

static int begin(struct group *g, u64 epoch, u64 cookie, u16 lanes)
{
	struct channel *ch = channel_fresh(g);
	u32 i, trip[GAGG_NODES];

	if (!ch)
		return -errno;
	channel_begin(ch, epoch);
	pthread_mutex_lock(&g->join_lock);
	gagg_join_trips(g->join, &g->geom, trip);
	pthread_mutex_unlock(&g->join_lock);
	workers_lock(g);
	g->geom.lanes = lanes;
	for (i = 0; i < g->geom.shards; i++) {
		gagg_shard_start(g->part[i].core, &g->geom, epoch, cookie);
		gagg_shard_trips(g->part[i].core, &g->geom, trip);
	}
	workers_unlock(g);
	g->epoch = epoch;
	g->epochs++;
	for (i = 0; i < GAGG_RANKS; i++)
		if (g->session[i])
			session_started(g->session[i], epoch);
	workers_kick(g);
	log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_INFO,
		    "group \"%s\": epoch %llu has started, of %u lanes a datagram", g->cfg.name,
		    (unsigned long long)epoch, lanes);
	return 0;
}

/* the group becomes what its join object says */
static void follow(struct group *g)
{
	u64 epoch, cookie, attached;
	bool running;
	u32 reason, i;
	u16 lanes;

	pthread_mutex_lock(&g->join_lock);
	running = g->join->phase == GAGG_PHASE_RUNNING;
	epoch = g->join->epoch;
	cookie = g->join->cookie;
	lanes = g->join->lanes;
	attached = g->join->attached;
	reason = g->join->end.reason;
	pthread_mutex_unlock(&g->join_lock);
	if (g->epoch && (!running || epoch != g->epoch))
		over(g);
	/* an epoch that ended before it was begun here, or will never be */
	for (i = 0; !g->epoch && !running && i < GAGG_RANKS; i++)
		if (g->session[i] && g->session[i]->state == TWIN_ATTACHED &&
		    !(attached & GAGG_BIT(i)))
			session_ended(g->session[i], reason);
	if (running && !g->epoch && begin(g, epoch, cookie, lanes)) {
		/* no memory for the channel: nobody can train in this epoch */
		const struct gagg_end end = {
			.reason = GAGG_R_ADMIN,
			.rank = (u16)gagg_lowest(g->geom.ranks_of[g->geom.self]),
		};

		log_err("group \"%s\": no memory for its ring", g->cfg.name);
		epoch_end(g, &end);
	}
}

/* channels that other hosts have asked for; who is not heard asks again */
static void make_channels(struct group *g, const struct opens *o)
{
	unsigned int i;

	for (i = 0; i < o->n; i++) {
		if (g->epoch != o->epoch[i] || channel_find(g, o->id[i]) ||
		    channel_create(g, o->id[i], o->members[i]))
			continue;
		workers_lock(g);
		g->part[0].stats.drop[GAGG_DROP_NOMEM]++;
		workers_unlock(g);
	}
}

static bool run_group(struct group *g)
{
	u64 hello, start, abort, wide;
	struct opens opens;
	bool epoch, news, any;
	u32 r;

	pthread_mutex_lock(&g->join_lock);
	hello = g->say_hello;
	pthread_mutex_unlock(&g->join_lock);
	if (hello)
		find_limit(g);
	pthread_mutex_lock(&g->join_lock);
	any = due(g) || g->opens.n;
	hello = g->say_hello;
	start = g->say_start;
	abort = g->say_abort;
	wide = g->say_wide;
	epoch = g->epoch_due;
	news = g->news;
	opens = g->opens;
	g->say_hello = 0;
	g->say_start = 0;
	g->say_abort = 0;
	g->say_wide = 0;
	g->epoch_due = false;
	g->news = false;
	g->opens.n = 0;
	pthread_mutex_unlock(&g->join_lock);
	say(g, abort, GAGG_T_ABORT);
	/* answers first: paths of an epoch begin with the round trip to them */
	say(g, hello, GAGG_T_HELLO);
	say(g, start, GAGG_T_START);
	say_wide(g, wide);
	if (epoch)
		follow(g);
	make_channels(g, &opens);
	if (news)
		tell_mismatch(g);
	for (r = 0; r < GAGG_RANKS; r++)
		if (g->session[r])
			any |= session_expel(g->session[r]);
	return any;
}

static void set_timer(struct twin *t)
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

static void join_timer(struct group *g)
{
	const struct gagg_end unfit = {
		.reason = GAGG_R_MTU,
		.rank = (u16)gagg_lowest(g->geom.ranks_of[g->geom.self]),
	};
	bool fits = !g->said.unfit;
	u32 i;

	g->said.unfit = false;
	for (i = 0; i < g->geom.shards; i++) {
		struct part *part = &g->part[i];

		worker_lock(part->port->worker);
		pthread_mutex_lock(&g->join_lock);
		gagg_join_hear(g->join, i, part->core->epoch, part->core->heard,
			       part->core->wide);
		pthread_mutex_unlock(&g->join_lock);
		fits &= !part->unfit;
		part->unfit = false;
		worker_unlock(part->port->worker);
	}
	if (!fits) {
		struct gagg_ioc_status st = { 0 };

		epoch_status(g, &st);
		mtu_tell(g, st.lanes);
		g->limit_at = 0;
	}
	pthread_mutex_lock(&g->join_lock);
	if (!fits)
		gagg_join_end(g->join, &g->geom, &unfit, now_ns());
	gagg_join_timer(g->join, &g->geom, random64(), now_ns());
	collect(g);
	pthread_mutex_unlock(&g->join_lock);
}

static void run_timers(struct twin *t)
{
	unsigned int i;

	for (i = 0; i < t->n_groups; i++) {
		struct group *g = t->groups[i];
		u64 at;

		pthread_mutex_lock(&g->join_lock);
		at = gagg_join_deadline(g->join, &g->geom);
		pthread_mutex_unlock(&g->join_lock);
		if (at <= now_ns())
			join_timer(g);
	}
}

/* nothing else is done, which could come back to what is in the middle of something */
void epoch_breathe(struct twin *t)
{
	unsigned int i;
	u64 nodes;

	run_timers(t);
	for (i = 0; i < t->n_groups; i++) {
		struct group *g = t->groups[i];

		pthread_mutex_lock(&g->join_lock);
		nodes = g->say_hello;
		g->say_hello = 0;
		pthread_mutex_unlock(&g->join_lock);
		say(g, nodes, GAGG_T_HELLO);
	}
}

void epoch_run(struct twin *t)
{
	bool more = true;
	unsigned int i;

	while (more) {
		more = false;
		run_timers(t);
		for (i = 0; i < t->n_groups; i++)
			more |= run_group(t->groups[i]);
	}
	set_timer(t);
}

/* --- what happens to it --------------------------------------------------- */

int epoch_init(struct group *g)
{
	u64 d[GAGG_DG_COUNT] = { 0 };
	u32 digest[GAGG_DG_COUNT], i;

	g->join = calloc(1, sizeof(*g->join));
	if (!g->join)
		return -ENOMEM;
	pthread_mutex_init(&g->join_lock, NULL);
	for (i = 0; i < g->cfg.n_members; i++) {
		const struct nl_member *m = &g->cfg.members[i];

		gagg_digest_member(d, m->rank, m->addr.addr, m->addr.family == AF_INET6 ? 16 : 4,
				   (u8)m->roles, (u16)m->weight);
	}
	d[GAGG_DG_LANES] = g->cfg.lanes;
	d[GAGG_DG_RING] = g->cfg.ring;
	d[GAGG_DG_WINDOW] = g->cfg.window;
	d[GAGG_DG_STRIPE] = g->cfg.stripe;
	d[GAGG_DG_SHARDS] = g->cfg.shards;
	d[GAGG_DG_PORT] = g->cfg.port;
	d[GAGG_DG_SYNC] = gagg_digest_sync(&g->geom.sync);
	d[GAGG_DG_PLACEMENT] = g->cfg.placement;
	d[GAGG_DG_DEAD_AFTER] = g->cfg.dead_after;
	d[GAGG_DG_LANE_TYPE] = g->cfg.lane_type;
	d[GAGG_DG_WIRE] = g->cfg.wire;
	for (i = 0; i < GAGG_DG_COUNT; i++)
		digest[i] = gagg_digest_fold(d[i], i);
	gagg_join_init(g->join, &g->geom, digest, random64() | 1);
	g->join->enabled = 1;
	return 0;
}

enum gagg_drop epoch_rx(struct group *g, u32 node, u32 shard, const struct gagg_msg *m,
			const void *body)
{
	enum gagg_drop why;
	bool call;

	pthread_mutex_lock(&g->join_lock);
	why = gagg_join_rx(g->join, &g->geom, node, shard, m, body, random64(), now_ns());
	collect(g);
	/* also when the time of the next HELLO has changed */
	call = due(g) || !why;
	pthread_mutex_unlock(&g->join_lock);
	if (call)
		twin_call(g->twin);
	return why;
}

void epoch_attach(struct group *g, u32 rank)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_join_attach(g->join, &g->geom, rank, now_ns());
	collect(g);
	pthread_mutex_unlock(&g->join_lock);
	/* START may follow what is said of it */
	g->limit_at = 0;
	/* a group on one host needs no message: its timer starts the epoch */
	join_timer(g);
	twin_call(g->twin);
}

void epoch_leave(struct group *g, u32 rank, u32 reason)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_join_leave(g->join, &g->geom, rank, reason, now_ns());
	collect(g);
	pthread_mutex_unlock(&g->join_lock);
	twin_call(g->twin);
}

void epoch_end(struct group *g, const struct gagg_end *end)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_join_end(g->join, &g->geom, end, now_ns());
	collect(g);
	pthread_mutex_unlock(&g->join_lock);
	twin_call(g->twin);
}

void epoch_open(struct group *g, u64 epoch, u32 id, u64 members)
{
	struct opens *o = &g->opens;
	unsigned int i;

	pthread_mutex_lock(&g->join_lock);
	for (i = 0; i < o->n; i++)
		if (o->id[i] == id && o->epoch[i] == epoch)
			break;
	if (i == o->n && o->n < OPENS_MAX) {
		o->id[o->n] = id;
		o->epoch[o->n] = epoch;
		o->members[o->n] = members;
		o->n++;
	}
	pthread_mutex_unlock(&g->join_lock);
	twin_call(g->twin);
}

void epoch_status(struct group *g, struct gagg_ioc_status *st)
{
	struct gagg_join *j = g->join;
	u64 now = now_ns();

	pthread_mutex_lock(&g->join_lock);
	st->epoch = j->epoch;
	st->phase = j->phase == GAGG_PHASE_RUNNING && g->epoch == j->epoch ?
		    GAGG_PHASE_RUNNING : GAGG_PHASE_IDLE;
	st->reason = j->end.reason;
	st->rank = j->end.rank;
	st->other = j->end.other;
	st->sig = j->end.sig;
	st->other_sig = j->end.other_sig;
	st->call = j->end.call;
	st->other_call = j->end.other_call;
	st->attached = gagg_join_attached(j, &g->geom);
	st->heard = gagg_join_heard(j, &g->geom, now);
	gagg_join_tell_mismatch(j, &g->geom, st);
	st->blocked = gagg_join_names_blocked(j, &g->geom, now);
	st->lanes = j->lanes;
	pthread_mutex_unlock(&g->join_lock);
}

/* three times, since nobody will repeat it; who misses all notices the silence */
void epoch_farewell(struct twin *t)
{
	unsigned int i, k;

	for (i = 0; i < t->n_groups; i++) {
		struct group *g = t->groups[i];
		const struct gagg_end end = {
			.reason = GAGG_R_DELETED,
			.rank = (u16)gagg_lowest(g->geom.ranks_of[g->geom.self]),
		};
		u64 others = GAGG_BIT(g->geom.nodes - 1) * 2 - 1;

		if (!g->epoch)
			continue;
		epoch_end(g, &end);
		run_group(g);
		others &= ~GAGG_BIT(g->geom.self);
		for (k = 0; k < 2; k++)
			say(g, others, GAGG_T_ABORT);
	}
}
