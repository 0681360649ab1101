// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/digest.c kmod/core/group/param.c kmod/core/group/roster.c kmod/core/geom.c kmod/core/wire.c sync; libs: */
/* Hosts of all builds must find the same numbers: vectors of lookup3.c, and the
 * numbers of version 1 of the wire.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "group/digest.h"
#include "group/roster.h"
#include "agent/conf/sync_text.h"

static u32 hash(const char *s, u32 seed)
{
	return gagg_hash(s, (u32)strlen(s), seed);
}

/* what driver5() of lookup3.c prints */
static void test_hash__vectors(void **state)
{
	(void)state;
	assert_int_equal(hash("", 0), 0xdeadbeef);
	assert_int_equal(hash("", 0xdeadbeef), 0xbd5b7dde);
	assert_int_equal(hash("Four score and seven years ago", 0), 0x17770551);
	assert_int_equal(hash("Four score and seven years ago", 1), 0xcd628161);
}

/* in any alignment, of any length: each byte counts */
static void test_hash__bytes(void **state)
{
	char buf[64];
	u32 len, at, i;

	(void)state;
	for (len = 1; len < 40; len++)
		for (at = 0; at < 4; at++) {
			u32 was;

			memset(buf, 'x', sizeof(buf));
			was = gagg_hash(buf + at, len, 7);
			assert_int_equal(was, gagg_hash(buf, len, 7));
			for (i = 0; i < len; i++) {
				buf[at + i] ^= 0x80;
				assert_int_not_equal(gagg_hash(buf + at, len, 7), was);
				buf[at + i] ^= 0x80;
			}
		}
}

static void test_group_id(void **state)
{
	(void)state;
	assert_int_equal(gagg_group_id("g"), hash("g", 0));
	assert_int_not_equal(gagg_group_id(""), 0);
}

static void digest(const struct gagg_roster *r, u32 d[GAGG_DG_COUNT])
{
	const struct gagg_sync_param sync = { 0 };
	struct gagg_params v;

	gagg_params_default(&v);
	gagg_digest_group(r, &v, &sync, d);
}

static void test_member(void **state)
{
	static const u8 v4[4] = { 10, 77, 0, 1 }, v6[16] = { 0xfd, 0x77, [15] = 1 };
	struct gagg_roster r = { 0 }, swapped = { 0 };
	u32 a[GAGG_DG_COUNT], b[GAGG_DG_COUNT];

	(void)state;
	/* in any order */
	gagg_roster_enter(&r, 1, 1, v6, 16);
	gagg_roster_enter(&r, 0, 3, v4, 4);
	digest(&r, a);
	assert_int_equal(a[GAGG_DG_MEMBERS], 2);
	assert_int_equal(a[GAGG_DG_ADDRESS], 0xe2b0772d);
	assert_int_equal(a[GAGG_DG_ROLE], 0xb37344c3);
	assert_int_equal(a[GAGG_DG_RULES], gagg_digest_fold(1, GAGG_DG_RULES));
	/* which rank has which address and role matters */
	gagg_roster_enter(&swapped, 0, 1, v6, 16);
	gagg_roster_enter(&swapped, 1, 3, v4, 4);
	digest(&swapped, b);
	assert_int_not_equal(a[GAGG_DG_ADDRESS], b[GAGG_DG_ADDRESS]);
	assert_int_not_equal(a[GAGG_DG_ROLE], b[GAGG_DG_ROLE]);
	assert_int_equal(a[GAGG_DG_MEMBERS], b[GAGG_DG_MEMBERS]);
}

/* what is sent of each field for a value: itself, or its hash. Hashes: as Python has them */
static void test_numbers(void **state)
{
	static const u32 sent[] = {
		[GAGG_DG_MEMBERS] = 7, [GAGG_DG_ADDRESS] = 0x393808bc, [GAGG_DG_ROLE] = 0xcb86af56,
		[GAGG_DG_RULES] = 0x819d71a4, [GAGG_DG_LANES] = 7, [GAGG_DG_RING] = 7,
		[GAGG_DG_WINDOW] = 7, [GAGG_DG_STRIPE] = 7, [GAGG_DG_SHARDS] = 7,
		[GAGG_DG_PORT] = 7, [GAGG_DG_SYNC] = 7, [GAGG_DG_PLACEMENT] = 7,
		[GAGG_DG_DEAD_AFTER] = 7, [GAGG_DG_KEY] = 0x8c4e9964, [GAGG_DG_LANE_TYPE] = 7,
		[GAGG_DG_WIRE] = 7,
	};
	u32 i;

	(void)state;
	for (i = 0; i < GAGG_DG_COUNT; i++) {
		bool number = sent[i] == 7;

		assert_int_equal(gagg_digest_fold(7, i), sent[i]);
		assert_int_equal(gagg_digest_is_number(i), number);
		/* no two values of a number are sent alike */
		if (number)
			assert_int_equal(gagg_digest_fold(UINT32_MAX, i), UINT32_MAX);
	}
	/* the versions */
	assert_true(gagg_digest_is_number(GAGG_DG_COUNT));
	assert_false(gagg_digest_is_number(GAGG_DG_COUNT + 1));
	assert_false(gagg_digest_is_number(32 + GAGG_DG_WINDOW));
	assert_false(gagg_digest_is_number(UINT32_MAX));
}

static void test_multicast(void **state)
{
	static const u8 v4[4] = { 239, 77, 0, 1 }, v6[16] = { 0xff, 0x15, [15] = 1 };
	u32 without[GAGG_DG_COUNT], with[GAGG_DG_COUNT], other[GAGG_DG_COUNT], i;
	struct gagg_roster r = { 0 };

	(void)state;
	gagg_roster_enter(&r, 0, 3, v4, 4);
	digest(&r, without);
	r.multicast = v4;
	r.multicast_len = 4;
	digest(&r, with);
	assert_int_equal(with[GAGG_DG_ADDRESS], 0xae37a98c);
	/* it is no member, and which it is matters */
	for (i = 0; i < GAGG_DG_COUNT; i++)
		assert_true((with[i] == without[i]) == (i != GAGG_DG_ADDRESS));
	r.multicast = v6;
	r.multicast_len = 16;
	digest(&r, other);
	assert_int_not_equal(with[GAGG_DG_ADDRESS], other[GAGG_DG_ADDRESS]);
}

/* modes and parameters that fit, and that do not */
static void test_sync(void **state)
{
	static const struct {
		const char *mode, *said;
		u32 digest;
	} cases[] = {
		{ "bsp", "bsp", 0 },
		{ "asp", "asp", 1 << 24 },
		{ "ssp:0", "ssp:0", 2 << 24 | 1 << 21 },
		{ "ssp:3", "ssp:3", 2 << 24 | 1 << 21 | 3 },
		{ "dssp:1:5", "dssp:1:5", 3 << 24 | 2 << 21 | 1 << 10 | 5 },
		{ "bsp-deadline:3:2:1", "bsp-deadline:3:2:1",
		  10 << 24 | 3 << 21 | 3 << 14 | 2 << 7 | 1 },
		{ "bsp-deadline:3:127:1", "bsp-deadline:3:127:1",
		  10 << 24 | 3 << 21 | 3 << 14 | 127 << 7 | 1 },
		{ "bsp-deadline:3:128:1", "bsp-deadline:#505ba", 10 << 24 | 1 << 23 | 0x505ba },
		{ "bsp-deadline:3:129:1", "bsp-deadline:#b070b", 10 << 24 | 1 << 23 | 0xb070b },
		/* what may be left out, up to the last that was not */
		{ "r2sp:80:0", "r2sp:80:0", 5 << 24 | 2 << 21 | 80 << 10 },
		{ "r2sp:80:5000:0", "r2sp:#dc92e", 5 << 24 | 1 << 23 | 0xdc92e },
		{ "easgd:4:22", "easgd:4:22", 17 << 24 | 2 << 21 | 4 << 10 | 22 },
		{ "easgd:4:1.01", "easgd:4:1.01", 17 << 24 | 3 << 21 | 4 << 14 | 1 << 7 | 100 },
		{ "r2sp:80:5:3", "r2sp:80:5:3", 5 << 24 | 3 << 21 | 80 << 14 | 5 << 7 | 3 },
		/* algorithms over rounds: their parameters up to the last that is not 0 */
		{ "localsgd:8", "localsgd:8", 128U << 24 | 1 << 21 | 8 },
		{ "easgd-sync:10:90", "easgd-sync:10:90", 129U << 24 | 2 << 21 | 10 << 10 | 90 },
		{ "hpsgd:8", "hpsgd:8", 130U << 24 | 1 << 21 | 8 },
		{ "rounds-0xf0", "rounds-0xf0", 240U << 24 },
		{ "rounds-0xf0:0:7", "rounds-0xf0:0:7", 240U << 24 | 2 << 21 | 7 },
		{ "rounds-0xf0:0:7:0:0", "rounds-0xf0:0:7", 240U << 24 | 2 << 21 | 7 },
		{ "rounds-0xff:0:0:127", "rounds-0xff:0:0:127", 255U << 24 | 3 << 21 | 127 },
		{ "rounds-0xff:0:0:0:1", "rounds-0xff:#181c6c", 255U << 24 | 1 << 23 | 0x181c6c },
	};
	struct gagg_sync_param p = { 0 };
	char text[SYNC_NAME_MAX];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(sync_text_parse(cases[i].mode, &p, NULL, 0));
		assert_int_equal(gagg_digest_sync(&p), cases[i].digest);
		assert_string_equal(sync_name(cases[i].digest, text), cases[i].said);
	}
	/* what another host says need be no mode */
	assert_string_equal(sync_name(18 << 24, text), "mode 18");
	assert_string_equal(sync_name(8 << 24 | 1 << 21 | 4, text), "mode 8:4");
	assert_string_equal(sync_name(GAGG_SYNC_SSP << 24, text), "ssp:0");
	assert_string_equal(sync_name(GAGG_SYNC_ASP << 24 | 1 << 21 | 5, text), "asp:5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash__vectors),
		cmocka_unit_test(test_hash__bytes),
		cmocka_unit_test(test_group_id),
		cmocka_unit_test(test_member),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_multicast),
		cmocka_unit_test(test_sync),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
