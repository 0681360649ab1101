// SPDX-License-Identifier: GPL-2.0
/*
 * Groups, members and counters, as the module's netlink family reports them (kmod/encode.c).
 *
 * Any process may ask, as often as it likes: an answer is one message, and its cost is bounded. It
 * waits for nothing but a worker's lock.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "epoch.h"
#include "facts.h"
#include "group.h"
#include "mtu.h"
#include "session.h"
#include "stats.h"
#include "twin.h"
#include "worker.h"
#include "../gaggd/options.h"
#include "../gaggd/refuse.h"

#define MTU_AGE		GAGG_SEC	/* between two reads of MTUs, which need many calls */

/* least MTU of the interfaces to the other nodes; 0: there is no route to any */
static u32 fact_least_mtu(struct group *g, u64 now)
{
	if (!g->mtu.at || now >= g->mtu.at + MTU_AGE) {
		g->mtu.at = now;
		g->mtu.least = epoch_least_mtu(g);
	}
	return g->mtu.least;
}

struct path {
	u64 srtt;
	u32 cwnd;
};

/* reads all nodes at once, so that a question makes a worker wait only once */
static void fact_read_paths(struct group *g, struct path path[GAGG_NODES])
{
	struct part *part = &g->part[0];
	u32 n;

	worker_lock(part->port->worker);
	for (n = 0; n < g->geom.nodes; n++) {
		path[n].srtt = part->core->path[n].srtt;
		path[n].cwnd = part->core->path[n].cwnd;
	}
	worker_unlock(part->port->worker);
}

static void fact_tell_path(const struct path *path, struct nl_member *m)
{
	m->cwnd = path->cwnd;
	m->set |= NL_SET(GAGG_MA_CWND);
	if (!path->srtt)
		return;
	m->rtt = (u32)(path->srtt / 1000);
	m->set |= NL_SET(GAGG_MA_RTT);
}

/* reports nothing before the first op */
static void fact_tell_times(struct session *s, u64 now, struct nl_member *m)
{
	struct gagg_ioc_times told;
	struct gagg_times t;

	pthread_mutex_lock(&s->times_lock);
	t = s->times;
	pthread_mutex_unlock(&s->times_lock);
	if (!gagg_times_show(&t, &told, now))
		return;
	m->times.compute_ns = told.compute_ns;
	m->times.wait_ns = told.wait_ns;
	m->times.ops = told.ops;
	m->times.share = told.share;
	m->times.batch = told.batch;
	m->set |= NL_SET(GAGG_MA_TIMES);
}

void facts_mismatch(const struct gagg_mismatch *bad, struct nl_member *m)
{
	u32 digest = bad->field - 1;

	if (!bad->field)
		return;
	strcpy(m->mismatch, gagg_digest_name(digest));
	m->set |= NL_SET(GAGG_MA_MISMATCH);
	if (!gagg_digest_is_number(digest))
		return;
	m->mismatch_here = bad->here;
	m->mismatch_there = bad->there;
	m->set |= NL_SET(GAGG_MA_MISMATCH_HERE) | NL_SET(GAGG_MA_MISMATCH_THERE);
}

static void fact_tell_reach(const struct gagg_reach *reach, struct nl_member *m)
{
	facts_mismatch(&reach->mismatch, m);
	m->heard_ms = reach->heard_ms;
	m->blocked_in = reach->on.in;
	m->blocked_out = reach->on.out;
	m->set |= (reach->heard ? NL_SET(GAGG_MA_HEARD) : 0) |
		  (reach->on.in ? NL_SET(GAGG_MA_BLOCKED_IN) : 0) |
		  (reach->on.out ? NL_SET(GAGG_MA_BLOCKED_OUT) : 0);
}

static void fact_tell_member(struct group *g, const struct gagg_ioc_status *st, u64 now,
			     const struct path *path, struct nl_member *m)
{
	u32 node = g->geom.node_of[m->rank];
	struct gagg_reach reach;

	pthread_mutex_lock(&g->join_lock);
	gagg_state_reach(g->join, &g->geom, node, now, &reach);
	pthread_mutex_unlock(&g->join_lock);
	m->state = gagg_state_member(st, m->rank, reach.mismatch.field, reach.blocked);
	m->set |= NL_SET(GAGG_MA_STATE);
	if (g->session[m->rank])
		fact_tell_times(g->session[m->rank], now, m);
	if (!reach.other)
		return;
	fact_tell_reach(&reach, m);
	fact_tell_path(&path[node], m);
}

static void fact_fill_group(struct group *g, struct nl_group *out)
{
	struct gagg_ioc_status st = { 0 };
	struct path path[GAGG_NODES];
	u64 now = now_ns();
	u32 i;

	epoch_status(g, &st);
	fact_read_paths(g, path);
	*out = g->cfg;
	out->id = g->geom.group;
	out->state = gagg_state_group(&st);
	out->epoch = st.epoch;
	out->reason = st.reason;
	out->reason_rank = st.rank;
	out->mtu = fact_least_mtu(g, now);
	out->mtu_needed = mtu_needed(g, st.lanes);
	out->lanes_now = st.lanes;
	out->set |= NL_SET(GAGG_GA_ID) | NL_SET(GAGG_GA_STATE) | NL_SET(GAGG_GA_EPOCH) |
		    NL_SET(GAGG_GA_REASON) | NL_SET(GAGG_GA_REASON_RANK) |
		    NL_SET(GAGG_GA_MTU_NEEDED) | NL_SET(GAGG_GA_LANES_NOW);
	if (out->mtu)
		out->set |= NL_SET(GAGG_GA_MTU);
	if (st.mismatch) {
		strcpy(out->mismatch, gagg_digest_name(st.mismatch - 1));
		out->set |= NL_SET(GAGG_GA_MISMATCH);
	}
	for (i = 0; i < out->n_members; i++)
		fact_tell_member(g, &st, now, path, &out->members[i]);
}

static ssize_t fact_tell_group(struct group *g, void *more, size_t room)
{
	struct nl_group told;

	fact_fill_group(g, &told);
	return nl_write_group(more, room, &told);
}

static ssize_t fact_tell_stats(struct group *g, void *more, size_t room)
{
	u64 value[GAGG_SA_MAX + 1] = { 0 };
	uint64_t told[NL_STATS];
	u32 i;

	stats_read(g, value);
	for (i = 0; i < NL_STATS; i++)
		told[i] = value[i];
	return nl_write_stats(more, room, told);
}

static size_t fact_tell_twin(const struct twin *t, void *more)
{
	struct broker_twin about = {
		.size = sizeof(about),
		.wire_min = GAGG_WIRE_OLDEST,
		.wire_max = GAGG_WIRE_NEWEST,
		.version = GAGG_VERSION,
	};

	strcpy(about.config, strlen(t->config.path) < sizeof(about.config) ? t->config.path :
	       "a file with a long path");
	memcpy(more, &about, sizeof(about));
	return sizeof(about);
}

static struct group *fact_find(struct twin *t, const struct broker_request *req,
			       struct broker_reply *reply)
{
	struct group *g = NULL;

	if (*req->group)
		g = group_find(t, req->group);
	else if (req->rank < t->n_groups)
		g = t->groups[req->rank];
	if (!g)
		refuse(reply, ENOENT, "gagg-twin has no group \"%s\" with this host in it",
		       req->group);
	return g;
}

size_t facts_tell(void *twin, const struct broker_request *req, struct broker_reply *reply,
		  void *more, size_t room)
{
	struct twin *t = twin;
	struct group *g;
	ssize_t n;

	if (req->op == BROKER_OP_TWIN)
		return fact_tell_twin(t, more);
	g = fact_find(t, req, reply);
	if (!g)
		return 0;
	n = req->op == BROKER_OP_STATS ? fact_tell_stats(g, more, room) :
					 fact_tell_group(g, more, room);
	if (n < 0) {
		refuse(reply, (int)-n, "group \"%s\" cannot be told: %s", g->cfg.name,
		       strerror((int)-n));
		return 0;
	}
	reply->rank = t->n_groups;
	return (size_t)n;
}
