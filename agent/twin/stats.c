// SPDX-License-Identifier: GPL-2.0
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "group.h"
#include "stats.h"
#include "twin.h"
#include "worker.h"
#include "../gaggd/log.h"
#include "../gaggd/outlet.h"

void stats_read(struct group *g, u64 value[GAGG_SA_MAX + 1])
{
	unsigned int i;

	for (i = 0; i < g->geom.shards; i++) {
		struct part *part = &g->part[i];

		worker_lock(part->port->worker);
		gagg_stats_add(&part->stats, part->core, value);
		worker_unlock(part->port->worker);
	}
	value[GAGG_SA_EPOCHS] = g->epochs;
}

static void stats_print_group(struct group *g, const struct outlet *out)
{
	u64 value[GAGG_SA_MAX + 1] = { 0 };
	char text[PIPE_BUF];
	unsigned int i;
	FILE *f;

	stats_read(g, value);
	f = fmemopen(text, sizeof(text), "w");
	if (!f)
		return;
	fprintf(f, "{\"name\":\"%s\",\"epoch\":%llu", g->cfg.name, (unsigned long long)g->epoch);
	for (i = 0; i <= GAGG_SA_MAX; i++)
		if (nl_stat_name(i))
			fprintf(f, ",\"%s\":%llu", nl_stat_name(i),
				(unsigned long long)value[i]);
	fputs("}\n", f);
	fclose(f);
	if (outlet_put(out, text, strlen(text)))
		log_warn("nobody reads the counters of group \"%s\" from standard output",
			 g->cfg.name);
}

void stats_print(struct twin *t)
{
	struct outlet out;
	unsigned int i;

	outlet_open(&out, STDOUT_FILENO);
	for (i = 0; i < t->n_groups; i++)
		stats_print_group(t->groups[i], &out);
	outlet_close(&out, STDOUT_FILENO);
}
