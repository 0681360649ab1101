// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/layout.c kmod/core/front.c kmod/core/site.c kmod/core/work.c; libs: */
/* Actions are carried out: in memory, by the host, and told to trainers. */
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
#include "out.h"

#define LANES	4
#define EPOCH	5ULL
#define S32_ADD	GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD)


struct gagg_host {
	char name;
};

#include "act.h"

/* a channel whose ranks 0 and 1 live here, with a block of each region */
static struct {
	s32 result[GAGG_BLOCK / 4], acc[GAGG_BLOCK / 4], held[GAGG_BLOCK / 4];
	s32 contrib[2][GAGG_BLOCK / 4], copy[2][GAGG_BLOCK / 4];
	u64 done[GAGG_BLOCK / 8], push[2][GAGG_BLOCK / 8];
} mem;

static void *block[10];
static struct gagg_geom g;
static struct gagg_shard *sh, *other;
static struct gagg_site site;
static struct gagg_batch batch;

static void act_trace_call(const struct gagg_host *h, const struct gagg_work *w)
{
	(void)h;
	say("call%u ", w->call);
}

static void act_trace(const struct gagg_host *h, const struct gagg_act *a)
{
	(void)h;
	if (a->type == GAGG_ACT_PUBLISH)
		say("trace%u ", a->pub.slot);
}

static struct gagg_site *act_site(const struct gagg_host *h, u16 id)
{
	(void)h;
	return id == site.part[0]->id ? &site : NULL;
}

static void act_lacks(const struct gagg_host *h, const struct gagg_act *a)
{
	(void)h;
	say("lacks%u ", a->type);
}

static void act_open(const struct gagg_host *h)
{
	say("open-%c ", h->name);
}

static void act_close(const struct gagg_host *h)
{
	say("close-%c ", h->name);
}

static const char *where(void *const *at)
{
	return at == site.result ? "result" : at == site.held ? "held" :
	       at == site.lent[1].contrib ? "contrib1" : "?";
}

static void act_contrib(const struct gagg_host *h, struct gagg_act *a, void *const *from)
{
	(void)h;
	say("contrib%u-%s ", a->node, where(from));
}

static void act_result(const struct gagg_host *h, struct gagg_act *a, void *const *from)
{
	(void)h;
	say("result%x-%s ", a->m.aux, where(from));
}

static void act_ctrl(const struct gagg_host *h, const struct gagg_act *a)
{
	(void)h;
	say("ctrl%u ", a->node);
}

static void act_end(const struct gagg_host *h, const struct gagg_end *end)
{
	(void)h;
	say("end%u ", end->reason);
}

static void act_want(const struct gagg_host *h, u64 epoch, const struct gagg_act *a)
{
	(void)h;
	say("want%u-%x-%u ", a->channel, (unsigned int)a->members, (unsigned int)epoch);
}

static void act_tell_chunks(const struct gagg_host *h, struct gagg_site *to, u32 local)
{
	(void)h;
	say("chunks%u-%u ", local, (unsigned int)gagg_site_done(to)->completed);
}

static void act_tell_ops(const struct gagg_host *h, struct gagg_site *to, u32 local, u64 number)
{
	(void)h;
	assert_ptr_equal(to, &site);
	say("ops%u-%u ", local, (unsigned int)number);
}

static struct gagg_shard *shard_new(void)
{
	struct gagg_shard *new = calloc(1, gagg_shard_bytes(&g));

	assert_non_null(new);
	gagg_shard_init(new, &g, 0);
	gagg_shard_start(new, &g, EPOCH, 1);
	return new;
}

static void sit(u32 local)
{
	site.lent[local].push = &block[4 + local];
	site.lent[local].contrib = &block[6 + local];
	site.lent[local].copy = &block[8 + local];
}

static void begin(const char *sync)
{
	void *const at[10] = {
		mem.result, mem.done, mem.acc, mem.held, mem.push[0], mem.push[1],
		mem.contrib[0], mem.contrib[1], mem.copy[0], mem.copy[1],
	};
	struct gagg_sync_param p;

	memset(&mem, 0, sizeof(mem));
	memcpy(block, at, sizeof(block));
	gagg_geom_init(&g);
	g.lanes = LANES;
	g.room = LANES;
	g.stripe = 1;
	g.shards = 1;
	g.ring = 64;
	g.window = 16;
	gagg_geom_rank(&g, 0, 0, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, false);
	gagg_geom_rank(&g, 1, 0, GAGG_ROLE_WORKER, false);
	assert_true(sync_text_parse(sync, &p, NULL, 0));
	gagg_sync_apply(&g, &p);
	sh = shard_new();
	other = shard_new();
	memset(&site, 0, sizeof(site));
	site.index = 3;
	site.result = &block[0];
	site.done = &block[1];
	site.acc = &block[2];
	site.held = g.quorum ? &block[3] : NULL;
	gagg_site_add_part(&site, &g, calloc(1, gagg_chan_bytes(&g, g.workers)), 9, g.workers);
	sit(0);
	sit(1);
	memset(&batch, 0, sizeof(batch));
	batch.loops = &gagg_loops;
	said[0] = 0;
}

static void end(void)
{
	free(site.part[0]);
	free(other);
	free(sh);
}

static void drain(struct gagg_shard *of, char name)
{
	const struct gagg_host h = { .name = name };

	gagg_batch_open(&batch, &h, of, &g);
	gagg_batch_drain(&batch);
}

/* its trainers are told once, at the end, and chunks before ops */
static void test_batch(void **state)
{
	struct gagg_act *a;

	(void)state;
	begin("bsp");
	site.part[0]->base = 21;
	gagg_shard_emit(sh, GAGG_ACT_OP_DONE, 9)->number = 1;
	a = gagg_shard_emit(sh, GAGG_ACT_OP_DONE, 9);
	a->number = 2;
	drain(sh, 'a');
	expect("open-a ");
	assert_int_equal(gagg_site_done(&site)->completed, 0);
	/* another shard's actions: what was of the first is told before */
	gagg_shard_emit(other, GAGG_ACT_SEND_CTRL, 9)->node = 4;
	drain(other, 'b');
	expect("close-a chunks0-21 ops0-2 chunks1-21 open-b ctrl4 ");
	/* the same one's go on */
	gagg_shard_emit(other, GAGG_ACT_SEND_CTRL, 9)->node = 5;
	drain(other, 'b');
	gagg_batch_settle(&batch);
	gagg_batch_settle(&batch);
	expect("ctrl5 close-b ");
	end();
}

static bool work(struct gagg_shard *of, u64 now, u64 *at)
{
	const struct gagg_host h = { .name = 'a' };
	struct gagg_work w = { .sh = of, .g = &g, .now = now };

	return gagg_batch_work(&batch, &h, &w, at);
}

/* what a turn wants done is of the batch; the earlier time counts */
static void test_turn(void **state)
{
	u64 at = 60;

	(void)state;
	begin("bsp");
	sh->path[0].rto_at = 70;
	gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, 9)->node = 4;
	assert_false(work(sh, 40, &at));
	assert_int_equal(at, 60);
	expect("call3 open-a ctrl4 ");
	sh->path[0].rto_at = 50;
	assert_false(work(sh, 40, &at));
	assert_int_equal(at, 50);
	expect("call3 ");
	/* without an action there is no batch */
	gagg_batch_settle(&batch);
	expect("close-a ");
	assert_false(work(other, 40, &at));
	gagg_batch_settle(&batch);
	expect("call3 ");
	end();
}

/* without an epoch nothing is done, and no time has come */
static void test_stopped(void **state)
{
	u64 at = 60;

	(void)state;
	begin("bsp");
	gagg_shard_stop(sh);
	sh->path[0].rto_at = 50;
	assert_false(work(sh, 40, &at));
	assert_int_equal(at, 60);
	expect("");
	end();
}

/* a trainer that has left is told nothing, and what was done is told once */
static void test_left(void **state)
{
	(void)state;
	begin("bsp");
	gagg_shard_emit(sh, GAGG_ACT_OP_DONE, 9)->number = 1;
	drain(sh, 'a');
	memset(&site.lent[0], 0, sizeof(site.lent[0]));
	gagg_batch_settle(&batch);
	expect("open-a close-a chunks1-0 ");
	sit(0);
	gagg_shard_emit(sh, GAGG_ACT_PUBLISH, 9)->pub.round = 1;
	drain(sh, 'a');
	gagg_batch_settle(&batch);
	expect("open-a trace0 close-a chunks0-0 chunks1-0 ");
	end();
}

static void test_host(void **state)
{
	struct gagg_act *a;

	(void)state;
	begin("bsp");
	gagg_shard_emit(sh, GAGG_ACT_DESYNC, 9)->end.reason = 6;
	gagg_shard_emit(sh, GAGG_ACT_OPEN, 12)->members = 0x11;
	gagg_shard_emit(sh, GAGG_ACT_SEND_RESULT, 8);
	a = gagg_shard_emit(sh, GAGG_ACT_SEND_CONTRIB, 9);
	a->node = 7;
	a->local = 1;
	gagg_shard_emit(sh, GAGG_ACT_SEND_RESULT, 9)->m.laneop = S32_ADD;
	drain(sh, 'a');
	expect("open-a end6 want12-11-5 lacks1 contrib7-contrib1 result0-result ");
	/* a trainer that has left sends nothing more, and that is no fault */
	memset(&site.lent[1], 0, sizeof(site.lent[1]));
	gagg_shard_emit(sh, GAGG_ACT_SEND_CONTRIB, 9)->local = 1;
	drain(sh, 'a');
	expect("");
	end();
}

static void test_publish(void **state)
{
	const struct gagg_rdesc *rd = (void *)&mem.done[GAGG_DESC_OFFSET / 8];
	struct gagg_act *a;
	u32 i;

	(void)state;
	begin("bsp");
	for (i = 0; i < GAGG_BLOCK / 4; i++) {
		mem.contrib[1][i] = (s32)i;
		mem.acc[i] = 1000;
	}
	a = gagg_shard_emit(sh, GAGG_ACT_PUBLISH, 9);
	a->pub = (struct gagg_publish){
		.slot = 17, .round = 3, .locals = 2, .lanes = LANES, .from_acc = 1,
		.laneop = S32_ADD, .raw = 1, .exp = 9,
	};
	a->more = 1;
	a->each[0].exp = 8;
	mem.acc[1 * LANES] = 2000;	/* of slot 17, in a window of 16 */
	drain(sh, 'a');
	expect("open-a trace17 trace18 ");
	assert_int_equal(mem.result[17 * LANES], 2000 + 17 * LANES);
	assert_int_equal(mem.result[17 * LANES + 1], 1000 + 17 * LANES + 1);
	assert_int_equal(mem.result[18 * LANES], 1000 + 18 * LANES);
	assert_int_equal(mem.result[19 * LANES], 0);
	assert_true(rd[17].published == (EPOCH << 32 | 3) && rd[17].exp == 9);
	assert_true(rd[18].published == (EPOCH << 32 | 3) && rd[18].exp == 8);
	/* lanes of a trainer that has left are not there */
	memset(&site.lent[1], 0, sizeof(site.lent[1]));
	a = gagg_shard_emit(sh, GAGG_ACT_PUBLISH, 9);
	a->pub = (struct gagg_publish){ .slot = 1, .round = 3, .locals = 2, .lanes = LANES };
	drain(sh, 'a');
	expect("trace1 lacks3 ");
	end();
}

/* a home's result in a quorum is held, sent from there, and published later */
static void test_held(void **state)
{
	const struct gagg_rdesc *rd = (void *)&mem.done[GAGG_DESC_OFFSET / 8];
	struct gagg_act *a;

	(void)state;
	begin("bsp-quorum:1:1");
	mem.acc[2 * LANES] = 77;
	a = gagg_shard_emit(sh, GAGG_ACT_PUBLISH, 9);
	a->pub = (struct gagg_publish){
		.slot = 2, .round = 1, .lanes = LANES, .from_acc = 1, .laneop = S32_ADD,
		.hold = GAGG_HOLD_PUT,
	};
	gagg_shard_emit(sh, GAGG_ACT_SEND_RESULT, 9)->m.laneop = S32_ADD;
	drain(sh, 'a');
	expect("open-a trace2 result0-held ");
	assert_int_equal(mem.held[2 * LANES], 77);
	assert_int_equal(mem.result[2 * LANES], 0);
	assert_true(!rd[2].published);
	mem.acc[2 * LANES] = 78;
	a = gagg_shard_emit(sh, GAGG_ACT_PUBLISH, 9);
	a->pub = (struct gagg_publish){
		.slot = 2, .round = 1, .lanes = LANES, .laneop = S32_ADD,
		.hold = GAGG_HOLD_TAKE,
	};
	drain(sh, 'a');
	assert_int_equal(mem.result[2 * LANES], 77);
	assert_true(rd[2].published == (EPOCH << 32 | 1));
	end();
}

/* results of narrow lanes say how far they were shifted */
static void test_narrow(void **state)
{
	struct gagg_act *a;

	(void)state;
	begin("bsp");
	gagg_chan_res(site.part[0], 5)->shift = 3;
	a = gagg_shard_emit(sh, GAGG_ACT_SEND_RESULT, 9);
	a->m.laneop = GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD);
	a->m.chunk = 5;
	drain(sh, 'a');
	expect("open-a result30000-result ");
	end();
}

static void keep(u8 type, struct gagg_keep k)
{
	struct gagg_act *a = gagg_shard_emit(sh, type, 9);

	a->local = 1;
	a->keep = k;
	drain(sh, 'a');
}

static void test_store(void **state)
{
	(void)state;
	begin("ssp:2");
	mem.contrib[1][6 * LANES] = 10;
	mem.acc[6 * LANES] = 100;
	keep(GAGG_ACT_ADD_LOCAL, (struct gagg_keep){ .slot = 6 });
	assert_int_equal(mem.result[6 * LANES], 10);
	keep(GAGG_ACT_ADD_LOCAL, (struct gagg_keep){ .slot = 6, .beside = 1, .first = 1 });
	assert_int_equal(mem.acc[6 * LANES], 10);
	keep(GAGG_ACT_ADD_LOCAL, (struct gagg_keep){ .slot = 6, .beside = 1 });
	assert_int_equal(mem.acc[6 * LANES], 20);
	keep(GAGG_ACT_FOLD, (struct gagg_keep){ .slot = 6 });
	assert_int_equal(mem.result[6 * LANES], 30);
	assert_int_equal(mem.acc[6 * LANES], 20);
	end();
}

/* a copy is made of the store, or was placed; then it says how fresh it is */
static void test_read(void **state)
{
	static void *table[2];
	static u32 clocks[GAGG_BLOCK / 4];

	(void)state;
	begin("ssp:2");
	table[0] = mem.copy[1];
	table[1] = clocks;
	site.lent[1].copy = table;
	mem.result[6 * LANES + 3] = 31;
	keep(GAGG_ACT_READ, (struct gagg_keep){ .slot = 6, .fresh = 4 });
	assert_int_equal(mem.copy[1][6 * LANES + 3], 31);
	assert_int_equal(clocks[6], 4);
	mem.result[6 * LANES + 3] = 32;
	keep(GAGG_ACT_READ, (struct gagg_keep){ .slot = 6, .fresh = 5, .placed = 1 });
	assert_int_equal(mem.copy[1][6 * LANES + 3], 31);
	assert_int_equal(clocks[6], 5);
	assert_int_equal(mem.copy[0][6 * LANES + 3], 0);
	memset(&site.lent[1], 0, sizeof(site.lent[1]));
	expect("open-a ");
	keep(GAGG_ACT_READ, (struct gagg_keep){ .slot = 6 });
	expect("lacks9 ");
	end();
}

/* where lanes that have arrived go */
static void test_lanes(void **state)
{
	struct gagg_todo todo = { .slot = 20, .acc = 4, .lanes = LANES, .local = 1 };
	static const s32 lanes[LANES] = { 1, 2, 3, 4 };
	struct gagg_sum sum;

	(void)state;
	begin("bsp");
	sum = gagg_site_sum(&site, &g, 0, &todo);
	assert_true(sum.to == &mem.acc[4 * LANES] && sum.from == sum.to);
	todo.to_result = 1;
	sum = gagg_site_sum(&site, &g, 0, &todo);
	assert_true(sum.to == &mem.result[20 * LANES] && sum.from == &mem.acc[4 * LANES]);
	todo.first = 1;
	assert_null(gagg_site_sum(&site, &g, 0, &todo).from);
	todo.area = GAGG_AREA_RESULT;
	assert_true(gagg_site_place(&site, &g, &todo, lanes));
	assert_memory_equal(&mem.result[20 * LANES], lanes, sizeof(lanes));
	end();
	begin("ssp:2");
	todo.to_result = 0;
	todo.first = 0;
	todo.area = GAGG_AREA_RESULT;
	sum = gagg_site_sum(&site, &g, 0, &todo);
	assert_true(sum.to == &mem.result[20 * LANES] && sum.from == sum.to);
	todo.area = GAGG_AREA_BESIDE;
	assert_ptr_equal(gagg_site_sum(&site, &g, 0, &todo).to, &mem.acc[20 * LANES]);
	todo.area = GAGG_AREA_COPY;
	assert_true(gagg_site_place(&site, &g, &todo, lanes));
	assert_memory_equal(&mem.copy[1][20 * LANES], lanes, sizeof(lanes));
	assert_int_equal(mem.result[20 * LANES], 0);
	memset(&site.lent[1], 0, sizeof(site.lent[1]));
	assert_false(gagg_site_place(&site, &g, &todo, lanes));
	end();
}

/* a trainer's memory: nothing in it is there without it */
static void test_trainer(void **state)
{
	struct gagg_cdesc desc = { .exp = 6, .flags = 0xff };

	(void)state;
	begin("bsp");
	((struct gagg_push *)mem.push[1])->filled = 12;
	memcpy(&mem.push[1][GAGG_DESC_OFFSET / 8 + 2], &desc, sizeof(desc));
	assert_int_equal(gagg_site_filled(&site, 0), 0);
	assert_int_equal(gagg_site_filled(&site, 1), 12);
	assert_int_equal(gagg_site_desc(&site, 1, 2).exp, 6);
	assert_int_equal(gagg_site_desc(&site, 1, 2).flags,
			 GAGG_C_ZERO | GAGG_C_NONFINITE | GAGG_C_NORESULT);
	assert_int_equal(gagg_site_desc(&site, 1, 1).exp, 0);
	memset(&site.lent[1], 0, sizeof(site.lent[1]));
	assert_int_equal(gagg_site_filled(&site, 1), 0);
	assert_int_equal(gagg_site_desc(&site, 1, 2).exp, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_turn),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_publish),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_store),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_trainer),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
