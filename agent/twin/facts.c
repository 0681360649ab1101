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

/* what is known of each host: a question makes join and a worker wait once each */
static void fact_read_hosts(struct group *g, u64 now, struct gagg_facts host[GAGG_NODES])
{
	struct part *part = &g->part[0];
	u32 n;

	memset(host, 0, GAGG_NODES * sizeof(*host));
	pthread_mutex_lock(&g->join_lock);
	for (n = 0; n < g->geom.nodes; n++)
		gagg_facts_host(&host[n], g->join, &g->geom, n, now);
	pthread_mutex_unlock(&g->join_lock);
	worker_lock(part->port->worker);
	for (n = 0; n < g->geom.nodes; n++)
		gagg_facts_path(&host[n], &part->core->path[n]);
	worker_unlock(part->port->worker);
}

static void fact_carry_times(const struct gagg_ioc_times *from, struct nl_member *m)
{
	m->times.compute_ns = from->compute_ns;
	m->times.wait_ns = from->wait_ns;
	m->times.ops = from->ops;
	m->times.share = from->share;
	m->times.batch = from->batch;
	m->set |= NL_SET(GAGG_MA_TIMES);
}

void facts_carry(const struct gagg_facts *f, struct nl_member *m)
{
	int attr;

	for (attr = 0; attr <= GAGG_MA_MAX; attr++)
		if (f->set & GAGG_BIT(attr))
			*nl_member_number(m, attr) = f->number[attr];
	m->set |= (u32)f->set;
	if (f->mismatch) {
		strcpy(m->mismatch, f->mismatch);
		m->set |= NL_SET(GAGG_MA_MISMATCH);
	}
	if (f->timed)
		fact_carry_times(&f->times, m);
}

static void fact_tell_member(struct group *g, const struct gagg_ioc_status *st, u64 now,
			     const struct gagg_facts *host, struct nl_member *m)
{
	struct gagg_facts f = *host;

	pthread_mutex_lock(&g->times_lock);
	gagg_facts_times(&f, &g->times[m->rank], now);
	pthread_mutex_unlock(&g->times_lock);
	gagg_facts_state(&f, st, m->rank);
	facts_carry(&f, m);
}

static void fact_carry_group(const struct gagg_group_facts *f, struct nl_group *out)
{
	int attr;

	for (attr = 0; attr <= GAGG_GA_MAX; attr++)
		if (f->set & GAGG_BIT(attr))
			*nl_group_number(out, attr) = f->number[attr];
	out->epoch = f->epoch;
	out->set |= f->set | NL_SET(GAGG_GA_EPOCH);
	if (f->mismatch) {
		strcpy(out->mismatch, f->mismatch);
		out->set |= NL_SET(GAGG_GA_MISMATCH);
	}
}

static void fact_fill_group(struct group *g, struct nl_group *out)
{
	struct gagg_ioc_status st = { 0 };
	struct gagg_facts host[GAGG_NODES];
	struct gagg_group_facts facts;
	u64 now = now_ns();
	u32 i;

	epoch_status(g, &st);
	fact_read_hosts(g, now, host);
	*out = g->cfg;
	out->id = g->geom.group;
	out->set |= NL_SET(GAGG_GA_ID);
	gagg_facts_group(&facts, &g->geom, &st, fact_least_mtu(g, now));
	fact_carry_group(&facts, out);
	for (i = 0; i < out->n_members; i++) {
		struct nl_member *m = &out->members[i];

		fact_tell_member(g, &st, now, &host[g->geom.node_of[m->rank]], m);
	}
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
