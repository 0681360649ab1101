// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggd/request.c agent/gaggd/notify.c agent/nl/names.c agent/lib/sync_name.c kmod/core/group/param.c */
/*
 * What the broker checks of a request, and how events read in the log.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/gagg_wire.h>

#include "broker_fixture.h"
#include "../../agent/gaggd/notify.h"
#include "../../agent/gaggd/request.h"

static int check(const struct broker_request *r, size_t len, char *msg)
{
	struct broker_request out;
	size_t have = len < sizeof(*r) ? len : sizeof(*r);
	int ret;

	*msg = 0;
	ret = request_check(r, have, len, &out, msg);
	assert_int_equal(!ret, !*msg);
	if (!ret)
		assert_memory_equal(&out, r, sizeof(out));
	return ret;
}

static struct broker_request of_checkpoint(uint32_t op)
{
	struct broker_request r = good();

	r.op = op;
	r.rank = 0;
	r.bytes = op == BROKER_OP_SAVE ? 24 : 0;
	strcpy(r.name, "step-1");
	return r;
}

static void request_check__good(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r.rank = 0;
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r.rank = GAGG_RANKS_MAX - 1;
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	memset(r.group, 'x', sizeof(r.group) - 1);
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r = of_checkpoint(BROKER_OP_SAVE);
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	memset(r.name, 'x', sizeof(r.name) - 1);
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r = of_checkpoint(BROKER_OP_COMMIT);
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r = of_checkpoint(BROKER_OP_LOAD);
	assert_int_equal(check(&r, sizeof(r), msg), 0);
}

static void request_check__bad(void **state)
{
	struct broker_request r;
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	r = good();
	for (size_t len = 1; len < sizeof(r); len++)
		assert_int_equal(check(&r, len, msg), EINVAL);
	assert_int_equal(check(&r, sizeof(r) + 1, msg), EINVAL);
	assert_int_equal(check(&r, 100000, msg), EINVAL);
	assert_non_null(strstr(msg, "this one is 100000"));
	r.size++;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);

	/* a later version is told so, whatever its size */
	r = good();
	r.version++;
	assert_int_equal(check(&r, sizeof(r) + 16, msg), EPROTONOSUPPORT);
	assert_non_null(strstr(msg, "version 4"));

	r = good();
	memset(r.group, 'a', sizeof(r.group));
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	assert_non_null(strstr(msg, "does not end"));
	r = good();
	memset(r.group, 0, sizeof(r.group));
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = good();
	strcpy(r.group, "a\nb");
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	assert_null(strchr(msg, '\n'));

	r = good();
	r.rank = GAGG_RANKS_MAX;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = good();
	r.bytes = 8;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = good();
	r.name[GAGG_NAME_MAX - 1] = 'x';
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = good();
	r.op = 0;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r.op = BROKER_OP_STATS + 1;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	assert_non_null(strstr(msg, "request 8 is none"));
}

static struct broker_request of_groups(uint32_t op, const char *name)
{
	struct broker_request r = good();

	r.op = op;
	r.rank = 0;
	memset(r.group, 0, sizeof(r.group));
	strcpy(r.group, name);
	return r;
}

static void request_check__questions(void **state)
{
	struct broker_request r = of_groups(BROKER_OP_TWIN, BROKER_NO_GROUP);
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r = of_groups(BROKER_OP_STATS, "g");
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r = of_groups(BROKER_OP_GROUP, "g");
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r.rank = 1;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	assert_non_null(strstr(msg, "position"));
	r = of_groups(BROKER_OP_GROUP, "");
	r.rank = UINT32_MAX;
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r.bytes = 1;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = of_groups(BROKER_OP_STATS, "");
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = of_groups(BROKER_OP_GROUP, "a\nb");
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = of_groups(BROKER_OP_GROUP, "");
	memset(r.group, 'a', sizeof(r.group));
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = of_groups(BROKER_OP_GROUP, "g");
	r.name[3] = 'x';
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
}

/* Nothing of a name leads out of the group's directory. */
static void request_check__bad_names(void **state)
{
	static const char *const names[] = {
		"", ".", "..", ".new", "../x", "a/b", "/a", "a b", "a\nb", "\xc3\xa4",
	};
	struct broker_request r;
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	for (uint32_t op = BROKER_OP_SAVE; op <= BROKER_OP_LOAD; op++) {
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			r = of_checkpoint(op);
			strcpy(r.name, names[i]);
			assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
			assert_non_null(strstr(msg, "checkpoint's name is 1 to 31"));
			r = of_checkpoint(op);
			strcpy(r.group, names[i]);
			assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
		}
		r = of_checkpoint(op);
		memset(r.name, 'x', sizeof(r.name));
		assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
		r = of_checkpoint(op);
		r.rank = 1;
		assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
		r = of_checkpoint(op);
		r.bytes = op == BROKER_OP_SAVE ? 0 : 8;
		assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	}
	r = of_checkpoint(BROKER_OP_SAVE);
	r.bytes = 25;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	assert_non_null(strstr(msg, "not 25 bytes"));
	/* sessions of such a group can be had */
	r = good();
	strcpy(r.group, "..");
	assert_int_equal(check(&r, sizeof(r), msg), 0);
}

static void access_allowed__table(void **state)
{
	static const gid_t groups[] = { 7, 200 };
	static const struct {
		uid_t uid;
		gid_t gid;
		unsigned int mode;
		bool allowed;
	} t[] = {
		/* of a group of uid 100 and gid 200, by mode */
		{ 0, 0, 0000, true },
		{ 100, 1, 0600, true },
		{ 100, 1, 0400, false },
		{ 100, 1, 0200, false },
		{ 100, 200, 0066, false },	/* the owner's bits decide */
		{ 101, 200, 0060, true },
		{ 101, 200, 0600, false },
		{ 101, 200, 0040, false },
		{ 101, 200, 0020, false },
		{ 101, 200, 0606, false },	/* the group's bits decide */
		{ 101, 201, 0006, true },
		{ 101, 201, 0660, false },
		{ 101, 201, 0004, false },
		{ 101, 201, 0002, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct peer p = { .uid = t[i].uid, .gid = t[i].gid };

		if (access_allowed(&p, 100, 200, t[i].mode) != t[i].allowed)
			fail_msg("case %zu", i);
		/* the same by a supplementary group */
		if (p.gid != 200)
			continue;
		p.gid = 5;
		p.groups = groups;
		p.ngroups = 2;
		if (access_allowed(&p, 100, 200, t[i].mode) != t[i].allowed)
			fail_msg("case %zu, supplementary", i);
	}
}

static void rank_candidates__table(void **state)
{
	struct nl_group g = group();
	uint32_t out[GAGG_RANKS_MAX];
	char msg[BROKER_MESSAGE_MAX];
	unsigned int n;

	(void)state;
	assert_int_equal(rank_candidates(&g, BROKER_RANK_ANY, out, &n, msg), 0);
	assert_int_equal(n, 3);
	assert_int_equal(out[0], 4);
	assert_int_equal(out[1], 6);
	assert_int_equal(out[2], 9);
	assert_int_equal(rank_candidates(&g, 6, out, &n, msg), 0);
	assert_int_equal(n, 1);
	assert_int_equal(out[0], 6);

	assert_int_equal(rank_candidates(&g, 2, out, &n, msg), EINVAL);
	assert_string_equal(msg, "rank 2 of group \"test-broker.a\" is at 10.0.0.2, not on this host");
	assert_int_equal(rank_candidates(&g, 1, out, &n, msg), EINVAL);
	assert_non_null(strstr(msg, "aggregator only"));
	assert_int_equal(rank_candidates(&g, 3, out, &n, msg), EINVAL);
	assert_non_null(strstr(msg, "has no rank 3"));
	g.n_members = 0;
	assert_int_equal(rank_candidates(&g, BROKER_RANK_ANY, out, &n, msg), EINVAL);
	assert_non_null(strstr(msg, "no worker on this host"));
}

static void notify_describe__lines(void **state)
{
	struct nl_event e = { .group = group() };
	char line[256];

	(void)state;
	e.event = GAGG_EV_EPOCH_START;
	e.group.epoch = 5;
	assert_int_equal(notify_describe(&e, line, sizeof(line)), LOG_L_INFO);
	assert_string_equal(line, "group \"test-broker.a\": epoch 5 started");
	e.event = GAGG_EV_EPOCH_END;
	e.group.reason = GAGG_R_DIED;
	e.group.reason_rank = 3;
	assert_int_equal(notify_describe(&e, line, sizeof(line)), LOG_L_WARN);
	assert_string_equal(line, "group \"test-broker.a\": epoch 5 ended: died, rank 3");
	assert_true(notify_frees(&e));
	e.group.reason = GAGG_R_ADMIN;
	assert_int_equal(notify_describe(&e, line, sizeof(line)), LOG_L_INFO);
	assert_string_equal(line, "group \"test-broker.a\": epoch 5 ended: admin");
	e.event = GAGG_EV_MISMATCH;
	e.is_member = true;
	strcpy(e.group.members[0].mismatch, "ring");
	assert_int_equal(notify_describe(&e, line, sizeof(line)), LOG_L_WARN);
	assert_string_equal(line, "group \"test-broker.a\": host 10.0.0.1 (rank 9) is configured differently: ring");
	e.group.members[0].mismatch_here = 512;
	e.group.members[0].mismatch_there = 256;
	e.group.members[0].set |= NL_SET(GAGG_MA_MISMATCH_HERE) | NL_SET(GAGG_MA_MISMATCH_THERE);
	assert_int_equal(notify_describe(&e, line, sizeof(line)), LOG_L_WARN);
	assert_string_equal(line, "group \"test-broker.a\": host 10.0.0.1 (rank 9) is configured differently: ring (256 there, 512 here)");
	assert_false(notify_frees(&e));
	e.event = GAGG_EV_MEMBER_STATE;
	e.group.members[0].state = GAGG_MS_ATTACHED;
	assert_false(notify_frees(&e));
	e.group.members[0].state = GAGG_MS_HEARD;
	assert_true(notify_frees(&e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_check__good),
		cmocka_unit_test(request_check__bad),
		cmocka_unit_test(request_check__questions),
		cmocka_unit_test(request_check__bad_names),
		cmocka_unit_test(access_allowed__table),
		cmocka_unit_test(rank_candidates__table),
		cmocka_unit_test(notify_describe__lines),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
