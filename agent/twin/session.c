// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: from open to the end.
 *
 * A seat is entered into its channel, and removed from it, under the locks of all workers. When a
 * rank leaves a running epoch, the shards stop under the same locks before its seat goes: a result
 * that needs its contribution is never computed without it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "epoch.h"
#include "group.h"
#include "link.h"
#include "op.h"
#include "queue.h"
#include "session.h"
#include "twin.h"
#include "worker.h"
#include "core/refusal.h"
#include "../gaggd/log.h"
#include "../gaggd/refuse.h"

static void session_seat_free(struct seat *seat)
{
	memory_wipe(seat->session->group->twin, &seat->push);
	memory_wipe(seat->session->group->twin, &seat->contrib);
	memory_free(&seat->push);
	memory_free(&seat->contrib);
	channel_put(seat->channel);
	free(seat);
}

/* resets the trainer's side of the seat: nothing is done, nobody waits */
static void session_share_seat(struct session *s, struct channel *ch)
{
	struct twin_seat *shared = &s->page->seat[ch->site.index];

	memset(shared, 0, sizeof(*shared));
	shared->channel = ch->site.part[0]->id;
	shared->want_op = TWIN_NEVER;
	shared->want_chunk = TWIN_NEVER;
	__atomic_store_n(&shared->present, 1, __ATOMIC_RELEASE);
}

static int session_seat_take(struct session *s, struct channel *ch)
{
	struct seat *seat = calloc(1, sizeof(*seat));
	struct gagg_layout l;
	int err;

	if (!seat)
		return -ENOMEM;
	ch->refs++;
	seat->session = s;
	seat->channel = ch;
	seat->shared = &s->page->seat[ch->site.index];
	gagg_layout_of(&s->group->geom, ch->site.part[0], &l);
	err = gagg_ledger_init(&seat->ops, ch->site.part[0], s->rank) ? 0 : -EINVAL;
	if (!err)
		err = memory_theirs(&seat->contrib, "gagg-contrib", l.contrib);
	if (!err)
		err = memory_theirs(&seat->push, "gagg-push", l.push);
	if (!err && l.copy)
		err = memory_zeroed(s->group->twin, &ch->copy[seat->ops.local], "gagg-copy",
				    l.copy);
	if (err) {
		session_seat_free(seat);
		return err;
	}
	session_share_seat(s, ch);
	workers_lock(s->group);
	ch->seat[seat->ops.local] = seat;
	ch->site.lent[seat->ops.local] = (struct gagg_lent){
		.push = seat->push.block,
		.contrib = seat->contrib.block,
		.copy = ch->copy[seat->ops.local].block,
	};
	workers_unlock(s->group);
	s->seat[ch->site.index] = seat;
	gagg_table_enter(&s->table, ch->site.index, ch->site.part[0]->id);
	return 0;
}

/* the locks of all workers are held: afterwards none of them finds the seat, or sends from it */
static void session_seat_unlink(struct seat *seat)
{
	seat->channel->seat[seat->ops.local] = NULL;
	seat->channel->site.lent[seat->ops.local] = (struct gagg_lent){ 0 };
	queues_forget(seat->session->group);
}

static void session_seat_gone(struct seat *seat)
{
	unsigned int index = seat->channel->site.index;
	struct session *s = seat->session;

	s->seat[index] = NULL;
	gagg_table_leave(&s->table, index);
	__atomic_store_n(&seat->shared->present, 0, __ATOMIC_SEQ_CST);
	seat_ring(seat->shared);
	session_seat_free(seat);
}

/* @stop: a rank leaves an epoch */
static void session_seat_leave(struct session *s, unsigned int index, bool stop)
{
	struct seat *seat = s->seat[index];
	struct group *g = s->group;
	unsigned int i;

	workers_lock(g);
	for (i = 0; stop && i < g->geom.shards; i++)
		gagg_shard_stop(g->part[i].core);
	session_seat_unlink(seat);
	workers_unlock(g);
	session_seat_gone(seat);
}

static void session_leave_all(struct session *s, bool stop)
{
	while (s->table.taken)
		session_seat_leave(s, gagg_lowest(s->table.taken), stop);
}

static void session_set_state(struct session *s, enum twin_state state)
{
	unsigned int i;

	s->state = state;
	if (!s->page)
		return;
	__atomic_store_n(&s->page->state, state, __ATOMIC_SEQ_CST);
	futex_ring(&s->page->bell);
	for (i = 0; i < GAGG_CHANNELS_MAX; i++)
		if (s->seat[i])
			seat_ring(s->seat[i]->shared);
}

void session_mismatch(struct session *s, bool is)
{
	if (!s->page || s->mismatch == is)
		return;
	s->mismatch = is;
	__atomic_store_n(&s->page->mismatch, is, __ATOMIC_SEQ_CST);
	futex_ring(&s->page->bell);
}

/* chunks of a store are read by ops: only the copy is mapped */
static const struct memory *session_seat_result(const struct seat *seat)
{
	const struct channel *ch = seat->channel;

	return ch->copy[seat->ops.local].addr ? &ch->copy[seat->ops.local] :
		&ch->memory[GAGG_SHARED_RESULT];
}

static const struct memory *session_seat_region(const struct seat *seat, u32 region)
{
	switch (region) {
	case GAGG_REG_PUSH:
		return &seat->push;
	case GAGG_REG_CONTRIB:
		return &seat->contrib;
	case GAGG_REG_DONE:
		return &seat->channel->memory[GAGG_SHARED_DONE];
	default:
		return session_seat_result(seat);
	}
}

static void session_seat_geometry(const struct session *s, const struct seat *seat,
				  struct gagg_geometry *geo)
{
	const struct channel *ch = seat->channel;
	u32 i;

	gagg_layout_tell(&s->group->geom, ch->site.part[0], ch->site.index, s->rank, geo);
	geo->epoch = s->group->epoch;
	for (i = 0; i < GAGG_REG_COUNT; i++)
		geo->region[i].length = session_seat_region(seat, i)->length;
}

const struct memory *session_region(struct session *s, u64 offset)
{
	u32 index, region;

	if (!gagg_region_of(offset, &index, &region) || !s->seat[index])
		return NULL;
	return session_seat_region(s->seat[index], region);
}

int session_attach(struct session *s, struct gagg_ioc_attach *arg)
{
	struct group *g = s->group;
	struct gagg_site *site;
	int err;

	if (!s->page)
		return -ENOTCONN;
	if (session_attached(s))
		return -EBUSY;
	/* a rank of this host may have left an epoch: let it end here first */
	epoch_run(g->twin);
	/* this may have closed the session */
	if (s->closed)
		return -EPIPE;
	session_leave_all(s, false);
	err = channel_fresh(g, &site);
	if (err)
		return err;
	worker_lock(g->part[0].port->worker);
	s->taken = 0;
	s->page->taken = 0;
	s->page->head = 0;
	worker_unlock(g->part[0].port->worker);
	err = session_seat_take(s, channel_of(site));
	if (err) {
		channel_trim(g);
		return err;
	}
	arg->ranks = gagg_weight64(g->geom.workers);
	session_seat_geometry(s, s->seat[0], &arg->geo);
	times_begin(s);
	session_set_state(s, TWIN_ATTACHED);
	epoch_attach(g, s->rank);
	return 0;
}

int session_detach(struct session *s, u32 reason)
{
	struct group *g = s->group;
	bool attached = session_attached(s);

	if (s->state == TWIN_BOUND)
		return -ENOTCONN;
	if (attached)
		epoch_leave(g, s->rank, reason);
	session_leave_all(s, attached);
	if (attached)
		times_end(s);
	session_set_state(s, TWIN_BOUND);
	channel_trim(g);
	/* carries out the end that the leave has caused */
	epoch_run(g->twin);
	return 0;
}

/* -ENOTCONN before an epoch, -EPIPE after it */
static int session_running(const struct session *s)
{
	if (s->state == TWIN_RUNNING)
		return 0;
	return s->state == TWIN_ENDED ? -EPIPE : -ENOTCONN;
}

int session_channel(struct session *s, struct gagg_ioc_channel *arg)
{
	struct group *g = s->group;
	struct gagg_site *site;
	struct channel *ch;
	int err;

	err = gagg_refusal_error(gagg_ledger_asks(&g->geom, s->rank, arg->channel, arg->members));
	if (!err)
		err = session_running(s);
	if (err)
		return err;
	ch = channel_find(g, arg->channel);
	if (!ch) {
		err = channel_create(g, arg->channel, arg->members, &site);
		if (err)
			return err;
		ch = channel_of(site);
	}
	err = gagg_refusal_error(gagg_ledger_admits(ch->site.part[0], s->rank, arg->members,
						    s->seat[ch->site.index]));
	if (!err)
		err = session_seat_take(s, ch);
	if (!err)
		session_seat_geometry(s, s->seat[ch->site.index], &arg->geo);
	return err;
}

/* the channel stays: late members may still ask for its results */
int session_channel_free(struct session *s, u32 id)
{
	int place = gagg_table_find(&s->table, id);
	struct seat *seat;
	bool busy;

	if (!id)
		return -EINVAL;
	if (place < 0)
		return -ENOENT;
	seat = s->seat[place];
	/*
	 * under the locks in one piece: the trainer may submit an op meanwhile, and a worker takes
	 * it
	 */
	workers_lock(s->group);
	busy = gagg_ledger_busy(&seat->ops) && !session_running(s);
	if (!busy)
		session_seat_unlink(seat);
	workers_unlock(s->group);
	if (busy)
		return -EBUSY;
	session_seat_gone(seat);
	return 0;
}

void session_started(struct session *s, u64 epoch)
{
	if (s->state != TWIN_ATTACHED)
		return;
	s->epoch = epoch;
	session_set_state(s, TWIN_RUNNING);
}

void session_ended(struct session *s, u32 reason)
{
	u64 left;

	if (!session_attached(s))
		return;
	gagg_table_spend(&s->group->table);
	for (left = s->table.taken; left; left &= left - 1) {
		const struct seat *seat = s->seat[gagg_lowest(left)];

		gagg_site_fail(&seat->channel->site, reason);
	}
	times_end(s);
	session_set_state(s, TWIN_ENDED);
	session_tell(s, 0);
}

/* worker 0 no longer looks at the session */
static void session_forget(struct session *s)
{
	struct worker *w = s->group->part[0].port->worker;
	struct session **at;

	worker_lock(w);
	for (at = &w->sessions; *at && *at != s; at = &(*at)->next)
		;
	if (*at)
		*at = s->next;
	worker_unlock(w);
}

void session_close(struct session *s)
{
	if (s->closed)
		return;
	s->closed = true;
	session_detach(s, GAGG_R_DIED);
	session_forget(s);
	s->group->session[s->rank] = NULL;
	link_close(s);
}

bool session_expel(struct session *s)
{
	if (s->closed || !__atomic_load_n(&s->bad, __ATOMIC_RELAXED))
		return false;
	log_limited(LOG_OF_GROUP(s->group->geom.group), LOG_L_WARN, "group \"%s\": rank %u writes submissions that no libgagg writes; its session is closed",
		    s->group->cfg.name, s->rank);
	session_close(s);
	return true;
}

static int session_new(struct group *g, u32 rank, const struct peer *peer,
		       struct broker_reply *reply)
{
	struct session *s = calloc(1, sizeof(*s));
	int fd = -1;

	if (s) {
		s->group = g;
		s->rank = rank;
		s->opener = peer->pid;
		s->uid = peer->uid;
		pthread_mutex_init(&s->times_lock, NULL);
		fd = link_open(s);
	}
	if (fd < 0) {
		free(s);
		return refuse(reply, errno, "gagg-twin cannot open a session: %s",
			      strerror(errno));
	}
	g->session[rank] = s;
	reply->rank = rank;
	return fd;
}

/* describes the process that has attached, or else the one that opened the session */
static int session_holder(const struct session *s, char *buf, size_t size)
{
	pid_t pid = s->pid ? s->pid : s->opener;

	if (!pid)
		return snprintf(buf, size, "a process of uid %u in another PID namespace", s->uid);
	return snprintf(buf, size, "pid %d (uid %u)", pid, s->uid);
}

/* the holders of the sessions of @ranks, as far as there is room: "pid 7 (uid 0), pid 8 (uid 0)" */
static void session_holders(const struct group *g, const uint32_t *ranks, unsigned int n, char *buf,
			    size_t size)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < n && len < size; i++) {
		const struct session *s = g->session[ranks[i]];

		if (s && len)
			len += (size_t)snprintf(buf + len, size - len, ", ");
		if (s && len < size)
			len += (size_t)session_holder(s, buf + len, size - len);
	}
	if (len >= size)
		strcpy(buf + size - 4, "...");
}

bool session_admits(void *twin, const struct peer *peer)
{
	const struct twin *t = twin;
	unsigned int i;

	for (i = 0; i < t->n_groups; i++) {
		const struct nl_group *g = &t->groups[i]->cfg;

		if (access_allowed(peer, g->uid, g->gid, g->mode))
			return true;
	}
	return false;
}

int session_open(void *twin, const struct broker_request *req, const struct peer *peer,
		 struct broker_reply *reply)
{
	struct group *g = group_find(twin, req->group);
	uint32_t ranks[GAGG_RANKS_MAX];
	unsigned int n, i;
	char who[80] = "";

	if (req->op != BROKER_OP_OPEN)
		return refuse(reply, EOPNOTSUPP,
			      "gagg-twin keeps no checkpoints: give the path of a file");
	if (!g)
		return refuse(reply, ENOENT, "gagg-twin has no group \"%s\" with this host in it",
			      req->group);
	if (!access_allowed(peer, g->cfg.uid, g->cfg.gid, g->cfg.mode))
		return refuse(reply, EACCES,
			      "group \"%s\" is of uid %u, gid %u, mode %04o, which does not let uid %u train",
			      req->group, g->cfg.uid, g->cfg.gid, g->cfg.mode, peer->uid);
	reply->error = rank_candidates(&g->cfg, req->rank, ranks, &n, reply->message);
	if (reply->error)
		return -1;
	for (i = 0; i < n; i++)
		if (!g->session[ranks[i]] && !link_unread(g, ranks[i]))
			return session_new(g, ranks[i], peer, reply);
	session_holders(g, ranks, n, who, sizeof(who));
	if (n > 1)
		return refuse(reply, EBUSY,
			      "all %u workers of group \"%s\" on this host have a session%s%s", n,
			      req->group, *who ? ": " : "", who);
	if (*who)
		return refuse(reply, EBUSY,
			      "rank %u of group \"%s\" has a session, which is of %s: end that first",
			      ranks[0], req->group, who);
	return refuse(reply, EBUSY,
		      "rank %u of group \"%s\" has a session, which was closed, but answers to it were not read yet: end the process that holds it",
		      ranks[0], req->group);
}
