// SPDX-License-Identifier: GPL-2.0
/*
 * The join object of a group, and what follows from it.
 *
 * The core decides under join_lock, from the poll (port lock held), the timer
 * or a system call. What it wants said is kept as sets of nodes and sent by
 * speak_work; that an epoch has begun or ended is left to epoch_work, which
 * compares the core's state with the group's and so needs no queue. What listeners
 * are told is left to news_work. All run in process context: nothing is sent under a
 * lock, and the group's memory may be allocated, though not by speak_work: whoever
 * waits for memory is not to be taken for dead. It has a queue with a rescuer. Until
 * epoch_work has run, datagrams of a new epoch are dropped and repeated by their senders.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>
#include "channel.h"
#include "compat/workqueue.h"
#include "config.h"
#include "endpoint.h"
#include "epoch.h"
#include "faults.h"
#include "group.h"
#include "notify.h"
#include "route.h"
#include "session.h"
#include "trace.h"
#include "tx.h"

static struct workqueue_struct *speak_wq;

int __init gagg_epochs_init(void)
{
	speak_wq = alloc_workqueue("gagg", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	return speak_wq ? 0 : -ENOMEM;
}

void gagg_epochs_exit(void)
{
	destroy_workqueue(speak_wq);
}

static u64 now_ns(void)
{
	return ktime_get_ns();
}

/* join_lock held: take what the core wants done, arm the timer */
static void collect(struct gagg_group *grp)
{
	struct gagg_join *j = grp->join;
	bool speak = false, epoch = false, news = false;
	u64 at, now = now_ns();
	u32 i;

	for (i = 0; i < j->nacts; i++) {
		u64 node = GAGG_BIT(j->act[i].node);

		switch (j->act[i].type) {
		case GAGG_JOIN_SEND_HELLO:
			grp->say_hello |= node;
			break;
		case GAGG_JOIN_SEND_START:
			grp->say_start |= node;
			break;
		case GAGG_JOIN_SEND_ABORT:
			grp->say_abort |= node;
			break;
		case GAGG_JOIN_SEND_WIDE:
			grp->say_wide |= node;
			break;
		case GAGG_JOIN_NOTIFY:
			grp->news |= node;
			news = true;
			continue;
		default:
			epoch = true;
			continue;
		}
		speak = true;
	}
	j->nacts = 0;
	if (grp->dead)
		return;
	if (speak)
		queue_work(speak_wq, &grp->speak_work);
	if (news)
		queue_work(gagg_compat_unbound_wq(), &grp->news_work);
	if (epoch)
		queue_work(gagg_compat_unbound_wq(), &grp->epoch_work);
	at = gagg_join_deadline(j, &grp->geom);
	if (at != GAGG_NEVER)
		mod_timer(&grp->join_timer,
			  jiffies + 1 + (at > now ? nsecs_to_jiffies(at - now) : 0));
}

/* the endpoint is there: the group can be found, or its timer is not shut down */
static void join_timer(struct gagg_group *grp)
{
	const struct gagg_end unfit = {
		.reason = GAGG_R_MTU,
		.rank = gagg_lowest(grp->geom.ranks_of[grp->geom.self]),
	};
	bool fits = true;
	u32 i;

	for (i = 0; i < grp->cfg.shards; i++) {
		struct gagg_part *part = &grp->part[i];

		spin_lock_bh(&grp->ep->port[i].lock);
		spin_lock(&grp->join_lock);
		gagg_join_hear(grp->join, i, part->core->epoch, part->core->heard,
			       part->core->wide);
		spin_unlock(&grp->join_lock);
		fits &= !part->unfit;
		part->unfit = false;
		spin_unlock_bh(&grp->ep->port[i].lock);
	}
	spin_lock_bh(&grp->join_lock);
	if (!fits)
		gagg_join_end(grp->join, &grp->geom, &unfit, now_ns());
	gagg_join_timer(grp->join, &grp->geom, get_random_u64(), now_ns());
	collect(grp);
	spin_unlock_bh(&grp->join_lock);
}

static void join_timer_fn(struct timer_list *t)
{
	join_timer(container_of(t, struct gagg_group, join_timer));
}

/* one message to one node; the body is built under the lock, sent without */
static void say(struct gagg_group *grp, u32 node, u8 type)
{
	union {
		struct gagg_hello hello;
		struct gagg_start start;
		struct gagg_abort abort;
	} body = { };
	struct gagg_msg m;

	spin_lock_bh(&grp->join_lock);
	if (type == GAGG_T_HELLO)
		m.len = gagg_join_hello(grp->join, &grp->geom, node, &m, &body.hello);
	else if (type == GAGG_T_START)
		m.len = gagg_join_start(grp->join, &grp->geom, &m, &body.start);
	else
		m.len = gagg_join_abort_body(grp->join, &grp->geom, &m, &body.abort);
	spin_unlock_bh(&grp->join_lock);
	gagg_tx_control(grp, 0, node, &m, &body, m.len);
}

/* HELLO as long as a chunk, on each shard that it is wanted on */
static void say_wide(struct gagg_group *grp, u32 node)
{
	struct gagg_hello body;
	struct gagg_msg m;
	bool sent = true;
	u32 shards;

	spin_lock_bh(&grp->join_lock);
	gagg_join_wide(grp->join, &grp->geom, node, &m, &body);
	shards = grp->join->peer[node].missed;
	spin_unlock_bh(&grp->join_lock);
	for (; shards; shards &= shards - 1)
		sent &= !gagg_tx_control(grp, gagg_lowest(shards), node, &m, &body,
					 sizeof(body));
	if (!sent)
		return;
	spin_lock_bh(&grp->join_lock);
	gagg_join_sent(grp->join, node);
	spin_unlock_bh(&grp->join_lock);
}

static void say_all(struct gagg_group *grp, u64 nodes, u8 type)
{
	for (; nodes; nodes &= nodes - 1)
		say(grp, gagg_lowest(nodes), type);
}

/*
 * What fits the MTUs of this host. Looked at before each HELLO, which tells it: one a second,
 * and one when an epoch has ended because a chunk did not fit.
 */
static void find_limit(struct gagg_group *grp)
{
	u32 mtu = gagg_route_least_mtu(grp), overhead = gagg_route_overhead(grp);

	if (!mtu)
		return;
	spin_lock_bh(&grp->join_lock);
	gagg_join_limit(grp->join, &grp->geom, mtu > overhead ? (mtu - overhead) / 4 : 0,
			now_ns());
	collect(grp);
	spin_unlock_bh(&grp->join_lock);
}

static void speak(struct gagg_group *grp)
{
	u64 hello, start, abort, wide;

	if (!grp->cfg.lanes)
		find_limit(grp);
	spin_lock_bh(&grp->join_lock);
	hello = grp->say_hello;
	start = grp->say_start;
	abort = grp->say_abort;
	wide = grp->say_wide;
	grp->say_wide = 0;
	grp->say_hello = 0;
	grp->say_start = 0;
	grp->say_abort = 0;
	spin_unlock_bh(&grp->join_lock);

	say_all(grp, abort, GAGG_T_ABORT);
	/* answers first: paths of an epoch begin with the round trip to them */
	say_all(grp, hello, GAGG_T_HELLO);
	say_all(grp, start, GAGG_T_START);
	for (; wide; wide &= wide - 1)
		say_wide(grp, gagg_lowest(wide));
}

static void tell_news(struct gagg_group *grp)
{
	u64 news;

	spin_lock_bh(&grp->join_lock);
	news = grp->news;
	grp->news = 0;
	spin_unlock_bh(&grp->join_lock);

	wake_up_all(&grp->wq);
	for (; news; news &= news - 1) {
		u64 ranks = grp->geom.ranks_of[gagg_lowest(news)];
		bool bad = grp->join->peer[gagg_lowest(news)].mismatch.field;

		for (; ranks; ranks &= ranks - 1)
			gagg_notify_member(grp, gagg_lowest(ranks),
					   bad ? GAGG_EV_MISMATCH : GAGG_EV_MEMBER_STATE);
	}
}

static void speak_work_fn(struct work_struct *work)
{
	gagg_faults_work_begin();
	speak(container_of(work, struct gagg_group, speak_work));
	gagg_faults_work_end();
}

static void news_work_fn(struct work_struct *work)
{
	gagg_faults_work_begin();
	tell_news(container_of(work, struct gagg_group, news_work));
	gagg_faults_work_end();
}

/* group.lock held */
static void epoch_over(struct gagg_group *grp)
{
	struct gagg_channel *gone[GAGG_CHANNELS_MAX];
	struct gagg_ioc_status st = { };
	u32 i, n = 0;

	gagg_group_lock_ports(grp);
	for (i = 0; i < grp->cfg.shards; i++)
		gagg_shard_stop(grp->part[i].core);
	trace_gagg_stop(&grp->geom);
	grp->geom.lanes = grp->geom.room;
	for (i = 0; i < GAGG_CHANNELS_MAX; i++) {
		if (!grp->channel[i])
			continue;
		gone[n++] = grp->channel[i];
		grp->channel[i] = NULL;
		grp->channels &= ~GAGG_BIT(i);
	}
	gagg_group_unlock_ports(grp);
	grp->epoch = 0;
	gagg_epoch_status(grp, &st);
	for (i = 0; i < GAGG_RANKS; i++)
		if (grp->session[i])
			gagg_session_ended(grp->session[i], st.reason);
	while (n)
		gagg_channel_put(gone[--n]);
	wake_up_all(&grp->wq);
}

static void trips(struct gagg_group *grp, u32 trip[GAGG_NODES])
{
	spin_lock_bh(&grp->join_lock);
	gagg_join_trips(grp->join, &grp->geom, trip);
	spin_unlock_bh(&grp->join_lock);
}

/* group.lock held */
static int epoch_begin(struct gagg_group *grp, u64 epoch, u64 cookie, u16 lanes)
{
	/* it is new only where no rank has attached and paid for it */
	struct mem_cgroup *old = set_active_memcg(grp->memcg);
	struct gagg_channel *ch = gagg_channel_fresh(grp);
	u32 i, trip[GAGG_NODES];

	set_active_memcg(old);
	if (IS_ERR(ch))
		return PTR_ERR(ch);
	gagg_channel_begin(ch, epoch);
	trips(grp, trip);
	gagg_group_lock_ports(grp);
	grp->geom.lanes = lanes;
	for (i = 0; i < grp->cfg.shards; i++) {
		gagg_shard_start(grp->part[i].core, &grp->geom, epoch, cookie);
		gagg_shard_trips(grp->part[i].core, &grp->geom, trip);
	}
	trace_gagg_start(&grp->geom, grp->cfg.sync.mode, epoch);
	for (i = 0; i < grp->geom.nodes; i++)
		trace_gagg_trip(&grp->geom, i, trip[i]);
	trace_gagg_channel(&grp->geom, ch->id, ch->members);
	gagg_group_unlock_ports(grp);
	grp->epoch = epoch;
	grp->epochs++;
	for (i = 0; i < GAGG_RANKS; i++)
		if (grp->session[i])
			gagg_session_started(grp->session[i], epoch);
	wake_up_all(&grp->wq);
	for (i = 0; i < grp->cfg.shards; i++)
		gagg_port_kick(&grp->ep->port[i]);
	return 0;
}

/* the group comes to where join is */
static void follow_join(struct gagg_group *grp)
{
	bool running, ended = false, begun = false;
	u64 epoch, cookie, attached;
	u32 reason;
	u16 lanes;
	int err = 0;

	mutex_lock(&grp->lock);
	spin_lock_bh(&grp->join_lock);
	running = grp->join->phase == GAGG_PHASE_RUNNING;
	epoch = grp->join->epoch;
	cookie = grp->join->cookie;
	lanes = grp->join->lanes;
	attached = grp->dead ? 0 : grp->join->attached;
	reason = grp->dead ? GAGG_R_DELETED : grp->join->end.reason;
	spin_unlock_bh(&grp->join_lock);
	if (grp->epoch && (!running || epoch != grp->epoch)) {
		epoch_over(grp);
		ended = true;
	} else if (!grp->epoch && !running) {
		u32 i;

		/* an epoch that ended before it was begun here, or will never be */
		for (i = 0; i < GAGG_RANKS; i++)
			if (grp->session[i] && grp->session[i]->state == GAGG_S_ATTACHED &&
			    !(attached & GAGG_BIT(i)))
				gagg_session_ended(grp->session[i], reason);
		wake_up_all(&grp->wq);
	}
	if (running && !grp->epoch && !grp->dead) {
		err = epoch_begin(grp, epoch, cookie, lanes);
		begun = !err;
	}
	mutex_unlock(&grp->lock);
	if (err) {
		/* no memory for the channel: nobody can train in this epoch */
		struct gagg_end end = {
			.reason = GAGG_R_ADMIN,
			.rank = gagg_lowest(grp->geom.ranks_of[grp->geom.self]),
		};

		gagg_epoch_end(grp, &end);
	}
	if (ended)
		gagg_notify_group(grp, GAGG_EV_EPOCH_END);
	if (begun)
		gagg_notify_group(grp, GAGG_EV_EPOCH_START);
}

static void epoch_work_fn(struct work_struct *work)
{
	gagg_faults_work_begin();
	follow_join(container_of(work, struct gagg_group, epoch_work));
	gagg_faults_work_end();
}

int gagg_epoch_init(struct gagg_group *grp)
{
	u32 digest[GAGG_DG_COUNT];

	grp->join = __vmalloc(sizeof(*grp->join),
			      GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!grp->join)
		return -ENOMEM;
	timer_setup(&grp->join_timer, join_timer_fn, 0);
	INIT_WORK(&grp->speak_work, speak_work_fn);
	INIT_WORK(&grp->news_work, news_work_fn);
	INIT_WORK(&grp->epoch_work, epoch_work_fn);
	gagg_config_digest(&grp->cfg, digest);
	gagg_join_init(grp->join, &grp->geom, digest, get_random_u64() | 1);
	grp->join->enabled = 1;
	return 0;
}

void gagg_epoch_begin(struct gagg_group *grp)
{
	join_timer(grp);
}

/*
 * The group is dead and unlinked, no poll sees it: only the timer and the works
 * themselves can queue works, and collect() queues none for a dead group. The
 * epoch ends when all of them have stopped, since a START that comes later, or
 * the timer, would begin the next. The last words go out here, three times since
 * nobody will repeat them; whoever misses them all notices the silence.
 */
void gagg_epoch_stop(struct gagg_group *grp)
{
	const struct gagg_end end = {
		.reason = GAGG_R_DELETED,
		.rank = gagg_lowest(grp->geom.ranks_of[grp->geom.self]),
	};
	u64 others = grp->geom.nodes == 64 ? ~0ULL : GAGG_BIT(grp->geom.nodes) - 1;
	bool ended;
	u32 i;

	timer_shutdown_sync(&grp->join_timer);
	cancel_work_sync(&grp->speak_work);
	cancel_work_sync(&grp->news_work);
	cancel_work_sync(&grp->epoch_work);
	gagg_epoch_end(grp, &end);
	follow_join(grp);
	others &= ~GAGG_BIT(grp->geom.self);
	ended = grp->join->epoch && grp->join->end.reason == GAGG_R_DELETED;
	for (i = 0; ended && i < 3; i++)
		say_all(grp, others, GAGG_T_ABORT);
}

enum gagg_drop gagg_epoch_rx(struct gagg_group *grp, u32 node, u32 shard,
			     const struct gagg_msg *m, const void *body)
{
	enum gagg_drop r;

	spin_lock(&grp->join_lock);
	r = gagg_join_rx(grp->join, &grp->geom, node, shard, m, body, get_random_u64(),
			 now_ns());
	collect(grp);
	spin_unlock(&grp->join_lock);
	return r;
}

void gagg_epoch_attach(struct gagg_group *grp, u32 rank)
{
	spin_lock_bh(&grp->join_lock);
	gagg_join_attach(grp->join, &grp->geom, rank, now_ns());
	collect(grp);
	spin_unlock_bh(&grp->join_lock);
	/* a group on one host needs no message: its timer starts the epoch */
	join_timer(grp);
}

void gagg_epoch_leave(struct gagg_group *grp, u32 rank, u32 reason)
{
	spin_lock_bh(&grp->join_lock);
	gagg_join_leave(grp->join, &grp->geom, rank, reason, now_ns());
	collect(grp);
	spin_unlock_bh(&grp->join_lock);
}

void gagg_epoch_end(struct gagg_group *grp, const struct gagg_end *end)
{
	spin_lock_bh(&grp->join_lock);
	gagg_join_end(grp->join, &grp->geom, end, now_ns());
	collect(grp);
	spin_unlock_bh(&grp->join_lock);
}

void gagg_epoch_status(struct gagg_group *grp, struct gagg_ioc_status *st)
{
	struct gagg_join *j = grp->join;
	u64 now = now_ns();

	if (!j)
		return;
	spin_lock_bh(&grp->join_lock);
	st->epoch = j->epoch;
	st->phase = j->phase == GAGG_PHASE_RUNNING && READ_ONCE(grp->epoch) == j->epoch ?
		    GAGG_PHASE_RUNNING : GAGG_PHASE_IDLE;
	st->reason = j->end.reason;
	st->rank = j->end.rank;
	st->other = j->end.other;
	st->sig = j->end.sig;
	st->other_sig = j->end.other_sig;
	st->call = j->end.call;
	st->other_call = j->end.other_call;
	st->attached = gagg_join_attached(j, &grp->geom);
	st->heard = gagg_join_heard(j, &grp->geom, now);
	gagg_join_tell_mismatch(j, &grp->geom, st);
	st->blocked = gagg_join_names_blocked(j, &grp->geom, now);
	st->lanes = j->lanes;
	spin_unlock_bh(&grp->join_lock);
}
