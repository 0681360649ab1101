// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggctl/args.c agent/gaggctl/command.c agent/gaggctl/group.c agent/conf/ports.c agent/conf/ring.c agent/gaggctl/member.c agent/gaggctl/batch.c agent/gaggctl/checkpoint.c agent/gaggctl/stats.c agent/gaggctl/monitor.c agent/gaggctl/apply.c agent/gaggctl/version.c agent/gaggctl/sync.c agent/gaggctl/print.c agent/nl/names.c kmod/core/group/param.c sync; libs: json-c */
/* What is printed, as text and as JSON. */
#include <json-c/json.h>

#include "fake_ctl.h"

static void fill(struct nl_group *g)
{
	const struct gagg_param *f;
	uint32_t v = 111;

	memset(g, 0, sizeof(*g));
	strcpy(g->name, "grp");
	assert_true(nl_ip_parse("10.0.0.1", &g->local));
	nl_for_each_field(f)
		nl_field_write(g, f, v++);
	g->mode = 0640;
	g->placement = GAGG_PLACE_ROOT;
	g->lane_type = GAGG_LANE_TYPE_INT64;
	assert_true(nl_multicast_parse("ff02::7", &g->multicast));
	g->wire = GAGG_WIRE_INT8;
	g->sync = (struct gagg_sync_param){ 0xf0, { 0, 7 } };
	g->state = GAGG_GS_MISMATCH;
	strcpy(g->mismatch, "lanes");
	g->epoch = 1ULL << 63;
	g->reason = 2;
	g->reason_rank = 9;
	g->set = 2 * NL_SET(GAGG_GA_MAX) - 2;
	for (uint32_t i = 0; i < 5; i++) {
		struct nl_member *m = &g->members[g->n_members++];

		m->rank = 20 + i;
		assert_true(nl_ip_parse("10.0.0.2", &m->addr));
		m->roles = 1;
		m->local = i == 4;
		m->state = i;
		if (i == GAGG_MS_MISMATCH)
			strcpy(m->mismatch, "stripe");
		m->mismatch_here = 1000 + i;
		m->mismatch_there = 1100 + i;
		m->rtt = 400 + i;
		m->cwnd = 500 + i;
		m->heard_ms = 600 + i;
		m->times.compute_ns = 700999 + i;
		m->times.wait_ns = 800999 + i;
		m->times.ops = 900 + i;
		m->times.share = i < 2 ? 0 : 40 + i;
		m->times.batch = i ? 128 : 0;
		m->set = (2U << GAGG_MA_MAX) - 2;
	}
}

/* Every value of the JSON is a part of the text. */
static void compare(struct json_object *o, const char *text)
{
	switch (json_object_get_type(o)) {
	case json_type_object: {
		json_object_object_foreach(o, key, value) {
			assert_null(strchr(key, '-'));
			compare(value, text);
		}
		break;
	}
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(o); i++)
			compare(json_object_array_get_idx(o, i), text);
		break;
	case json_type_boolean:
		if (json_object_get_boolean(o))
			assert_non_null(strstr(text, " local"));
		break;
	default:
		expect_in("-j", text, json_object_get_string(o));
	}
}

static struct json_object *both(const char *line)
{
	struct json_object *o;
	char buf[128], *text;

	expect(line, CTL_OK);
	text = strdup(out);
	snprintf(buf, sizeof(buf), "-j %s", line);
	expect(buf, CTL_OK);
	assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
	o = json_tokener_parse(out);
	assert_non_null(o);
	compare(o, text);
	free(text);
	return o;
}

static const char *at(struct json_object *o, size_t i, const char *key)
{
	struct json_object *v = json_object_object_get(
		json_object_array_get_idx(o, i), key);

	assert_non_null(v);
	return json_object_get_string(v);
}

static void print__text_and_json(void **state)
{
	struct json_object *o, *members;
	struct nl_group have;

	(void)state;
	fill(&have);
	kernel.have = &have;
	o = both("group show grp");
	assert_string_equal(at(o, 0, "name"), "grp");
	assert_string_equal(at(o, 0, "mode"), "0640");
	assert_string_equal(at(o, 0, "dead_after"), "125");
	assert_string_equal(at(o, 0, "placement"), "root");
	assert_string_equal(at(o, 0, "lane_type"), "int64");
	assert_string_equal(at(o, 0, "multicast"), "ff02::7");
	assert_string_equal(at(o, 0, "wire"), "int8");
	assert_string_equal(at(o, 0, "epoch"), "9223372036854775808");
	assert_string_equal(at(o, 0, "state"), "config-mismatch");
	assert_string_equal(at(o, 0, "mismatch"), "lanes");
	assert_string_equal(at(o, 0, "reason"), "died");
	members = json_object_object_get(json_object_array_get_idx(o, 0),
					 "members");
	assert_int_equal(json_object_array_length(members), 5);
	json_object_put(o);
	json_object_put(both("group show"));
	o = both("group list");
	assert_string_equal(at(o, 0, "ranks"), "5");
	json_object_put(o);
	o = both("member list grp");
	assert_string_equal(at(o, 1, "mismatch"), "stripe");
	assert_string_equal(at(o, 1, "mismatch_here"), "1001");
	assert_string_equal(at(o, 1, "mismatch_there"), "1101");
	assert_string_equal(at(o, 4, "state"), "running");
	assert_string_equal(at(o, 4, "local"), "true");
	assert_string_equal(at(o, 3, "local"), "false");
	json_object_put(o);
	json_object_put(both("stats"));
	json_object_put(both("stats grp --nonzero"));
	json_object_put(both("version"));
	json_object_put(both("apply good"));
}

static void member__states(void **state)
{
	struct nl_group have;

	(void)state;
	fill(&have);
	kernel.have = &have;
	expect("member list grp", CTL_OK);
	assert_string_equal(out,
		"20=10.0.0.2,worker unheard rtt 400us cwnd 500 heard 600ms ago\n"
		"21=10.0.0.2,worker config-mismatch stripe (1101 there, 1001 here) rtt 401us cwnd 501 heard 601ms ago\n"
		"22=10.0.0.2,worker heard rtt 402us cwnd 502 heard 602ms ago\n"
		"23=10.0.0.2,worker attached rtt 403us cwnd 503 heard 603ms ago\n"
		"24=10.0.0.2,worker local running rtt 404us cwnd 504 heard 604ms ago\n");
	expect("member list other", CTL_FAILED);
	assert_string_equal(out, "");
}

/* member 21 says that @field differs, as numbers or words, or without values */
static void differs(struct nl_group *have, const char *field, uint32_t there, uint32_t here,
		    const char *expected)
{
	struct nl_member *m = &have->members[GAGG_MS_MISMATCH];
	char buf[NL_MISMATCH_MAX], *end;

	strcpy(m->mismatch, field);
	m->mismatch_there = there;
	m->mismatch_here = here;
	json_object_put(both("member list grp"));
	expect("member list grp", CTL_OK);
	end = strstr(out, "config-mismatch ");
	assert_non_null(end);
	end += strlen("config-mismatch ");
	assert_memory_equal(end, expected, strlen(expected));
	assert_memory_equal(end + strlen(expected), " rtt", 4);
	assert_string_equal(nl_mismatch_format(m, buf), expected);
}

static void member__mismatch(void **state)
{
	struct nl_group have;
	struct nl_member *m = &have.members[GAGG_MS_MISMATCH];

	(void)state;
	fill(&have);
	kernel.have = &have;
	differs(&have, "window", 1024, 2048, "window (1024 there, 2048 here)");
	differs(&have, "members", 2, 3, "members (2 there, 3 here)");
	differs(&have, "version", 2, 1, "version (2 there, 1 here)");
	differs(&have, "lanes", 0, 344, "lanes (auto there, 344 here)");
	differs(&have, "placement", GAGG_PLACE_ROOT, GAGG_PLACE_STRIPED,
		"placement (root there, striped here)");
	differs(&have, "wire", GAGG_WIRE_INT8, GAGG_WIRE_INT32, "wire (int8 there, int32 here)");
	differs(&have, "wire", 3, GAGG_WIRE_INT32, "wire (3 there, int32 here)");
	differs(&have, "lane-type", GAGG_LANE_TYPE_INT32, GAGG_LANE_TYPE_INT64,
		"lane-type (int32 there, int64 here)");
	differs(&have, "sync", 3 << 24 | 2 << 21 | 1 << 10 | 5, 0, "sync (dssp:1:5 there, bsp here)");
	m->set &= ~NL_SET(GAGG_MA_MISMATCH_THERE);
	differs(&have, "window", 1024, 2048, "window");
	m->set |= NL_SET(GAGG_MA_MISMATCH_THERE);
	m->set &= ~NL_SET(GAGG_MA_MISMATCH_HERE);
	differs(&have, "role", 1024, 2048, "role");
}

static void member__blocked(void **state)
{
	struct nl_group have;
	struct nl_member *m = have.members;
	struct json_object *o;

	(void)state;
	fill(&have);
	have.port = 7440;
	have.shards = 3;
	have.mtu_needed = 1468;
	have.n_members = 3;
	m[0].state = GAGG_MS_BLOCKED;
	m[0].blocked_in = 7;
	m[1] = m[0];
	m[1].blocked_in = 2;
	m[1].blocked_out = 4;
	m[2] = m[0];
	m[2].blocked_in = 0;
	kernel.have = &have;
	expect("member list grp", CTL_OK);
	expect_in("all", out, " blocked rtt 400us cwnd 500 heard 600ms ago: it is heard, but chunks do not pass from it to this host on UDP port 7440, 7441, 7442: the path's MTU is less than 1468, or a firewall is in the way\n");
	expect_in("some", out, ": it is heard, but chunks do not pass between it and this host on UDP port 7441, 7442: is a firewall in the way?\n");
	expect_in("others", out, ": chunks do not pass between it and another host: see member list there\n");
	m[0].blocked_out = 1;
	m[0].blocked_in = 0;
	expect("member list grp", CTL_OK);
	expect_in("out", out, "do not pass from this host to it on UDP port 7440: is");
	o = both("member list grp");
	assert_string_equal(at(o, 0, "state"), "blocked");
	json_object_put(o);
}

static void group__mtu(void **state)
{
	struct json_object *o;
	struct nl_group have;

	(void)state;
	fill(&have);
	have.mtu = 1500;
	have.mtu_needed = 1468;
	kernel.have = &have;
	expect("group show grp", CTL_OK);
	expect_in("both", out, " path MTU 1468 needed, interface 1500\n");
	have.lanes = 0;
	have.lanes_now = 328;
	expect("group show grp", CTL_OK);
	expect_in("lanes", out, " lanes 328, path MTU 1468 needed, interface 1500\n");
	expect_in("auto", out, " lanes auto lane-type ");
	o = both("group show grp");
	assert_string_equal(at(o, 0, "lanes"), "auto");
	assert_string_equal(at(o, 0, "lanes_now"), "328");
	json_object_put(o);
	have.set &= ~(NL_SET(GAGG_GA_MTU) | NL_SET(GAGG_GA_LANES_NOW));
	expect("group show grp", CTL_OK);
	expect_in("no route", out, " path MTU 1468 needed\n");
}

/* What show prints between the name and the members, create takes. */
static void group__show_makes_create(void **state)
{
	char line[1024], *from, *to;
	const struct gagg_param *f;
	struct nl_group have;

	(void)state;
	fill(&have);
	kernel.have = &have;
	expect("group show grp", CTL_OK);
	from = strchr(out, '\n') + 1;
	to = strstr(from, "\n    member");
	*to = 0;
	for (char *c = from; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	snprintf(line, sizeof(line), "group create grp %s", from);
	expect(line, CTL_OK);
	nl_for_each_field(f)
		assert_int_equal(nl_field_read(&have, f),
				 nl_field_read(&kernel.group, f));
	assert_true(nl_ip_equal(&have.local, &kernel.group.local));
	assert_memory_equal(&have.sync, &kernel.group.sync, sizeof(have.sync));
}

static void checkpoints__as_they_are(void **state)
{
	struct archive_entry e[] = {
		{ .group = "g", .name = "best", .bytes = 123456, .tables = 3,
		  .saved = 1700000000 },
		{ .group = "h", .name = "x", .bytes = 5, .problem = "damaged", .saved = 0 },
		{ .group = "i", .problem = "i is no directory" },
	};
	struct json_object *o;

	(void)state;
	kernel.entries = e;
	kernel.n_entries = 3;
	expect("checkpoint list", CTL_FAILED);
	assert_string_equal(err, "gaggctl: i is no directory\n");
	kernel.n_entries = 2;
	expect("checkpoint list", CTL_OK);
	assert_string_equal(out,
		"g/best bytes 123456 tables 3 saved 2023-11-14T22:13:20Z\n"
		"h/x bytes 5 damaged saved 1970-01-01T00:00:00Z\n");
	o = both("checkpoint list");
	assert_int_equal(json_object_array_length(o), 2);
	assert_string_equal(at(o, 0, "group"), "g");
	assert_string_equal(at(o, 0, "tables"), "3");
	assert_string_equal(at(o, 1, "problem"), "damaged");
	json_object_put(o);
}

static void batch__of_who_has_one(void **state)
{
	struct json_object *o;
	struct nl_group have;

	(void)state;
	fill(&have);
	kernel.have = &have;
	/* of another host */
	have.members[3].set &= ~NL_SET(GAGG_MA_TIMES);
	expect("batch show grp", CTL_OK);
	assert_string_equal(out,
		  "20 unheard computing 700us waiting 800us ops 900\n"
		  "21 config-mismatch share 0 of 128 computing 701us waiting 801us ops 901\n"
		  "22 heard share 42 of 128 computing 701us waiting 801us ops 902\n"
		  "24 running share 44 of 128 computing 701us waiting 801us ops 904\n");
	o = both("batch show grp");
	assert_int_equal(json_object_array_length(o), 4);
	assert_string_equal(at(o, 1, "share"), "0");
	assert_string_equal(at(o, 3, "batch"), "128");
	assert_string_equal(at(o, 3, "compute_us"), "701");
	assert_string_equal(at(o, 3, "wait_us"), "801");
	assert_string_equal(at(o, 3, "ops"), "904");
	json_object_put(o);
	expect("batch show other", CTL_FAILED);
	expect("batch show", CTL_USAGE);
	expect("batch show a b", CTL_USAGE);
	expect("batch", CTL_USAGE);
}

static void stats__nonzero(void **state)
{
	struct nl_group have = { .name = "g" };

	(void)state;
	kernel.have = &have;
	expect("stats g", CTL_OK);
	expect_in("stats", out, "g\n    rounds 18446744073709551614\n    chunks 0\n");
	expect("stats --nonzero g", CTL_OK);
	assert_null(strstr(out, "chunks"));
	expect_in("stats", out, "    rounds 1844");
	expect("stats other", CTL_FAILED);
	/* one that goes away while all are read is left out; one that was asked
	 * for is missed
	 */
	kernel.stats_err = -ENOENT;
	expect("-j stats", CTL_OK);
	assert_string_equal(out, "[]\n");
	expect("stats g", CTL_FAILED);
	kernel.stats_err = -EPERM;
	expect("stats", CTL_FAILED);
}

static void monitor__lines(void **state)
{
	static struct nl_event events[3];

	(void)state;
	events[0].event = GAGG_EV_EPOCH_END;
	strcpy(events[0].group.name, "g");
	events[0].group.set = NL_SET(GAGG_GA_STATE) | NL_SET(GAGG_GA_EPOCH) |
			      NL_SET(GAGG_GA_REASON) |
			      NL_SET(GAGG_GA_REASON_RANK);
	events[0].group.state = GAGG_GS_WAITING;
	events[0].group.epoch = 7;
	events[0].group.reason = 2;
	events[0].group.reason_rank = 3;
	events[1].event = UINT32_MAX;
	events[2].event = GAGG_EV_MEMBER_STATE;
	events[2].is_member = true;
	fill(&events[2].group);

	kernel.events = events;
	kernel.n_events = 3;
	expect("monitor", CTL_OK);
	assert_string_equal(out,
		"group g epoch-end waiting epoch 7 ended died rank 3\n"
		"member grp member-state 20=10.0.0.2,worker unheard rtt 400us cwnd 500 heard 600ms ago\n");
	assert_string_equal(err, "gaggctl: the kernel says no\n");
}

static void monitor__json(void **state)
{
	static struct nl_event e = { .event = GAGG_EV_DEL, .is_member = true };

	(void)state;
	strcpy(e.group.name, "g");
	e.group.members[0].rank = 5;
	kernel.events = &e;
	kernel.n_events = 1;
	expect("monitor -j", CTL_OK);
	assert_string_equal(out,
		"{\"object\":\"member\",\"group\":\"g\",\"event\":\"del\",\"member\":{\"rank\":5,\"local\":false}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(print__text_and_json),
		TEST(member__states),
		TEST(member__mismatch),
		TEST(member__blocked),
		TEST(group__mtu),
		TEST(group__show_makes_create),
		TEST(checkpoints__as_they_are),
		TEST(batch__of_who_has_one),
		TEST(stats__nonzero),
		TEST(monitor__lines),
		TEST(monitor__json),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
