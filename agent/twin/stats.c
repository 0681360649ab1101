// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "twin.h"

static void print_group(struct group *g)
{
	u64 value[GAGG_SA_MAX + 1] = { 0 };
	unsigned int i;

	workers_lock(g);
	for (i = 0; i < g->geom.shards; i++)
		gagg_stats_add(&g->part[i].stats, g->part[i].core, value);
	workers_unlock(g);
	value[GAGG_SA_TX_DATAGRAMS] += g->said.datagrams;
	value[GAGG_SA_TX_BYTES] += g->said.bytes;
	value[GAGG_SA_TX_ERRORS] += g->said.errors;
	value[GAGG_SA_EPOCHS] = g->epochs;
	printf("{\"name\":\"%s\",\"epoch\":%llu", g->cfg.name, (unsigned long long)g->epoch);
	for (i = 0; i <= GAGG_SA_MAX; i++)
		if (nl_stat_name(i))
			printf(",\"%s\":%llu", nl_stat_name(i), (unsigned long long)value[i]);
	puts("}");
}

void stats_print(struct twin *t)
{
	unsigned int i;

	for (i = 0; i < t->n_groups; i++)
		print_group(t->groups[i]);
	fflush(stdout);
}
