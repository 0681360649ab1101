// SPDX-License-Identifier: GPL-2.0
/*
 * A group of the configuration file becomes the core's geometry, sockets and shards.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
#include "epoch.h"
#include "group.h"
#include "link.h"
#include "mtu.h"
#include "multicast.h"
#include "twin.h"
#include "worker.h"
#include "core/refusal.h"
#include "../conf/ports.h"
#include "../conf/roster.h"
#include "../gaggd/log.h"

static void group_to_address(const struct nl_ip *ip, uint32_t port, union address *out)
{
	memset(out, 0, sizeof(*out));
	if (ip->family == AF_INET6) {
		out->in6.sin6_family = AF_INET6;
		out->in6.sin6_port = htons((u16)port);
		memcpy(&out->in6.sin6_addr, ip->addr, sizeof(out->in6.sin6_addr));
	} else {
		out->in.sin_family = AF_INET;
		out->in.sin_port = htons((u16)port);
		memcpy(&out->in.sin_addr, ip->addr, sizeof(out->in.sin_addr));
	}
}

static int group_by_rank(const void *a, const void *b)
{
	const struct nl_member *x = a, *y = b;

	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void group_make_geometry(struct group *g)
{
	struct nl_group *cfg = &g->cfg;
	struct gagg_geom *geom = &g->geom;
	struct gagg_roster roster;
	unsigned int i;

	qsort(cfg->members, cfg->n_members, sizeof(cfg->members[0]), group_by_rank);
	if (!(cfg->set & NL_SET(GAGG_GA_ID)))
		cfg->id = gagg_group_id(cfg->name);
	roster_of(cfg, &roster);
	gagg_roster_geom(&roster, &cfg->param, &cfg->sync, geom);
	for (i = 0; i < cfg->n_members; i++)
		group_to_address(&cfg->members[i].addr, cfg->port,
				 &g->node[geom->node_of[cfg->members[i].rank]]);
	if (geom->heard_by_others)
		group_to_address(&cfg->multicast, cfg->port, &g->all);
	g->all_nodes = gagg_geom_all(geom);
}

static int group_port_join(struct port *p, struct group *g)
{
	struct group **groups = realloc(p->groups, (p->n_groups + 1) * sizeof(struct group *));

	if (!groups) {
		log_err("out of memory");
		return -1;
	}
	p->groups = groups;
	groups[p->n_groups++] = g;
	return 0;
}

static void group_say_refused(const struct group *g, unsigned int s, int err, bool multicast)
{
	const char *why = gagg_refused_socket(err, multicast);

	log_err("group \"%s\", UDP port %u: %s%s", g->cfg.name, g->cfg.port + s,
		multicast && !why ? "multicast: " : "", why ? why : strerror(err));
}

/* where results for all leave, and arrive if ranks here want some */
static int group_join(struct group *g, unsigned int s)
{
	struct port *p = g->part[s].port;
	union address local, all;

	if (!g->all.sa.sa_family)
		return 0;
	group_to_address(&g->cfg.local, 0, &local);
	if (!multicast_scope(&local, &g->all)) {
		group_say_refused(g, s, ENODEV, true);
		return -1;
	}
	all = g->all;
	address_shift(&all, s);
	if (!multicast_leave_by(p->fd, &local, &all) &&
	    (!gagg_geom_hears(&g->geom) || !multicast_join(p, &all)))
		return 0;
	group_say_refused(g, s, errno, true);
	return -1;
}

static int group_make_part(struct group *g, unsigned int s)
{
	union address addr = g->node[g->geom.self];
	struct worker *w = worker_get(g->twin, s);
	struct part *part = &g->part[s];

	address_shift(&addr, s);
	part->core = calloc(1, gagg_shard_bytes(&g->geom));
	part->port = w && part->core ? port_get(w, &addr) : NULL;
	if (!part->port) {
		group_say_refused(g, s, errno, false);
		return -1;
	}
	gagg_shard_init(part->core, &g->geom, s);
	return group_port_join(part->port, g) || group_join(g, s) ? -1 : 0;
}

/* what the groups on its address that were made before say to it */
static int group_beside(const struct group *g)
{
	unsigned int i;

	for (i = 0; g->twin->groups[i] != g; i++) {
		const struct group *other = g->twin->groups[i];
		const char *wrong = gagg_beside_wrong(gagg_fit_beside(&g->cfg.param,
								      &other->cfg.param));

		if (!wrong || !nl_ip_equal(&g->cfg.local, &other->cfg.local))
			continue;
		log_err("group \"%s\", beside \"%s\": %s", g->cfg.name, other->cfg.name, wrong);
		return -1;
	}
	return 0;
}

int group_add(struct twin *t, const struct nl_group *cfg)
{
	struct group **groups = realloc(t->groups, (t->n_groups + 1) * sizeof(struct group *));
	struct group *g = calloc(1, sizeof(*g));
	char msg[256];
	unsigned int s;

	if (groups)
		t->groups = groups;
	if (!groups || !g) {
		free(g);
		log_err("out of memory");
		return -1;
	}
	/* from here on it ends with the others */
	groups[t->n_groups++] = g;
	g->twin = t;
	g->cfg = *cfg;
	memset(g->unread, 0xff, sizeof(g->unread));
	group_make_geometry(g);
	/* a user's job has no other ports, and its page says so */
	if (!t->idle_most && ports_warning(cfg, msg, sizeof(msg)))
		log_warn("group \"%s\": %s", cfg->name, msg);
	if (group_beside(g))
		return -1;
	for (s = 0; s < cfg->shards; s++)
		if (group_make_part(g, s))
			return -1;
	if (cfg->lanes && mtu_check(g))
		return -1;
	if (epoch_init(g)) {
		log_err("out of memory");
		return -1;
	}
	return 0;
}

struct group *group_find(struct twin *t, const char *name)
{
	unsigned int i;

	for (i = 0; i < t->n_groups; i++)
		if (!strcmp(t->groups[i]->cfg.name, name))
			return t->groups[i];
	return NULL;
}

void group_free(struct group *g)
{
	unsigned int i;

	channels_free(g);
	links_free(g);
	for (i = 0; i < GAGG_RANKS; i++)
		if (g->unread[i] >= 0)
			close(g->unread[i]);
	for (i = 0; i < GAGG_SHARDS_MAX; i++)
		free(g->part[i].core);
	free(g->join);
	free(g);
}
