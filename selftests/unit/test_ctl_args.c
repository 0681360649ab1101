// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggctl/args.c agent/gaggctl/command.c agent/gaggctl/group.c agent/conf/ports.c agent/conf/ring.c agent/gaggctl/member.c agent/gaggctl/batch.c agent/gaggctl/checkpoint.c agent/gaggctl/stats.c agent/gaggctl/monitor.c agent/gaggctl/apply.c agent/gaggctl/version.c agent/gaggctl/sync.c agent/gaggctl/print.c agent/nl/names.c kmod/core/group/param.c sync; libs: json-c */
/* Command lines, right and wrong, and what is asked of the kernel for them. */
#include "fake_ctl.h"

/* Wrong: nothing is asked of anybody, and the sentence holds @part. */
static void bad(const char *line, const char *part)
{
	int calls = kernel.calls;

	expect(line, CTL_USAGE);
	assert_int_equal(kernel.calls, calls);
	assert_string_equal(out, "");
	expect_in(line, err, "gaggctl: ");
	expect_in(line, err, "Try 'gaggctl help'");
	expect_in(line, err, part);
}

static void words__bad(void **state)
{
	(void)state;
	bad("", "command is missing; there are: group, member, stats");
	bad("nonsense", "'nonsense' is no command; there are: group");
	bad("''", "command is missing");
	bad("m", "'m' could be any of: member, monitor");
	bad("-x", "'-x' is no command");
	bad("groups", "'groups' is no command");
	bad("group", "command is missing; there are: create, delete");
	bad("group s", "'s' could be any of: set, show");
	bad("group Create", "'Create' is no command");
	bad("member", "command is missing; there are: add");
	bad("member x", "'x' is no command");
	bad("version 1", "'1' is too much");
	bad("monitor all", "'all' is too much");
	bad("stats a b", "'b' is too much");
	bad("batch", "command is missing; there are: show");
	bad("batch show", "the name of a group is missing");
	bad("batch show a b", "'b' is too much");
	bad("checkpoint", "command is missing; there are: list, delete");
	bad("checkpoint list a b", "'b' is too much");
	bad("checkpoint list --dir x", "'--dir' is no option; there is: --state");
	bad("checkpoint list --state", "--state needs a directory");
	bad("checkpoint list --state x --state y", "--state is there twice");
	bad("checkpoint list ..", "the first neither . nor -, not '..'");
	bad("checkpoint list -g", "'-g' is no option; there is: --state");
	bad("checkpoint delete", "the name of a group is missing");
	bad("checkpoint delete g", "the name of a checkpoint is missing");
	bad("checkpoint delete g ../x", "the first neither . nor -, not '../x'");
	bad("checkpoint delete /g x", "the first neither . nor -, not '/g'");
	bad("checkpoint delete g x y", "'y' is too much");
	bad("checkpoint delete g a-name-that-has-thirty-two-chars", "name: at most 31");
	bad("stats --zero", "'--zero' is no option; there is: --nonzero");
	bad("apply", "FILE is missing");
	bad("apply good better", "'better' is too much");
	bad("apply good --force", "'--force' is no option; there are: --dry-run, --check");
	bad("apply good --check --dry-run", "either --dry-run or --check");
}

#define LONG_NAME "a-name-that-has-thirty-two-chars"

static void checkpoints(void **state)
{
	(void)state;
	expect("checkpoint delete g step.1", CTL_OK);
	assert_string_equal(kernel.asked, "archive delete");
	assert_string_equal(kernel.name, "g");
	assert_string_equal(kernel.checkpoint, "step.1");
	assert_string_equal(kernel.state, ARCHIVE_DIR);
	expect("ch d --state /srv/x g step.2", CTL_OK);
	assert_string_equal(kernel.checkpoint, "step.2");
	assert_string_equal(kernel.state, "/srv/x");
	expect("checkpoint list", CTL_OK);
	assert_string_equal(kernel.asked, "archive list");
	assert_string_equal(kernel.name, "");
	expect("checkpoint list g --state y", CTL_OK);
	assert_string_equal(kernel.name, "g");
	assert_string_equal(kernel.state, "y");
	kernel.err = -ENOENT;
	expect("checkpoint delete g x", CTL_FAILED);
	assert_string_equal(err, "gaggctl: the archive says no\n");
	/* nothing is there, where nobody has said that there is something */
	expect("checkpoint list", CTL_OK);
	assert_string_equal(err, "");
	expect("checkpoint list --state typo", CTL_FAILED);
	assert_string_equal(err, "gaggctl: the archive says no\n");
	kernel.err = -EIO;
	expect("checkpoint list", CTL_FAILED);
	assert_string_equal(err, "gaggctl: the archive says no\n");
}

static void match__whole_word_wins(void **state)
{
	static const char *const words[] = { "setup", "set", "settle", NULL };
	struct args a = { .help = false };

	(void)state;
	assert_int_equal(args_match(&a, "word", "set", words), 1);
	assert_int_equal(args_match(&a, "word", "setu", words), 0);
	assert_string_equal(a.error, "");
	assert_int_equal(args_match(&a, "word", "se", words), -1);
	assert_string_equal(a.error,
		"word 'se' could be any of: setup, set, settle");
}

static void group__bad(void **state)
{
	(void)state;
	bad("group create", "the name of a group is missing");
	bad("group create g", "local ADDRESS is missing");
	bad("group create " LONG_NAME " local 10.0.0.1", "name: at most 31");
	bad("group create g local", "local needs a value");
	bad("group create g local host", "local: expected an IPv4 or IPv6 address, not 'host'");
	bad("group create g local 10.0.0.1/24", "local: expected an IPv4");
	bad("group create g local 10.0.0.1 local 10.0.0.1", "local is there twice");
	bad("group create g local 10.0.0.1 port 1 port 1", "port is there twice");
	bad("group create g local 10.0.0.1 sync bsp sync asp", "sync is there twice");
	bad("group create g local 10.0.0.1 ring 1 ring 1M", "ring is there twice");
	bad("group create g local 10.0.0.1 prt 1", "'prt' is no option; there are: local, port");
	bad("group create g local 10.0.0.1 m 1", "'m' could be any of: mode, multicast, member");
	bad("group create g local 10.0.0.1 s 1", "'s' could be any of: stripe, shards, sync");
	bad("group create g local 10.0.0.1 port", "port needs a value");
	bad("group create g local 10.0.0.1 port 65536", "port: expected a number from 0 to 65535, not '65536'");
	bad("group create g local 10.0.0.1 port -1", "port: expected a number");
	bad("group create g local 10.0.0.1 port +1", "port: expected a number");
	bad("group create g local 10.0.0.1 port ''", "port: expected a number");
	bad("group create g local 10.0.0.1 port 1x", "port: expected a number");
	bad("group create g local 10.0.0.1 port 0x", "port: expected a number");
	bad("group create g local 10.0.0.1 port 0x0x1", "port: expected a number");
	bad("group create g local 10.0.0.1 port 18446744073709551617", "port: expected a number");
	bad("group create g local 10.0.0.1 id 4294967296", "id: expected a number from 0 to 4294967295");
	bad("group create g local 10.0.0.1 lanes 65536", "lanes: expected auto, or a number from 8 to 2240, not '65536'");
	bad("group create g local 10.0.0.1 lanes automatic", "lanes: expected auto");
	bad("group create g local 10.0.0.1 window ff", "window: expected");
	bad("group create g local 10.0.0.1 stripe 65536", "stripe: expected");
	bad("group create g local 10.0.0.1 shards 65536", "shards: expected");
	bad("group create g local 10.0.0.1 channels 65536", "channels: expected");
	bad("group create g local 10.0.0.1 cwnd 4294967296", "cwnd: expected");
	bad("group create g local 10.0.0.1 dead-after 5s", "dead-after: expected");
	bad("group create g local 10.0.0.1 uid no-such-user", "uid: 'no-such-user' is no number and no user");
	bad("group create g local 10.0.0.1 uid 4294967296", "uid: '4294967296'");
	bad("group create g local 10.0.0.1 gid no-such-group", "gid: 'no-such-group' is no number and no group");
	bad("group create g local 10.0.0.1 mode 0680", "mode: expected octal digits");
	bad("group create g local 10.0.0.1 mode rw", "mode: expected octal digits");
	bad("group create g local 10.0.0.1 mode 0x10", "mode: expected octal digits");
	bad("group create g local 10.0.0.1 mode 77777777777777", "mode: expected octal digits");
	bad("group create g local 10.0.0.1 sync a-mode-that-is-longer-than-sixty-three-characters-which-is-far-too-long", "sync: unknown sync mode");
	bad("group create g local 10.0.0.1 sync ssp:1000001", "sync: S of ssp:S must be from 0 to 1000000 clocks");
	bad("group set g sync rounds-0x7f:1", "sync: an algorithm over rounds is written rounds-0xNN");
	bad("group create g local 10.0.0.1 placement stripe-root", "'stripe-root' is no placement; there are: striped, root, tensor");
	bad("group create g local 10.0.0.1 lane-type int16", "'int16' is no lane type; there are: int32, int64");
	bad("group create g local 10.0.0.1 multicast 10.0.0.2", "multicast: expected a multicast address, as 239.1.2.3 or ff15::1:2, or none, not '10.0.0.2'");
	bad("group create g local 10.0.0.1 multicast ff11::1", "multicast: expected");
	bad("group create g local 10.0.0.1 multicast ''", "multicast: expected");
	bad("group create g local 10.0.0.1 multicast", "multicast needs a value");
	bad("group create g local 10.0.0.1 multicast none multicast none", "multicast is there twice");
	bad("group create g local 10.0.0.1 --key k", "'--key' is no option; there are: local");
	bad("group create g local 10.0.0.1 wire int64", "'int64' is no wire format; there are: int32, int16, int8");
	bad("group create g local 10.0.0.1 wi 8", "'wi' could be any of: window, wire");
	bad("group create g local 10.0.0.1 lane 8", "'lane' could be any of: lanes, lane-type");
	bad("group delete", "the name of a group is missing");
	bad("group delete a b", "'b' is too much");
	bad("group delete " LONG_NAME, "name: at most 31");
	bad("group show a b", "'b' is too much");
	bad("group show " LONG_NAME, "name: at most 31");
	bad("group list a", "'a' is too much");
	bad("group set", "the name of a group is missing");
	bad("group set g", "what to set is missing");
	bad("group set g mode", "mode needs a value");
	bad("group set g member 0=10.0.0.1", "members are changed by 'gaggctl member'");
}

static void ring__bad(void **state)
{
	(void)state;
	bad("group create g local 10.0.0.1 ring", "ring needs a value");
	bad("group create g local 10.0.0.1 ring ''", "ring: expected");
	bad("group create g local 10.0.0.1 ring M", "ring: expected");
	bad("group create g local 10.0.0.1 ring 0M", "ring: expected");
	bad("group create g local 10.0.0.1 ring -1M", "ring: expected");
	bad("group create g local 10.0.0.1 ring 1.5M", "ring: expected");
	bad("group create g local 10.0.0.1 ring 64MiB", "ring: expected");
	bad("group create g local 10.0.0.1 ring 64m", "ring: expected");
	bad("group create g local 10.0.0.1 ring 4294967296", "ring: expected");
	bad("group create g local 10.0.0.1 ring 18014398509481984K", "ring: expected");
	bad("group create g local 10.0.0.1 ring 1000000000000000000000000000000000M", "ring: expected");
	bad("group create g local 10.0.0.1 lanes 8 ring 128G", "too many chunks");
}

static void member__bad(void **state)
{
	(void)state;
	bad("member add", "the name of a group is missing");
	bad("member add g", "RANK=ADDRESS is missing");
	bad("member add g 0", "expected RANK=ADDRESS, not '0'");
	bad("member add g 10.0.0.1", "expected RANK=ADDRESS");
	bad("member add g =10.0.0.1", "rank: expected a number");
	bad("member add g a=10.0.0.1", "rank: expected a number");
	bad("member add g -1=10.0.0.1", "rank: expected a number");
	bad("member add g 4294967296=10.0.0.1", "rank: expected a number");
	bad("member add g 0=", "member: expected an IPv4 or IPv6 address, not ''");
	bad("member add g 0=,worker", "member: expected an IPv4");
	bad("member add g 0=10.0.0", "member: expected an IPv4");
	bad("member add g 0=10.0.0.1:7440", "member: expected an IPv4");
	bad("member add g 0=10.0.0.1,", "role is missing; there are: worker");
	bad("member add g 0=10.0.0.1,boss", "'boss' is no role; there are: worker, aggregator, both");
	bad("member add g 0=10.0.0.1,worker,aggregator", "member 0: two roles; one that works and aggregates is 'both'");
	bad("member add g 0=10.0.0.1,weight=1", "'weight=1' is no role; there are: worker, aggregator, both");
	bad("member add g 0=10.0.0.1 worker", "'worker' is too much");
	bad("member add " LONG_NAME " 0=10.0.0.1", "name: at most 31");
	bad("member delete g", "RANK is missing");
	bad("member delete g x", "rank: expected a number");
	bad("member delete g 0 1", "'1' is too much");
	bad("member set g 0", "what to set is missing");
	bad("member set g 0 colour red", "'colour' is no option; there are: address, role");
	bad("member set g 0 role", "role needs a value");
	bad("member set g 0 role both role worker", "role is there twice");
	bad("member set g 0 role boss", "'boss' is no role");
	bad("member set g 0 address host", "address: expected an IPv4");
	bad("member set g x role both", "rank: expected a number");
	bad("member list", "the name of a group is missing");
	bad("member list a b", "'b' is too much");
	bad("group create g local 10.0.0.1 member", "member needs a value");
	bad("group create g local 10.0.0.1 member 0", "expected RANK=ADDRESS");
}

static void group__too_many_members(void **state)
{
	char line[4096] = "group create g local 10.0.0.1";

	(void)state;
	for (int i = 0; i < GAGG_RANKS_MAX; i++)
		strcat(line, " member 0=10.0.0.1");
	expect(line, CTL_OK);
	assert_int_equal(kernel.group.n_members, GAGG_RANKS_MAX);
	strcat(line, " member 1=10.0.0.1");
	bad(line, "more than 64 members");
}

static void group__create(void **state)
{
	const struct nl_group *g = &kernel.group;

	(void)state;
	expect("group create g local 10.0.0.1 port 7441 id 0xff uid 1000 gid 1001 mode 0660 lanes 344 lane-type int64 ring 4096 window 64 stripe 8 shards 2 channels 3 cwnd 16 idle-after 40 dead-after 700 sync dssp:3:15 placement root multicast 239.1.2.3 wire int16 member 0=10.0.0.1 member 5=10.0.0.2,aggregator member 6=10.0.0.1,worker",
	       CTL_OK);
	assert_string_equal(kernel.asked, "new");
	assert_string_equal(g->name, "g");
	assert_int_equal(g->port, 7441);
	assert_int_equal(g->id, 255);
	assert_int_equal(g->uid, 1000);
	assert_int_equal(g->gid, 1001);
	assert_int_equal(g->mode, 0660);
	assert_int_equal(g->lanes, 344);
	assert_int_equal(g->ring, 4096);
	assert_int_equal(g->window, 64);
	assert_int_equal(g->stripe, 8);
	assert_int_equal(g->shards, 2);
	assert_int_equal(g->channels, 3);
	assert_int_equal(g->cwnd, 16);
	assert_int_equal(g->idle_after, 40);
	assert_int_equal(g->dead_after, 700);
	assert_int_equal(g->sync.mode, GAGG_SYNC_DSSP);
	assert_int_equal(g->sync.arg[0], 3);
	assert_int_equal(g->sync.arg[1], 15);
	assert_int_equal(g->placement, GAGG_PLACE_ROOT);
	assert_int_equal(g->lane_type, GAGG_LANE_TYPE_INT64);
	assert_int_equal(g->multicast.family, AF_INET);
	assert_memory_equal(g->multicast.addr, "\357\1\2\3", 4);
	assert_true(g->set & NL_SET(GAGG_GA_MULTICAST));
	assert_int_equal(g->wire, GAGG_WIRE_INT16);
	assert_int_equal(g->n_members, 3);
	assert_int_equal(g->members[0].rank, 0);
	assert_true(g->members[0].local);
	assert_int_equal(g->members[0].set,
			 NL_SET(GAGG_MA_RANK) | NL_SET(GAGG_MA_ADDRESS));
	assert_int_equal(g->members[1].rank, 5);
	assert_false(g->members[1].local);
	assert_int_equal(g->members[1].roles, GAGG_ROLE_AGGREGATOR);
	assert_true(g->members[2].local);
	assert_int_equal(g->members[2].roles, GAGG_ROLE_WORKER);
	assert_string_equal(out, "");
	assert_string_equal(err, "");
}

/* Everything that is not said is not sent; order is free, words may be short. */
static void group__create_short(void **state)
{
	const struct nl_group *g = &kernel.group;

	(void)state;
	expect("g c g me 1=fd00::2,b me 0=fd00::1 loc fd00::1 d 100 uid root",
	       CTL_OK);
	assert_string_equal(kernel.asked, "new");
	assert_int_equal(g->set, NL_SET(GAGG_GA_LOCAL) | NL_SET(GAGG_GA_UID) |
				 NL_SET(GAGG_GA_DEAD_AFTER));
	assert_int_equal(g->uid, 0);
	assert_int_equal(g->dead_after, 100);
	assert_int_equal(g->members[0].roles,
			 GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR);
	assert_false(g->members[0].local);
	assert_true(g->members[1].local);
}

static void group__lanes_auto(void **state)
{
	const struct nl_group *g = &kernel.group;

	(void)state;
	expect("group set g lanes 128", CTL_OK);
	assert_int_equal(g->set, NL_SET(GAGG_GA_LANES));
	assert_int_equal(g->lanes, 128);
	expect("group set g lanes auto", CTL_OK);
	assert_int_equal(g->set, NL_SET(GAGG_GA_LANES));
	assert_int_equal(g->lanes, 0);
}

static void ring(const char *line, uint32_t chunks)
{
	expect(line, CTL_OK);
	assert_true(kernel.group.set & NL_SET(GAGG_GA_RING));
	assert_int_equal(kernel.group.ring, chunks);
}

static void ring__sizes(void **state)
{
	struct nl_group have = { .name = "g", .lanes = 8, .window = 64 };

	(void)state;
	/* 64 MiB is the default, by whatever way */
	ring("group create g local 10.0.0.1 ring 64M", 49152);
	ring("group create g local 10.0.0.1 ring 49152", 49152);
	ring("group create g local 10.0.0.1 ring 65536K", 49152);
	ring("group create g local 10.0.0.1 ring 1G lanes 1024 window 64", 262144);
	ring("group create g local 10.0.0.1 ring 1K window 64 lanes 344", 64);
	ring("group create g local 10.0.0.1 ring 64M lanes auto", 49152);
	ring("group create g local 10.0.0.1 ring 1K window 0 lanes auto", 1);
	ring("group create g local 10.0.0.1 ring 0", 0);
	kernel.have = &have;
	ring("group set g ring 2K", 64);
	ring("group set g ring 2K window 128", 128);
	ring("group set g ring 7", 7);
	expect("group set other ring 2K", CTL_FAILED);
	expect_in("group set other", err, "the kernel says no");
}

static void group__set_and_delete(void **state)
{
	(void)state;
	expect("group set g mode 0666", CTL_OK);
	assert_string_equal(kernel.asked, "set");
	assert_int_equal(kernel.group.set, NL_SET(GAGG_GA_MODE));
	assert_int_equal(kernel.group.mode, 0666);
	expect("group set g loc 10.9.9.9", CTL_OK);
	assert_int_equal(kernel.group.set, NL_SET(GAGG_GA_LOCAL));
	expect("group del g", CTL_OK);
	assert_string_equal(kernel.asked, "del");
	assert_string_equal(kernel.group.name, "g");
}

static void unprivileged_from(const char *port)
{
	FILE *f = fopen(ports_sysctl, "w");

	assert_non_null(f);
	fputs(port, f);
	fclose(f);
}

#define ANYBODY	"gaggctl: warning: group \"g\": anybody on this host may bind UDP port "

/* a process that may bind a group's ports is its member, for other hosts */
static void group__ports_of_anybody(void **state)
{
	struct nl_group have = { .name = "g", .port = 7440, .shards = 1, .mode = 0600 };
	const char *was = ports_sysctl;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "/tmp/test_ctl_args.%d", getpid());
	ports_sysctl = path;
	kernel.have = &have;
	/* there is no such file */
	expect("group create g local 10.0.0.1", CTL_OK);
	expect_in("create", err, ANYBODY "7440");
	expect_in("create", err, "ip_unprivileged_port_start, which is 1024\n");
	unprivileged_from("7441\n");
	expect("group create g local 10.0.0.1", CTL_OK);
	assert_string_equal(err, "");
	/* each shard has one */
	have.shards = 2;
	expect("group set g shards 2", CTL_OK);
	expect_in("set", err, ANYBODY "7441");
	have.mode = 0660;
	expect("group set g mode 0660", CTL_OK);
	expect_in("set", err, ANYBODY "7441");
	/* what has nothing to do with it is no occasion */
	expect("group set g ring 7", CTL_OK);
	assert_string_equal(err, "");
	have.port = 1022;
	unprivileged_from("1024\n");
	expect("group set g port 1022", CTL_OK);
	assert_string_equal(err, "");
	have.port = 1023;
	expect("group set g port 1023", CTL_OK);
	expect_in("set", err, ANYBODY "1024");
	/* where everybody may train nobody needs to be kept out */
	have.mode = 0666;
	expect("group set g mode 0666", CTL_OK);
	assert_string_equal(err, "");
	have.mode = 0664;
	unprivileged_from("0\n");
	expect("group set g mode 0664", CTL_OK);
	expect_in("set", err, "which is 0\n");
	expect("apply good", CTL_OK);
	expect_in("apply", err, "warning: group \"a\": anybody on this host may bind UDP port 9000");
	/* a user that is refused is not warned as well */
	kernel.err = -EINVAL;
	expect("group create g local 10.0.0.1", CTL_FAILED);
	assert_null(strstr(err, "warning"));
	unlink(path);
	ports_sysctl = was;
}

/* a ring of many bytes is told when it is made */
static void group__memory(void **state)
{
	struct nl_group have = { .name = "g", .port = 1, .shards = 1, .mode = 0600,
				 .ring = 49152, .lanes = 344 };

	(void)state;
	kernel.have = &have;
	expect("group create g local 10.0.0.1", CTL_OK);
	assert_null(strstr(err, "memory"));
	/* auto takes as much as its most */
	have.lanes = 0;
	have.ring *= 2;
	expect("group set g ring 128M", CTL_OK);
	expect_in("auto", err, "each trainer needs 270 MB of memory");
	have.ring /= 2;
	have.lanes = 2048;
	expect("group set g lanes 2048", CTL_OK);
	expect_in("set", err, "note: group \"g\": each trainer needs 805 MB of memory");
	expect("group create g local 10.0.0.1 lanes 2048", CTL_OK);
	expect_in("create", err, "805 MB");
	/* what has nothing to do with it is no occasion */
	expect("group set g dead-after 700", CTL_OK);
	assert_null(strstr(err, "memory"));
	/* as much as by default, in fewer chunks */
	have.ring = 8192;
	expect("group set g ring 64M", CTL_OK);
	assert_null(strstr(err, "memory"));
}

static void member__changes(void **state)
{
	struct nl_group have = { .name = "g" };
	const struct nl_member *m = &kernel.member;

	(void)state;
	kernel.have = &have;
	assert_true(nl_ip_parse("10.0.0.1", &have.local));
	expect("member add g 3=10.0.0.1,worker", CTL_OK);
	assert_string_equal(kernel.asked, "add");
	assert_string_equal(kernel.name, "g");
	assert_int_equal(m->rank, 3);
	assert_true(m->local);
	expect("member add g 3=10.0.0.2", CTL_OK);
	assert_false(m->local);
	expect("member set g 3 role agg", CTL_OK);
	assert_string_equal(kernel.asked, "set");
	assert_int_equal(m->set, NL_SET(GAGG_MA_RANK) | NL_SET(GAGG_MA_ROLES));
	assert_int_equal(m->roles, GAGG_ROLE_AGGREGATOR);
	expect("member set g 3 address 10.0.0.1", CTL_OK);
	assert_true(m->local);
	expect("member set g 3 address 10.0.0.2", CTL_OK);
	assert_false(m->local);
	expect("member del g 3", CTL_OK);
	assert_string_equal(kernel.asked, "del");
	assert_int_equal(m->set, NL_SET(GAGG_MA_RANK));
	expect("member add other 3=10.0.0.1", CTL_FAILED);
	/* without an address, the group is not asked for its own */
	expect("member del other 3", CTL_OK);
	kernel.err = -EBUSY;
	expect("member del g 3", CTL_FAILED);
	assert_string_equal(err, "gaggctl: the kernel says no\n");
}

static void apply__calls(void **state)
{
	(void)state;
	expect("apply good", CTL_OK);
	assert_false(kernel.dry_run);
	assert_string_equal(out, "create group a\ncannot: delete group b\n");
	expect("apply --dry-run good", CTL_OK);
	assert_true(kernel.dry_run);
	kernel.asked = NULL;
	expect("apply --check good", CTL_OK);
	assert_null(kernel.asked);
	assert_string_equal(out, "group a members 0\n");
	expect("apply --check bad", CTL_FAILED);
	expect("apply bad", CTL_FAILED);
	assert_string_equal(err, "gaggctl: bad:1: a sentence\n");
	expect("apply absent", CTL_FAILED);
	assert_string_equal(err, "gaggctl: absent: No such file or directory\n");
	kernel.err = -EBUSY;
	expect("apply good", CTL_FAILED);
	expect_in("apply", err, "until ranks detach");
	kernel.err = -EPERM;
	expect("apply good", CTL_FAILED);
	expect_in("apply", err, "not all of the file");
}

static void refusals__exit_1(void **state)
{
	static const char *const lines[] = {
		"group create g local 10.0.0.1", "group set g mode 0600",
		"group delete g", "group show", "group show g", "group list",
		"member del g 0", "stats", "monitor",
	};

	(void)state;
	kernel.err = -EPERM;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		expect(lines[i], CTL_FAILED);
		assert_string_equal(err, "gaggctl: the kernel says no\n");
	}
}

/* Words that change something go to a twin as to the module: nl.h refuses them there. */
static void twin__is_asked(void **state)
{
	struct nl_group have = { .name = "g" };

	(void)state;
	kernel.twin_answers = true;
	kernel.have = &have;
	expect("--twin /a/b group list", CTL_OK);
	assert_string_equal(kernel.twin.path, "/a/b");
	assert_string_equal(err, "");
	expect("member list g --twin /c", CTL_OK);
	assert_string_equal(kernel.twin.path, "/c");
	expect("--twin /c apply good", CTL_FAILED);
	expect_in("apply", err, "cannot apply '': gagg-twin at /c has read /etc/a.conf: edit that, and restart gagg-twin");
	assert_null(kernel.asked);
	expect("-j --twin /c version", CTL_OK);
	expect_in("version", out, "\"twin\":{\"version\":\"7.8\",\"socket\":\"/c\",\"config\":\"/etc/a.conf\"");
	assert_null(strstr(out, "netlink"));
	/* not of the call before */
	memset(&kernel.twin, 0, sizeof(kernel.twin));
	expect("group list", CTL_OK);
	assert_string_equal(kernel.twin.path, "");
	kernel.twin_answers = false;
	expect("--twin /c group list", CTL_FAILED);
	assert_string_equal(err, "gaggctl: the kernel says no\n");
	expect("--twin /c version", CTL_OK);
	expect_in("version", out, "gagg-twin: the kernel says no");
	expect("group list --twin", CTL_USAGE);
	expect_in("no path", err, "--twin needs the path");
	expect("--twin '' group list", CTL_USAGE);
}

static void twin__by_itself(void **state)
{
	(void)state;
	unsetenv("GAGG_SOCKET");
	kernel.open_errno = ENOENT;
	expect("group list", CTL_FAILED);
	assert_string_equal(err, "gaggctl: the kernel says no; the kernel says no\n");
	kernel.twin_answers = true;
	expect("group list", CTL_OK);
	assert_string_equal(err, "gaggctl: no kernel module gagg is loaded: this is about gagg-twin at /run/gagg/gaggd.sock\n");
	setenv("GAGG_SOCKET", "/d", 1);
	expect("group list", CTL_OK);
	assert_string_equal(kernel.twin.path, "/d");
	expect("version", CTL_OK);
	expect_in("version", out, "gagg-twin 7.8 at /d of /etc/a.conf wire 0 to 0\n");
	expect_in("version", out, "netlink: ");
	unsetenv("GAGG_SOCKET");
	/* a user that may not ask the module is told so */
	kernel.open_errno = EPERM;
	expect("group list", CTL_FAILED);
	assert_string_equal(err, "gaggctl: the kernel says no\n");
}

static void help__everywhere(void **state)
{
	static const char *const lines[] = {
		"help", "--help", "-h", "group help", "group --help",
		"group create help", "group create --help", "group set -h",
		"group create g local --help", "group delete help",
		"group show help", "group list --help", "member help",
		"member add help", "member set --help", "member delete help",
		"member list help", "stats help", "stats --help", "batch help", "batch show help", "checkpoint help",
		"checkpoint list help", "checkpoint delete --help",
		"monitor help", "apply help", "apply --help", "version help",
		"-j help", "he",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		expect(lines[i], CTL_OK);
		assert_int_equal(strncmp(out, "Usage: gaggctl ", 15), 0);
		assert_string_equal(err, "");
	}
	assert_int_equal(kernel.calls, 0);
	expect("-V", CTL_OK);
	assert_string_equal(out, "gaggctl " GAGGCTL_VERSION "\n");
	expect("group list --version", CTL_OK);
	assert_string_equal(out, "gaggctl " GAGGCTL_VERSION "\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(words__bad),
		TEST(checkpoints),
		TEST(match__whole_word_wins),
		TEST(group__bad),
		TEST(ring__bad),
		TEST(member__bad),
		TEST(group__too_many_members),
		TEST(group__create),
		TEST(group__create_short),
		TEST(group__lanes_auto),
		TEST(ring__sizes),
		TEST(group__set_and_delete),
		TEST(group__ports_of_anybody),
		TEST(group__memory),
		TEST(member__changes),
		TEST(apply__calls),
		TEST(refusals__exit_1),
		TEST(twin__is_asked),
		TEST(twin__by_itself),
		TEST(help__everywhere),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
