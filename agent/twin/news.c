// SPDX-License-Identifier: GPL-2.0
#include "epoch.h"
#include "facts.h"
#include "group.h"
#include "news.h"
#include "session.h"
#include "twin.h"
#include "../gaggd/log.h"

static void news_blocked(struct group *g)
{
	u32 n;

	for (n = 0; n < g->geom.nodes; n++) {
		struct gagg_blocked on;
		bool is;

		pthread_mutex_lock(&g->join_lock);
		is = gagg_join_blocked(g->join, &g->geom, n, now_ns(), &on);
		pthread_mutex_unlock(&g->join_lock);
		if (is)
			log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_WARN,
				    "group \"%s\": the host of rank %u is heard, but chunks do not pass%s (MTU of the path, or a firewall)",
				    g->cfg.name, gagg_lowest(g->geom.ranks_of[n]),
				    on.in && on.out ? " either way" :
				    on.in ? " from it" :
				    on.out ? " to it" : " between it and another one");
	}
}

static void news_mismatch(struct group *g, const struct gagg_ioc_status *st)
{
	const struct gagg_mismatch bad = {
		st->mismatch, st->mismatch_here, st->mismatch_there,
	};
	struct gagg_facts f = { 0 };
	struct nl_member m = { 0 };
	char what[NL_MISMATCH_MAX];

	gagg_facts_mismatch(&f, &bad);
	facts_carry(&f, &m);
	log_limited(LOG_OF_GROUP(g->geom.group), LOG_L_WARN,
		    "group \"%s\": the host of rank %u is configured differently: %s",
		    g->cfg.name, st->mismatch_node, nl_mismatch_format(&m, what));
}

void news_tell(struct group *g)
{
	struct gagg_ioc_status st = { 0 };
	u32 r;

	epoch_status(g, &st);
	for (r = 0; r < GAGG_RANKS; r++)
		if (g->session[r])
			session_tell_stuck(g->session[r], &st);
	if (st.mismatch)
		news_mismatch(g, &st);
	news_blocked(g);
}
