// SPDX-License-Identifier: GPL-2.0
/* links: kmod/simd_add.c kmod/simd_narrow.c kmod/core/reduce.c kmod/core/wire.c; libs: */
/*
 * The module's loops in vector registers do to the bit what the core's do, for every number
 * of words around their steps, at every alignment; and touch nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "full.h"
#include "kmod/simd_add.h"
#include "kmod/simd_narrow.h"

#define ADD	GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD)
#define ADD_WIDE GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD)
#define ADD_S16	GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD)
#define ADD_S8	GAGG_LANEOP(GAGG_LANE_S8, GAGG_OP_ADD)

#define PAGE	4096U
#define WORDS	2240U				/* of the longest chunk */
#define SPACE	((WORDS * 16 / PAGE + 2) * PAGE)	/* its sums, and more before */
#define AROUND	0xa5				/* its bytes */

/* memory that ends where nothing may be read or written; first a page likewise */
static u8 *space_new(void)
{
	u8 *p = mmap(NULL, SPACE + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + PAGE, SPACE, PROT_READ | PROT_WRITE), 0);
	return p + PAGE;
}

static bool usable(void)
{
#ifdef __x86_64__
	return __builtin_cpu_supports("avx2");
#else
	return false;
#endif
}

static u8 *from, *was, *to, *want;

static int spaces_new(void **state)
{
	(void)state;
	from = space_new();
	was = space_new();
	to = space_new();
	want = space_new();
	return 0;
}

/* @len bytes, @off of the end; the rest says whether it was touched */
static u8 *place(u8 *space, u32 len, u32 off)
{
	u32 before = SPACE - off - len;

	memset(space + before - 64, AROUND, 64);
	memset(space + SPACE - off, AROUND, off);
	return space + before;
}

/* random enough, in its upper bits, and cheap */
static u64 step(u64 x)
{
	return x * 6364136223846793005ULL + 1;
}

static void fill(u8 *p, u32 words, u32 bits, u64 seed)
{
	u64 x = gagg_mix64(seed, 0);
	u32 i;

	for (i = 0; i < words; i++) {
		s32 v;

		x = step(x);
		v = (s32)(x >> 61 ? (u32)(x >> 24) : x >> 60 & 1 ? 0x80000000U : 0x7fffffffU);

		v >>= 32 - bits;
		memcpy(p + 4 * i, &v, 4);
	}
}

/* contributions: the ends of the range as well, and ties */
static void fill_lanes(u8 *p, u32 words, u64 seed)
{
	static const u8 edges[] = { 0x80, 0x7f, 0xff, 0, 1, 0x40, 0xc0, 3 };
	u64 x = gagg_mix64(seed, 0);
	u32 i;

	for (i = 0; i < words * 4; i++) {
		x = step(x);
		p[i] = x >> 63 ? (u8)(x >> 48) : edges[(x >> 48) % sizeof(edges)];
	}
}

enum how { STORE, INPLACE, APART, HOWS };

/* sums have as many bits as they can without wrapping, or all */
static void add(u8 laneop, enum how how, u32 n, u32 shift, u32 off, u64 seed)
{
	u32 len = n * 4 << gagg_lane_narrow(laneop);
	u8 *b = place(from, n * 4, off), *a = place(was, len, off);
	u8 *d = place(to, len, off), *w = place(want, len, off);

	fill_lanes(b, n, seed);
	fill(a, len / 4, seed & 1 ? 32 : 22, seed + 1);
	memcpy(w, a, len);
	memcpy(d, a, len);
	gagg_reduce_chunk(laneop, w, how == STORE ? NULL : a, b, n, shift);
	gagg_simd_add(laneop, d, how == STORE ? NULL : how == INPLACE ? d : a, b, n, shift);
	if (memcmp(d, w, len)) {
		print_message("# laneop %#x how %d n %u shift %u off %u\n", laneop, how, n,
			      shift, off);
		assert_memory_equal(d, w, len);
	}
	/* and around */
	assert_memory_equal(to + SPACE - off, want + SPACE - off, off);
	assert_memory_equal(d - 64, w - 64, 64);
}

static const u32 shifts[] = { 0, 1, 2, 6, 7, 8, 9, 14, 15, 16, 17, 31, 32, 64, 255 };

static void add_all(u8 laneop, u32 n, u32 off, u64 *seed)
{
	bool narrow = gagg_lane_narrow(laneop);
	u32 s, how;

	for (how = narrow ? STORE : INPLACE; gagg_reduce_fits(laneop, n) && how < HOWS; how++)
		for (s = 0; s < (narrow ? sizeof(shifts) / sizeof(shifts[0]) : 1); s++)
			add(laneop, how, n, shifts[s], off, (*seed)++);
}

/* the largest step is of 128 words: that and some, the default chunk, the longest */
static u32 next(u32 n)
{
	switch (n) {
	case 140:
		return 340;
	case 350:
		return WORDS - 9;
	default:
		return n + 1;
	}
}

/* of five offsets all, or one, in turn */
static u32 skips(void)
{
	return full_or(1, 5);
}

static void test_add(void **state)
{
	static const u8 ops[] = { ADD, ADD_WIDE, ADD_S16, ADD_S8 };
	u64 seed = 0;
	u32 n, o, off;

	(void)state;
	if (!usable())
		skip();
	for (n = 1; n <= WORDS; n = next(n))
		for (o = 0; o < sizeof(ops); o++)
			for (off = n % skips(); off < 5; off += skips())
				add_all(ops[o], n, off, &seed);
}

static void narrow(u8 laneop, u32 n, u32 bits, u32 off, u64 seed)
{
	u32 sums = n << gagg_lane_narrow(laneop);
	u8 *sum = place(from, sums * 4, off), *d = place(to, n * 4, off);
	u8 *w = place(want, n * 4, off);
	u32 s;

	fill(sum, sums, bits, seed);
	s = gagg_narrow_chunk(laneop, w, sum, n);
	assert_int_equal(gagg_simd_narrow(laneop, d, sum, n), s);
	if (memcmp(d, w, n * 4)) {
		print_message("# laneop %#x n %u bits %u off %u\n", laneop, n, bits, off);
		assert_memory_equal(d, w, n * 4);
	}
	assert_memory_equal(to + SPACE - off, want + SPACE - off, off);
	assert_memory_equal(d - 64, w - 64, 64);
}

static void test_narrow(void **state)
{
	u32 n, bits, off;
	u64 seed = 0;

	(void)state;
	if (!usable())
		skip();
	for (n = 1; n <= WORDS; n = next(n))
		for (off = n % skips(); off < 5; off += skips())
			for (bits = 1; bits <= 32; bits++) {
				narrow(ADD_S16, n, bits, off, seed++);
				narrow(ADD_S8, n, bits, off, seed++);
			}
}

/* the largest decides, wherever it is: at each place of 40 words */
static void test_largest(void **state)
{
	u32 i, n = 40;

	(void)state;
	if (!usable())
		skip();
	for (i = 0; i < n * 4; i++) {
		u8 *sum = place(from, n * 16, 0);
		s32 v = i & 1 ? -1000 : 1000;

		memset(sum, 0, n * 16);
		memcpy(sum + 4 * i, &v, 4);
		assert_int_equal(gagg_simd_narrow(ADD_S8, to, sum, n), 3);
		assert_int_equal(to[i], v / 8 & 0xff);
		v = -0x7fffffff - 1;
		memcpy(sum + 4 * i, &v, 4);
		assert_int_equal(gagg_simd_narrow(ADD_S8, to, sum, n), 25);
		v = i & 1 ? -256000 : 256000;
		if (i >= n * 2)
			continue;
		memcpy(sum + 4 * i, &v, 4);
		assert_int_equal(gagg_simd_narrow(ADD_S16, to, sum, n), 3);
	}
}

/* what it is not for is the core's */
static void test_can(void **state)
{
	u32 laneop;
	u8 a;

	(void)state;
	for (laneop = 0; laneop < 256; laneop++) {
		bool narrow = laneop == ADD_S16 || laneop == ADD_S8;

		assert_int_equal(gagg_simd_can((u8)laneop, NULL, 0), narrow);
		assert_int_equal(gagg_simd_can((u8)laneop, &a, 0),
				 narrow || laneop == ADD || laneop == ADD_WIDE);
		assert_int_equal(gagg_simd_can((u8)laneop, &a, 3), narrow || laneop == ADD_WIDE);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_can),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (!usable())
		print_message("# no AVX2 here: it was not tested\n");
	return cmocka_run_group_tests(tests, spaces_new, NULL);
}
