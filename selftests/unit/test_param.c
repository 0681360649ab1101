// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/param.c kmod/core/group/digest.c kmod/core/wire.c sync; libs: */
/* The table of parameters: what each row allows, and what is derived from it. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <linux/gagg.h>
#include <linux/gagg_netlink.h>
#include "core.h"

#define TEXT_MAX	(1U << 16)
#define FIELDS		(sizeof(struct gagg_params) / sizeof(u32))

static const struct gagg_param *find(const char *name)
{
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	fail_msg("no parameter %s", name);
	return NULL;
}

static struct gagg_params usual(void)
{
	struct gagg_params v;

	memset(&v, 0xff, sizeof(v));
	gagg_params_default(&v);
	v.id = 1;
	return v;
}

/* each field of the struct has one row, each row names of its own */
static void rows__complete(void **state)
{
	const struct gagg_param *p, *q;
	u32 seen[FIELDS] = { 0 }, i;

	(void)state;
	for (p = gagg_param_table; p->name; p++) {
		if (!gagg_param_is_apart(p)) {
			assert_int_equal(p->at % sizeof(u32), 0);
			assert_true(p->at / sizeof(u32) < FIELDS);
			seen[p->at / sizeof(u32)]++;
			assert_true(p->bits == 16 || p->bits == 32);
			assert_non_null(p->wrong);
		}
		if (p->bits == 16)
			assert_true(p->max <= UINT16_MAX);
		assert_non_null(p->about);
		assert_true(p->value || (p->words && p->noun));
		assert_true(p->attr && p->attr <= GAGG_GA_MAX);
		for (q = gagg_param_table; q < p; q++) {
			assert_string_not_equal(p->name, q->name);
			assert_int_not_equal(p->attr, q->attr);
			assert_true(!p->digest || p->digest != q->digest);
		}
	}
	for (i = 0; i < FIELDS; i++)
		assert_int_equal(seen[i], 1);
}

static void defaults__are_in_range(void **state)
{
	const struct gagg_param *p;
	struct gagg_params v;

	(void)state;
	memset(&v, 0xff, sizeof(v));
	gagg_params_default(&v);
	assert_int_equal(v.id, 0);
	assert_string_equal(gagg_params_check(&v), "id 0 is reserved");
	v = usual();
	assert_null(gagg_params_check(&v));
	assert_int_equal(v.port, GAGG_WIRE_PORT);
	assert_int_equal(v.mode, 0600);
	assert_int_equal(v.lanes, 0);
	for (p = gagg_param_table; p->name; p++)
		if (!gagg_param_is_apart(p) && p->attr != GAGG_GA_ID)
			assert_true(gagg_param_fits(p, p->fallback));
}

/* of one row: its ends and what is beyond them */
static void ends(const struct gagg_param *p)
{
	if (p->kind == GAGG_PARAM_BITS)
		return;
	assert_true(gagg_param_fits(p, p->min));
	assert_true(gagg_param_fits(p, p->max));
	if (p->max != UINT32_MAX)
		assert_false(gagg_param_fits(p, p->max + 1));
	if (p->min > 1 || (p->min && p->kind != GAGG_PARAM_AUTO))
		assert_false(gagg_param_fits(p, p->min - 1));
	if (p->step)
		assert_false(gagg_param_fits(p, p->min + 1));
	if (p->power)
		assert_false(gagg_param_fits(p, p->min + p->min / 2));
}

static void ranges__have_ends(void **state)
{
	const struct gagg_param *p;

	(void)state;
	for (p = gagg_param_table; p->name; p++)
		if (p->bits)
			ends(p);
	assert_true(gagg_param_fits(find("lanes"), 0));
	assert_false(gagg_param_fits(find("shards"), 0));
	assert_true(gagg_param_fits(find("mode"), 0));
	assert_true(gagg_param_fits(find("mode"), 0642));
	assert_false(gagg_param_fits(find("mode"), 0601));
	assert_false(gagg_param_fits(find("mode"), 01600));
}

/* the first that is wrong is named */
static void check__names_the_wrong_one(void **state)
{
	const struct gagg_param *p;
	struct gagg_params v;

	(void)state;
	for (p = gagg_param_table; p->name; p++) {
		if (gagg_param_is_apart(p))
			continue;
		v = usual();
		gagg_param_set(p, &v, p->max == UINT32_MAX ? 0 : p->max + 1);
		assert_ptr_equal(gagg_params_check(&v), p->wrong);
	}
}

/* a word for each number, and no more */
static void words__as_many_as_numbers(void **state)
{
	const struct gagg_param *p;
	u32 n;

	(void)state;
	for (p = gagg_param_table; p->name; p++) {
		assert_int_equal(!!p->words, p->kind == GAGG_PARAM_WORD);
		for (n = 0; p->words && p->words[n]; n++)
			assert_non_null(strstr(p->wrong, p->words[n]));
		if (p->words)
			assert_int_equal(n, p->max - p->min + 1);
	}
}

static void shape__is_what_waits(void **state)
{
	const struct gagg_param *p;
	struct gagg_params a, b;
	u32 changed;

	(void)state;
	for (p = gagg_param_table; p->name; p++) {
		if (gagg_param_is_apart(p))
			continue;
		a = usual();
		b = usual();
		changed = gagg_param_get(p, &b) + 1;
		gagg_param_set(p, &b, changed);
		assert_int_equal(gagg_params_same_shape(&a, &b), p->any_time);
		gagg_params_change(&a, &b);
		assert_int_equal(gagg_param_get(p, &a) == changed, p->any_time);
	}
	assert_true(find("mode")->any_time);
	assert_true(find("channels")->any_time);
	assert_false(find("cwnd")->any_time);
}

static void geom__has_them(void **state)
{
	struct gagg_params v = usual();
	struct gagg_geom g = { 0 };

	(void)state;
	gagg_params_geom(&v, &g);
	assert_int_equal(g.group, 1);
	assert_int_equal(g.room, GAGG_WIRE_LANES);
	assert_int_equal(g.lanes, GAGG_WIRE_LANES);
	assert_true(g.automatic);
	assert_int_equal(g.ring, 49152);
	assert_int_equal(g.window, 2048);
	assert_int_equal(g.stripe, 8);
	assert_int_equal(g.shards, 1);
	assert_int_equal(g.cwnd, 256);
	assert_int_equal(g.dead_after, 5 * GAGG_SEC);
	assert_int_equal(g.idle_after, 0);
	assert_false(g.wide);
	v.lanes = 2048;
	v.cwnd = GAGG_PATH_SPAN;
	v.idle_after = 200;
	v.lane_type = GAGG_LANE_TYPE_INT64;
	v.wire = GAGG_WIRE_INT8;
	gagg_params_geom(&v, &g);
	assert_int_equal(g.room, 2048);
	assert_int_equal(g.lanes, 2048);
	assert_false(g.automatic);
	assert_int_equal(g.cwnd, GAGG_PATH_SPAN);
	assert_int_equal(g.idle_after, 200 * GAGG_MSEC);
	assert_true(g.wide);
	assert_int_equal(g.wire, GAGG_WIRE_INT8);
}

/* what hosts must have alike, is in the digest under its number; nothing else is */
static void digest__has_those_that_are_same(void **state)
{
	const struct gagg_sync_param sync = { .mode = 1 };
	struct gagg_params v;
	const struct gagg_roster nobody = { 0 };
	u32 sent[GAGG_DG_COUNT], i = 1000;
	const struct gagg_param *p;

	(void)state;
	for (p = gagg_param_table; p->name; p++)
		if (!gagg_param_is_apart(p))
			gagg_param_set(p, &v, i++);
	gagg_digest_group(&nobody, &v, &sync, sent);
	assert_int_equal(sent[GAGG_DG_PORT], v.port);
	assert_int_equal(sent[GAGG_DG_LANES], v.lanes);
	assert_int_equal(sent[GAGG_DG_LANE_TYPE], v.lane_type);
	assert_int_equal(sent[GAGG_DG_RING], v.ring);
	assert_int_equal(sent[GAGG_DG_WINDOW], v.window);
	assert_int_equal(sent[GAGG_DG_STRIPE], v.stripe);
	assert_int_equal(sent[GAGG_DG_SHARDS], v.shards);
	assert_int_equal(sent[GAGG_DG_DEAD_AFTER], v.dead_after);
	assert_int_equal(sent[GAGG_DG_PLACEMENT], v.placement);
	assert_int_equal(sent[GAGG_DG_WIRE], v.wire);
	assert_int_equal(sent[GAGG_DG_SYNC], gagg_digest_sync(&sync));
	assert_int_equal(sent[GAGG_DG_MEMBERS], 0);
	for (p = gagg_param_table; p->name; p++)
		if (p->digest)
			assert_string_equal(gagg_digest_name(p->digest), p->name);
	/* each number has a row, but for the number of members */
	for (i = 1; i < GAGG_DG_COUNT; i++)
		if (gagg_digest_is_number(i))
			assert_int_equal(find(gagg_digest_name(i))->digest, i);
}

/* --- what is written by hand says the same -------------------------------- */

static void load(const char *path, char text[TEXT_MAX])
{
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		fail_msg("no %s", path);
	n = fread(text, 1, TEXT_MAX - 1, f);
	fclose(f);
	text[n] = 0;
}

/* @part begins at @from, which the file has once, and ends before @to */
static void cut(char *text, const char *from, const char *to, char **part)
{
	char *end;

	*part = strstr(text, from);
	if (!*part || strstr(*part + 1, from)) {
		fail_msg("not there once: %s", from);
		return;
	}
	end = strstr(*part + strlen(from), to);
	if (end)
		*end = 0;
}

static void expect_in(const struct gagg_param *p, const char *where, const char *part,
		      const char *what)
{
	if (!strstr(part, what))
		fail_msg("%s of %s: no \"%s\" in: %s", where, p->name, what, part);
}

/* ranges that depend on other things are sentences */
static bool has_range(const struct gagg_param *p)
{
	return (p->kind == GAGG_PARAM_NUMBER || p->kind == GAGG_PARAM_AUTO) &&
	       p->max != UINT32_MAX;
}

static void default_of(const struct gagg_param *p, char buf[32])
{
	const char *format = p->kind == GAGG_PARAM_BITS ? "%04o" : "%u";

	if (p->kind == GAGG_PARAM_AUTO)
		strcpy(buf, "auto");
	else if (p->words)
		snprintf(buf, 32, "%s", p->words[p->fallback]);
	else
		snprintf(buf, 32, format, p->fallback);
}

/* sentences are literals: they have the numbers of their row */
static void sentences__have_the_range(void **state)
{
	const struct gagg_param *p;
	char range[64];

	(void)state;
	for (p = gagg_param_table; p->name; p++) {
		if (!has_range(p) || p->attr == GAGG_GA_PORT)
			continue;
		snprintf(range, sizeof(range), "from %u to %u", p->min, p->max);
		expect_in(p, "sentence", p->wrong, range);
		expect_in(p, "sentence", p->wrong, p->name);
	}
	snprintf(range, sizeof(range), "at most %u chunks", find("ring")->max);
	expect_in(find("ring"), "sentence", find("ring")->wrong, range);
}

/* gagg.conf(5): a paragraph with * if it is "same", the range, the default in parentheses */
static void manual__has_each(void **state)
{
	char text[TEXT_MAX], from[64], range[64], value[32], *part;
	const struct gagg_param *p;
	size_t n;

	(void)state;
	for (p = gagg_param_table; p->name; p++) {
		load("Documentation/man/gagg.conf.5", text);
		n = snprintf(from, sizeof(from), "\n.TP\n.BI ");
		for (const char *c = p->name; *c; c++)
			n += snprintf(from + n, sizeof(from) - n, *c == '-' ? "\\-" : "%c", *c);
		/* uid and gid have one paragraph */
		if (p->kind == GAGG_PARAM_USER || p->kind == GAGG_PARAM_GROUP)
			strcpy(from, "\n.TP\n.BR uid");
		else
			strcat(from, " \" =");
		cut(text, from, "\n.TP\n", &part);
		assert_int_equal(!!strchr(strchr(part + 5, '\n'), '*'),
				 p->digest || p->attr == GAGG_GA_ID ||
				 p->kind == GAGG_PARAM_MULTICAST);
		snprintf(range, sizeof(range), "%u to %u", p->min, p->max);
		if (has_range(p))
			expect_in(p, "manual", part, range);
		if (!p->bits || p->attr == GAGG_GA_ID)
			continue;
		default_of(p, value);
		snprintf(range, sizeof(range),
			 p->kind == GAGG_PARAM_BITS ? "(\\(dq%s\\(dq)" : "(%s)", value);
		expect_in(p, "manual", part, range);
		for (n = 0; p->words && p->words[n]; n++)
			expect_in(p, "manual", part, p->words[n]);
	}
}

/* linux/gagg_netlink.h: a comment with bits, range, the default in brackets, "same" */
static void uapi__has_each(void **state)
{
	char text[TEXT_MAX], from[64], what[64], value[32], *part, *c;
	const struct gagg_param *p;

	(void)state;
	for (p = gagg_param_table; p->name; p++) {
		if (gagg_param_is_apart(p) || p->attr == GAGG_GA_ID)
			continue;
		load("uapi/linux/gagg_netlink.h", text);
		snprintf(from, sizeof(from), "\n\tGAGG_GA_%s,", p->name);
		for (c = from + 2; *c; c++)
			*c = *c == '-' ? '_' : (char)toupper(*c);
		cut(text, from, "\n\tGAGG_GA_", &part);
		snprintf(what, sizeof(what), "u%u", p->bits);
		expect_in(p, "uapi", part, what);
		default_of(p, value);
		snprintf(what, sizeof(what), "[%s]", p->kind == GAGG_PARAM_AUTO ? "0" : value);
		expect_in(p, "uapi", part, what);
		snprintf(what, sizeof(what), "%u to %u", p->min, p->max);
		if (has_range(p) && p->attr != GAGG_GA_PORT)
			expect_in(p, "uapi", part, what);
		assert_int_equal(!!strstr(part, "same"), !!p->digest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows__complete),
		cmocka_unit_test(defaults__are_in_range),
		cmocka_unit_test(ranges__have_ends),
		cmocka_unit_test(check__names_the_wrong_one),
		cmocka_unit_test(words__as_many_as_numbers),
		cmocka_unit_test(shape__is_what_waits),
		cmocka_unit_test(geom__has_them),
		cmocka_unit_test(digest__has_those_that_are_same),
		cmocka_unit_test(sentences__have_the_range),
		cmocka_unit_test(manual__has_each),
		cmocka_unit_test(uapi__has_each),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
