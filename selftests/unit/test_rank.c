// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/layout.c kmod/core/front.c kmod/core/site.c kmod/core/table.c kmod/core/ledger.c; libs: */
/* A rank of a host attaches, asks for channels, is told of an epoch, and leaves. */
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

#define SHARDS	2


struct gagg_host {
	char name;
};

#include "rank.h"

/* the group has channels 0 and 5, at places 0 and 2; the seats are of rank 1 */
static struct gagg_site sites[3];
static struct gagg_done done[3];
static void *blocks[3];
static struct gagg_ledger seats[3];
static struct gagg_shard *shard[SHARDS];
static enum gagg_session_state is;
static struct gagg_geom g;
static struct gagg_table table;
static bool locked, memory;
static struct gagg_tenant x;

static enum gagg_session_state session_state(const struct gagg_host *h)
{
	assert_int_equal(h->name, 'a');
	return is;
}

static void session_set_state(const struct gagg_host *h, enum gagg_session_state state)
{
	(void)h;
	is = state;
	say("state%u ", state);
}

static void session_lock(const struct gagg_host *h)
{
	(void)h;
	assert_false(locked);
	locked = true;
}

static void session_unlock(const struct gagg_host *h)
{
	(void)h;
	assert_true(locked);
	locked = false;
}

static struct gagg_shard *session_shard(const struct gagg_host *h, u32 s)
{
	(void)h;
	assert_true(locked);
	return shard[s];
}

static void session_trace_stop(const struct gagg_host *h)
{
	(void)h;
	assert_true(locked && !shard[0]->running && !shard[1]->running);
	say("stop ");
}

static int session_fresh(const struct gagg_host *h, struct gagg_site **site)
{
	(void)h;
	*site = &sites[0];
	say("fresh ");
	return memory ? 0 : -ENOMEM;
}

static int session_create(const struct gagg_host *h, u32 id, u64 members,
			  struct gagg_site **site)
{
	(void)h;
	(void)site;
	say("create%u-%x ", id, (u32)members);
	return -ENOSPC;
}

static void session_trim(const struct gagg_host *h)
{
	(void)h;
	assert_int_equal(table.taken, 0);
	say("trim ");
}

static struct gagg_site *session_find(const struct gagg_host *h, u32 id)
{
	(void)h;
	return id == 0 ? &sites[0] : id == 5 ? &sites[2] : NULL;
}

static int session_seat_new(const struct gagg_host *h, struct gagg_site *site, u32 local,
			    const struct gagg_layout *l, struct gagg_lent *lent)
{
	(void)h;
	assert_false(locked);
	say("new%u-%u%s ", site->index, local, l->copy ? "-copy" : "");
	if (!memory)
		return -ENOMEM;
	lent->push = &blocks[site->index];
	lent->contrib = &blocks[site->index];
	return 0;
}

static void session_seat_gone(const struct gagg_host *h, u32 place)
{
	(void)h;
	assert_false(locked);
	assert_false(table.taken & GAGG_BIT(place));
	say("gone%u ", place);
}

static struct gagg_site *session_seat_site(const struct gagg_host *h, u32 place)
{
	(void)h;
	return &sites[place];
}

static struct gagg_ledger *session_seat_ops(const struct gagg_host *h, u32 place)
{
	(void)h;
	return &seats[place];
}

static u64 session_seat_length(const struct gagg_host *h, u32 place, u32 region)
{
	(void)h;
	return 1000 * place + region + 1;
}

static void session_seat_enter(const struct gagg_host *h, u32 place)
{
	(void)h;
	assert_true(locked);
	say("enter%u ", place);
}

static void session_seat_leave(const struct gagg_host *h, u32 place)
{
	(void)h;
	assert_true(locked);
	say("leave%u ", place);
}

static void session_reset(const struct gagg_host *h)
{
	(void)h;
	say("reset ");
}

static void session_times_begin(const struct gagg_host *h)
{
	(void)h;
	say("times ");
}

static void session_times_end(const struct gagg_host *h)
{
	(void)h;
	say("timed ");
}

static void session_join(const struct gagg_host *h)
{
	(void)h;
	say("join ");
}

static void session_part(const struct gagg_host *h, u32 reason)
{
	(void)h;
	say("part%u ", reason);
}

static void site_new(u32 place, u16 id, u64 members)
{
	u32 s;

	blocks[place] = &done[place];
	sites[place].index = place;
	sites[place].done = &blocks[place];
	for (s = 0; s < SHARDS; s++)
		gagg_site_add_part(&sites[place], &g, calloc(1, gagg_chan_bytes(&g, members)), id,
				   members);
}

static void begin(const char *sync)
{
	struct gagg_sync_param p;
	u32 s;

	memset(sites, 0, sizeof(sites));
	memset(done, 0, sizeof(done));
	memset(seats, 0xff, sizeof(seats));
	memset(&table, 0, sizeof(table));
	is = GAGG_S_BOUND;
	locked = false;
	memory = true;
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
	site_new(0, 0, g.workers);
	site_new(2, 5, 6);
	for (s = 0; s < SHARDS; s++) {
		shard[s] = calloc(1, gagg_shard_bytes(&g));
		assert_non_null(shard[s]);
		gagg_shard_init(shard[s], &g, s);
	}
	x = (struct gagg_tenant){ .host.name = 'a', .g = &g, .rank = 1, .table = &table };
}

static void end(void)
{
	u32 s;

	assert_false(locked);
	for (s = 0; s < SHARDS; s++) {
		free(sites[0].part[s]);
		free(sites[2].part[s]);
		free(shard[s]);
	}
}

static void runs(void)
{
	struct gagg_ioc_attach arg = { 0 };
	u32 s;

	assert_int_equal(gagg_rank_attach(&x, &arg), 0);
	for (s = 0; s < SHARDS; s++)
		gagg_shard_start(shard[s], &g, 7, 1);
	is = GAGG_S_RUNNING;
	x.epoch = 7;
	said[0] = 0;
}

static void states__allow(void **state)
{
	(void)state;
	assert_false(gagg_state_is_attached(GAGG_S_BOUND));
	assert_true(gagg_state_is_attached(GAGG_S_ATTACHED));
	assert_true(gagg_state_is_attached(GAGG_S_RUNNING));
	assert_false(gagg_state_is_attached(GAGG_S_ENDED));
	assert_int_equal(gagg_state_runs(GAGG_S_BOUND), GAGG_REFUSE_IDLE);
	assert_int_equal(gagg_state_runs(GAGG_S_ATTACHED), GAGG_REFUSE_IDLE);
	assert_int_equal(gagg_state_runs(GAGG_S_RUNNING), GAGG_REFUSE_NOT);
	assert_int_equal(gagg_state_runs(GAGG_S_ENDED), GAGG_REFUSE_STOPPED);
}

/* the rank joins last: the epoch may begin at once */
static void attach__sits_and_joins(void **state)
{
	struct gagg_ioc_attach arg = { 0 };

	(void)state;
	begin("bsp");
	assert_int_equal(gagg_rank_attach(&x, &arg), 0);
	expect("fresh new0-1 enter0 reset times state1 join ");
	assert_int_equal(arg.ranks, 3);
	assert_int_equal(arg.geo.rank, 1);
	assert_int_equal(arg.geo.region[1].length, 2);
	assert_ptr_equal(sites[0].lent[1].push, &blocks[0]);
	assert_null(sites[0].lent[0].push);
	assert_true(seats[0].local == 1 && !seats[0].submitted);
	assert_int_equal(table.taken, 1);
	assert_int_equal(gagg_rank_attach(&x, &arg), -EBUSY);
	is = GAGG_S_RUNNING;
	assert_int_equal(gagg_rank_attach(&x, &arg), -EBUSY);
	expect("");
	end();
}

/* seats of the last epoch go, no shard is stopped for them, and no memory is a refusal */
static void attach__again(void **state)
{
	struct gagg_ioc_attach arg = { 0 };

	(void)state;
	begin("ssp:2");
	runs();
	is = GAGG_S_ENDED;
	assert_int_equal(gagg_rank_attach(&x, &arg), 0);
	expect("leave0 gone0 fresh new0-1-copy enter0 reset times state1 join ");
	is = GAGG_S_ENDED;
	memory = false;
	assert_int_equal(gagg_rank_attach(&x, &arg), -ENOMEM);
	expect("leave0 gone0 fresh ");
	assert_int_equal(is, GAGG_S_ENDED);
	end();
}

static void attach__without_memory_for_a_seat(void **state)
{
	struct gagg_ioc_attach arg = { 0 };

	(void)state;
	begin("bsp");
	x.rank = 2;
	assert_int_equal(gagg_rank_attach(&x, &arg), -EINVAL);
	expect("fresh trim ");
	x.rank = 1;
	memory = false;
	assert_int_equal(gagg_rank_take(&x, &sites[0]), -ENOMEM);
	expect("new0-1 ");
	assert_null(sites[0].lent[1].push);
	assert_int_equal(table.taken, 0);
	end();
}

/* a trainer that is woken finds its new state; the shards stop before the first seat goes */
static void detach__leaves_an_epoch(void **state)
{
	(void)state;
	begin("bsp");
	runs();
	assert_int_equal(gagg_rank_detach(&x, GAGG_R_BYE), 0);
	expect("state0 part1 stop leave0 gone0 timed trim ");
	assert_null(sites[0].lent[1].push);
	assert_int_equal(gagg_rank_detach(&x, GAGG_R_BYE), -ENOTCONN);
	expect("");
	end();
}

static void detach__after_the_epoch(void **state)
{
	(void)state;
	begin("bsp");
	runs();
	is = GAGG_S_ENDED;
	assert_int_equal(gagg_rank_detach(&x, GAGG_R_DIED), 0);
	expect("state0 leave0 gone0 trim ");
	assert_true(shard[0]->running && shard[1]->running);
	end();
}

static void channel__needs_an_epoch(void **state)
{
	struct gagg_ioc_channel arg = { .channel = 5, .members = 6 };

	(void)state;
	begin("bsp");
	assert_int_equal(gagg_rank_channel(&x, &arg), -ENOTCONN);
	is = GAGG_S_ENDED;
	assert_int_equal(gagg_rank_channel(&x, &arg), -EPIPE);
	/* whether the arguments are good does not depend on that */
	arg.members = 5;
	assert_int_equal(gagg_rank_channel(&x, &arg), -EINVAL);
	expect("");
	end();
}

/* no channel of channel 0's id, without the rank, or of others than workers */
static void channel__of_workers(void **state)
{
	struct gagg_ioc_channel arg = { .channel = 0, .members = 7 };

	(void)state;
	begin("bsp");
	runs();
	assert_int_equal(gagg_rank_channel(&x, &arg), -EINVAL);
	arg.channel = 9;
	arg.members = 5;
	assert_int_equal(gagg_rank_channel(&x, &arg), -EINVAL);
	arg.members = 15;
	assert_int_equal(gagg_rank_channel(&x, &arg), -EINVAL);
	expect("");
	end();
}

static void channel__is_found_or_made(void **state)
{
	struct gagg_ioc_channel arg = { .channel = 5, .members = 6 };

	(void)state;
	begin("bsp");
	runs();
	assert_int_equal(gagg_rank_channel(&x, &arg), 0);
	expect("new2-0 enter2 ");
	assert_int_equal(arg.geo.channel, 5);
	assert_int_equal(arg.geo.epoch, 7);
	assert_int_equal(arg.geo.region[2].length, 2003);
	assert_int_equal(gagg_table_find(&table, 5), 2);
	/* the rank has it */
	assert_int_equal(gagg_rank_channel(&x, &arg), -EEXIST);
	arg.members = 7;
	assert_int_equal(gagg_rank_channel(&x, &arg), -EBUSY);
	expect("");
	arg.channel = 9;
	assert_int_equal(gagg_rank_channel(&x, &arg), -ENOSPC);
	expect("create9-7 ");
	end();
}

static void free__without_ops(void **state)
{
	struct gagg_ioc_channel arg = { .channel = 5, .members = 6 };

	(void)state;
	begin("bsp");
	runs();
	assert_int_equal(gagg_rank_channel(&x, &arg), 0);
	said[0] = 0;
	assert_int_equal(gagg_rank_free(&x, 0), -EINVAL);
	assert_int_equal(gagg_rank_free(&x, 6), -ENOENT);
	assert_int_equal(gagg_rank_place(&table, 0), -EINVAL);
	assert_int_equal(gagg_rank_place(&table, 6), -ENOENT);
	assert_int_equal(gagg_rank_place(&table, 5), 2);
	seats[2].submitted = 1;
	assert_int_equal(gagg_rank_free(&x, 5), -EBUSY);
	expect("");
	seats[2].completed = 1;
	assert_int_equal(gagg_rank_free(&x, 5), 0);
	expect("leave2 gone2 ");
	assert_true(shard[0]->running);
	assert_null(sites[2].lent[0].push);
	assert_int_equal(gagg_rank_free(&x, 5), -ENOENT);
	end();
}

/* ops of an epoch that is over are never done */
static void free__after_the_epoch(void **state)
{
	struct gagg_ioc_channel arg = { .channel = 5, .members = 6 };

	(void)state;
	begin("bsp");
	runs();
	assert_int_equal(gagg_rank_channel(&x, &arg), 0);
	seats[2].submitted = 1;
	is = GAGG_S_ENDED;
	assert_int_equal(gagg_rank_free(&x, 5), 0);
	end();
}

/* its channels say why, before the state does */
static void ended__on_all_channels(void **state)
{
	struct gagg_ioc_channel arg = { .channel = 5, .members = 6 };

	(void)state;
	begin("bsp");
	runs();
	assert_int_equal(gagg_rank_channel(&x, &arg), 0);
	said[0] = 0;
	gagg_rank_ended(&x, GAGG_R_DIED);
	expect("timed state3 ");
	assert_true(done[0].failed == GAGG_R_DIED && done[2].failed == GAGG_R_DIED);
	assert_int_equal(table.taken, 5);
	gagg_rank_ended(&x, 0);
	assert_int_equal(done[0].failed, GAGG_R_ADMIN);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states__allow),
		cmocka_unit_test(attach__sits_and_joins),
		cmocka_unit_test(attach__again),
		cmocka_unit_test(attach__without_memory_for_a_seat),
		cmocka_unit_test(detach__leaves_an_epoch),
		cmocka_unit_test(detach__after_the_epoch),
		cmocka_unit_test(channel__needs_an_epoch),
		cmocka_unit_test(channel__of_workers),
		cmocka_unit_test(channel__is_found_or_made),
		cmocka_unit_test(free__without_ops),
		cmocka_unit_test(free__after_the_epoch),
		cmocka_unit_test(ended__on_all_channels),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
