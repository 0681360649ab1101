// SPDX-License-Identifier: GPL-2.0
/* links: agent/conf/config.c agent/conf/parse.c agent/conf/roster.c agent/conf/ring.c agent/conf/value.c agent/nl/names.c kmod/core/geom.c kmod/core/group/param.c kmod/core/group/roster.c kmod/core/group/fit.c sync; libs: libconfuse */
/*
 * The configuration file: what is read from a good one, and what is said of
 * each kind of bad one.
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

#include "../../agent/conf/config.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define M0		"member 0 { address = 10.0.0.1 }\n"
#define ALL_FIELDS \
	(NL_SET(GAGG_GA_PORT) | NL_SET(GAGG_GA_UID) | NL_SET(GAGG_GA_GID) | \
	 NL_SET(GAGG_GA_MODE) | NL_SET(GAGG_GA_LANES) | NL_SET(GAGG_GA_RING) | \
	 NL_SET(GAGG_GA_WINDOW) | NL_SET(GAGG_GA_STRIPE) | \
	 NL_SET(GAGG_GA_SHARDS) | NL_SET(GAGG_GA_CHANNELS) | \
	 NL_SET(GAGG_GA_CWND) | NL_SET(GAGG_GA_DEAD_AFTER) | NL_SET(GAGG_GA_IDLE_AFTER) | \
	 NL_SET(GAGG_GA_SYNC) | NL_SET(GAGG_GA_PLACEMENT) | NL_SET(GAGG_GA_LANE_TYPE) | \
	 NL_SET(GAGG_GA_MULTICAST) | NL_SET(GAGG_GA_WIRE))

static char err[4096];

static void load(const char *text, struct config *cfg)
{
	int ret = config_parse(text, "f", cfg, err, sizeof(err));

	if (ret)
		print_error("%s\n", err);
	assert_int_equal(ret, 0);
	assert_string_equal(err, "");
}

static void parse__defaults(void **state)
{
	struct config cfg;
	const struct nl_group *g;

	(void)state;
	load("group a {\n" M0 "}\n", &cfg);
	assert_int_equal(cfg.n_groups, 1);
	assert_string_equal(cfg.path, "f");
	assert_int_equal(cfg.local.family, 0);
	g = &cfg.groups[0];
	assert_string_equal(g->name, "a");
	assert_int_equal(g->set, ALL_FIELDS);
	assert_int_equal(g->port, 7440);
	assert_int_equal(g->uid, 0);
	assert_int_equal(g->gid, 0);
	assert_int_equal(g->mode, 0600);
	assert_int_equal(g->lanes, 0);
	assert_int_equal(g->ring, 49152);
	assert_int_equal(g->window, 2048);
	assert_int_equal(g->stripe, 8);
	assert_int_equal(g->shards, 1);
	assert_int_equal(g->channels, 16);
	assert_int_equal(g->cwnd, 256);
	assert_int_equal(g->dead_after, 5000);
	assert_int_equal(g->sync.mode, GAGG_SYNC_BSP);
	assert_int_equal(g->placement, GAGG_PLACE_STRIPED);
	assert_int_equal(g->lane_type, GAGG_LANE_TYPE_INT32);
	assert_int_equal(g->multicast.family, 0);
	assert_int_equal(g->wire, GAGG_WIRE_INT32);
	assert_int_equal(g->n_members, 1);
	assert_int_equal(g->members[0].roles,
			 GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR);
	assert_false(g->members[0].local);
	config_free(&cfg);
}

static void parse__everything(void **state)
{
	struct config cfg;
	const struct nl_group *g;
	char ip[NL_IP_MAX];

	(void)state;
	load("# comment\n"
	     "local = \"10.0.0.2\"\n"
	     "group \"train-1.x_Y\" {\n"
	     " id = 77 port=9000 uid = root gid = \"12\" mode = \"0664\"\n"
	     " lanes = 2240 ring = 4096 window = 64 stripe = 64 shards = 16\n"
	     " channels = 64 cwnd = 448 idle-after = 250 dead-after = 600000\n"
	     " sync = asp placement = root lane-type = int64\n"
	     " member 63 { address = fd00::1 role = worker }\n"
	     " member 5 { address = \"fd00::2\" role = \"aggregator\" }\n"
	     "}\n"
	     "group b { lanes = auto multicast = 239.1.2.3 wire = int8 sync = bsp-quorum:1:0 member 1 { address = 10.0.0.1 role = both } } // end\n",
	     &cfg);
	assert_int_equal(cfg.n_groups, 2);
	assert_string_equal(nl_ip_format(&cfg.local, ip), "10.0.0.2");
	g = &cfg.groups[0];
	assert_string_equal(g->name, "train-1.x_Y");
	assert_int_equal(g->set, ALL_FIELDS | NL_SET(GAGG_GA_ID));
	assert_int_equal(g->id, 77);
	assert_int_equal(g->port, 9000);
	assert_int_equal(g->uid, 0);
	assert_int_equal(g->gid, 12);
	assert_int_equal(g->mode, 0664);
	assert_int_equal(g->lanes, 2240);
	assert_int_equal(g->ring, 4096);
	assert_int_equal(g->window, 64);
	assert_int_equal(g->stripe, 64);
	assert_int_equal(g->shards, 16);
	assert_int_equal(g->channels, 64);
	assert_int_equal(g->cwnd, 448);
	assert_int_equal(g->dead_after, 600000);
	assert_int_equal(g->idle_after, 250);
	assert_int_equal(g->placement, GAGG_PLACE_ROOT);
	assert_int_equal(g->lane_type, GAGG_LANE_TYPE_INT64);
	assert_int_equal(g->n_members, 2);
	assert_int_equal(g->members[0].rank, 63);
	assert_int_equal(g->members[0].roles, GAGG_ROLE_WORKER);
	assert_string_equal(nl_ip_format(&g->members[0].addr, ip), "fd00::1");
	assert_int_equal(g->members[1].rank, 5);
	assert_int_equal(g->members[1].roles, GAGG_ROLE_AGGREGATOR);
	/* Nothing of the first group is left in the second. */
	assert_int_equal(g->sync.mode, GAGG_SYNC_ASP);
	g = &cfg.groups[1];
	assert_string_equal(g->name, "b");
	assert_int_equal(g->sync.mode, GAGG_SYNC_BSP_QUORUM);
	assert_int_equal(g->sync.arg[0], 1);
	assert_int_equal(g->wire, GAGG_WIRE_INT8);
	assert_int_equal(g->set, ALL_FIELDS);
	assert_string_equal(nl_ip_format(&g->multicast, ip), "239.1.2.3");
	assert_int_equal(g->port, 7440);
	assert_int_equal(g->n_members, 1);
	config_free(&cfg);
}

static void parse__empty(void **state)
{
	struct config cfg;

	(void)state;
	load("", &cfg);
	assert_int_equal(cfg.n_groups, 0);
	config_free(&cfg);
}

static void parse__full_house(void **state)
{
	char text[8192] = "group a {\n";
	struct config cfg;

	(void)state;
	for (int i = 0; i < GAGG_RANKS_MAX; i++)
		sprintf(text + strlen(text),
			"member %d { address = 10.0.0.%d }\n", i, i + 1);
	strcat(text, "}\n");
	load(text, &cfg);
	assert_int_equal(cfg.groups[0].n_members, GAGG_RANKS_MAX);
	assert_int_equal(cfg.groups[0].members[63].rank, 63);
	config_free(&cfg);
}

static void ring(const char *options, uint32_t chunks)
{
	struct config cfg;
	char text[512];

	snprintf(text, sizeof(text), "group a { %s member 0 { address = 10.0.0.1 } }\n"
		 "group b { member 0 { address = 10.0.0.1 } }\n", options);
	load(text, &cfg);
	assert_int_equal(cfg.groups[0].ring, chunks);
	/* not of the group before */
	assert_int_equal(cfg.groups[1].ring, 49152);
	config_free(&cfg);
}

/* As gaggctl takes them, in any order with what they depend on. */
static void ring__sizes(void **state)
{
	(void)state;
	ring("ring = \"64M\"", 49152);
	ring("ring = 64M lanes = 2048", 8192);
	ring("lanes = 2048 window = 64 ring = 1G", 131072);
	ring("ring = 1K window = 128", 128);
	ring("ring = 65536K", 49152);
	ring("ring = 4194304", 4194304);
	ring("lanes = 8 window = 64 ring = 128M", 4194304);
}

/* Each line of @says is in the message, and there are no other lines. */
static const struct {
	const char *text;
	const char *says[3];
} bad[] = {
	{ "group a {\nport = 0\n" M0 "}", { "f:2: group \"a\": port = \"0\": allowed is a number from 1 to 65535" } },
	{ "group a {\nport = 65536\n" M0 "}", { "f:2: group \"a\": port" } },
	{ "group a {\nport = 7440x\n" M0 "}", { "f:2: group \"a\": port = \"7440x\"" } },
	{ "group a {\nport = -1\n" M0 "}", { "f:2: group \"a\": port = \"-1\"" } },
	{ "group a {\nport = \" 1\"\n" M0 "}", { "f:2: group \"a\": port = \" 1\"" } },
	{ "group a {\nport = \"\"\n" M0 "}", { "f:2: group \"a\": port = \"\"" } },
	{ "group a {\nport = 65530 shards = 7\n" M0 "}", { "f:2: group \"a\": port = 65530: port must be from 1 to 65536 minus shards (at most: 65529)" } },
	{ "group a {\nlanes = 345\n" M0 "}", { "f:2: group \"a\": lanes = \"345\": allowed is a multiple of 8 from 8 to 2240, or auto" } },
	{ "group a {\nlanes = Auto\n" M0 "}", { "f:2: group \"a\": lanes" } },
	{ "group a {\nlanes = 0\n" M0 "}", { "f:2: group \"a\": lanes" } },
	{ "group a {\nlanes = 2248\n" M0 "}", { "f:2: group \"a\": lanes" } },
	{ "group a {\nwindow = 96\n" M0 "}", { "f:2: group \"a\": window = \"96\": allowed is a power of two from 64 to 16384" } },
	{ "group a {\nwindow = 32768\n" M0 "}", { "f:2: group \"a\": window" } },
	{ "group a {\nring = 100\n" M0 "}", { "f:2: group \"a\": ring = 100: ring must be a multiple of window, at most 4194304 chunks (window: 2048)" } },
	{ "group a {\nring = 4294967296\n" M0 "}", { "f:2: group \"a\": ring = \"4294967296\": allowed is a number of chunks from 64 to 4194304, or bytes as in 64M" } },
	{ "group a {\nring = 64m\n" M0 "}", { "f:2: group \"a\": ring = \"64m\": allowed is a number" } },
	{ "group a {\nring = 0M\n" M0 "}", { "f:2: group \"a\": ring = \"0M\": allowed is a number" } },
	{ "group a {\nring = 64\n" M0 "}", { "f:2: group \"a\": ring = 64: ring must be a multiple of window" } },
	{ "group a {\nring = 32\n" M0 "}", { "f:2: group \"a\": ring = \"32\": allowed is a number" } },
	{ "group a {\nring = 128M\nlanes = 8\n" "window = 64 stripe = 64\nshards = 16 member 0 { address = 10.0.0.1 }\n}\ngroup b {\nring = 129M lanes = 8\n" M0 "}",
		{ "f:8: group \"b\": ring = 135266304 bytes: of 8 lanes these are more chunks than are allowed, 4194304" } },
	{ "group a {\nring = 1024G\n" M0 "}", { "f:2: group \"a\": ring = 1099511627776 bytes: of 344 lanes these are more chunks than are allowed" } },
	{ "group a {\nstripe = 65\n" M0 "}", { "f:2: group \"a\": stripe" } },
	{ "group a {\nshards = 17\n" M0 "}", { "f:2: group \"a\": shards" } },
	{ "group a {\nchannels = 65\n" M0 "}", { "f:2: group \"a\": channels" } },
	{ "group a {\ncwnd = 3\n" M0 "}", { "f:2: group \"a\": cwnd" } },
	{ "group a {\ncwnd = 449\n" M0 "}", { "f:2: group \"a\": cwnd = \"449\": allowed is a number from 4 to 448" } },
	{ "group a {\ndead-after = 99\n" M0 "}", { "f:2: group \"a\": dead-after = \"99\": allowed is a number from 100 to 600000" } },
	{ "group a {\nid = 0\n" M0 "}", { "f:2: group \"a\": id" } },
	{ "group a {\nuid = no-such-user\n" M0 "}", { "f:2: group \"a\": uid = \"no-such-user\": allowed is a number, or the name of a user" } },
	{ "group a {\nuid = 4294967295\n" M0 "}", { "f:2: group \"a\": uid" } },
	{ "group a {\ngid = no-such-group\n" M0 "}", { "f:2: group \"a\": gid = \"no-such-group\"" } },
	{ "group a {\nmode = \"0700\"\n" M0 "}", { "f:2: group \"a\": mode = \"0700\": allowed is read and write bits in octal" } },
	{ "group a {\nmode = \"0601\"\n" M0 "}", { "f:2: group \"a\": mode" } },
	{ "group a {\nmode = \"0680\"\n" M0 "}", { "f:2: group \"a\": mode" } },
	{ "group a {\nsync = app\n" M0 "}", { "f:2: group \"a\": sync = \"app\": allowed is a sync mode (unknown" } },
	{ "group a {\nsync = ssp:-1\n" M0 "}", { "f:2: group \"a\": sync = \"ssp:-1\": allowed is a sync mode (S of ssp:S must be from 0" } },
	{ "group a {\nsync = rounds-0x7f:1\n" M0 "}", { "f:2: group \"a\": sync = \"rounds-0x7f:1\": allowed is a sync mode (an algorithm over rounds is written rounds-0xNN, NN from 80 to ff, and up to 4 numbers, as in rounds-0x85:3)" } },
	{ "group a {\nsync = rounds-0xf0:1 wire = int8\n" M0 "}", { "f:2: group \"a\": wire = int8: wire int16 and int8 require" } },
	{ "group a {\nplacement = replica\n" M0 "}", { "f:2: group \"a\": placement = \"replica\": allowed is striped, root or tensor" } },
	{ "group a {\nlane-type = int16\n" M0 "}", { "f:2: group \"a\": lane-type = \"int16\": allowed is int32 or int64" } },
	{ "group a {\nlane-type = int64\n" M0 "}", { "f:2: group \"a\": lane-type = int64: lane-type int64 requires a sync mode with a store" } },
	{ "group a {\nsync = localsgd:4 lane-type = int64\n" M0 "}", { "f:2: group \"a\": lane-type = int64: lane-type int64 requires" } },
	{ "group a {\nmulticast = 10.0.0.9\n" M0 "}", { "f:2: group \"a\": multicast = \"10.0.0.9\": allowed is none, or a multicast address: 224.0.0.0 to" } },
	{ "group a {\nmulticast = 240.0.0.1\n" M0 "}", { "f:2: group \"a\": multicast = \"240.0.0.1\": allowed" } },
	{ "group a {\nmulticast = ff01::1\n" M0 "}", { "f:2: group \"a\": multicast = \"ff01::1\": allowed" } },
	{ "group a {\nmulticast = fe80::1\n" M0 "}", { "f:2: group \"a\": multicast = \"fe80::1\": allowed" } },
	{ "group a {\nmulticast = ff02::1\n" M0 "}", { "f:2: group \"a\": multicast = ff02::1: multicast must be an address of the members' family" } },
	{ "group a {\nsync = asp multicast = 239.1.2.3\n" M0 "}", { "f:2: group \"a\": multicast = 239.1.2.3: multicast requires a sync mode without a store" } },
	{ "group a {\nwire = int64\n" M0 "}", { "f:2: group \"a\": wire = \"int64\": allowed is int32, int16 or int8" } },
	{ "group a {\nsync = ssp:1 wire = int8\n" M0 "}", { "f:2: group \"a\": wire = int8: wire int16 and int8 require a sync mode that sums gradients in rounds: bsp" } },
	{ "group a {\nsync = localsgd:4 wire = int16\n" M0 "}", { "f:2: group \"a\": wire = int16: wire int16 and int8 require" } },
	{ "group a {\nport = 1\nport = 2\n" M0 "}", { "f:3: group \"a\": port is set in line 2 already" } },
	{ "group a {\nsync = bsp-quorum:0:0\n" M0 "}", { "f:2: group \"a\": sync = \"bsp-quorum:0:0\": allowed is a sync mode (K of bsp-quorum:K:CARRY must be from 1" } },
	{ "group a {\nsync = bsp-quorum:2:0\n" M0 "}", { "f:2: group \"a\": sync = bsp-quorum:2:0: K of the sync mode must be at most the number of workers (there are 1)" } },
	{ "group a {\nsync = ako:1:0\n" M0 "}", { "f:2: group \"a\": sync = ako:1:0: the sync mode needs at least two workers (there are 1)" } },
	{ "group a {\nsync = ako:1:0\n" M0 "member 1 { address = 10.0.0.1 }\n}", { "f:2: group \"a\": sync = ako:1:0: the sync mode requires hosts with one worker each" } },
	{ "group a {\nsync = push-sum:1\nshards = 2\n" M0 "member 1 { address = 10.0.0.2 }\n}", { "f:3: group \"a\": shards = 2: the sync mode requires one shard" } },
	{ "group a {\nprot = 1\n" M0 "}", { "f:2: group \"a\": no such option 'prot'; allowed: port, id, uid, gid, mode, lanes, lane-type, ring, window, stripe, shards, channels, cwnd, idle-after, dead-after, sync, placement, multicast, wire, member" } },
	{ "group a {\nport = {1}\n" M0 "}", { "f:2: group \"a\": unexpected token" } },
	{ "group a {\nport 1\n" M0 "}", { "f:2: group \"a\": " } },
	{ "groop a { }", { "f:1: no such option 'groop'; allowed: local, group" } },
	{ "include(\"x\")", { "f:1: no such option 'include'" } },
	{ "group { " M0 "}", { "f:1: missing title" } },
	{ "group \"\" { " M0 "}", { "f:2: group \"\", which ends here: a name is 1 to 31 of" } },
	{ "group \"a b\" { " M0 "}", { "f:2: group \"a b\", which ends here: a name" } },
	{ "group a2345678901234567890123456789012 { " M0 "}", { "f:2: group \"a23" } },
	{ "group a {\n" M0 "}\ngroup a {\n" M0 "}", { "f:4: found duplicate title 'a'" } },
	{ "group a { id = 5\n" M0 "}\ngroup b {\nid = 5\n" M0 "}", { "f:5: group \"b\": id = 5 is that of group \"a\"" } },
	{ "group a { }", { "f:1: group \"a\", which ends here, has no member" } },
	{ "group a { member 0 { address = 10.0.0.1 role = worker } }", { "has no aggregator" } },
	{ "group a { member 0 { address = 10.0.0.1 role = aggregator } }", { "has no worker" } },
	{ "group a { ring = 64 window = 64 stripe = 4\nshards = 5\n" M0 "member 1 { address = 10.0.0.2 } }", { "f:1: group \"a\": ring = 64: ring must have at least 2 * stripe * shards chunks for every host (chunks: 80)" } },
	{ "group a { ring = 4194368 window = 64\n" M0 "}", { "f:1: group \"a\": ring = \"4194368\": allowed is" } },
	{ "group a {\n" M0 "member 1 { address = 10.0.0.1 } member 2 { address = 10.0.0.1 } member 3 { address = 10.0.0.1 } member 4 { address = 10.0.0.1 } member 5 { address = 10.0.0.1 } member 6 { address = 10.0.0.1 } member 7 { address = 10.0.0.1 } member 8 { address = 10.0.0.1 } member 9 { address = 10.0.0.1 } member 10 { address = 10.0.0.1 } member 11 { address = 10.0.0.1 } member 12 { address = 10.0.0.1 } member 13 { address = 10.0.0.1 } member 14 { address = 10.0.0.1 } member 15 { address = 10.0.0.1 } member 16 { address = 10.0.0.1 } }", { "which ends here: at most 16 ranks of a group on one host (ranks: 17)" } },
	{ "group a {\nmember 64 { address = 10.0.0.1 }\nmember 0 { address = 10.0.0.1 }}", { "f:2: member \"64\", which ends here: a rank is a number from 0 to 63" } },
	{ "group a {\nmember x { address = 10.0.0.1 }\nmember 0 { address = 10.0.0.1 }}", { "f:2: member \"x\"" } },
	{ "group a {\n" M0 "member 0 { address = 10.0.0.2 }\n}", { "f:3: group \"a\": found duplicate title '0'" } },
	{ "group a {\n" M0 "member 00 { address = 10.0.0.2 }\n}", { "f:3: member \"00\", which ends here: rank 0 is there already" } },
	{ "group a {\nmember 0 { }\n}", { "f:2: member \"0\", which ends here, has no address" } },
	{ "group a {\nmember 0 { address = host }\n}", { "f:2: member \"0\": address = \"host\": allowed is the IPv4 or IPv6 address of a host" } },
	{ "group a {\nmember 0 { address = 0.0.0.0 }\n}", { "f:2: member \"0\": address" } },
	{ "group a {\nmember 0 { address = 224.0.0.1 }\n}", { "f:2: member \"0\": address" } },
	{ "group a {\nmember 0 { address = \"::\" }\n}", { "f:2: member \"0\": address" } },
	{ "group a {\nmember 0 { address = \"ff02::1\" }\n}", { "f:2: member \"0\": address" } },
	{ "group a {\n" M0 "member 1 { address = fd00::1 }\n}", { "f:4: group \"a\", which ends here: all addresses of a group must be of one family (member: 1)" } },
	{ "group a {\nmember 0 { address = 10.0.0.1 role = boss }\n}", { "f:2: member \"0\": role = \"boss\": allowed is worker, aggregator or both" } },
	{ "group a {\nmember 0 { address = 10.0.0.1\nweight = 1 }\n}", { "f:3: member \"0\": no such option 'weight'; allowed: address, role" } },
	{ "group a {\nmember 0 { address = 10.0.0.1\nrole = both role = both }\n}", { "f:3: member \"0\": role is set in line 3 already" } },
	{ "group a {\nmember 0 { address = 10.0.0.1\naddress = 10.0.0.1 }\n}", { "f:3: member \"0\": address is set in line 2 already" } },
	{ "group a {\nmember 0 { address = 10.0.0.1\nwait = 1 }\n}", { "f:3: member \"0\": no such option 'wait'; allowed: address, role" } },
	{ "local = here\n", { "f:1: local = \"here\": allowed is" } },
	{ "local = 10.0.0.1\nlocal = 10.0.0.2\n", { "f:2: local is set in line 1 already" } },
	/* Cut short: libconfuse alone would take these. */
	{ "group a {\n" M0, { "f:3: group \"a\": the file ends before the section does: a } is missing" } },
	{ "group a {\nmember 0 { address = 10.0.0.1", { "f:2: member \"0\": the file ends" } },
	{ "group a {\n" M0 "}\n/* the rest", { "the file ends before a comment does" } },
	{ "group a {\nport = \"1", { "premature end of file" } },
	{ "group a {\n" M0 "}\n}", { "f:4: unexpected closing brace" } },
	/* All bad lines are told, not the first one only. */
	{ "group a {\nport = 0\nmode = 9\n" M0 "role = both\n}", { "f:2: group \"a\": port", "f:3: group \"a\": mode", "f:5: group \"a\": no such option 'role'" } },
	{ "group a {\nport = \"a\\x1b[31m\\n\"\n" M0 "}", { "f:2: group \"a\": port = \"a?[31m?\"" } },
};

static void parse__bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct config cfg;
		const char *line = err;
		size_t n;

		memset(&cfg, 0x55, sizeof(cfg));
		if (config_parse(bad[i].text, "f", &cfg, err, sizeof(err)) !=
		    -EINVAL)
			fail_msg("accepted: %s", bad[i].text);
		for (n = 0; n < ARRAY_SIZE(bad[i].says) && bad[i].says[n]; n++) {
			const char *at = strstr(line, bad[i].says[n]);

			if (!at || at > line + strcspn(line, "\n"))
				fail_msg("for <%s> it says <%s>, not <%s>",
					 bad[i].text, err, bad[i].says[n]);
			line += strcspn(line, "\n");
			line += *line == '\n';
		}
		if (*line)
			fail_msg("for <%s> it says <%s>", bad[i].text, err);
		/* The caller's configuration is as it was. */
		for (size_t b = 0; b < sizeof(cfg); b++)
			assert_int_equal(((unsigned char *)&cfg)[b], 0x55);
	}
}

static void parse__short_buffer(void **state)
{
	const char *text = "group a {\nport = 0\nport = 0\n" M0 "}";
	struct config cfg;
	char small[80];

	(void)state;
	assert_int_equal(config_parse(text, "f", &cfg, small, sizeof(small)),
			 -EINVAL);
	/* The second line does not fit, and is not begun. */
	assert_string_equal(small, "f:2: group \"a\": port = \"0\": allowed is a number from 1 to 65535");
	assert_int_equal(config_parse(text, "f", &cfg, small, 1), -EINVAL);
	assert_string_equal(small, "");
}

/* No prefix of a good file crashes or is taken for more than it says. */
static void parse__prefixes(void **state)
{
	const char *text = "local = 10.0.0.1\ngroup a {\n mode = \"0660\" /* x */\n"
			   M0 "member 1 { address = 10.0.0.2 }\n}\n";
	struct config cfg;

	(void)state;
	for (size_t len = 0; len <= strlen(text); len++) {
		char *part = strndup(text, len);
		int ret = config_parse(part, "f", &cfg, err, sizeof(err));

		if (!ret && cfg.n_groups)
			assert_int_equal(cfg.groups[0].n_members, 2);
		if (!ret)
			config_free(&cfg);
		else
			assert_int_not_equal(*err, 0);
		free(part);
	}
}

static void write_file(const char *path, const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void load__files(void **state)
{
	static const char good[] = "group a { " M0 "}\n";
	char dir[] = "/tmp/gagg-config-XXXXXX", path[64];
	struct config cfg;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/./f", dir);
	assert_int_equal(config_load(path, &cfg, err, sizeof(err)), -ENOENT);
	assert_non_null(strstr(err, "No such file"));
	assert_int_equal(config_load(dir, &cfg, err, sizeof(err)), -EISDIR);

	write_file(path, good, sizeof(good) - 1);
	assert_int_equal(config_load(path, &cfg, err, sizeof(err)), 0);
	assert_int_equal(cfg.n_groups, 1);
	assert_int_equal(cfg.path[0], '/');
	assert_null(strstr(cfg.path, "/./"));
	config_free(&cfg);
	assert_null(cfg.groups);

	/* A zero byte must not hide what follows it. */
	write_file(path, good, sizeof(good));
	assert_int_equal(config_load(path, &cfg, err, sizeof(err)), -EILSEQ);
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse__defaults),
		cmocka_unit_test(parse__everything),
		cmocka_unit_test(ring__sizes),
		cmocka_unit_test(parse__empty),
		cmocka_unit_test(parse__full_house),
		cmocka_unit_test(parse__bad),
		cmocka_unit_test(parse__short_buffer),
		cmocka_unit_test(parse__prefixes),
		cmocka_unit_test(load__files),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
