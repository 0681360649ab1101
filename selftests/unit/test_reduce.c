// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/reduce.c kmod/core/wire.c; libs: */
/*
 * Every loop against one lane at a time in 64 bits, for every number of lanes
 * around the unrolling and the default chunk, at every alignment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reduce.h"

#define ADD	GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD)
#define MIN	GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MIN)
#define MAX	GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MAX)
#define MAX_U8	GAGG_LANEOP(GAGG_LANE_U8, GAGG_OP_MAX)
#define ADD_WIDE GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD)
#define ADD_S16	GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD)
#define ADD_S8	GAGG_LANEOP(GAGG_LANE_S8, GAGG_OP_ADD)

/*
 * Rounding by the remainder: q = f * 2^s + r with 0 <= r < 2^s. Shares nothing
 * with the addition of a bias.
 */
static s64 oracle_shift(s64 q, u32 s)
{
	s64 unit, floor, rest;

	if (s > 40)
		return 0;
	unit = (s64)1 << s;
	rest = q % unit;
	if (rest < 0)
		rest += unit;
	floor = (q - rest) / unit;
	if (2 * rest > unit || (2 * rest == unit && floor % 2))
		floor++;
	return floor;
}

static s32 lane(const u8 *p)
{
	return (s32)((u32)p[0] | (u32)p[1] << 8 | (u32)p[2] << 16 | (u32)p[3] << 24);
}

static void set_lane(u8 *p, s64 v)
{
	p[0] = (u8)v;
	p[1] = (u8)(v >> 8);
	p[2] = (u8)(v >> 16);
	p[3] = (u8)(v >> 24);
}

/* digit by digit, as by hand */
static void oracle_wide(u8 *dst, const u8 *a, const u8 *b)
{
	u32 i, sum = 0;

	for (i = 0; i < 8; i++) {
		sum = (a ? a[i] : 0) + b[i] + (sum >> 8);
		dst[i] = (u8)sum;
	}
}

static void oracle(u8 laneop, u8 *dst, const u8 *a, const u8 *b, u32 n, u32 shift)
{
	u32 i;

	for (i = 0; i < n * 4 && laneop == ADD_WIDE; i += 8)
		oracle_wide(dst + i, a ? a + i : NULL, b + i);
	if (laneop == ADD_WIDE)
		return;
	for (i = 0; i < n * 4 && laneop == MAX_U8; i++)
		dst[i] = !a || b[i] > a[i] ? b[i] : a[i];
	for (i = 0; i < n && laneop != MAX_U8; i++, dst += 4, b += 4) {
		s64 y = lane(b), x = a ? lane(a + 4 * i) : 0;

		if (laneop == ADD)
			set_lane(dst, x + oracle_shift(y, shift));
		else if (!a)
			set_lane(dst, y);
		else if (laneop == MIN)
			set_lane(dst, x < y ? x : y);
		else
			set_lane(dst, x > y ? x : y);
	}
}

static const s32 edges[] = {
	0, 1, -1, 2, -2, 3, -3, 0x7fffffff, -0x7fffffff, -0x7fffffff - 1,
	0x7ffffffe, 0x40000000, -0x40000000, 0x40000001, 0x3fffffff, 0x55555555,
	0x60000000, -0x60000000, 0x20000000, 0x80, 0xff, 0x7f,
};

static void fill(u8 *p, u32 n, u64 seed)
{
	u32 i;

	for (i = 0; i < n; i++) {
		u64 x = gagg_mix64(seed, i);

		set_lane(p + 4 * i, x & 3 ? (s64)(x >> 16) :
			 edges[(x >> 8) % (sizeof(edges) / sizeof(edges[0]))]);
	}
}

static void test_shift(void **state)
{
	u32 i, s;

	(void)state;
	for (i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		for (s = 0; s < 300; s++)
			assert_int_equal(gagg_shift_rne(edges[i], s), oracle_shift(edges[i], s));
	/* ties and their neighbours */
	for (s = 1; s < 32; s++)
		for (i = 0; i < 64; i++) {
			s64 tie = (((s64)i - 32) * 2 + 1) * ((s64)1 << (s - 1));
			s32 d;

			for (d = -1; d <= 1; d++)
				if (tie + d == (s32)(tie + d))
					assert_int_equal(gagg_shift_rne((s32)(tie + d), s),
							 oracle_shift(tie + d, s));
		}
	assert_int_equal(gagg_shift_rne(1, 1), 0);
	assert_int_equal(gagg_shift_rne(3, 1), 2);
	assert_int_equal(gagg_shift_rne(-1, 1), 0);
	assert_int_equal(gagg_shift_rne(-3, 1), -2);
	assert_int_equal(gagg_shift_rne(0x7fffffff, 31), 1);
	assert_int_equal(gagg_shift_rne(-0x7fffffff - 1, 31), -1);
	assert_int_equal(gagg_shift_rne(-0x7fffffff - 1, 32), 0);
}

enum how { STORE, INPLACE, APART, HOWS };

/* memory of its own for each buffer: one byte too far is found */
static void run(u8 laneop, enum how how, u32 n, u32 shift, u32 off, u64 seed)
{
	u32 len = n * 4;
	u8 *a = malloc(len + off), *b = malloc(len + off), *d = malloc(len + off);
	u8 *want = malloc(len), *before = malloc(len);

	assert_true(a && b && d && want && before);
	fill(a + off, n, seed);
	fill(b + off, n, seed + 1);
	fill(d + off, n, seed + 2);
	memcpy(before, a + off, len);
	oracle(laneop, want, how == STORE ? NULL : a + off, b + off, n, shift);
	switch (how) {
	case STORE:
		gagg_reduce_chunk(laneop, d + off, NULL, b + off, n, shift);
		break;
	case INPLACE:
		gagg_reduce_chunk(laneop, a + off, a + off, b + off, n, shift);
		break;
	default:
		gagg_reduce_chunk(laneop, d + off, a + off, b + off, n, shift);
		assert_memory_equal(a + off, before, len);
		break;
	}
	if (memcmp(how == INPLACE ? a + off : d + off, want, len))
		print_message("# laneop %#x how %d n %u shift %u off %u\n", laneop, how, n,
			      shift, off);
	assert_memory_equal(how == INPLACE ? a + off : d + off, want, len);
	free(a);
	free(b);
	free(d);
	free(want);
	free(before);
}

static void test_chunk(void **state)
{
	static const u8 ops[] = { ADD, MIN, MAX, MAX_U8, ADD_WIDE };
	static const u32 shifts[] = { 0, 1, 2, 7, 8, 15, 16, 24, 30, 31, 32, 33, 64, 255 };
	u64 seed = 0;
	u32 o, how, n, s, off;

	(void)state;
	for (n = 1; n <= 345; n++) {
		if (n == 18)
			n = 343;
		for (o = 0; o < sizeof(ops); o++)
			for (how = 0; gagg_reduce_fits(ops[o], n) && how < HOWS; how++)
				for (off = 0; off < 5; off++)
					for (s = 0; s < (ops[o] == ADD ? 14 : 1); s++)
						run(ops[o], how, n, shifts[s], off, seed += 3);
	}
}

/* the order of additions does not matter, nor does wrapping on the way */
static void test_wraps(void **state)
{
	u8 acc[4], lanes[4];

	(void)state;
	set_lane(acc, 0x7fffffff);
	set_lane(lanes, 1);
	gagg_reduce_chunk(ADD, acc, acc, lanes, 1, 0);
	assert_int_equal(lane(acc), -0x7fffffff - 1);
	set_lane(lanes, -1);
	gagg_reduce_chunk(ADD, acc, acc, lanes, 1, 0);
	assert_int_equal(lane(acc), 0x7fffffff);
}

/* a sum that int32 loses, and one that goes once around */
static void test_wide(void **state)
{
	u8 acc[8] = { 0 }, lanes[8] = { 0 }, was[8];
	u32 i;

	(void)state;
	set_lane(lanes, 0x7fffffff);
	for (i = 0; i < 5; i++)
		gagg_reduce_chunk(ADD_WIDE, acc, acc, lanes, 2, 0);
	assert_int_equal(lane(acc), 0x7ffffffb);
	assert_int_equal(lane(acc + 4), 2);
	memset(lanes, 0xff, sizeof(lanes));
	memset(acc, 0, sizeof(acc));
	gagg_reduce_chunk(ADD_WIDE, acc, acc, lanes, 2, 0);
	assert_memory_equal(acc, lanes, 8);
	set_lane(lanes, 1);
	set_lane(lanes + 4, 0);
	gagg_reduce_chunk(ADD_WIDE, acc, acc, lanes, 2, 0);
	assert_int_equal(lane(acc) | lane(acc + 4), 0);
	/* no shift; and no half of a lane is touched */
	gagg_reduce_chunk(ADD_WIDE, acc, acc, lanes, 2, 1);
	assert_int_equal(lane(acc), 1);
	memcpy(was, acc, sizeof(was));
	gagg_reduce_chunk(ADD_WIDE, acc, acc, lanes, 1, 0);
	gagg_reduce_chunk(ADD_WIDE, acc, NULL, lanes, 1, 0);
	assert_memory_equal(acc, was, sizeof(was));
}

/* lane @i of narrow ones; the sign by its weight */
static s32 narrow_lane(u8 laneop, const u8 *b, u32 i)
{
	if (laneop == ADD_S8)
		return b[i] - 2 * (b[i] & 0x80);
	return b[2 * i] + 256 * b[2 * i + 1] - 2 * 256 * (b[2 * i + 1] & 0x80);
}

/* to sums of int32, at any alignment; in place, from another place, the first */
static void narrow_sums(u8 laneop, u32 how, u32 n, u32 shift, u32 off, u64 seed)
{
	u32 lanes = n * (laneop == ADD_S8 ? 4 : 2), i;
	u8 *a = malloc(lanes * 4 + off), *b = malloc(n * 4 + off), *d = malloc(lanes * 4 + off);
	u8 *to = how == INPLACE ? a : d;

	fill(a + off, lanes, seed);
	fill(b + off, n, seed + 1);
	memset(b + off, seed & 1 ? 0x80 : 0x7f, 4);
	for (i = 0; i < lanes; i++)	/* no sum of contributions has more bits */
		set_lane(a + off + 4 * i, lane(a + off + 4 * i) >> 9);
	memcpy(d, a, lanes * 4 + off);
	gagg_reduce_chunk(laneop, to + off, how == STORE ? NULL : a + off, b + off, n, shift);
	for (i = 0; i < lanes; i++) {
		/* in d is what was in a; if that is written, the other way round */
		s64 was = how == STORE ? 0 : lane((how == INPLACE ? d : a) + off + 4 * i);

		assert_int_equal(lane(to + off + 4 * i),
				 was + oracle_shift(narrow_lane(laneop, b + off, i), shift));
	}
	free(a);
	free(b);
	free(d);
}

/* back to narrow lanes, with the least shift: one less, and the largest does not fit */
static void narrow_again(u8 laneop, u32 n, u32 bits, u64 seed)
{
	u32 lanes = n * (laneop == ADD_S8 ? 4 : 2), i, s;
	s64 limit = laneop == ADD_S8 ? 127 : 32767, most = 0;
	u8 *sum = malloc(lanes * 4 + 1), *dst = malloc(n * 4 + 1);

	fill(sum + 1, lanes, seed);
	for (i = 0; i < lanes; i++) {
		set_lane(sum + 1 + 4 * i, lane(sum + 1 + 4 * i) >> (32 - bits));
		most = llabs(lane(sum + 1 + 4 * i)) > most ? llabs(lane(sum + 1 + 4 * i)) : most;
	}
	s = gagg_narrow_chunk(laneop, dst + 1, sum + 1, n);
	assert_true(oracle_shift(most, s) <= limit);
	assert_true(!s || oracle_shift(most, s - 1) > limit);
	for (i = 0; i < lanes; i++)
		assert_int_equal(narrow_lane(laneop, dst + 1, i),
				 oracle_shift(lane(sum + 1 + 4 * i), s));
	free(sum);
	free(dst);
}

static void test_narrow(void **state)
{
	static const u32 shifts[] = { 0, 1, 2, 6, 7, 8, 9, 14, 15, 16, 17, 31, 32, 64, 255 };
	u8 sum[8], dst[4] = { 1, 2, 3, 4 };
	u32 n, how, s, off, bits;
	u64 seed = 0;

	(void)state;
	for (n = 1; n <= 345; n++) {
		if (n == 18)
			n = 343;
		for (how = 0; how < HOWS; how++)
			for (off = 0; off < 3; off++)
				for (s = 0; s < 15; s++) {
					narrow_sums(ADD_S16, how, n, shifts[s], off, seed += 3);
					narrow_sums(ADD_S8, how, n, shifts[s], off, seed += 3);
				}
		for (bits = 1; bits <= 32; bits++) {
			narrow_again(ADD_S16, n, bits, seed += 3);
			narrow_again(ADD_S8, n, bits, seed += 3);
		}
	}
	/* where rounding decides whether it fits: 32767.5 would be 32768 */
	set_lane(sum, 65535);
	set_lane(sum + 4, -65534);
	assert_int_equal(gagg_narrow_chunk(ADD_S16, dst, sum, 1), 2);
	assert_int_equal(narrow_lane(ADD_S16, dst, 0), 16384);
	assert_int_equal(narrow_lane(ADD_S16, dst, 1), -16384);
	set_lane(sum, 65534);
	assert_int_equal(gagg_narrow_chunk(ADD_S16, dst, sum, 1), 1);
	assert_int_equal(narrow_lane(ADD_S16, dst, 0), 32767);
	/* -2^15 would have no counterpart */
	set_lane(sum, -32768);
	set_lane(sum + 4, 0);
	assert_int_equal(gagg_narrow_chunk(ADD_S16, dst, sum, 1), 1);
	/* others stay what they are */
	memcpy(dst, "\1\2\3\4", 4);
	assert_int_equal(gagg_narrow_chunk(ADD, dst, sum, 1), 0);
	assert_memory_equal(dst, "\1\2\3\4", 4);
}

static void test_fits(void **state)
{
	u8 lanes[4] = { 1, 2, 3, 4 }, dst[4] = { 5, 6, 7, 8 };
	u32 laneop;

	(void)state;
	for (laneop = 0; laneop < 256; laneop++) {
		bool known = laneop == ADD || laneop == MIN || laneop == MAX || laneop == MAX_U8 ||
			     laneop == ADD_S16 || laneop == ADD_S8;

		assert_int_equal(gagg_reduce_fits((u8)laneop, 1), known);
		assert_int_equal(gagg_reduce_fits((u8)laneop, 2), known || laneop == ADD_WIDE);
		if (known)
			continue;
		gagg_reduce_chunk((u8)laneop, dst, NULL, lanes, 1, 0);
		gagg_reduce_chunk((u8)laneop, dst, dst, lanes, 1, 0);
		assert_memory_equal(dst, "\5\6\7\10", 4);
	}
	/* a shift is for sums of S32 only */
	gagg_reduce_chunk(MAX_U8, dst, NULL, lanes, 1, 3);
	assert_memory_equal(dst, lanes, 4);
	gagg_reduce_chunk(MIN, dst, NULL, lanes, 1, 40);
	assert_memory_equal(dst, lanes, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_chunk),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_fits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
