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

/* the trainer reads it in its page, by the names of libgagg's protocol */
_Static_assert((int)GAGG_S_BOUND == TWIN_BOUND && (int)GAGG_S_ATTACHED == TWIN_ATTACHED &&
	       (int)GAGG_S_RUNNING == TWIN_RUNNING && (int)GAGG_S_ENDED == TWIN_ENDED,
	       "states have one number each");

struct gagg_host {
	struct session *session;
};

#include "core/rank.h"

static struct gagg_tenant session_tenant(struct session *s)
{
	return (struct gagg_tenant){
		.host.session = s,
		.g = &s->group->geom,
		.rank = s->rank,
		.table = &s->table,
		.epoch = s->group->epoch,
	};
}

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
	shared->store = s->group->geom.store;
	shared->want_op = TWIN_NEVER;
	shared->want_chunk = TWIN_NEVER;
	__atomic_store_n(&shared->present, 1, __ATOMIC_RELEASE);
}

static enum gagg_session_state session_state(const struct gagg_host *h)
{
	return h->session->state;
}

static void session_set_state(const struct gagg_host *h, enum gagg_session_state state)
{
	struct session *s = h->session;
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

static void session_lock(const struct gagg_host *h)
{
	workers_lock(h->session->group);
}

static void session_unlock(const struct gagg_host *h)
{
	workers_unlock(h->session->group);
}

static struct gagg_shard *session_shard(const struct gagg_host *h, u32 s)
{
	return h->session->group->part[s].core;
}

static void session_trace_stop(const struct gagg_host *h)
{
	(void)h;
}

static int session_fresh(const struct gagg_host *h, struct gagg_site **site)
{
	return channel_fresh(h->session->group, site);
}

static int session_create(const struct gagg_host *h, u32 id, u64 members,
			  struct gagg_site **site)
{
	return channel_create(h->session->group, id, members, site);
}

static void session_trim(const struct gagg_host *h)
{
	channel_trim(h->session->group);
}

static struct gagg_site *session_find(const struct gagg_host *h, u32 id)
{
	struct channel *ch = channel_find(h->session->group, id);

	return ch ? &ch->site : NULL;
}

static int session_seat_new(const struct gagg_host *h, struct gagg_site *site, u32 local,
			    const struct gagg_layout *l, struct gagg_lent *lent)
{
	struct seat *seat = calloc(1, sizeof(*seat));
	struct channel *ch = channel_of(site);
	struct session *s = h->session;
	int err;

	if (!seat)
		return -ENOMEM;
	ch->refs++;
	seat->session = s;
	seat->channel = ch;
	seat->shared = &s->page->seat[site->index];
	err = memory_theirs(&seat->contrib, "gagg-contrib", l->contrib);
	if (!err)
		err = memory_theirs(&seat->push, "gagg-push", l->push);
	if (!err && l->copy)
		err = memory_zeroed(s->group->twin, &ch->copy[local], "gagg-copy", l->copy);
	if (err) {
		session_seat_free(seat);
		return err;
	}
	lent->push = seat->push.block;
	lent->contrib = seat->contrib.block;
	lent->copy = ch->copy[local].block;
	session_share_seat(s, ch);
	s->seat[site->index] = seat;
	return 0;
}

static void session_seat_gone(const struct gagg_host *h, u32 place)
{
	struct session *s = h->session;
	struct seat *seat = s->seat[place];

	s->seat[place] = NULL;
	__atomic_store_n(&seat->shared->present, 0, __ATOMIC_SEQ_CST);
	seat_ring(seat->shared);
	session_seat_free(seat);
}

static struct gagg_site *session_seat_site(const struct gagg_host *h, u32 place)
{
	return &h->session->seat[place]->channel->site;
}

static struct gagg_ledger *session_seat_ops(const struct gagg_host *h, u32 place)
{
	return &h->session->seat[place]->ops;
}

static void session_seat_enter(const struct gagg_host *h, u32 place)
{
	struct seat *seat = h->session->seat[place];

	seat->channel->seat[seat->ops.local] = seat;
}

/* nothing is sent from its memory any more, either */
static void session_seat_leave(const struct gagg_host *h, u32 place)
{
	struct seat *seat = h->session->seat[place];

	seat->channel->seat[seat->ops.local] = NULL;
	queues_forget(h->session->group);
}

static void session_reset(const struct gagg_host *h)
{
	struct worker *w = h->session->group->part[0].port->worker;
	struct session *s = h->session;

	worker_lock(w);
	s->taken = 0;
	s->page->taken = 0;
	s->page->head = 0;
	worker_unlock(w);
}

static void session_times_begin(const struct gagg_host *h)
{
	times_begin(h->session);
}

static void session_times_end(const struct gagg_host *h)
{
	times_end(h->session);
}

void session_tell_stuck(struct session *s, const struct gagg_ioc_status *st)
{
	bool is = gagg_state_is_stuck(st);

	if (!s->page || s->mismatch == is)
		return;
	s->mismatch = is;
	__atomic_store_n(&s->page->mismatch, is, __ATOMIC_SEQ_CST);
	futex_ring(&s->page->bell);
}

static void session_join(const struct gagg_host *h)
{
	struct gagg_ioc_status st = { 0 };

	epoch_attach(h->session->group, h->session->rank);
	/* no news may come for this session: others were told before */
	epoch_status(h->session->group, &st);
	session_tell_stuck(h->session, &st);
}

static void session_part(const struct gagg_host *h, u32 reason)
{
	epoch_leave(h->session->group, h->session->rank, reason);
}

static const struct memory *session_seat_region(const struct seat *seat, u32 region)
{
	const struct channel *ch = seat->channel;
	const struct memory *copy = &ch->copy[seat->ops.local];

	switch (gagg_region_maps(region, copy->addr)) {
	case GAGG_MAPPED_PUSH:
		return &seat->push;
	case GAGG_MAPPED_CONTRIB:
		return &seat->contrib;
	case GAGG_MAPPED_DONE:
		return &ch->memory[GAGG_SHARED_DONE];
	case GAGG_MAPPED_COPY:
		return copy;
	default:
		return &ch->memory[GAGG_SHARED_RESULT];
	}
}

static u64 session_seat_length(const struct gagg_host *h, u32 place, u32 region)
{
	return session_seat_region(h->session->seat[place], region)->length;
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
	struct gagg_tenant tenant;

	if (!s->page)
		return -ENOTCONN;
	/* a rank of this host may have left an epoch: let it end here first */
	if (!session_attached(s))
		epoch_run(s->group->twin);
	/* this may have closed the session */
	if (s->closed)
		return -EPIPE;
	tenant = session_tenant(s);
	return gagg_rank_attach(&tenant, arg);
}

int session_detach(struct session *s, u32 reason)
{
	const struct gagg_tenant tenant = session_tenant(s);
	int err = gagg_rank_detach(&tenant, reason);

	/* carries out the end that the leave has caused */
	if (!err)
		epoch_run(s->group->twin);
	return err;
}

int session_channel(struct session *s, struct gagg_ioc_channel *arg)
{
	const struct gagg_tenant tenant = session_tenant(s);

	return gagg_rank_channel(&tenant, arg);
}

int session_channel_free(struct session *s, u32 id)
{
	const struct gagg_tenant tenant = session_tenant(s);

	return gagg_rank_free(&tenant, id);
}

void session_started(struct session *s)
{
	const struct gagg_tenant tenant = session_tenant(s);

	gagg_rank_started(&tenant);
}

void session_ended(struct session *s, u32 reason)
{
	const struct gagg_tenant tenant = session_tenant(s);

	gagg_rank_ended(&tenant, reason);
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
		fd = link_open(s);
	}
	if (fd < 0) {
		free(s);
		return refuse(reply, errno, "gagg-twin cannot open a session: %s",
			      strerror(errno));
	}
	g->session[rank] = s;
	g->twin->was_busy = true;
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
	for (i = 0; i < n; i++) {
		/* its trainer may be the one that asks, and have left a moment ago */
		if (g->session[ranks[i]])
			link_settle(g->session[ranks[i]]);
		if (!g->session[ranks[i]] && !link_unread(g, ranks[i]))
			return session_new(g, ranks[i], peer, reply);
	}
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
