// SPDX-License-Identifier: GPL-2.0
/* links: sync kmod/core/wire.c; libs: */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <linux/gagg.h>
#include "sync/internal.h"
#include "agent/conf/sync_text.h"

static void is(const char *text, u32 mode)
{
	char printed[SYNC_NAME_MAX];
	struct gagg_sync_param p;

	assert_true(sync_text_parse(text, &p, NULL, 0));
	assert_int_equal(p.mode, mode);
	assert_null(gagg_sync_check(&p));
	assert_string_equal(sync_print(&p, printed), text);
}

static void is_not(const char *text, const char *why)
{
	struct gagg_sync_param p;
	char said[128];

	assert_false(sync_text_parse(text, &p, said, sizeof(said)));
	if (!strstr(said, why))
		fail_msg("%s: %s", text, said);
}

static void mode__from_text(void **state)
{
	/* no number, none that is finite, too little, too much, and more than can be held */
	static const char *const alphas[] = {
		"easgd:4:", "easgd:4:x", "easgd:4:nan", "easgd:4:inf", "easgd:4:-1", "easgd:4:1e1",
		"easgd:4:.5", "easgd:4:1.", "easgd:4:1.x", "easgd:4:1.5.5", "easgd:4:1,5",
		"easgd:4:0", "easgd:4:0.0", "easgd:4:0.0015", "easgd:4:101", "easgd:4:100.0001",
		"easgd:4:4294967296", "easgd:4:1.40625", "easgd:4:1.00000",
	};
	u32 i;

	(void)state;
	is("bsp", GAGG_SYNC_BSP);
	is("asp", GAGG_SYNC_ASP);
	is("ssp:0", GAGG_SYNC_SSP);
	is("ssp:1000000", GAGG_SYNC_SSP);
	is("dssp:3:15", GAGG_SYNC_DSSP);
	is("dssp-literal:0:1024", GAGG_SYNC_DSSP_LITERAL);
	is("r2sp:80:5000", GAGG_SYNC_R2SP);
	is("r2sp:80:5000:3", GAGG_SYNC_R2SP);
	is("r2sp:0:0:64", GAGG_SYNC_R2SP);
	is_not("", "unknown sync mode");
	is_not("bs", "unknown sync mode");
	is_not("bspx", "unknown sync mode");
	is_not("BSP", "unknown sync mode");
	is_not("bsp:1", "bsp has no parameters");
	is_not("asp:", "asp has no parameters");
	is_not("ssp", "ssp is written ssp:S, as in ssp:4");
	is_not("ssp:", "S of ssp:S must be from 0");
	is_not("ssp:-1", "S of ssp:S must be from 0");
	is_not("ssp:1000001", "S of ssp:S must be from 0");
	is_not("ssp:4294967297", "S of ssp:S must be from 0");
	is_not("ssp:4x", "S of ssp:S must be from 0");
	is_not("ssp:4.5", "S of ssp:S must be from 0");
	is_not("ssp:4:", "ssp is written ssp:S, as in ssp:4");
	is_not("ssp:4:5", "ssp is written ssp:S, as in ssp:4");
	is_not("r2sp:80", "r2sp is written r2sp:G:P[:K], as in r2sp:80:5000");
	is_not("r2sp:80:0:1:0", "r2sp is written r2sp:G:P[:K]");
	is_not("r2sp:101:0", "G of r2sp:G:P[:K] must be from 0 to 100 % of an even share");
	is_not("r2sp:80:600001", "P of r2sp:G:P[:K] must be from 0 to 600000 ms (0: no end)");
	is_not("r2sp:80:0:65", "K of r2sp:G:P[:K] must be from 0 to 64 updates");
	is_not("r2sp:80:0:", "K of r2sp:G:P[:K] must be from 0 to 64 updates");
	is_not("dssp:4", "dssp is written dssp:L:U, as in dssp:3:15");
	is_not("dssp:4:3", "U must be L at least");
	is_not("dssp-literal:4:3", "U must be L at least");
	is_not("dssp:0:1025", "1024 clocks above it at most");
	is_not("dssp:-1:3", "L of dssp:L:U must be from 0");
	is_not("dssp:1:x", "U of dssp:L:U must be from 0");
	is("localsgd:8", GAGG_SYNC_LOCALSGD);
	is("easgd-sync:10:90", GAGG_SYNC_EASGD_SYNC);
	is("easgd:1:1", GAGG_SYNC_EASGD);
	is("easgd:4:1.4063", GAGG_SYNC_EASGD);
	is("easgd:4:0.0016", GAGG_SYNC_EASGD);
	is("easgd:4:99.9999", GAGG_SYNC_EASGD);
	is("easgd:4:12.05", GAGG_SYNC_EASGD);
	is("easgd:4:1.5", GAGG_SYNC_EASGD);
	is("easgd:1000000:100", GAGG_SYNC_EASGD);
	is("hpsgd:1", GAGG_SYNC_HPSGD);
	is("bsp-quorum:3:1", GAGG_SYNC_BSP_QUORUM);
	is("bsp-deadline:2:50:0", GAGG_SYNC_BSP_DEADLINE);
	is("bsp-adaptive:2:4:1", GAGG_SYNC_BSP_ADAPTIVE);
	is_not("bsp-quorum:0:0", "K of bsp-quorum:K:CARRY must be from 1");
	is_not("bsp-quorum:3", "bsp-quorum is written bsp-quorum:K:CARRY");
	is_not("bsp-deadline:2:0:0", "MS of bsp-deadline");
	is_not("bsp-adaptive:2:4:2", "CARRY of bsp-adaptive");
	is("ako:1024:0", GAGG_SYNC_AKO);
	is_not("ako:4", "ako is written ako:P:S");
	is_not("ako:0:4", "P of ako:P:S must be from 1 to 1024");
	is_not("ako:1025:4", "P of ako:P:S must be from 1 to 1024");
	is_not("ako:4:1000001", "S of ako:P:S must be from 0");
	is("gossip-pull:4", GAGG_SYNC_GOSSIP_PULL);
	is("gossip-push:4:2", GAGG_SYNC_GOSSIP_PUSH);
	is("gossip-pair:1000000", GAGG_SYNC_GOSSIP_PAIR);
	is("push-sum:1", GAGG_SYNC_PUSH_SUM);
	is_not("gossip", "unknown sync mode");
	is_not("gossip-pull", "gossip-pull is written gossip-pull:TAU");
	is_not("gossip-pull:0", "TAU of gossip-pull:TAU must be from 1");
	is_not("gossip-push:4", "gossip-push is written gossip-push:TAU:S");
	is_not("gossip-push:4:1000001", "S of gossip-push:TAU:S must be from 0");
	is_not("gossip-pair:1:1", "gossip-pair is written gossip-pair:TAU");
	is_not("push-sum:0", "TAU of push-sum:TAU must be from 1");
	is_not("localsgd", "localsgd is written localsgd:TAU");
	is_not("localsgd:0", "TAU of localsgd:TAU must be from 1");
	is_not("easgd-sync:10", "easgd-sync is written easgd-sync:TAU:BETA");
	is_not("easgd-sync:10:101", "BETA of easgd-sync:TAU:BETA must be from 1 to 100");
	is_not("easgd", "easgd is written easgd:TAU:ALPHA");
	is_not("easgd:4", "easgd is written easgd:TAU:ALPHA");
	is_not("easgd:4:20:1", "easgd is written easgd:TAU:ALPHA");
	is_not("easgd:0:5", "TAU of easgd:TAU:ALPHA must be from 1 to 1000000");
	is_not("easgd:1000001:5", "TAU of easgd:TAU:ALPHA must be from 1 to 1000000");
	for (i = 0; i < sizeof(alphas) / sizeof(alphas[0]); i++)
		is_not(alphas[i],
		       "ALPHA of easgd:TAU:ALPHA must be from 0.0016 to 100 percent, with at most 4 decimals");
	is_not("easgd-async:4:20", "unknown sync mode");
	is_not("hpsgd:0", "S of hpsgd:S must be from 1");
	is_not("hpsgd:1000001", "S of hpsgd:S must be from 1 to 1000000 steps");
	is_not("bsp-adaptive:2:1001:1", "M of bsp-adaptive:K:M:CARRY must be from 0 to 1000");
}

static void algorithm__by_its_number(void **state)
{
	static const char *const wrong[] = {
		"rounds-0x", "rounds-0x7f:1", "rounds-0x8", "rounds-0x100", "rounds-0x85:",
		"rounds-0x85:1:2:3:4:5", "rounds-0x85:-1", "rounds-0x85:4294967296", "rounds-0x85x",
		"rounds-0x0x8", "rounds-0x85:1x", "rounds-0x+85", "rounds-0x 85",
	};
	char printed[SYNC_NAME_MAX];
	struct gagg_sync_param p;
	u32 i;

	(void)state;
	is("rounds-0xf0", 0xf0);
	is("rounds-0xf0:0:0:3", 0xf0);
	is("rounds-0xff:4294967295:4294967295:4294967295:4294967295", 0xff);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is_not(wrong[i], "an algorithm over rounds is written rounds-0xNN");
	is_not("rounds", "unknown sync mode");
	is_not("rounds-85", "unknown sync mode");
	/* one that has a name is that: with its parameters, and shown by it */
	assert_true(sync_text_parse("rounds-0x81:10:90", &p, NULL, 0));
	assert_string_equal(sync_print(&p, printed), "easgd-sync:10:90");
	is_not("rounds-0x81:10:101", "BETA of easgd-sync:TAU:BETA must be");
}

/* what the kernel is asked for need not come from a text */
static void check__refuses(void **state)
{
	static const struct {
		struct gagg_sync_param p;
		const char *said;
	} bad[] = {
		{ { 6, { 8 } }, "unknown sync mode" },
		{ { 18, { 0 } }, "unknown sync mode" },
		{ { 127, { 0 } }, "unknown sync mode" },
		{ { 256, { 0 } }, "unknown sync mode" },
		{ { ~0U, { 0 } }, "unknown sync mode" },
		{ { GAGG_SYNC_BSP, { 1 } }, "out of its range, or there are too many" },
		{ { GAGG_SYNC_BSP, { 0, 0, 0, 1 } }, "out of its range" },
		{ { GAGG_SYNC_SSP, { 1000001 } }, "out of its range" },
		{ { GAGG_SYNC_AKO, { 0, 4 } }, "out of its range" },
		{ { GAGG_SYNC_DSSP, { 4, 3 } }, "do not fit each other" },
		{ { GAGG_SYNC_DSSP_LITERAL, { 0, 1025 } }, "do not fit each other" },
	};
	struct gagg_sync_param p = { .arg = { ~0U, ~0U, ~0U, ~0U } };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *said = gagg_sync_check(&bad[i].p);

		assert_non_null(said);
		assert_non_null(strstr(said, bad[i].said));
	}
	/* of an algorithm over rounds, be it known or not, the core knows nothing */
	for (p.mode = 128; p.mode < 256; p.mode++)
		assert_null(gagg_sync_check(&p));
}

static void mode__enters_the_configuration(void **state)
{
	struct gagg_sync_param p;
	struct gagg_geom g;

	(void)state;
	memset(&g, 0, sizeof(g));
	sync_text_parse("ssp:0", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_true(g.store && g.snapshot && g.admits);
	sync_text_parse("ssp:1", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_true(g.store && !g.snapshot && !g.admits);
	sync_text_parse("r2sp:80:0", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_true(g.store && !g.snapshot && g.admits);
	sync_text_parse("ssp:1", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_int_equal(g.sync.arg[0], 1);
	assert_int_equal(gagg_sync_bound(&p), 1);
	sync_text_parse("dssp:2:9", &p, NULL, 0);
	assert_int_equal(gagg_sync_bound(&p), 9);
	sync_text_parse("dssp-literal:2:9", &p, NULL, 0);
	assert_int_equal(gagg_sync_bound(&p), ~0U);
	sync_text_parse("r2sp:80:5", &p, NULL, 0);
	assert_int_equal(gagg_sync_bound(&p), ~0U);
	sync_text_parse("dssp:0:0", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_true(g.store && g.snapshot);
	sync_text_parse("dssp:0:1", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_true(g.store && !g.snapshot);
	sync_text_parse("asp", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_true(g.store && !g.snapshot);
	assert_false(g.copies);
	sync_text_parse("ako:2:4", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_true(g.store && g.copies && !g.snapshot && !g.admits);
	assert_int_equal(gagg_sync_bound(&p), ~0U);
	sync_text_parse("easgd:4:20", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_true(g.store && !g.copies && !g.snapshot && !g.admits && !g.quorum);
	assert_int_equal(gagg_sync_bound(&p), ~0U);
	sync_text_parse("easgd-sync:4:20", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_false(g.store || g.copies);
	sync_text_parse("rounds-0xf0:1:2:3:4", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_false(g.store || g.copies || g.quorum || g.snapshot || g.admits || g.ordered);
	assert_int_equal(g.sync.mode, 0xf0);
	sync_text_parse("bsp", &p, NULL, 0);
	gagg_sync_apply(&g, &p);
	assert_false(g.store || g.copies);
}

static void tells(const char *text, u32 mode, u32 flags)
{
	struct gagg_geometry geo = { .flags = GAGG_GEO_INT8 };
	struct gagg_sync_param p;

	assert_true(sync_text_parse(text, &p, NULL, 0));
	gagg_sync_tell(&p, &geo);
	assert_int_equal(geo.mode, mode);
	assert_memory_equal(geo.arg, p.arg, sizeof(geo.arg));
	assert_int_equal(geo.flags, GAGG_GEO_INT8 | flags);
}

static void trainers__are_told_numbers(void **state)
{
	(void)state;
	tells("bsp", GAGG_SYNC_BSP, 0);
	tells("r2sp:80:1", GAGG_SYNC_R2SP, 0);
	tells("localsgd:1", GAGG_SYNC_LOCALSGD, 0);
	tells("rounds-0xf0:1:2:3:4", 0xf0, 0);
	tells("ako:4:1", GAGG_SYNC_AKO, 0);
	tells("bsp-quorum:1:0", GAGG_SYNC_BSP_QUORUM, 0);
	tells("bsp-quorum:2:1", GAGG_SYNC_BSP_QUORUM, GAGG_GEO_CARRY);
	tells("bsp-deadline:2:50:0", GAGG_SYNC_BSP_DEADLINE, 0);
	tells("bsp-deadline:2:50:1", GAGG_SYNC_BSP_DEADLINE, GAGG_GEO_CARRY);
	tells("bsp-adaptive:2:4:1", GAGG_SYNC_BSP_ADAPTIVE, GAGG_GEO_CARRY);
}

/* hosts tell each other by their numbers, so that these are for ever */
static void modes__keep_their_numbers(void **state)
{
	static const char *const names[256] = {
		"bsp", "asp", "ssp", "dssp", "dssp-literal", "r2sp", NULL, NULL,
		NULL, "bsp-quorum", "bsp-deadline", "bsp-adaptive", "ako", "gossip-pull",
		"gossip-push", "gossip-pair", "push-sum", "easgd",
		[128] = "localsgd", "easgd-sync", "hpsgd",
	};
	u32 i;

	(void)state;
	for (i = 0; i < 256; i++) {
		const struct sync_mode *m = sync_mode_find(i);

		assert_int_equal(!!m, !!names[i]);
		if (m)
			assert_string_equal(m->name, names[i]);
		assert_int_equal(!!gagg_sync_get(i), i >= 128 || m);
	}
	assert_null(gagg_sync_get(256));
	assert_null(gagg_sync_get(~0U));
}

static void modes__say_what_they_are(void **state)
{
	const struct sync_mode *m;
	struct gagg_sync_param p;
	u32 k, n, decimals;

	(void)state;
	for (m = sync_modes; m->name; m++) {
		const struct gagg_sync_ops *ops = gagg_sync_get(m->number);

		n = sync_mode_args(m);
		assert_true(*m->about);
		assert_int_equal(!!m->example, !!n);
		if (n) {
			assert_true(sync_text_parse(m->example, &p, NULL, 0));
			assert_int_equal(p.mode, m->number);
		}
		assert_int_equal(!!m->together, !!ops->fits);
		/* a range is said once: in the core, of what hosts carry out */
		for (k = 0, decimals = 0; k < n; k++) {
			assert_int_equal(!!m->arg[k].max, m->number >= GAGG_SYNC_ROUNDS);
			decimals += m->arg[k].decimals;
		}
		if (m->number < GAGG_SYNC_ROUNDS)
			assert_int_equal(ops->nargs, n + decimals);
		if (m->number < GAGG_SYNC_ROUNDS)
			assert_int_equal(ops->optional, m->optional + decimals);
	}
	for (k = 0; k < GAGG_SYNC_ROUNDS; k++) {
		const struct gagg_sync_ops *ops = gagg_sync_get(k);

		if (!ops)
			continue;
		assert_int_equal(!!ops->may_read, ops->store);
		assert_int_equal(!!ops->complete, ops->quorum);
	}
}

static u32 least(const u32 *clock, u64 members)
{
	u32 r, min = GAGG_CLOCK_END;

	for (r = 0; r < GAGG_RANKS; r++)
		if ((members & GAGG_BIT(r)) && clock[r] < min)
			min = clock[r];
	return min;
}

/* random ticks: repeated, overtaken, of the end */
static void clocks__know_the_least(void **state)
{
	static u32 clock[GAGG_RANKS];
	struct gagg_clocks k;
	u64 members, i, x;

	(void)state;
	for (members = 1; members; members = members << 1 | members >> 5) {
		memset(clock, 0, sizeof(clock));
		gagg_clocks_init(&k, &members);
		for (i = 0; i < 500; i++) {
			u32 r = (u32)((x = gagg_mix64(members, i)) % GAGG_RANKS);
			u32 to = clock[r] + (u32)(x >> 8) % 4 - 1;
			bool moved;

			if (!(members & GAGG_BIT(r)))
				continue;
			if ((x >> 20) % 64 == 1)
				to = GAGG_CLOCK_END;
			moved = to <= GAGG_CLOCK_END && to > clock[r];
			assert_int_equal(gagg_clocks_tick(&k, r, to), moved);
			if (moved)
				clock[r] = to;
			assert_int_equal(k.min, least(clock, members));
		}
		if (members >> 58)
			break;
	}
}

static bool ssp_reads(u32 bound, u32 min, u32 clock)
{
	struct gagg_sync_param p = { .arg = { bound } };
	struct gagg_clocks k = { .min = min };

	return gagg_sync_ssp.may_read(&p, NULL, &k, 0, clock);
}

static void ssp__reads_within_its_bound(void **state)
{
	u32 s, min, clock;

	(void)state;
	for (s = 0; s < 6; s++)
		for (min = 0; min < 12; min++)
			for (clock = 0; clock < 12; clock++)
				assert_int_equal(ssp_reads(s, min, clock),
						 (int)clock - (int)min <= (int)s);
	/* the rest has finished */
	assert_true(ssp_reads(0, GAGG_CLOCK_END, 5));
}

static void asp_and_easgd__wait_for_nobody(void **state)
{
	static const char *const modes[] = { "asp", "easgd:1:100", "easgd:1000000:1" };
	struct gagg_clocks k = { .members = { 3 } };
	struct gagg_sync_param p;
	u32 i, clock;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_true(sync_text_parse(modes[i], &p, NULL, 0));
		assert_null(gagg_sync_get(p.mode)->may_update);
		assert_null(gagg_sync_fits(&p, 1));
		for (clock = 0; clock < GAGG_CLOCK_END; clock = 2 * clock + 1)
			assert_true(gagg_sync_get(p.mode)->may_read(&p, NULL, &k, 0, clock));
	}
}

static void quorum__is_of_workers_that_there_are(void **state)
{
	static const char *const modes[] = {
		"bsp-quorum:3:0", "bsp-deadline:3:10:1", "bsp-adaptive:3:10:0",
	};
	struct gagg_sync_param p;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_true(sync_text_parse(modes[i], &p, NULL, 0));
		assert_non_null(strstr(gagg_sync_fits(&p, 2), "K of the sync mode must be at most"));
		assert_null(gagg_sync_fits(&p, 3));
	}
	/* another mode's first parameter is no number of ranks */
	assert_true(sync_text_parse("ssp:3", &p, NULL, 0));
	assert_null(gagg_sync_fits(&p, 2));
}

static void copies__take_two(void **state)
{
	struct gagg_sync_param p;

	(void)state;
	assert_true(sync_text_parse("ako:2:4", &p, NULL, 0));
	assert_non_null(strstr(gagg_sync_fits(&p, 1), "at least two workers"));
	assert_null(gagg_sync_fits(&p, 2));
	assert_true(sync_text_parse("push-sum:2", &p, NULL, 0));
	assert_non_null(strstr(gagg_sync_fits(&p, 1), "at least two workers"));
	assert_true(sync_text_parse("asp", &p, NULL, 0));
	assert_null(gagg_sync_fits(&p, 1));
}

/* in p clocks each partition goes to each rank once */
static void ako__takes_turns(void **state)
{
	const struct gagg_sync_ops *ops = &gagg_sync_ako;
	u32 part, to, c, from, n, clocks;

	(void)state;
	for (n = 1; n <= 9; n++) {
		const struct gagg_sync_param p = { .arg = { n, 3 } };

		for (to = 0; to < 8; to++)
			for (part = 0; part < n; part++)
				for (from = 0; from < 2; from++) {
					for (clocks = 0, c = from * 12345; c < from * 12345 + n; c++)
						clocks += ops->sends(&p, to, c, part + 7 * n);
					assert_int_equal(clocks, 1);
				}
		for (c = 0; c < 40; c++) {
			struct gagg_clocks k = { .min = 11 };

			assert_int_equal(ops->may_read(&p, NULL, &k, 0, c), c <= 11 + n + 3);
		}
	}
	assert_true(ops->sends(&(struct gagg_sync_param){ .arg = { 1024 } }, 63, 0x7ffffffe,
			       (63 + 0x7ffffffeU) % 1024));
}

static bool done(const char *mode, u32 contributed, u32 members, bool due)
{
	struct gagg_sync_param p;

	assert_true(sync_text_parse(mode, &p, NULL, 0));
	return gagg_sync_get(p.mode)->complete(&p, contributed, members, due);
}

static void quorum__is_complete(void **state)
{
	(void)state;
	assert_false(done("bsp-quorum:3:0", 2, 4, true));
	assert_true(done("bsp-quorum:3:0", 3, 4, false));
	/* fewer members than K */
	assert_false(done("bsp-quorum:3:0", 1, 2, true));
	assert_true(done("bsp-quorum:3:0", 2, 2, false));
	assert_false(done("bsp-deadline:3:10:0", 3, 4, false));
	assert_false(done("bsp-deadline:3:10:0", 2, 4, true));
	assert_true(done("bsp-deadline:3:10:0", 3, 4, true));
	assert_true(done("bsp-deadline:3:10:0", 4, 4, false));
	assert_true(done("bsp-adaptive:3:10:0", 3, 4, true));
}

static u64 limit(const char *mode, const struct gagg_delays *d)
{
	struct gagg_sync_param p;

	assert_true(sync_text_parse(mode, &p, NULL, 0));
	return gagg_sync_get(p.mode)->limit(&p, d);
}

static void deadline__fixed_or_of_what_was(void **state)
{
	struct gagg_delays d = { .n = 0 };
	u32 i;

	(void)state;
	assert_int_equal(limit("bsp-deadline:1:10:0", &d), 10 * GAGG_MSEC);
	/* 9 to 11 ms, and every eighth is a straggler of a second */
	for (i = 0; i < 2 * GAGG_DELAYS; i++) {
		assert_int_equal(limit("bsp-adaptive:1:4:0", &d) == GAGG_NEVER, i < GAGG_DELAYS);
		gagg_delays_add(&d, i % 8 == 3 ? GAGG_SEC : (9 + i % 3) * GAGG_MSEC);
	}
	assert_int_equal(limit("bsp-adaptive:1:4:0", &d), 14 * GAGG_MSEC);
	assert_int_equal(limit("bsp-adaptive:1:0:0", &d), 10 * GAGG_MSEC);
	memset(d.us, 0, sizeof(d.us));
	assert_int_equal(limit("bsp-adaptive:1:4:0", &d), GAGG_MSEC);
	d.n = ~0U;
	gagg_delays_add(&d, 0);
	assert_true(d.n >= GAGG_DELAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mode__from_text),
		cmocka_unit_test(mode__enters_the_configuration),
		cmocka_unit_test(algorithm__by_its_number),
		cmocka_unit_test(check__refuses),
		cmocka_unit_test(modes__keep_their_numbers),
		cmocka_unit_test(trainers__are_told_numbers),
		cmocka_unit_test(modes__say_what_they_are),
		cmocka_unit_test(clocks__know_the_least),
		cmocka_unit_test(ssp__reads_within_its_bound),
		cmocka_unit_test(asp_and_easgd__wait_for_nobody),
		cmocka_unit_test(quorum__is_of_workers_that_there_are),
		cmocka_unit_test(copies__take_two),
		cmocka_unit_test(ako__takes_turns),
		cmocka_unit_test(quorum__is_complete),
		cmocka_unit_test(deadline__fixed_or_of_what_was),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
