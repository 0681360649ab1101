// SPDX-License-Identifier: GPL-2.0
/* links: agent/nl/codec.c agent/nl/extack.c agent/nl/names.c agent/lib/sync_name.c kmod/core/group/param.c; libs: libnl-3.0 libnl-genl-3.0 */
/*
 * Messages are made by the code under test and read back by it, and made by
 * hand, as the kernel would make them or worse.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <netlink/genl/genl.h>

#include "../../agent/lib/broker_proto.h"
#include "../../agent/nl/codec.h"

#define FAMILY	0x20

static struct nl_msg *message_of(int cmd, size_t size)
{
	struct nl_msg *msg = nlmsg_alloc_size(size);

	assert_non_null(msg);
	assert_non_null(genlmsg_put(msg, 1, 1, FAMILY, 0, 0, cmd, 1));
	return msg;
}

static struct nl_msg *message(int cmd)
{
	return message_of(cmd, NL_MESSAGE_MAX);
}

static void ip(struct nl_ip *out, const char *text)
{
	assert_true(nl_ip_parse(text, out));
}

/* Every field that can be sent has a value of its own. */
static void fill(struct nl_group *g, bool v6, uint32_t members)
{
	const struct gagg_param *f;
	uint32_t v = 1000;

	memset(g, 0, sizeof(*g));
	strcpy(g->name, "a-name.of_thirty-one-characters");
	ip(&g->local, v6 ? "2001:db8::1" : "10.0.0.1");
	nl_for_each_field(f)
		nl_field_write(g, f, f->bits == 16 ? v++ : 0xabcd0000 + v++);
	g->sync = (struct gagg_sync_param){ 0xab, { 1, 2, 3, 4 } };
	if (members)	/* else it is none */
		ip(&g->multicast, v6 ? "ff15::1:2" : "239.1.2.3");
	g->set |= NL_SET(GAGG_GA_NAME) | NL_SET(GAGG_GA_LOCAL) |
		  NL_SET(GAGG_GA_SYNC) | NL_SET(GAGG_GA_MULTICAST);
	for (uint32_t i = 0; i < members; i++) {
		struct nl_member *m = &g->members[g->n_members++];

		m->rank = 63 - i;
		ip(&m->addr, v6 ? "2001:db8::2" : "10.0.0.2");
		m->addr.addr[v6 ? 14 : 2] = i;
		m->roles = 1 + i % 3;
		m->local = i & 1;
		m->set = NL_SET(GAGG_MA_RANK) | NL_SET(GAGG_MA_ADDRESS) |
			 NL_SET(GAGG_MA_ROLES) |
			 (m->local ? NL_SET(GAGG_MA_LOCAL) : 0);
	}
	if (members)
		g->set |= NL_SET(GAGG_GA_MEMBERS);
}

static void round_trip(bool v6, uint32_t members)
{
	struct nl_msg *msg = message(GAGG_CMD_GROUP_NEW);
	struct nl_group in, out;

	fill(&in, v6, members);
	assert_int_equal(nl_put_group(msg, &in), 0);
	memset(&out, 0x5a, sizeof(out));
	assert_int_equal(nl_parse_group(nlmsg_hdr(msg), &out), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	nlmsg_free(msg);
}

static void group__round_trip(void **state)
{
	(void)state;
	round_trip(false, 0);
	round_trip(false, 1);
	round_trip(false, GAGG_RANKS_MAX);
	round_trip(true, GAGG_RANKS_MAX);
}

static int count(struct nlattr *nest)
{
	struct nlattr *a;
	int rem, n = 0;

	nla_for_each_nested(a, nest, rem)
		n++;
	return n;
}

static struct nlattr *group_of(struct nl_msg *msg)
{
	struct nlattr *a = nlmsg_find_attr(nlmsg_hdr(msg), GENL_HDRLEN,
					   GAGG_A_GROUP);

	assert_non_null(a);
	return a;
}

static void group__sends_only_what_is_set(void **state)
{
	struct nl_msg *msg = message(GAGG_CMD_GROUP_SET);
	struct nl_group g;
	struct nlattr *nest;

	(void)state;
	fill(&g, false, 2);
	g.set = NL_SET(GAGG_GA_PORT);
	g.n_members = 0;
	assert_int_equal(nl_put_group(msg, &g), 0);
	nest = group_of(msg);
	assert_int_equal(count(nest), 2);
	assert_non_null(nla_find(nla_data(nest), nla_len(nest), GAGG_GA_NAME));
	assert_non_null(nla_find(nla_data(nest), nla_len(nest), GAGG_GA_PORT));
	nlmsg_free(msg);
}

/* The kernel's strict validation refuses nests that do not say so. */
static void group__nests_say_so(void **state)
{
	struct nl_msg *msg = message(GAGG_CMD_GROUP_NEW);
	struct nlattr *nest, *members;
	struct nl_group g;

	(void)state;
	fill(&g, false, 1);
	assert_int_equal(nl_put_group(msg, &g), 0);
	nest = group_of(msg);
	members = nla_find(nla_data(nest), nla_len(nest), GAGG_GA_MEMBERS);
	assert_true(nest->nla_type & NLA_F_NESTED);
	assert_true(members->nla_type & NLA_F_NESTED);
	nest = nla_data(members);
	assert_true(nest->nla_type & NLA_F_NESTED);
	nlmsg_free(msg);
}

static void refused(const struct nl_group *g, size_t room, int err)
{
	struct nl_msg *msg = message_of(GAGG_CMD_GROUP_NEW, room);

	assert_int_equal(nl_put_group(msg, g), err);
	nlmsg_free(msg);
}

static void group__refuses(void **state)
{
	struct nl_group g;

	(void)state;
	fill(&g, false, 1);
	g.port = 65536;
	refused(&g, NL_MESSAGE_MAX, -ERANGE);
	fill(&g, false, 1);
	g.local.family = 0;
	refused(&g, NL_MESSAGE_MAX, -EINVAL);
	fill(&g, false, 1);
	g.members[0].addr.family = AF_UNIX;
	refused(&g, NL_MESSAGE_MAX, -EINVAL);
	fill(&g, false, 1);
	memset(g.name, 'x', sizeof(g.name));
	refused(&g, NL_MESSAGE_MAX, -EINVAL);
	fill(&g, false, 1);
	g.n_members = GAGG_RANKS_MAX + 1;
	refused(&g, NL_MESSAGE_MAX, -EINVAL);
}

/* Whatever the room, it is all there or it is refused. */
static void group__any_room(void **state)
{
	struct nl_group in, out;
	bool fits = false;

	(void)state;
	fill(&in, true, 2);
	for (size_t room = 64; room < 1024; room += 4) {
		struct nl_msg *msg = message_of(GAGG_CMD_GROUP_NEW, room);
		int err = nl_put_group(msg, &in);

		assert_true(err == 0 || (err == -EMSGSIZE && !fits));
		if (!err) {
			fits = true;
			assert_int_equal(nl_parse_group(nlmsg_hdr(msg), &out), 0);
			assert_memory_equal(&in, &out, sizeof(in));
		}
		nlmsg_free(msg);
	}
	assert_true(fits);
}

static void member__round_trip(void **state)
{
	struct nl_msg *msg = message(GAGG_CMD_MEMBER_ADD);
	struct nl_group in, out;

	(void)state;
	fill(&in, false, 2);
	assert_int_equal(nl_put_member(msg, "g", &in.members[1]), 0);
	assert_int_equal(nl_parse_group(nlmsg_hdr(msg), &out), 0);
	assert_string_equal(out.name, "g");
	assert_int_equal(out.set, NL_SET(GAGG_GA_NAME) | NL_SET(GAGG_GA_MEMBERS));
	assert_int_equal(out.n_members, 1);
	assert_memory_equal(&out.members[0], &in.members[1],
			    sizeof(in.members[1]));
	nlmsg_free(msg);
}

/* What only the kernel says, and, around it, what no kernel says yet. */
static void put_told(struct nl_msg *msg)
{
	struct nlattr *group, *members, *member, *times;
	uint64_t epoch = 0x123456789abcdef0, wait = 1ULL << 40, ops = 17;

	group = nla_nest_start(msg, GAGG_A_GROUP);
	nla_put_u32(msg, GAGG_GA_MAX + 40, 1);
	nla_put_string(msg, GAGG_GA_NAME, "told");
	nla_put_u32(msg, GAGG_GA_STATE, GAGG_GS_MISMATCH);
	nla_put(msg, GAGG_GA_PAD, 0, NULL);
	nla_put(msg, GAGG_GA_EPOCH, 8, &epoch);
	nla_put_u32(msg, GAGG_GA_REASON, 3);
	nla_put_u32(msg, GAGG_GA_REASON_RANK, 7);
	nla_put_string(msg, GAGG_GA_MISMATCH, "lanes");
	nla_put_u32(msg, GAGG_GA_MTU, 1500);
	nla_put_u32(msg, GAGG_GA_MTU_NEEDED, 1468);
	nla_put_u32(msg, GAGG_GA_LANES_NOW, 344);
	members = nla_nest_start(msg, GAGG_GA_MEMBERS);
	nla_put_u32(msg, GAGG_MA_MEMBER + 50, 1);
	member = nla_nest_start(msg, GAGG_MA_MEMBER);
	nla_put_u32(msg, GAGG_MA_RANK, 7);
	nla_put_u32(msg, GAGG_MA_MAX + 40, 1);
	nla_put_u32(msg, GAGG_MA_STATE, GAGG_MS_MISMATCH);
	nla_put_string(msg, GAGG_MA_MISMATCH, "ring");
	nla_put_u32(msg, GAGG_MA_MISMATCH_HERE, 512);
	nla_put_u32(msg, GAGG_MA_MISMATCH_THERE, UINT32_MAX);
	nla_put_u32(msg, GAGG_MA_RTT, 120);
	nla_put_u32(msg, GAGG_MA_CWND, 256);
	nla_put_u32(msg, GAGG_MA_HEARD, 9);
	nla_put_u32(msg, GAGG_MA_BLOCKED_IN, 6);
	nla_put_u32(msg, GAGG_MA_BLOCKED_OUT, 1);
	times = nla_nest_start(msg, GAGG_MA_TIMES);
	nla_put(msg, GAGG_TA_COMPUTE, 8, &epoch);
	nla_put(msg, GAGG_TA_WAIT, 8, &wait);
	nla_put(msg, GAGG_TA_OPS, 8, &ops);
	nla_put_u32(msg, GAGG_TA_SHARE, 43);
	nla_put_u32(msg, GAGG_TA_MAX + 7, 1);
	nla_put_u32(msg, GAGG_TA_BATCH, 128);
	nla_nest_end(msg, times);
	nla_nest_end(msg, member);
	nla_nest_end(msg, members);
	nla_nest_end(msg, group);
}

static void check_told(const struct nl_group *g)
{
	const struct nl_member *m = &g->members[0];

	assert_string_equal(g->name, "told");
	assert_int_equal(g->state, GAGG_GS_MISMATCH);
	assert_true(g->epoch == 0x123456789abcdef0);
	assert_int_equal(g->reason, 3);
	assert_int_equal(g->reason_rank, 7);
	assert_string_equal(g->mismatch, "lanes");
	assert_int_equal(g->n_members, 1);
	assert_int_equal(m->set, NL_SET(GAGG_MA_RANK) | NL_SET(GAGG_MA_STATE) |
				 NL_SET(GAGG_MA_MISMATCH) | NL_SET(GAGG_MA_RTT) |
				 NL_SET(GAGG_MA_CWND) | NL_SET(GAGG_MA_HEARD) |
				 NL_SET(GAGG_MA_TIMES) | NL_SET(GAGG_MA_BLOCKED_IN) |
				 NL_SET(GAGG_MA_BLOCKED_OUT) |
				 NL_SET(GAGG_MA_MISMATCH_HERE) |
				 NL_SET(GAGG_MA_MISMATCH_THERE));
	assert_int_equal(m->blocked_in, 6);
	assert_int_equal(m->blocked_out, 1);
	assert_int_equal(g->mtu, 1500);
	assert_int_equal(g->mtu_needed, 1468);
	assert_int_equal(g->lanes_now, 344);
	assert_int_equal(m->rank, 7);
	assert_int_equal(m->state, GAGG_MS_MISMATCH);
	assert_string_equal(m->mismatch, "ring");
	assert_int_equal(m->mismatch_here, 512);
	assert_int_equal(m->mismatch_there, UINT32_MAX);
	assert_int_equal(m->rtt, 120);
	assert_int_equal(m->cwnd, 256);
	assert_int_equal(m->heard_ms, 9);
	assert_true(m->times.compute_ns == 0x123456789abcdef0);
	assert_int_equal(m->times.wait_ns, 1ULL << 40);
	assert_int_equal(m->times.ops, 17);
	assert_int_equal(m->times.share, 43);
	assert_int_equal(m->times.batch, 128);
}

static void parse_group__told(void **state)
{
	struct nl_msg *msg = message(GAGG_CMD_GROUP_GET);
	struct nl_group g;

	(void)state;
	put_told(msg);
	assert_int_equal(nl_parse_group(nlmsg_hdr(msg), &g), 0);
	check_told(&g);
	nlmsg_free(msg);
}

/* Whatever a twin says of itself: of as much as there can be, too. */
static void fill_told(struct nl_group *g, uint32_t members)
{
	fill(g, true, members);
	strcpy(g->mismatch, "a-field-of-thirty-one-characters");
	g->mismatch[NL_FIELD_MAX - 1] = 0;
	g->state = GAGG_GS_MISMATCH;
	g->epoch = 0x123456789abcdef0;
	g->reason = 3;
	g->reason_rank = 7;
	g->mtu = 1500;
	g->mtu_needed = 1468;
	g->lanes_now = 336;
	g->set |= NL_SET(GAGG_GA_MISMATCH) | NL_SET(GAGG_GA_STATE) | NL_SET(GAGG_GA_EPOCH) |
		  NL_SET(GAGG_GA_REASON) | NL_SET(GAGG_GA_REASON_RANK) |
		  NL_SET(GAGG_GA_MTU) | NL_SET(GAGG_GA_MTU_NEEDED) | NL_SET(GAGG_GA_LANES_NOW);
	for (uint32_t i = 0; i < members; i++) {
		struct nl_member *m = &g->members[i];

		strcpy(m->mismatch, g->mismatch);
		m->mismatch_here = 700 + i;
		m->mismatch_there = 800 + i;
		m->state = i % 6;
		m->rtt = 100 + i;
		m->cwnd = 200 + i;
		m->heard_ms = 300 + i;
		m->blocked_in = 400 + i;
		m->blocked_out = 500 + i;
		m->times = (struct nl_times){ 1ULL << 60, 2ULL << 60, 3ULL << 60, i, 600 };
		m->local = true;
		m->set = (2U << GAGG_MA_MAX) - 2 - NL_SET(GAGG_MA_MEMBER) -
			 NL_SET(GAGG_MA_RESERVED);
	}
}

static void write_group__as_it_is_read(void **state)
{
	static uint64_t buf[NL_MESSAGE_MAX / sizeof(uint64_t)];
	struct nl_group in, out;
	ssize_t n;

	(void)state;
	for (uint32_t i = 0; i <= GAGG_RANKS_MAX; i += GAGG_RANKS_MAX / 2) {
		fill_told(&in, i);
		n = nl_write_group(buf, BROKER_ANSWER_MAX - sizeof(struct broker_reply), &in);
		assert_true(n > 0);
		assert_int_equal(((struct nlmsghdr *)buf)->nlmsg_len, n);
		memset(&out, 0x5a, sizeof(out));
		assert_int_equal(nl_parse_group((struct nlmsghdr *)buf, &out), 0);
		assert_memory_equal(&in, &out, sizeof(in));
		assert_int_equal(nl_write_group(buf, (size_t)n - 1, &in), -EMSGSIZE);
		/* what is not set is not told */
		in.set = NL_SET(GAGG_GA_NAME);
		for (uint32_t k = 0; k < in.n_members; k++)
			in.members[k].set = 0;
		assert_true(nl_write_group(buf, sizeof(buf), &in) > 0);
		assert_int_equal(nl_parse_group((struct nlmsghdr *)buf, &out), 0);
		assert_int_equal(out.set, NL_SET(GAGG_GA_NAME) |
				 (i ? NL_SET(GAGG_GA_MEMBERS) : 0));
	}
}

static void write_stats__as_they_are_read(void **state)
{
	uint64_t buf[512], in[NL_STATS], out[NL_STATS];

	(void)state;
	for (int i = 0; i < NL_STATS; i++)
		in[i] = nl_stat_name(i) ? UINT64_MAX - i : 0;
	assert_true(nl_write_stats(buf, sizeof(buf), in) > 0);
	assert_int_equal(nl_parse_stats((struct nlmsghdr *)buf, out), 0);
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(nl_write_stats(buf, 64, in), -EMSGSIZE);
}

/* Text goes to a terminal, and to JSON. */
static void parse_group__text_is_plain(void **state)
{
	static const char *const bad[] = { "a\nb", "\033[2J", "\x7f", "\xff", "m\303\274" };
	struct nl_group g;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct nl_msg *msg = message(GAGG_CMD_GROUP_GET);
		struct nlattr *group = nla_nest_start(msg, GAGG_A_GROUP);

		nla_put_string(msg, GAGG_GA_MISMATCH, bad[i]);
		nla_nest_end(msg, group);
		assert_int_equal(nl_parse_group(nlmsg_hdr(msg), &g), -EBADMSG);
		nlmsg_free(msg);
	}
}

/* An attribute of no known type has that length: 3 bytes, then 300. */
/* @nest: 0 in a group, GAGG_MA_MEMBER or GAGG_MA_TIMES */
static void bad_attr(int nest, int type, size_t len, int expect)
{
	struct nl_msg *msg = message(GAGG_CMD_GROUP_GET);
	struct nlattr *group, *members = NULL, *one = NULL, *times = NULL;
	char bytes[300];
	struct nl_group g;

	memset(bytes, 'x', sizeof(bytes));
	group = nla_nest_start(msg, GAGG_A_GROUP);
	if (nest) {
		members = nla_nest_start(msg, GAGG_GA_MEMBERS);
		one = nla_nest_start(msg, GAGG_MA_MEMBER);
	}
	if (nest == GAGG_MA_TIMES)
		times = nla_nest_start(msg, GAGG_MA_TIMES);
	nla_put(msg, type, len, bytes);
	if (times)
		nla_nest_end(msg, times);
	if (nest) {
		nla_nest_end(msg, one);
		nla_nest_end(msg, members);
	}
	nla_nest_end(msg, group);
	assert_int_equal(nl_parse_group(nlmsg_hdr(msg), &g), expect);
	nlmsg_free(msg);
}

static void parse_group__bad_length(void **state)
{
	(void)state;
	for (int type = 1; type < GAGG_GA_PAD; type++) {
		bool text = type == GAGG_GA_NAME || type == GAGG_GA_MISMATCH;
		bool ours = type != GAGG_GA_KEY && type != GAGG_GA_MEMBERS;

		bad_attr(0, type, 300, ours ? -EBADMSG : 0);
		bad_attr(0, type, 3, ours && !text ? -EBADMSG : 0);
	}
	for (int type = GAGG_MA_RANK; type <= GAGG_MA_MAX; type++) {
		bool any = type == GAGG_MA_LOCAL || type == GAGG_MA_TIMES ||
			   type == GAGG_MA_RESERVED;

		bad_attr(GAGG_MA_MEMBER, type, 300, any ? 0 : -EBADMSG);
		bad_attr(GAGG_MA_MEMBER, type, 3,
			 any || type == GAGG_MA_MISMATCH ? 0 : -EBADMSG);
	}
	for (int type = GAGG_TA_COMPUTE; type < GAGG_TA_PAD; type++) {
		bad_attr(GAGG_MA_TIMES, type, 300, -EBADMSG);
		bad_attr(GAGG_MA_TIMES, type, 3, -EBADMSG);
	}
}

static void parse_group__too_many_members(void **state)
{
	struct nl_msg *msg = message(GAGG_CMD_GROUP_GET);
	struct nlattr *group, *members, *one;
	struct nl_group g;

	(void)state;
	group = nla_nest_start(msg, GAGG_A_GROUP);
	members = nla_nest_start(msg, GAGG_GA_MEMBERS);
	for (int i = 0; i <= GAGG_RANKS_MAX; i++) {
		one = nla_nest_start(msg, GAGG_MA_MEMBER);
		nla_put_u32(msg, GAGG_MA_RANK, i);
		nla_nest_end(msg, one);
	}
	nla_nest_end(msg, members);
	nla_nest_end(msg, group);
	assert_int_equal(nl_parse_group(nlmsg_hdr(msg), &g), -EBADMSG);
	nlmsg_free(msg);
}

static void parse_group__nothing(void **state)
{
	struct nl_msg *msg = message(GAGG_CMD_GROUP_GET);
	struct nl_group g;

	(void)state;
	assert_int_equal(nl_parse_group(nlmsg_hdr(msg), &g), -ENODATA);
	nlmsg_hdr(msg)->nlmsg_len = NLMSG_HDRLEN + 1;
	assert_int_equal(nl_parse_group(nlmsg_hdr(msg), &g), -ENODATA);
	nlmsg_free(msg);
}

static void parse_stats__by_number(void **state)
{
	struct nl_msg *msg = message(GAGG_CMD_STATS_GET);
	uint64_t values[NL_STATS], v;
	struct nlattr *nest;

	(void)state;
	nest = nla_nest_start(msg, GAGG_A_STATS);
	for (int i = 1; i <= GAGG_SA_MAX + 3; i++) {
		v = 0x100000000 + i;
		nla_put(msg, i, i == GAGG_SA_PAD ? 0 : 8, &v);
	}
	nla_nest_end(msg, nest);
	memset(values, 0x5a, sizeof(values));
	assert_int_equal(nl_parse_stats(nlmsg_hdr(msg), values), 0);
	for (int i = 0; i < NL_STATS; i++)
		assert_true(values[i] == (!i || i == GAGG_SA_PAD ? 0 :
					  0x100000000 + (uint64_t)i));
	nlmsg_free(msg);

	msg = message(GAGG_CMD_STATS_GET);
	assert_int_equal(nl_parse_stats(nlmsg_hdr(msg), values), -ENODATA);
	nest = nla_nest_start(msg, GAGG_A_STATS);
	nla_put_u32(msg, GAGG_SA_ROUNDS, 1);
	nla_nest_end(msg, nest);
	assert_int_equal(nl_parse_stats(nlmsg_hdr(msg), values), -EBADMSG);
	nlmsg_free(msg);
}

static void parse_event__group_and_member(void **state)
{
	struct nl_msg *msg = message(GAGG_CMD_MEMBER_NTF);
	struct nl_event e;

	(void)state;
	put_told(msg);
	assert_int_equal(nl_parse_event(nlmsg_hdr(msg), &e), -ENODATA);
	nla_put_u32(msg, GAGG_A_EVENT, GAGG_EV_MEMBER_STATE);
	assert_int_equal(nl_parse_event(nlmsg_hdr(msg), &e), 0);
	assert_true(e.is_member);
	assert_int_equal(e.event, GAGG_EV_MEMBER_STATE);
	check_told(&e.group);
	nlmsg_free(msg);

	/* a member's event without a member, a group's without one */
	for (int cmd = GAGG_CMD_GROUP_NTF; cmd <= GAGG_CMD_MEMBER_NTF; cmd++) {
		struct nlattr *group;

		msg = message(cmd);
		group = nla_nest_start(msg, GAGG_A_GROUP);
		nla_put_string(msg, GAGG_GA_NAME, "g");
		nla_nest_end(msg, group);
		nla_put_u32(msg, GAGG_A_EVENT, GAGG_EV_DEL);
		assert_int_equal(nl_parse_event(nlmsg_hdr(msg), &e),
				 cmd == GAGG_CMD_GROUP_NTF ? 0 : -ENODATA);
		assert_int_equal(e.is_member, cmd == GAGG_CMD_MEMBER_NTF);
		nlmsg_free(msg);
	}
}

/* An answer as the kernel builds it, to @sent; capped or not. */
static struct nl_msg *answer(int err, struct nl_msg *sent, bool capped)
{
	struct nlmsghdr *hdr = nlmsg_hdr(sent);
	struct nlmsgerr e = { .error = err, .msg = *hdr };
	struct nl_msg *msg = nlmsg_alloc_size(NL_MESSAGE_MAX);

	nlmsg_put(msg, 0, 1, NLMSG_ERROR, 0,
		  NLM_F_ACK_TLVS | (capped ? NLM_F_CAPPED : 0));
	nlmsg_append(msg, &e, sizeof(e), NLMSG_ALIGNTO);
	if (!capped)
		nlmsg_append(msg, hdr + 1, hdr->nlmsg_len - sizeof(*hdr),
			     NLMSG_ALIGNTO);
	return msg;
}

static uint32_t offset(struct nl_msg *sent, const struct nlattr *a)
{
	assert_non_null(a);
	return (const char *)a - (const char *)nlmsg_hdr(sent);
}

static struct nlattr *member_of(struct nl_msg *sent, int n)
{
	struct nlattr *nest = group_of(sent), *a;
	int rem;

	nest = nla_find(nla_data(nest), nla_len(nest), GAGG_GA_MEMBERS);
	nla_for_each_nested(a, nest, rem)
		if (!n--)
			return a;
	return NULL;
}

static void says(struct nl_msg *msg, struct nl_msg *sent, int err,
		 const char *expect)
{
	char text[NL_SENTENCE_MAX];

	assert_int_equal(nl_parse_ack(nlmsg_hdr(msg), sent ? nlmsg_hdr(sent) :
				      NULL, text), err);
	assert_string_equal(text, expect);
	nlmsg_free(msg);
}

static struct nl_msg *group_sent(void)
{
	struct nl_msg *sent = message(GAGG_CMD_GROUP_NEW);
	struct nl_group g;

	fill(&g, false, 3);
	assert_int_equal(nl_put_group(sent, &g), 0);
	return sent;
}

static void ack__plain(void **state)
{
	struct nl_msg *sent = group_sent();
	struct nl_msg *msg;

	(void)state;
	says(answer(0, sent, true), sent, 0, "");
	says(answer(-EPERM, sent, true), sent, -EPERM, "");
	says(answer(-EPERM, sent, false), sent, -EPERM, "");
	/* a warning with an acknowledgement is no failure */
	msg = answer(0, sent, true);
	nla_put_string(msg, NLMSGERR_ATTR_MSG, "beware");
	says(msg, sent, 0, "");
	/* the flag tells whether there is a sentence */
	msg = answer(-EPERM, sent, true);
	nla_put_string(msg, NLMSGERR_ATTR_MSG, "noise");
	nlmsg_hdr(msg)->nlmsg_flags &= ~NLM_F_ACK_TLVS;
	says(msg, sent, -EPERM, "");
	/* a request longer than the answer that holds it */
	msg = answer(-EPERM, sent, false);
	((struct nlmsgerr *)nlmsg_data(nlmsg_hdr(msg)))->msg.nlmsg_len = 1U << 31;
	says(msg, sent, -EPERM, "");
	nlmsg_free(sent);
}

static void ack__names_the_attribute(void **state)
{
	struct nl_msg *sent = group_sent(), *msg;
	struct nlattr *group = group_of(sent), *m = member_of(sent, 1);
	const struct {
		struct nlattr *a;
		const char *text;
	} rows[] = {
		{ group, "group: no" },
		{ nla_find(nla_data(group), nla_len(group), GAGG_GA_RING),
		  "ring: no" },
		{ nla_find(nla_data(group), nla_len(group), GAGG_GA_DEAD_AFTER),
		  "dead-after: no" },
		{ nla_find(nla_data(group), nla_len(group), GAGG_GA_MEMBERS),
		  "members: no" },
		{ m, "member 62: no" },
		{ nla_find(nla_data(m), nla_len(m), GAGG_MA_ADDRESS),
		  "member 62 address: no" },
		{ nla_find(nla_data(m), nla_len(m), GAGG_MA_RANK),
		  "member 62 rank: no" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int capped = 0; capped < 2; capped++) {
			msg = answer(-EINVAL, sent, capped);
			nla_put_string(msg, NLMSGERR_ATTR_MSG, "no");
			nla_put_u32(msg, NLMSGERR_ATTR_OFFS,
				    offset(sent, rows[i].a));
			says(msg, sent, -EINVAL, rows[i].text);
		}
	}
	/* the attribute alone; an offset that is none; no request to look at */
	msg = answer(-ERANGE, sent, true);
	nla_put_u32(msg, NLMSGERR_ATTR_OFFS, offset(sent, rows[1].a));
	says(msg, sent, -ERANGE, "ring: Numerical result out of range");
	msg = answer(-EINVAL, sent, true);
	nla_put_string(msg, NLMSGERR_ATTR_MSG, "no");
	nla_put_u32(msg, NLMSGERR_ATTR_OFFS, offset(sent, rows[1].a) + 1);
	says(msg, sent, -EINVAL, "no");
	msg = answer(-EINVAL, sent, true);
	nla_put_string(msg, NLMSGERR_ATTR_MSG, "no");
	nla_put_u32(msg, NLMSGERR_ATTR_OFFS, offset(sent, rows[1].a));
	says(msg, NULL, -EINVAL, "no");
	nlmsg_free(sent);
}

static void ack__range(void **state)
{
	struct nl_msg *sent = group_sent(), *msg;
	struct nlattr *policy;
	uint64_t v = 1;

	(void)state;
	for (int i = 0; i < 2; i++) {
		msg = answer(-ERANGE, sent, true);
		nla_put_string(msg, NLMSGERR_ATTR_MSG, "integer out of range");
		policy = nla_nest_start(msg, NLMSGERR_ATTR_POLICY);
		nla_put_u32(msg, NL_POLICY_TYPE_ATTR_TYPE, 3);
		nla_put(msg, NL_POLICY_TYPE_ATTR_MIN_VALUE_U, 8, &v);
		v = 1ULL << 40;
		nla_put(msg, NL_POLICY_TYPE_ATTR_MAX_VALUE_U, i ? 7 : 8, &v);
		v = 1;
		nla_nest_end(msg, policy);
		says(msg, sent, -ERANGE, i ? "integer out of range" :
		     "integer out of range (1 to 1099511627776)");
	}
	nlmsg_free(sent);
}

static void ack__missing(void **state)
{
	struct nl_msg *sent = group_sent(), *msg;
	struct nlattr *group = group_of(sent);

	(void)state;
	msg = answer(-EINVAL, sent, true);
	nla_put_u32(msg, NLMSGERR_ATTR_MISS_TYPE, GAGG_A_GROUP);
	says(msg, sent, -EINVAL, "group: is missing");
	msg = answer(-EINVAL, sent, true);
	nla_put_u32(msg, NLMSGERR_ATTR_MISS_TYPE, GAGG_GA_LOCAL);
	nla_put_u32(msg, NLMSGERR_ATTR_MISS_NEST, offset(sent, group));
	says(msg, sent, -EINVAL, "local: is missing");
	msg = answer(-EINVAL, sent, true);
	nla_put_u32(msg, NLMSGERR_ATTR_MISS_TYPE, GAGG_MA_ADDRESS);
	nla_put_u32(msg, NLMSGERR_ATTR_MISS_NEST,
		    offset(sent, member_of(sent, 2)));
	says(msg, sent, -EINVAL, "member 61 address: is missing");
	/* a nest that is not one */
	msg = answer(-EINVAL, sent, true);
	nla_put_u32(msg, NLMSGERR_ATTR_MISS_TYPE, GAGG_MA_ADDRESS);
	nla_put_u32(msg, NLMSGERR_ATTR_MISS_NEST, offset(sent, nla_data(group)));
	says(msg, sent, -EINVAL, "");
	nlmsg_free(sent);
}

static void ack__end_of_dump(void **state)
{
	struct nl_msg *sent = group_sent(), *msg;
	int err = -ENOENT;

	(void)state;
	for (int i = 0; i < 2; i++) {
		msg = nlmsg_alloc_size(NL_MESSAGE_MAX);
		nlmsg_put(msg, 0, 1, NLMSG_DONE, 0,
			  NLM_F_MULTI | NLM_F_ACK_TLVS);
		nlmsg_append(msg, &err, sizeof(err), NLMSG_ALIGNTO);
		if (err)
			nla_put_string(msg, NLMSGERR_ATTR_MSG, "no group 'x'");
		says(msg, sent, err, err ? "no group 'x'" : "");
		err = 0;
	}
	nlmsg_free(sent);
}

/* Cut anywhere, it is read no further than it goes. */
static void ack__cut_short(void **state)
{
	struct nl_msg *sent = group_sent(), *msg = answer(-EINVAL, sent, false);
	char text[NL_SENTENCE_MAX];
	struct nlmsghdr *copy;
	uint32_t len;
	int err;

	(void)state;
	nla_put_string(msg, NLMSGERR_ATTR_MSG, "no");
	nla_put_u32(msg, NLMSGERR_ATTR_OFFS, 20);
	len = nlmsg_hdr(msg)->nlmsg_len;
	for (uint32_t n = NLMSG_HDRLEN; n <= len; n++) {
		copy = test_malloc(n);
		memcpy(copy, nlmsg_hdr(msg), n);
		copy->nlmsg_len = n;
		err = nl_parse_ack(copy, nlmsg_hdr(sent), text);
		assert_int_equal(err, n < NLMSG_HDRLEN + sizeof(struct nlmsgerr) ?
				      -EBADMSG : -EINVAL);
		test_free(copy);
	}
	nlmsg_free(msg);
	nlmsg_free(sent);
}

static void ip__text(void **state)
{
	struct nl_ip a, b;
	char buf[NL_IP_MAX];

	(void)state;
	assert_true(nl_ip_parse("192.0.2.7", &a));
	assert_string_equal(nl_ip_format(&a, buf), "192.0.2.7");
	assert_true(nl_ip_parse("2001:DB8:0::1", &b));
	assert_string_equal(nl_ip_format(&b, buf), "2001:db8::1");
	assert_false(nl_ip_equal(&a, &b));
	assert_true(nl_ip_equal(&b, &b));
	assert_true(nl_ip_parse("192.0.2.8", &b));
	assert_false(nl_ip_equal(&a, &b));
	assert_false(nl_ip_parse("", &a));
	assert_false(nl_ip_parse("192.0.2", &a));
	assert_false(nl_ip_parse("192.0.2.7 ", &a));
	assert_false(nl_ip_parse("host", &a));
	memset(&a, 0, sizeof(a));
	assert_string_equal(nl_ip_format(&a, buf), "-");
}

static void names__all(void **state)
{
	const struct gagg_param *f;
	uint32_t v;

	(void)state;
	for (unsigned int i = 1; i < GAGG_SA_PAD; i++) {
		assert_non_null(nl_stat_name(i));
		assert_non_null(nl_stat_help(i));
		for (unsigned int k = 1; k < i; k++)
			assert_string_not_equal(nl_stat_name(i), nl_stat_name(k));
	}
	assert_null(nl_stat_name(0));
	assert_null(nl_stat_name(GAGG_SA_PAD));
	assert_null(nl_stat_name(UINT32_MAX));
	for (unsigned int i = 1; i < GAGG_GA_PAD; i++)
		assert_string_not_equal(nl_group_attr_name(i), "?");
	for (unsigned int i = 1; i <= GAGG_MA_MAX; i++)
		assert_string_not_equal(nl_member_attr_name(i), "?");
	for (unsigned int i = 0; i <= GAGG_EV_MEMBER_STATE; i++)
		assert_string_not_equal(nl_event_name(i), "?");
	assert_string_equal(nl_event_name(GAGG_EV_MEMBER_STATE + 1), "?");
	assert_string_equal(nl_member_state_name(UINT32_MAX), "?");
	assert_true(nl_field_word_parse(&nl_role, "aggregator", &v));
	assert_int_equal(v, GAGG_ROLE_AGGREGATOR);
	assert_false(nl_field_word_parse(&nl_role, "?", &v));
	assert_string_equal(nl_roles_name(0), "?");
	assert_string_equal(nl_roles_name(GAGG_ROLE_WORKER), "worker");
	assert_string_equal(nl_roles_name(4), "?");
	assert_false(nl_field_word_parse(nl_field_find("placement"), "", &v));
	assert_false(nl_field_word_parse(nl_field_find("window"), "auto", &v));
	assert_string_equal(nl_field_word(nl_field_find("wire"), GAGG_WIRE_INT8), "int8");
	assert_string_equal(nl_field_word(nl_field_find("wire"), GAGG_WIRE_INT8 + 1), "?");
	nl_for_each_field(f) {
		assert_ptr_equal(nl_field_find(f->name), f);
		assert_string_equal(nl_group_attr_name(f->attr), f->name);
	}
	assert_null(nl_field_find("name"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group__round_trip),
		cmocka_unit_test(group__sends_only_what_is_set),
		cmocka_unit_test(group__nests_say_so),
		cmocka_unit_test(group__refuses),
		cmocka_unit_test(group__any_room),
		cmocka_unit_test(member__round_trip),
		cmocka_unit_test(parse_group__told),
		cmocka_unit_test(write_group__as_it_is_read),
		cmocka_unit_test(write_stats__as_they_are_read),
		cmocka_unit_test(parse_group__text_is_plain),
		cmocka_unit_test(parse_group__bad_length),
		cmocka_unit_test(parse_group__too_many_members),
		cmocka_unit_test(parse_group__nothing),
		cmocka_unit_test(parse_stats__by_number),
		cmocka_unit_test(parse_event__group_and_member),
		cmocka_unit_test(ack__plain),
		cmocka_unit_test(ack__names_the_attribute),
		cmocka_unit_test(ack__range),
		cmocka_unit_test(ack__missing),
		cmocka_unit_test(ack__end_of_dump),
		cmocka_unit_test(ack__cut_short),
		cmocka_unit_test(ip__text),
		cmocka_unit_test(names__all),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
