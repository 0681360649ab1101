// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/layout.c kmod/core/front.c kmod/core/site.c; libs: */
/* The callbacks of the core: they find a channel's memory by its id, and tell what was read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core.h"

#define ID	9
#define LOCAL	2

struct gagg_trainers {
	u32 shard;
};

#include "trainer.h"

static u64 push[GAGG_BLOCK / 8];
static struct gagg_chan part[2], stranger = { .id = 8 };
static struct gagg_site site;

/* what was read last */
static struct {
	u32 shard;
	u16 id;
	u32 local;
	u64 filled;
	u32 slot;
	u8 exp;
} traced;

static const struct gagg_site *trainer_site(const struct gagg_trainers *trainers, u16 id)
{
	(void)trainers;
	return id == ID ? &site : NULL;
}

static void trainer_trace_filled(const struct gagg_trainers *trainers, u16 id, u32 local,
				 u64 filled)
{
	traced.shard = trainers->shard;
	traced.id = id;
	traced.local = local;
	traced.filled = filled;
}

static void trainer_trace_desc(const struct gagg_trainers *trainers, u16 id, u32 local, u32 slot,
			       const struct gagg_cdesc *desc)
{
	traced.shard = trainers->shard;
	traced.id = id;
	traced.local = local;
	traced.slot = slot;
	traced.exp = desc->exp;
}

static void begin(struct gagg_env *env, struct gagg_trainers *trainers)
{
	static void *block = push;
	const struct gagg_cdesc desc = { .exp = 6 };
	u32 s;

	memset(&traced, 0xff, sizeof(traced));
	for (s = 0; s < 2; s++) {
		part[s].id = ID;
		site.part[s] = &part[s];
	}
	site.nparts = 2;
	site.lent[LOCAL].push = &block;
	((struct gagg_push *)push)->filled = 12;
	memcpy(&push[GAGG_DESC_OFFSET / 8 + 5], &desc, sizeof(desc));
	gagg_trainers_lend(env, trainers);
}

static void test_read(void **state)
{
	struct gagg_trainers trainers = { .shard = 1 };
	struct gagg_env env;

	(void)state;
	begin(&env, &trainers);
	assert_ptr_equal(env.chan(env.ctx, ID), &part[1]);
	assert_int_equal(env.filled(env.ctx, &part[1], LOCAL), 12);
	assert_int_equal(traced.shard, 1);
	assert_int_equal(traced.id, ID);
	assert_int_equal(traced.local, LOCAL);
	assert_int_equal(traced.filled, 12);
	traced.local = 0;
	assert_int_equal(env.desc(env.ctx, &part[1], LOCAL, 5).exp, 6);
	assert_int_equal(traced.local, LOCAL);
	assert_int_equal(traced.slot, 5);
	assert_int_equal(traced.exp, 6);
}

/* a channel that is not there has no part, nothing filled and an empty description */
static void test_none(void **state)
{
	struct gagg_trainers trainers = { .shard = 0 };
	struct gagg_env env;

	(void)state;
	begin(&env, &trainers);
	assert_null(env.chan(env.ctx, stranger.id));
	assert_int_equal(env.filled(env.ctx, &stranger, LOCAL), 0);
	assert_int_equal(traced.id, stranger.id);
	assert_int_equal(traced.filled, 0);
	assert_int_equal(env.desc(env.ctx, &stranger, LOCAL, 5).exp, 0);
	assert_int_equal(traced.exp, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
