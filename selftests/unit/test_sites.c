// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/layout.c kmod/core/front.c kmod/core/site.c kmod/core/table.c kmod/core/wants.c; libs: */
/* The channels of a group on a host: what they are made of, when they are made, and when they go. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core.h"
#include "said.h"
#include "agent/conf/sync_text.h"

#define NODES	2
#define SHARDS	2


struct gagg_host {
	char name;
};

#include "sites.h"

/* the host: sites, which are never used again, and how often it has memory */
static struct gagg_site made[8], *at[GAGG_CHANNELS_MAX];
static struct gagg_stats stats;
static struct gagg_table table;
static struct gagg_wants wants;
static struct gagg_geom g;
static u32 nmade, locked, memory;
static u64 epoch;
static struct gagg_sites sites;

static int has_memory(void)
{
	assert_false(locked);
	return memory && memory-- ? 0 : -ENOMEM;
}

static void channel_lock(const struct gagg_host *h)
{
	assert_int_equal(h->name, 'a');
	assert_false(locked);
	locked = 1;
}

static void channel_unlock(const struct gagg_host *h)
{
	(void)h;
	assert_true(locked);
	locked = 0;
}

static void channel_lock_wants(const struct gagg_host *h)
{
	(void)h;
	say("wants ");
}

static void channel_unlock_wants(const struct gagg_host *h)
{
	(void)h;
}

static int channel_new(const struct gagg_host *h, struct gagg_site **site)
{
	(void)h;
	if (has_memory())
		return -ENOMEM;
	*site = &made[nmade++];
	say("new ");
	return 0;
}

static int channel_part(const struct gagg_host *h, u64 bytes, void **mem)
{
	(void)h;
	*mem = has_memory() ? NULL : calloc(1, bytes);
	say("part ");
	return *mem ? 0 : -ENOMEM;
}

static int channel_region(const struct gagg_host *h, struct gagg_site *site,
			  enum gagg_shared region, u64 bytes, void *const **blocks)
{
	static const char *const name[] = { "result", "done", "acc", "held" };
	void **block;

	(void)h;
	(void)site;
	say("%s ", name[region]);
	if (has_memory())
		return -ENOMEM;
	block = malloc(sizeof(*block));
	*block = calloc(1, bytes);
	assert_true(bytes > 0 && *block);
	*blocks = block;
	return 0;
}

static void region_free(void *const *blocks)
{
	if (blocks)
		free(blocks[0]);
	free((void *)blocks);
}

static void channel_give(const struct gagg_host *h, struct gagg_site *site)
{
	u32 s;

	(void)h;
	assert_false(locked);
	say("give%u ", (u32)(site - made));
	for (s = 0; s < site->nparts; s++)
		free(site->part[s]);
	region_free(site->result);
	region_free(site->done);
	region_free(site->acc);
	region_free(site->held);
}

static struct gagg_site *channel_at(const struct gagg_host *h, u32 place)
{
	(void)h;
	return at[place];
}

static void channel_enter(const struct gagg_host *h, struct gagg_site *site)
{
	(void)h;
	assert_true(locked);
	at[site->index] = site;
	say("enter%u ", site->index);
}

static void channel_leave(const struct gagg_host *h, struct gagg_site *site)
{
	(void)h;
	assert_true(locked);
	at[site->index] = NULL;
	say("leave%u ", site->index);
}

static void channel_left(const struct gagg_host *h)
{
	(void)h;
	assert_true(locked);
	say("left ");
}

static void channel_trace(const struct gagg_host *h, const struct gagg_site *site)
{
	(void)h;
	assert_true(locked);
	say("trace%u ", site->part[0]->id);
}

static struct gagg_stats *channel_stats(const struct gagg_host *h)
{
	(void)h;
	assert_true(locked);
	return &stats;
}

static void begin(const char *sync)
{
	struct gagg_sync_param p;

	memset(made, 0, sizeof(made));
	memset(at, 0, sizeof(at));
	memset(&stats, 0, sizeof(stats));
	memset(&table, 0, sizeof(table));
	memset(&wants, 0, sizeof(wants));
	nmade = 0;
	locked = 0;
	memory = 1000;
	epoch = 0;
	said[0] = 0;
	gagg_geom_init(&g);
	g.lanes = 4;
	g.room = 4;
	g.stripe = 1;
	g.shards = SHARDS;
	g.ring = 64;
	g.window = 16;
	gagg_geom_rank(&g, 0, 0, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, false);
	gagg_geom_rank(&g, 1, 0, GAGG_ROLE_WORKER, false);
	gagg_geom_rank(&g, 2, 1, GAGG_ROLE_WORKER, false);
	assert_true(sync_text_parse(sync, &p, NULL, 0));
	gagg_sync_apply(&g, &p);
	sites = (struct gagg_sites){
		.host.name = 'a', .g = &g, .table = &table, .limit = 3, .epoch = &epoch,
		.wants = &wants,
	};
}

static void end(void)
{
	u64 left;

	for (left = table.taken; left; left &= left - 1)
		channel_give(&sites.host, at[gagg_lowest(left)]);
}

static void create__in_no_epoch(void **state)
{
	struct gagg_site *site;

	(void)state;
	begin("bsp");
	assert_int_equal(gagg_sites_create(&sites, 0, g.workers, &site), 0);
	expect("new part part result done acc enter0 ");
	assert_ptr_equal(site, &made[0]);
	assert_int_equal(site->nparts, SHARDS);
	assert_int_equal(site->part[1]->members, g.workers);
	assert_int_equal(site->index, 0);
	assert_int_equal(gagg_site_done(site)->epoch, 0);
	assert_int_equal(table.taken, 1);
	end();
}

static void create__in_an_epoch(void **state)
{
	struct gagg_site *site;

	(void)state;
	begin("bsp");
	epoch = 7;
	assert_int_equal(gagg_sites_create(&sites, 300, 5, &site), 0);
	expect("new part part result done acc enter1 trace300 ");
	assert_int_equal(site->part[0]->id, 300);
	assert_int_equal(site->part[1]->members, 5);
	assert_int_equal(site->index, 1);
	assert_int_equal(gagg_site_done(site)->epoch, 7);
	assert_int_equal(gagg_table_find(&table, 300), 1);
	end();
}

/* regions are those of its kind, and of a host that is home or not */
static void create__what_a_channel_needs(void **state)
{
	struct gagg_site *site;

	(void)state;
	begin("bsp-quorum:2:1");
	assert_int_equal(gagg_sites_create(&sites, 0, g.workers, &site), 0);
	expect("new part part result done acc held enter0 ");
	assert_true(site->result && site->done && site->acc && site->held);
	end();
	begin("ssp:2");
	assert_int_equal(gagg_sites_create(&sites, 0, g.workers, &site), 0);
	expect("new part part result done enter0 ");
	assert_true(!site->acc && !site->held);
	end();
	begin("bsp-quorum:2:1");
	g.self = 1;
	assert_int_equal(gagg_sites_create(&sites, 0, g.workers, &site), 0);
	expect("new part part result done enter0 ");
	end();
}

static void create__has_a_limit(void **state)
{
	struct gagg_site *site;

	(void)state;
	begin("bsp");
	epoch = 1;
	assert_int_equal(gagg_sites_create(&sites, 5, g.workers, &site), 0);
	assert_int_equal(gagg_sites_create(&sites, 6, g.workers, &site), 0);
	said[0] = 0;
	assert_int_equal(gagg_sites_create(&sites, 7, g.workers, &site), -ENOSPC);
	expect("");
	assert_int_equal(gagg_sites_create(&sites, 0, g.workers, &site), 0);
	end();
}

/* wherever memory ends, what was made is given back, and nobody finds it */
static void create__without_memory(void **state)
{
	static const char *const asked[] = {
		"", "new part give0 ", "new part part give0 ", "new part part result give0 ",
		"new part part result done give0 ", "new part part result done acc give0 ",
		"new part part result done acc held give0 ",
	};
	struct gagg_site *site;
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		begin("bsp-quorum:2:1");
		memory = i;
		assert_int_equal(gagg_sites_create(&sites, 0, g.workers, &site), -ENOMEM);
		expect(asked[i]);
		assert_int_equal(table.taken, 0);
	}
}

static void unlink__takes_all(void **state)
{
	struct gagg_site *site, *gone[GAGG_CHANNELS_MAX];

	(void)state;
	begin("bsp");
	epoch = 1;
	gagg_sites_create(&sites, 9, g.workers, &site);
	gagg_sites_create(&sites, 0, g.workers, &site);
	said[0] = 0;
	channel_lock(&sites.host);
	assert_int_equal(gagg_sites_unlink(&sites, gone), 2);
	channel_unlock(&sites.host);
	expect("leave0 leave1 left ");
	assert_int_equal(table.taken, 0);
	assert_ptr_equal(gone[0], &made[1]);
	assert_ptr_equal(gone[1], &made[0]);
	channel_give(&sites.host, gone[0]);
	channel_give(&sites.host, gone[1]);
}

/* the one that is there, unless an epoch has ended since it was made */
static void fresh__is_of_no_other_epoch(void **state)
{
	struct gagg_site *site;

	(void)state;
	begin("bsp");
	assert_int_equal(gagg_sites_fresh(&sites, &site), 0);
	expect("new part part result done acc enter0 ");
	assert_int_equal(site->part[0]->members, g.workers);
	assert_int_equal(gagg_sites_fresh(&sites, &site), 0);
	expect("");
	assert_ptr_equal(site, &made[0]);
	gagg_table_spend(&table);
	assert_int_equal(gagg_sites_fresh(&sites, &site), 0);
	expect("leave0 left give0 new part part result done acc enter0 ");
	assert_ptr_equal(site, &made[1]);
	gagg_table_spend(&table);
	memory = 0;
	assert_int_equal(gagg_sites_fresh(&sites, &site), -ENOMEM);
	assert_int_equal(table.taken, 0);
	end();
}

static void trim__what_nobody_uses(void **state)
{
	static void *const push[1];
	struct gagg_site *site;

	(void)state;
	begin("bsp");
	gagg_sites_trim(&sites);
	gagg_sites_fresh(&sites, &site);
	said[0] = 0;
	site->lent[1].push = push;
	gagg_sites_trim(&sites);
	expect("");
	site->lent[1].push = NULL;
	epoch = 3;
	gagg_sites_trim(&sites);
	expect("");
	epoch = 0;
	gagg_sites_trim(&sites);
	expect("leave0 left give0 ");
	assert_int_equal(table.taken, 0);
}

static void make__what_others_ask_for(void **state)
{
	(void)state;
	begin("bsp");
	epoch = 4;
	gagg_wants_add(&wants, 3, 20, g.workers);
	gagg_wants_add(&wants, 4, 21, 5);
	gagg_wants_add(&wants, 4, 22, 6);
	gagg_sites_make(&sites);
	expect("wants new part part result done acc enter1 trace22 "
	       "wants new part part result done acc enter2 trace21 wants ");
	assert_int_equal(at[1]->part[0]->members, 6);
	assert_int_equal(stats.drop[GAGG_DROP_NOMEM], 0);
	end();
}

/* others ask again, and may be served then */
static void make__counts_what_failed(void **state)
{
	(void)state;
	begin("bsp");
	epoch = 4;
	memory = 3;
	gagg_wants_add(&wants, 4, 21, 5);
	gagg_wants_add(&wants, 4, 22, 6);
	gagg_sites_make(&sites);
	expect("wants new part part result give0 wants wants ");
	assert_int_equal(stats.drop[GAGG_DROP_NOMEM], 2);
	assert_int_equal(table.taken, 0);
	memory = 6;
	gagg_wants_add(&wants, 4, 21, 5);
	gagg_sites_make(&sites);
	assert_int_equal(gagg_table_find(&table, 21), 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create__in_no_epoch),
		cmocka_unit_test(create__in_an_epoch),
		cmocka_unit_test(create__what_a_channel_needs),
		cmocka_unit_test(create__has_a_limit),
		cmocka_unit_test(create__without_memory),
		cmocka_unit_test(unlink__takes_all),
		cmocka_unit_test(fresh__is_of_no_other_epoch),
		cmocka_unit_test(trim__what_nobody_uses),
		cmocka_unit_test(make__what_others_ask_for),
		cmocka_unit_test(make__counts_what_failed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
