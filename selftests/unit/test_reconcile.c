// SPDX-License-Identifier: GPL-2.0
/* links: agent/conf/reconcile.c agent/conf/diff.c agent/conf/describe.c agent/conf/host.c agent/conf/applied.c agent/conf/config.c agent/conf/parse.c agent/conf/roster.c agent/conf/ring.c agent/conf/value.c agent/nl/names.c kmod/core/geom.c kmod/core/group/param.c kmod/core/group/roster.c kmod/core/group/fit.c sync; libs: libconfuse */
/*
 * From a file to a kernel that is played in memory: which calls are made, in
 * which order, and that a second run makes none.
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
#include <unistd.h>

#include <cmocka.h>

#include "fake_nl.h"
#include "../../agent/conf/applied.h"
#include "../../agent/conf/diff.h"
#include "../../agent/conf/host.h"
#include "../../agent/conf/reconcile.h"

#define M0 "member 0 { address = 10.0.0.1 }"
#define M1 "member 1 { address = 10.0.0.2 }"

static char said[4096];
static char applied[64];

static void say(void *arg, const char *line)
{
	size_t len = strlen(said);

	(void)arg;
	snprintf(said + len, sizeof(said) - len, "%s\n", line);
}

/* Reconcile @text as a file at @path on the host with address @local. */
static int run_as(const char *path, const char *local, const char *text,
		  bool dry_run)
{
	struct config cfg;
	char err[1024];
	int ret;

	if (config_parse(text, path, &cfg, err, sizeof(err)))
		fail_msg("%s", err);
	assert_true(nl_ip_parse(local, &cfg.local));
	strcpy(cfg.applied, applied);
	*said = 0;
	fake.calls = 0;
	*fake.log = 0;
	ret = reconcile(nl_open(), &cfg, dry_run, say, NULL);
	config_free(&cfg);
	return ret;
}

static int run(const char *text)
{
	return run_as("/f", "10.0.0.1", text, false);
}

/* Reconcile, expect the calls, and expect none the second time. */
static void expect(const char *text, const char *log)
{
	assert_int_equal(run(text), 0);
	assert_string_equal(fake.log, log);
	assert_int_equal(run(text), 0);
	assert_int_equal(fake.calls, 0);
	assert_string_equal(said, "");
}

static int setup(void **state)
{
	static int n;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	snprintf(applied, sizeof(applied), "/tmp/gagg-applied-%d-%d",
		 (int)getpid(), n++);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(applied);
	return 0;
}

static void reconcile__create(void **state)
{
	const struct nl_group *g;

	(void)state;
	expect("group a { port = 9000 " M0 M1 "} group b { " M0 "}",
	       "new:a new:b ");
	g = fake_find("a");
	assert_int_equal(g->port, 9000);
	assert_int_equal(g->mode, 0600);
	assert_int_equal(g->n_members, 2);
	/* exactly the members at the local address are flagged */
	assert_true(g->members[0].local);
	assert_false(g->members[1].local);
	assert_true(g->set & NL_SET(GAGG_GA_LOCAL));
}

static void reconcile__says_what_it_does(void **state)
{
	(void)state;
	assert_int_equal(run("group a { " M0 M1 "}"), 0);
	assert_string_equal(said, "group \"a\": create, 2 members, local address 10.0.0.1\n");
	assert_int_equal(run("group a { mode = \"0660\" window = 4096 ring = 8192 placement = root " M0 "member 2 { address = 10.0.0.3 role = worker } member 1 { address = 10.0.0.4 role = aggregator } }"), 0);
	assert_string_equal(said,
		"group \"a\": set mode 0600 -> 0660\n"
		"group \"a\": set ring 49152 -> 8192, window 2048 -> 4096, placement striped -> root\n"
		"group \"a\": add member 2 at 10.0.0.3 as worker\n"
		"group \"a\": set member 1: address 10.0.0.2 -> 10.0.0.4, role both -> aggregator\n");
	assert_int_equal(run("group a { mode = \"0660\" window = 4096 ring = 8192 placement = root " M0 "}"), 0);
	assert_string_equal(said,
		"group \"a\": delete member 1\n"
		"group \"a\": delete member 2\n");
	assert_int_equal(run("group a { mode = \"0660\" window = 4096 ring = 8192 placement = root multicast = 239.1.2.3 " M0 "}"), 0);
	assert_string_equal(said, "group \"a\": set multicast none -> 239.1.2.3\n");
	assert_int_equal(run("group a { mode = \"0660\" window = 4096 ring = 8192 placement = root multicast = \"239.1.2.3\" " M0 "}"), 0);
	assert_string_equal(said, "");
	assert_int_equal(run("group a { mode = \"0660\" sync = bsp-quorum:1:1 multicast = 239.1.2.4 " M0 "}"), 0);
	assert_string_equal(said,
		"group \"a\": set ring 8192 -> 49152, window 4096 -> 2048, placement root -> striped, sync bsp -> bsp-quorum:1:1, multicast 239.1.2.3 -> 239.1.2.4\n");
	assert_int_equal(run("group a { mode = \"0660\" sync = bsp-quorum:1:1 " M0 "}"), 0);
	assert_string_equal(said, "group \"a\": set multicast 239.1.2.4 -> none\n");
	assert_int_equal(run(""), 0);
	assert_string_equal(said, "group \"a\": delete\n");
}

static void reconcile__members(void **state)
{
	(void)state;
	expect("group a { " M0 M1 "}", "new:a ");
	/* additions before deletions */
	expect("group a { " M0 "member 2 { address = 10.0.0.3 } }",
	       "add:a drop:a ");
	expect("group a { " M0 "member 2 { address = 10.0.0.9 } }",
	       "change:a ");
	/* rank 2 moves here: the flag cannot be set by a change of address */
	expect("group a { " M0 "member 2 { address = 10.0.0.1 } }",
	       "drop:a add:a ");
	assert_true(fake_find("a")->members[1].local);
	expect("group a { " M0 "member 2 { address = 10.0.0.9 } }",
	       "drop:a add:a ");
	assert_false(fake_find("a")->members[1].local);
}

static void reconcile__dry_run(void **state)
{
	(void)state;
	assert_int_equal(run_as("/f", "10.0.0.1", "group a { " M0 "}", true), 0);
	assert_int_equal(fake.calls, 0);
	assert_string_equal(said, "group \"a\": create, 1 member, local address 10.0.0.1\n");
	assert_int_equal(access(applied, F_OK), -1);
}

static void reconcile__id(void **state)
{
	(void)state;
	expect("group a { id = 7 " M0 "}", "new:a ");
	assert_int_equal(fake_find("a")->id, 7);
	/* without one in the file, the kernel's stays */
	expect("group a { " M0 "}", "");
	expect("group a { id = 8 " M0 "}", "set:a ");
}

static void reconcile__deletes_own_only(void **state)
{
	struct nl_group by_hand = { .name = "hand" };

	(void)state;
	nl_group_new(&fake_nl, &by_hand);
	expect("group a { " M0 "} group b { " M0 "}", "new:a new:b ");
	/* of another file: nothing to do with it */
	assert_int_equal(run_as("/g", "10.0.0.1", "group c { " M0 "}", false), 0);
	assert_string_equal(fake.log, "new:c ");
	expect("group b { " M0 "}", "del:a ");
	assert_non_null(fake_find("hand"));
	assert_non_null(fake_find("c"));
	/* in the file for a while, but not made from it */
	by_hand = *fake_find("b");
	strcpy(by_hand.name, "adopted");
	nl_group_new(&fake_nl, &by_hand);
	expect("group b { " M0 "} group adopted { port = 9 " M0 "}",
	       "set:adopted ");
	expect("", "del:b ");
	assert_non_null(fake_find("adopted"));
}

static void reconcile__deleted_by_hand(void **state)
{
	struct nl_group a = { .name = "a" };

	(void)state;
	expect("group a { " M0 "}", "new:a ");
	assert_int_equal(nl_group_del(&fake_nl, &a), 0);
	expect("group a { " M0 "}", "new:a ");
	assert_int_equal(nl_group_del(&fake_nl, &a), 0);
	expect("", "");
}

static void reconcile__not_a_member(void **state)
{
	(void)state;
	assert_int_equal(run_as("/f", "10.0.0.7", "group a { " M0 M1 "}", false), 0);
	assert_int_equal(fake.calls, 0);

	/* A host whose interface is down keeps the group ... */
	expect("group a { " M0 M1 "}", "new:a ");
	assert_int_equal(run_as("/f", "10.0.0.7", "group a { " M0 M1 "}", false), 0);
	assert_int_equal(fake.calls, 0);
	/* ... until the file takes the host out. */
	assert_int_equal(run_as("/f", "10.0.0.7", "group a { " M1 "}", false), 0);
	assert_string_equal(fake.log, "del:a ");
}

static void reconcile__local_moves(void **state)
{
	const char *text = "group a { " M0 M1 "}";

	(void)state;
	expect(text, "new:a ");
	assert_int_equal(run_as("/f", "10.0.0.2", text, false), 0);
	assert_string_equal(fake.log, "del:a new:a ");
	assert_true(fake_find("a")->members[1].local);

	/* Not while somebody trains. */
	fake_find("a")->members[1].state = GAGG_MS_RUNNING;
	assert_int_equal(run(text), -EBUSY);
	assert_int_equal(fake.calls, 0);
	assert_string_equal(said, "cannot: group \"a\": replace, local address 10.0.0.2 -> 10.0.0.1: rank 1 is attached\n");
	/* A rank of another host does not keep it. */
	fake_find("a")->members[1].state = GAGG_MS_HEARD;
	fake_find("a")->members[0].state = GAGG_MS_ATTACHED;
	expect(text, "del:a new:a ");
}

static void reconcile__busy(void **state)
{
	const char *text = "group a { lanes = 8 mode = \"0666\" " M0 M1 "} group b { " M0 "}";

	(void)state;
	expect("group a { " M0 "}", "new:a ");
	fake.busy = "a";
	/* access first, then one refusal, and b is made all the same */
	assert_int_equal(run(text), -EBUSY);
	assert_string_equal(fake.log, "set:a set:a new:b ");
	assert_non_null(strstr(said, "cannot: group \"a\": set lanes auto -> 8: the fake refuses\n"));
	assert_int_equal(fake_find("a")->mode, 0666);
	assert_int_equal(fake_find("a")->n_members, 1);
	fake.busy = NULL;
	expect(text, "set:a add:a ");
	assert_int_equal(fake_find("a")->lanes, 8);
}

static void reconcile__errors(void **state)
{
	char text[4096] = "";

	(void)state;
	for (int i = 0; i <= FAKE_GROUPS; i++)
		sprintf(text + strlen(text), "group g%d { " M0 " }\n", i);
	assert_int_equal(run(text), -ENOSPC);
	assert_int_equal(fake.n, FAKE_GROUPS);
	assert_non_null(strstr(said, "cannot: group \"g8\": create, "));
	/* What failed is not remembered as made. */
	assert_int_equal(run(""), 0);
	assert_int_equal(fake.n, 0);
	assert_int_equal(fake.calls, FAKE_GROUPS);
}

/* What can be tried again outweighs what cannot. */
static void reconcile__busy_and_wrong(void **state)
{
	char text[4096] = "";

	(void)state;
	assert_int_equal(run("group b { " M0 "}"), 0);
	for (int i = 0; i < FAKE_GROUPS; i++)
		sprintf(text + strlen(text), "group g%d { " M0 " }\n", i);
	strcat(text, "group b { lanes = 8 " M0 "}");
	fake.busy = "b";
	assert_int_equal(run(text), -EBUSY);
	assert_non_null(strstr(said, "cannot: group \"g7\""));
	assert_non_null(strstr(said, "cannot: group \"b\""));
}

static void reconcile__no_memory_of_groups(void **state)
{
	(void)state;
	strcpy(applied, "/proc/no-such/file");
	assert_int_equal(run("group a { " M0 "}"), -ENOENT);
	assert_non_null(fake_find("a"));
	assert_non_null(strstr(said, "cannot: write /proc/no-such/file: No such file"));
}

static bool all(void *arg, const char *name)
{
	(void)arg;
	(void)name;
	return true;
}

/* The inputs are left alone, and the same inputs give the same changes. */
static void diff__pure(void **state)
{
	struct nl_group want[2] = { 0 }, have[2] = { 0 }, w[2], h[2];
	const struct group_list of_file = { want, 2 }, of_kernel = { have, 2 };
	struct change_list one, two;

	(void)state;
	strcpy(want[0].name, "a");
	want[0].set = NL_SET(GAGG_GA_LOCAL) | NL_SET(GAGG_GA_PORT);
	want[0].port = 1;
	want[0].n_members = 1;
	strcpy(want[1].name, "b");
	want[1].set = NL_SET(GAGG_GA_LOCAL);
	have[0] = want[0];
	have[0].port = 2;
	have[0].members[0].rank = 3;
	strcpy(have[1].name, "c");
	memcpy(w, want, sizeof(w));
	memcpy(h, have, sizeof(h));
	assert_int_equal(diff_groups(&of_file, &of_kernel, all, NULL, &one), 0);
	assert_int_equal(diff_groups(&of_file, &of_kernel, all, NULL, &two), 0);
	assert_memory_equal(w, want, sizeof(w));
	assert_memory_equal(h, have, sizeof(h));
	assert_int_equal(one.n, 5);
	assert_int_equal(two.n, one.n);
	assert_memory_equal(one.v, two.v, one.n * sizeof(*one.v));
	assert_int_equal(one.v[0].kind, CHANGE_DEL);
	assert_int_equal(one.v[1].kind, CHANGE_SET);
	assert_int_equal(one.v[1].group.set, NL_SET(GAGG_GA_PORT));
	assert_int_equal(one.v[2].kind, CHANGE_MEMBER_ADD);
	assert_int_equal(one.v[3].kind, CHANGE_MEMBER_DEL);
	assert_int_equal(one.v[4].kind, CHANGE_NEW);
	diff_free(&one);
	diff_free(&two);
	assert_int_equal(diff_groups(&of_kernel, &of_kernel, all, NULL, &one), 0);
	assert_int_equal(one.n, 0);
	diff_free(&one);
}

static void host__resolve(void **state)
{
	struct nl_group g = { .name = "a", .n_members = 3 };
	struct nl_ip ips[3];
	char msg[256];

	(void)state;
	nl_ip_parse("10.0.0.1", &g.members[0].addr);
	nl_ip_parse("10.0.0.2", &g.members[1].addr);
	nl_ip_parse("10.0.0.1", &g.members[2].addr);
	nl_ip_parse("127.0.0.1", &ips[0]);
	nl_ip_parse("10.0.0.1", &ips[1]);
	nl_ip_parse("10.0.0.2", &ips[2]);
	assert_int_equal(host_resolve(&g, ips, 2, msg, sizeof(msg)), 0);
	assert_true(g.set & NL_SET(GAGG_GA_LOCAL));
	assert_true(nl_ip_equal(&g.local, &ips[1]));
	assert_true(g.members[0].local && !g.members[1].local &&
		    g.members[2].local);
	/* again, elsewhere */
	assert_int_equal(host_resolve(&g, ips, 1, msg, sizeof(msg)), 0);
	assert_false(g.set & NL_SET(GAGG_GA_LOCAL));
	assert_false(g.members[0].local || g.members[0].set);
	assert_int_equal(host_resolve(&g, ips, 3, msg, sizeof(msg)), -EINVAL);
	assert_non_null(strstr(msg, "10.0.0.1 and 10.0.0.2 are both addresses"));
}

static void host__addresses(void **state)
{
	struct nl_ip *ips = NULL;
	int n = host_addresses(&ips);

	(void)state;
	assert_true(n >= 0);
	for (int i = 0; i < n; i++)
		assert_true(ips[i].family == AF_INET || ips[i].family == AF_INET6);
	free(ips);
}

static void applied__lines(void **state)
{
	struct applied a;

	(void)state;
	assert_int_equal(applied_load(&a, applied), 0);
	assert_true(applied_add(&a, "a", "/f"));
	assert_true(applied_add(&a, "ab", "/f g"));
	assert_true(applied_has(&a, "a", "/f"));
	assert_false(applied_has(&a, "a", "/f g"));
	assert_false(applied_has(&a, "a", "/"));
	assert_true(applied_has(&a, "ab", "/f g"));
	assert_false(applied_has(&a, "b", "/f g"));
	assert_int_equal(applied_save(&a, applied), 0);
	applied_free(&a);

	assert_int_equal(applied_load(&a, applied), 0);
	assert_string_equal(a.text, "a /f\nab /f g\n");
	assert_true(applied_add(&a, "a", "/g"));
	assert_false(applied_has(&a, "a", "/f"));
	applied_remove(&a, "ab");
	applied_remove(&a, "zz");
	applied_remove(&a, "");
	assert_string_equal(a.text, "a /g\n");
	/* a name is not found in a longer one before it */
	applied_remove(&a, "a");
	assert_true(applied_add(&a, "ab", "/f"));
	assert_true(applied_add(&a, "a", "/f"));
	applied_remove(&a, "a");
	assert_string_equal(a.text, "ab /f\n");
	applied_free(&a);
}

static void applied__path(void **state)
{
	char one[64] = "", two[64] = "";

	(void)state;
	assert_int_equal(applied_path(one, sizeof(one)), 0);
	assert_int_equal(applied_path(two, sizeof(two)), 0);
	assert_string_equal(one, two);
	assert_int_equal(strncmp(one, APPLIED_DIR "/applied-", 18), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(reconcile__create),
		TEST(reconcile__says_what_it_does),
		TEST(reconcile__members),
		TEST(reconcile__dry_run),
		TEST(reconcile__id),
		TEST(reconcile__deletes_own_only),
		TEST(reconcile__deleted_by_hand),
		TEST(reconcile__not_a_member),
		TEST(reconcile__local_moves),
		TEST(reconcile__busy),
		TEST(reconcile__errors),
		TEST(reconcile__busy_and_wrong),
		TEST(reconcile__no_memory_of_groups),
		TEST(diff__pure),
		TEST(host__resolve),
		TEST(host__addresses),
		TEST(applied__lines),
		TEST(applied__path),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("reconcile", tests, NULL, NULL);
}
