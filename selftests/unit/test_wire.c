// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/wire.c agent/lib/call.c; libs: */
/*
 * Golden headers in selftests/golden/wire.txt: each is built from its fields,
 * parsed into them, and refused with every length but its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "call.h"
#include "full.h"
#include "wire.h"

#define MAX_LEN		(GAGG_WIRE_HDRLEN + 4 * GAGG_WIRE_LANES_MAX)

struct golden {
	char name[32];
	struct gagg_msg m;
	u8 bytes[GAGG_WIRE_HDRLEN];
};

static struct golden golden[64];
static u32 ngolden;

static const struct field {
	const char *name;
	size_t offset, size;
} fields[] = {
#define FIELD(f) { #f, offsetof(struct gagg_msg, f), sizeof(((struct gagg_msg *)0)->f) }
	FIELD(type), FIELD(laneop), FIELD(flags), FIELD(group), FIELD(epoch),
	FIELD(channel), FIELD(src), FIELD(sig), FIELD(chunk), FIELD(round),
	FIELD(run), FIELD(lanes), FIELD(exp), FIELD(want), FIELD(weight),
	FIELD(pn), FIELD(aux), FIELD(cookie),
	{ "payload", offsetof(struct gagg_msg, len), 4 },
};

#define NFIELDS	(sizeof(fields) / sizeof(fields[0]))

static u64 get_field(const struct gagg_msg *m, const struct field *f)
{
	const char *p = (const char *)m + f->offset;

	switch (f->size) {
	case 1:	return *(const u8 *)p;
	case 2:	return *(const u16 *)p;
	case 4:	return *(const u32 *)p;
	default: return *(const u64 *)p;
	}
}

static void set_field(struct gagg_msg *m, const char *name, u64 v)
{
	size_t i;

	for (i = 0; i < NFIELDS; i++) {
		char *p = (char *)m + fields[i].offset;

		if (strcmp(fields[i].name, name))
			continue;
		switch (fields[i].size) {
		case 1:	*(u8 *)p = (u8)v; break;
		case 2:	*(u16 *)p = (u16)v; break;
		case 4:	*(u32 *)p = (u32)v; break;
		default: *(u64 *)p = v; break;
		}
		assert_true(get_field(m, &fields[i]) == v);
		return;
	}
	fail_msg("no field %s", name);
}

static void assert_same(const struct gagg_msg *a, const struct gagg_msg *b)
{
	size_t i;

	for (i = 0; i < NFIELDS; i++)
		if (get_field(a, &fields[i]) != get_field(b, &fields[i]))
			fail_msg("field %s: %#llx is not %#llx", fields[i].name,
				 (unsigned long long)get_field(a, &fields[i]),
				 (unsigned long long)get_field(b, &fields[i]));
}

static int read_golden(void **state)
{
	FILE *file = fopen("selftests/golden/wire.txt", "r");
	char line[1024];

	(void)state;
	if (!file) {
		print_error("# run in the top directory: no selftests/golden/wire.txt\n");
		return -1;
	}
	while (fgets(line, sizeof(line), file)) {
		struct golden *g = &golden[ngolden];
		char *word = strtok(line, " \n"), *value;
		size_t i, n = 0;

		if (!word || *word == '#')
			continue;
		assert_true(ngolden < 64);
		snprintf(g->name, sizeof(g->name), "%s", word);
		while ((word = strtok(NULL, " \n")) && (value = strchr(word, '='))) {
			*value = 0;
			set_field(&g->m, word, strtoull(value + 1, NULL, 0));
			n++;
		}
		assert_int_equal(n, NFIELDS);
		assert_int_equal(strlen(word), 2 * GAGG_WIRE_HDRLEN);
		for (i = 0; i < GAGG_WIRE_HDRLEN; i++) {
			unsigned int byte;

			assert_int_equal(sscanf(word + 2 * i, "%2x", &byte), 1);
			g->bytes[i] = (u8)byte;
		}
		ngolden++;
	}
	fclose(file);
	return 0;
}

/* no byte beyond @len, no alignment, and the same answer with dirty memory */
static enum gagg_drop parse(const u8 *hdr, u32 len, struct gagg_msg *m)
{
	u8 *raw = malloc(len + 1);
	enum gagg_drop drop;

	assert_non_null(raw);
	memset(raw, 0xa5, len + 1);
	memcpy(raw + 1, hdr, len < GAGG_WIRE_HDRLEN ? len : GAGG_WIRE_HDRLEN);
	memset(m, 0x5a, sizeof(*m));
	drop = gagg_wire_parse(raw + 1, len, m);
	free(raw);
	return drop;
}

static void test_golden(void **state)
{
	struct gagg_msg m;
	u8 hdr[GAGG_WIRE_HDRLEN];
	u32 i;

	(void)state;
	assert_true(ngolden >= 20);
	for (i = 0; i < ngolden; i++) {
		struct golden *g = &golden[i];

		memset(hdr, 0xff, sizeof(hdr));
		gagg_wire_build(hdr, &g->m);
		assert_memory_equal(hdr, g->bytes, sizeof(hdr));
		assert_int_equal(parse(g->bytes, GAGG_WIRE_HDRLEN + g->m.len, &m),
				 GAGG_DROP_NONE);
		assert_same(&m, &g->m);
		assert_int_equal(gagg_wire_has_lanes(&m), (m.type == 4 || m.type == 7) &&
				 g->m.len > 0);
	}
}

/* short ones, and those about the right one: where a parser errs */
static bool near_length(u32 len, u32 right)
{
	return len < 300 || (len + 16 > right && len < right + 16);
}

static void test_lengths(void **state)
{
	struct gagg_msg m;
	u32 i, len;

	(void)state;
	for (i = 0; i < ngolden; i++) {
		struct golden *g = &golden[i];

		for (len = 0; len < GAGG_WIRE_HDRLEN; len++)
			assert_int_equal(parse(g->bytes, len, &m), GAGG_DROP_SHORT);
		for (len = 0; len <= MAX_LEN - GAGG_WIRE_HDRLEN + 9;
		     len += near_length(len, g->m.len) ? 1 : full_or(1, 7)) {
			bool good = len == g->m.len;

			if (g->m.type == GAGG_T_START)
				good = len >= 16 && len <= 16 + 8 * 64 && len % 8 == 0;
			else if (g->m.type == GAGG_T_HELLO)
				good = len >= 112 && len <= 4 * GAGG_WIRE_LANES_MAX;
			assert_int_equal(parse(g->bytes, GAGG_WIRE_HDRLEN + len, &m),
					 good ? GAGG_DROP_NONE : GAGG_DROP_SHORT);
		}
	}
}

static void test_bits(void **state)
{
	struct gagg_msg m;
	u32 i, bit;

	(void)state;
	for (i = 0; i < ngolden; i++) {
		struct golden *g = &golden[i];
		u32 len = GAGG_WIRE_HDRLEN + g->m.len;

		/* magic, ver, hdrlen */
		for (bit = 0; bit < 64; bit++) {
			u8 hdr[GAGG_WIRE_HDRLEN];

			memcpy(hdr, g->bytes, sizeof(hdr));
			hdr[bit / 8] ^= (u8)(1 << bit % 8);
			if (bit < 24 || bit / 8 == 6)
				assert_int_equal(parse(hdr, len, &m), GAGG_DROP_VERSION);
			if (bit / 8 == 4)	/* flags one may ignore */
				assert_int_equal(parse(hdr, len, &m), GAGG_DROP_NONE);
		}
		/* flags one must know */
		for (bit = 8; bit < 16; bit++) {
			u8 hdr[GAGG_WIRE_HDRLEN];

			memcpy(hdr, g->bytes, sizeof(hdr));
			hdr[5] |= (u8)(1 << (bit - 8));
			if (bit >= 13)
				assert_int_equal(parse(hdr, len, &m), GAGG_DROP_VERSION);
			else
				assert_true(parse(hdr, len, &m) != GAGG_DROP_VERSION);
		}
	}
}

static void test_types(void **state)
{
	struct gagg_msg m = { .run = 1 };
	u8 hdr[GAGG_WIRE_HDRLEN];
	u32 type, i, len;

	(void)state;
	for (type = 0; type < 256; type++) {
		bool known = false;

		for (i = 0; i < ngolden; i++)
			known |= golden[i].m.type == type;
		/* reserved ones are unknown */
		assert_int_equal(known, type >= 1 && type <= 19 && type != 6 && type != 12 &&
				 type != 13 && type != 15);
		memset(&m, 0, sizeof(m));
		m.type = (u8)type;
		m.run = 1;
		gagg_wire_build(hdr, &m);
		for (len = 0; len < 600 && !known; len++)
			assert_int_equal(parse(hdr, GAGG_WIRE_HDRLEN + len, &m), GAGG_DROP_TYPE);
	}
}

static enum gagg_drop parse_msg(const struct gagg_msg *m)
{
	struct gagg_msg out;
	u8 hdr[GAGG_WIRE_HDRLEN];

	gagg_wire_build(hdr, m);
	return parse(hdr, GAGG_WIRE_HDRLEN + m->len, &out);
}

static void test_chunks(void **state)
{
	static const u8 with_lanes[] = { GAGG_T_CONTRIB, GAGG_T_RESULT };
	u32 i, lanes;

	(void)state;
	for (i = 0; i < ngolden; i++) {
		struct gagg_msg m = golden[i].m;

		m.run = 0;
		assert_int_equal(parse_msg(&m), GAGG_DROP_CHUNK);
		m.run = 0xffff;
		assert_int_equal(parse_msg(&m), gagg_wire_has_lanes(&m) ? GAGG_DROP_CHUNK :
				 GAGG_DROP_NONE);
		m.run = 1;
		m.lanes = GAGG_WIRE_LANES_MAX + 1;
		assert_int_equal(parse_msg(&m), GAGG_DROP_CHUNK);
		m.lanes = 0xffff;
		m.len = 0x3fffc;
		assert_int_equal(parse_msg(&m), GAGG_DROP_CHUNK);
	}
	for (i = 0; i < 2; i++) {
		struct gagg_msg m = { .type = with_lanes[i], .run = 1 };

		assert_int_equal(parse_msg(&m), GAGG_DROP_CHUNK);	/* no lane */
		for (lanes = 1; lanes <= GAGG_WIRE_LANES_MAX; lanes++) {
			m.lanes = (u16)lanes;
			m.len = lanes * 4;
			assert_int_equal(parse_msg(&m), GAGG_DROP_NONE);
			m.len = lanes * 4 - 4;
			assert_int_equal(parse_msg(&m), GAGG_DROP_SHORT);
			m.len = lanes * 4 + 1;
			assert_int_equal(parse_msg(&m), GAGG_DROP_SHORT);
		}
	}
}

/* whatever comes: no byte out of bounds, and what passes is built again */
static void test_random(void **state)
{
	u8 hdr[GAGG_WIRE_HDRLEN], again[GAGG_WIRE_HDRLEN];
	u32 i, j, passed = 0;

	(void)state;
	for (i = 0; i < 100000; i++) {
		struct golden *g = &golden[gagg_mix64(i, 1) % ngolden];
		u32 flips = gagg_mix64(i, 2) % 4;
		struct gagg_msg m;

		memcpy(hdr, g->bytes, sizeof(hdr));
		for (j = 0; j < flips; j++)
			hdr[gagg_mix64(i, 10 + j) % 56] = (u8)gagg_mix64(i, 20 + j);
		if (parse(hdr, GAGG_WIRE_HDRLEN + g->m.len, &m) != GAGG_DROP_NONE)
			continue;
		passed++;
		gagg_wire_build(again, &m);
		assert_memory_equal(hdr, again, sizeof(hdr));
	}
	assert_in_range(passed, 1000, 99000);
}

static void test_sig(void **state)
{
	u32 base = gagg_sig(3, 5, 0x12, 7, 1000);

	(void)state;
	assert_int_equal(base >> 24, 0x35);
	assert_int_equal(gagg_sig(0x13, 0x25, 0x12, 7, 1000), base);
	assert_int_equal(gagg_sig(4, 5, 0x12, 7, 1000) ^ base, 0x70000000);
	assert_int_equal(gagg_sig(3, 6, 0x12, 7, 1000) ^ base, 0x03000000);
	assert_int_not_equal(gagg_sig(3, 5, 0x10, 7, 1000), base);
	assert_int_not_equal(gagg_sig(3, 5, 0x12, 8, 1000), base);
	assert_int_not_equal(gagg_sig(3, 5, 0x12, 7, 1001), base);
	assert_int_not_equal(gagg_sig(3, 5, 0x12, 7, 1000 + (1ULL << 40)), base);
	/* it is on the wire: part of version 1 */
	assert_int_equal(base, 0x3524b924u);
}

/* libgagg, of another licence, has one of its own */
static void test_sig_of_libgagg(void **state)
{
	struct gagg_ioc_submit op = { 0 };
	u32 i;

	(void)state;
	for (i = 0; i < 1000; i++) {
		op.kind = i % 9;
		op.dtype = i % 16;
		op.laneop = i * 7;
		op.root = i % 64 << i % 24;
		op.count = (u64)i * i << i % 40;
		assert_int_equal(call_sig(&op), gagg_sig(op.kind, op.dtype, op.laneop, op.root,
							 op.count));
	}
}

/* what libgagg finds of a call, by what the core tells of it */
static void test_call_of_libgagg(void **state)
{
	static const u64 counts[] = {
		0, 1, 1000, 67108863, 67108864, 67108865, 12345678901, (1ULL << 34) - 1,
	};
	static const u32 roots[] = { 0, 3, 17, 63 };
	struct gagg_ioc_submit op = { .laneop = GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD) }, found;
	u32 i;

	(void)state;
	for (i = 0; i < 6 * 8 * 4; i++) {
		op.kind = GAGG_K_ALLREDUCE + i % 6;
		op.dtype = i % 5;
		op.root = roots[i / 6 % 4];
		if (op.kind == GAGG_K_EXPONENTS)
			op.root = (op.root & 3) | (1 + i / 6 % 2) << 8;
		op.count = counts[i / 24];
		assert_true(call_find(&found, call_sig(&op), gagg_call(op.root, op.count)));
		assert_int_equal(found.kind, op.kind);
		assert_int_equal(found.dtype, op.dtype);
		assert_int_equal(found.root, op.root);
		assert_true(found.count == op.count);
	}
	/* nonsense, or too much */
	assert_false(call_find(&found, call_sig(&op), gagg_call(op.root + 1, op.count)));
	op.count = 1ULL << 34;
	assert_false(call_find(&found, call_sig(&op), gagg_call(op.root, op.count)));
}

/* as published; test_mix() pins it by known outputs */
static u64 splitmix(u64 x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static void test_mix(void **state)
{
	u64 a, b;

	(void)state;
	assert_true(splitmix(0) == 0xe220a8397b1dcdafULL);
	assert_true(splitmix(1234567) == 6457827717110365317ULL);
	for (a = 0; a < 50; a++)
		for (b = 0; b < 50; b++) {
			assert_true(gagg_mix64(a, b) ==
				    splitmix(splitmix(a) + b - 0x9e3779b97f4a7c15ULL));
			assert_true(a == b || gagg_mix64(a, b) != gagg_mix64(b, a));
		}
}

/* every bit of the header: four fields may differ, nothing else */
static void test_follows(void **state)
{
	struct gagg_hdr first, h;
	struct gagg_msg m, want;
	u32 bit;

	(void)state;
	memset(&m, 0, sizeof(m));
	m.type = GAGG_T_CONTRIB;
	m.run = 1;
	m.lanes = 4;
	m.chunk = 0x01020304;
	m.pn = 0x05060708;
	m.exp = 9;
	m.cookie = 0x0102030405060708ULL;
	gagg_wire_build(&first, &m);
	assert_int_equal(gagg_wire_parse(&first, sizeof(first) + 16, &m), GAGG_DROP_NONE);
	want = m;
	assert_true(gagg_wire_follows(&first, &first, &m));
	assert_memory_equal(&m, &want, sizeof(m));
	for (bit = 0; bit < 8 * sizeof(h); bit++) {
		u32 at = bit / 8;
		bool may = (at >= offsetof(struct gagg_hdr, chunk) &&
			    at < offsetof(struct gagg_hdr, round)) ||
			   (at >= offsetof(struct gagg_hdr, pn) &&
			    at < offsetof(struct gagg_hdr, aux)) ||
			   at == offsetof(struct gagg_hdr, exp) ||
			   at == offsetof(struct gagg_hdr, want);

		h = first;
		((u8 *)&h)[at] ^= (u8)(1 << bit % 8);
		m = want;
		assert_int_equal(gagg_wire_follows(&first, &h, &m), may);
		if (may) {
			struct gagg_msg parsed = m;

			assert_int_equal(gagg_wire_parse(&h, sizeof(h) + 16, &parsed),
					 GAGG_DROP_NONE);
			assert_memory_equal(&m, &parsed, sizeof(m));
		}
		assert_int_equal(!memcmp(&m, &want, sizeof(m)), !may);
	}
}

/* which of those that are collected leave first */
static void test_behind(void **state)
{
	u32 type;

	(void)state;
	for (type = 0; type < 256; type++) {
		struct gagg_msg m = { .type = (u8)type };
		u8 behind = gagg_wire_behind(&m);

		if (type == GAGG_T_READY)
			assert_int_equal(behind, GAGG_T_CONTRIB);
		else if (type == GAGG_T_DONE || type == GAGG_T_RESULT || type == GAGG_T_TOLD)
			assert_int_equal(behind, GAGG_T_RESULT);
		else
			assert_int_equal(behind, 0);
	}
}

/* what many hosts would answer at once is for one */
static void test_for_all(void **state)
{
	u32 type;

	(void)state;
	for (type = 0; type < 256; type++) {
		struct gagg_msg m = { .type = (u8)type };

		assert_int_equal(gagg_wire_is_for_all(&m), type == GAGG_T_RESULT);
	}
}

/* IPv4 has 20 bytes, IPv6 40, UDP 8 */
static void test_fit(void **state)
{
	(void)state;
	assert_int_equal(gagg_wire_overhead(false), 28 + GAGG_WIRE_HDRLEN);
	assert_int_equal(gagg_wire_overhead(true), 48 + GAGG_WIRE_HDRLEN);
	assert_int_equal(gagg_wire_fit(0, false), 0);
	assert_int_equal(gagg_wire_fit(28 + GAGG_WIRE_HDRLEN + 3, false), 0);
	assert_int_equal(gagg_wire_fit(28 + GAGG_WIRE_HDRLEN + 4, false), 1);
	assert_int_equal(gagg_wire_fit(9000, false), (9000 - 28 - GAGG_WIRE_HDRLEN) / 4);
	assert_int_equal(gagg_wire_fit(9000, true), (9000 - 48 - GAGG_WIRE_HDRLEN) / 4);
	assert_int_equal(gagg_wire_needs(8, false), 28 + GAGG_WIRE_HDRLEN + 32);
	assert_int_equal(gagg_wire_fit(gagg_wire_needs(8, true), true), 8);
	assert_int_equal(gagg_wire_fit(gagg_wire_needs(8, true) - 1, true), 7);
	/* one that is not known does not count */
	assert_int_equal(gagg_wire_lesser(1500, 9000), 1500);
	assert_int_equal(gagg_wire_lesser(9000, 1500), 1500);
	assert_int_equal(gagg_wire_lesser(0, 1500), 1500);
	assert_int_equal(gagg_wire_lesser(1500, 0), 1500);
	assert_int_equal(gagg_wire_lesser(0, 0), 0);
}

static void test_joins(void **state)
{
	u32 type;

	(void)state;
	for (type = 0; type < 256; type++) {
		struct gagg_msg m = { .type = (u8)type };

		assert_int_equal(gagg_wire_joins(&m), type == GAGG_T_HELLO ||
				 type == GAGG_T_START || type == GAGG_T_ABORT);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_follows),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_for_all),
		cmocka_unit_test(test_joins),
		cmocka_unit_test(test_sig),
		cmocka_unit_test(test_sig_of_libgagg),
		cmocka_unit_test(test_call_of_libgagg),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_mix),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, read_golden, NULL);
}
