// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>
#include <netlink/genl/genl.h>

#include "codec.h"

/* libnl says -NLE_NOMEM when the message is full, and nothing else here. */
static int codec_put(int nl_err)
{
	return nl_err < 0 ? -EMSGSIZE : 0;
}

static int codec_put_u32(struct nl_msg *msg, int attr, uint32_t v)
{
	return codec_put(nla_put_u32(msg, attr, v));
}

static int codec_put_ip(struct nl_msg *msg, int attr, const struct nl_ip *ip)
{
	if (ip->family != AF_INET && ip->family != AF_INET6)
		return -EINVAL;
	return codec_put(nla_put(msg, attr, ip->family == AF_INET ? 4 : 16, ip->addr));
}

static int codec_put_multicast(struct nl_msg *msg, const struct nl_ip *ip)
{
	return ip->family ? codec_put_ip(msg, GAGG_GA_MULTICAST, ip) :
			    codec_put(nla_put(msg, GAGG_GA_MULTICAST, 0, NULL));
}

static int codec_put_text(struct nl_msg *msg, int attr, const char *s, size_t max)
{
	if (strnlen(s, max) == max)
		return -EINVAL;
	return codec_put(nla_put_string(msg, attr, s));
}

static int codec_put_u64(struct nl_msg *msg, int attr, uint64_t v)
{
	return codec_put(nla_put_u64(msg, attr, v));
}

static int codec_put_times(struct nl_msg *msg, const struct nl_times *t)
{
	struct nlattr *nest = nla_nest_start(msg, GAGG_MA_TIMES);
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = codec_put_u64(msg, GAGG_TA_COMPUTE, t->compute_ns);
	if (!err)
		err = codec_put_u64(msg, GAGG_TA_WAIT, t->wait_ns);
	if (!err)
		err = codec_put_u64(msg, GAGG_TA_OPS, t->ops);
	if (!err && t->batch)
		err = codec_put_u32(msg, GAGG_TA_SHARE, t->share);
	if (!err && t->batch)
		err = codec_put_u32(msg, GAGG_TA_BATCH, t->batch);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

uint32_t *nl_member_number(struct nl_member *m, int attr)
{
	switch (attr) {
	case GAGG_MA_RANK:
		return &m->rank;
	case GAGG_MA_ROLES:
		return &m->roles;
	case GAGG_MA_STATE:
		return &m->state;
	case GAGG_MA_RTT:
		return &m->rtt;
	case GAGG_MA_CWND:
		return &m->cwnd;
	case GAGG_MA_HEARD:
		return &m->heard_ms;
	case GAGG_MA_BLOCKED_IN:
		return &m->blocked_in;
	case GAGG_MA_BLOCKED_OUT:
		return &m->blocked_out;
	case GAGG_MA_MISMATCH_HERE:
		return &m->mismatch_here;
	case GAGG_MA_MISMATCH_THERE:
		return &m->mismatch_there;
	default:
		return NULL;
	}
}

/* only what is asked for, or what is told, too? */
static bool codec_is_asked(int attr)
{
	return attr == GAGG_MA_RANK || attr == GAGG_MA_ROLES;
}

static int codec_put_member_numbers(struct nl_msg *msg, const struct nl_member *m, bool told)
{
	struct nl_member copy = *m;
	int attr, err = 0;

	for (attr = 0; attr <= GAGG_MA_MAX && !err; attr++) {
		const uint32_t *number = nl_member_number(&copy, attr);

		if (number && m->set & NL_SET(attr) && (told || codec_is_asked(attr)))
			err = codec_put_u32(msg, attr, *number);
	}
	return err;
}

/* what is out only, and no number */
static int codec_put_member_told(struct nl_msg *msg, const struct nl_member *m)
{
	int err = 0;

	if (m->set & NL_SET(GAGG_MA_MISMATCH))
		err = codec_put_text(msg, GAGG_MA_MISMATCH, m->mismatch, sizeof(m->mismatch));
	if (!err && m->set & NL_SET(GAGG_MA_TIMES))
		err = codec_put_times(msg, &m->times);
	return err;
}

static int codec_put_member(struct nl_msg *msg, const struct nl_member *m, bool told)
{
	struct nlattr *nest = nla_nest_start(msg, GAGG_MA_MEMBER);
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = codec_put_member_numbers(msg, m, told);
	if (!err && m->set & NL_SET(GAGG_MA_ADDRESS))
		err = codec_put_ip(msg, GAGG_MA_ADDRESS, &m->addr);
	if (!err && m->local)
		err = codec_put(nla_put_flag(msg, GAGG_MA_LOCAL));
	if (!err && told)
		err = codec_put_member_told(msg, m);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

static int codec_put_members(struct nl_msg *msg, const struct nl_member *m, uint32_t n, bool told)
{
	struct nlattr *nest = nla_nest_start(msg, GAGG_GA_MEMBERS);
	int err = nest ? 0 : -EMSGSIZE;

	for (uint32_t i = 0; i < n && !err; i++)
		err = codec_put_member(msg, &m[i], told);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

static int codec_put_fields(struct nl_msg *msg, const struct nl_group *g)
{
	const struct gagg_param *f;
	int err = 0;

	nl_for_each_field(f) {
		uint32_t v = nl_field_read(g, f);

		if (err)
			break;
		if (!(g->set & NL_SET(f->attr)))
			continue;
		if (f->bits == 32)
			err = codec_put_u32(msg, f->attr, v);
		else
			err = v > UINT16_MAX ? -ERANGE :
			      codec_put(nla_put_u16(msg, f->attr, v));
	}
	return err;
}

uint32_t *nl_group_number(struct nl_group *g, int attr)
{
	switch (attr) {
	case GAGG_GA_STATE:
		return &g->state;
	case GAGG_GA_REASON:
		return &g->reason;
	case GAGG_GA_REASON_RANK:
		return &g->reason_rank;
	case GAGG_GA_MTU:
		return &g->mtu;
	case GAGG_GA_MTU_NEEDED:
		return &g->mtu_needed;
	case GAGG_GA_LANES_NOW:
		return &g->lanes_now;
	default:
		return NULL;
	}
}

/* what is out only. Nothing is written to @g, whose copy would be large */
static int codec_put_group_told(struct nl_msg *msg, const struct nl_group *g)
{
	int attr, err = 0;

	for (attr = 0; attr <= GAGG_GA_MAX && !err; attr++) {
		const uint32_t *number = nl_group_number((struct nl_group *)g, attr);

		if (number && g->set & NL_SET(attr))
			err = codec_put_u32(msg, attr, *number);
	}
	if (!err && g->set & NL_SET(GAGG_GA_EPOCH))
		err = codec_put_u64(msg, GAGG_GA_EPOCH, g->epoch);
	if (!err && g->set & NL_SET(GAGG_GA_MISMATCH))
		err = codec_put_text(msg, GAGG_GA_MISMATCH, g->mismatch, sizeof(g->mismatch));
	return err;
}

static int codec_put_group(struct nl_msg *msg, const struct nl_group *g, bool told)
{
	struct nlattr *nest;
	int err;

	if (g->n_members > GAGG_RANKS_MAX)
		return -EINVAL;
	nest = nla_nest_start(msg, GAGG_A_GROUP);
	if (!nest)
		return -EMSGSIZE;
	err = codec_put_text(msg, GAGG_GA_NAME, g->name, sizeof(g->name));
	if (!err && g->set & NL_SET(GAGG_GA_LOCAL))
		err = codec_put_ip(msg, GAGG_GA_LOCAL, &g->local);
	if (!err)
		err = codec_put_fields(msg, g);
	if (!err && g->set & NL_SET(GAGG_GA_MULTICAST))
		err = codec_put_multicast(msg, &g->multicast);
	if (!err && g->set & NL_SET(GAGG_GA_SYNC))
		err = codec_put(nla_put(msg, GAGG_GA_SYNC, sizeof(g->sync), &g->sync));
	if (!err && told)
		err = codec_put_group_told(msg, g);
	if (!err && g->n_members)
		err = codec_put_members(msg, g->members, g->n_members, told);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

int nl_put_group(struct nl_msg *msg, const struct nl_group *g)
{
	return codec_put_group(msg, g, false);
}

static int codec_put_stats(struct nl_msg *msg, const uint64_t values[NL_STATS])
{
	struct nlattr *nest = nla_nest_start(msg, GAGG_A_STATS);
	int err = nest ? 0 : -EMSGSIZE;

	for (unsigned int i = 0; i < NL_STATS && !err; i++)
		if (nl_stat_name(i))
			err = codec_put_u64(msg, i, values[i]);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

static struct nl_msg *codec_answer(int cmd)
{
	struct nl_msg *msg = nlmsg_alloc_size(NL_MESSAGE_MAX);

	if (msg && !genlmsg_put(msg, 0, 0, NLMSG_MIN_TYPE, 0, 0, cmd, GAGG_GENL_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/* @err, or the bytes of @msg, which is freed */
static ssize_t codec_write_out(struct nl_msg *msg, int err, void *buf, size_t room)
{
	const struct nlmsghdr *hdr = nlmsg_hdr(msg);
	ssize_t n = hdr->nlmsg_len;

	if (!err && hdr->nlmsg_len > room)
		err = -EMSGSIZE;
	if (!err)
		memcpy(buf, hdr, hdr->nlmsg_len);
	nlmsg_free(msg);
	return err ? err : n;
}

ssize_t nl_write_group(void *buf, size_t room, const struct nl_group *g)
{
	struct nl_msg *msg = codec_answer(GAGG_CMD_GROUP_GET);

	return msg ? codec_write_out(msg, codec_put_group(msg, g, true), buf, room) : -ENOMEM;
}

ssize_t nl_write_stats(void *buf, size_t room, const uint64_t values[NL_STATS])
{
	struct nl_msg *msg = codec_answer(GAGG_CMD_STATS_GET);

	return msg ? codec_write_out(msg, codec_put_stats(msg, values), buf, room) : -ENOMEM;
}

int nl_put_member(struct nl_msg *msg, const char *name,
		  const struct nl_member *member)
{
	struct nlattr *nest = nla_nest_start(msg, GAGG_A_GROUP);
	int err;

	if (!nest)
		return -EMSGSIZE;
	err = codec_put_text(msg, GAGG_GA_NAME, name, GAGG_NAME_MAX);
	if (!err)
		err = codec_put_members(msg, member, 1, false);
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

/*
 * Only the length of an attribute is checked: a short one would be read past its end, a long one
 * would lose digits. Text must not contain what controls a terminal, or is no text in JSON: any
 * process may pretend to be a twin.
 */
static int codec_get(const struct nlattr *a, void *to, size_t size)
{
	if ((size_t)nla_len(a) != size)
		return -EBADMSG;
	memcpy(to, nla_data(a), size);
	return 0;
}

static int codec_get_u32(const struct nlattr *a, uint32_t *out)
{
	return codec_get(a, out, sizeof(*out));
}

static int codec_get_ip(const struct nlattr *a, struct nl_ip *out)
{
	memset(out, 0, sizeof(*out));
	switch (nla_len(a)) {
	case 4:
		out->family = AF_INET;
		break;
	case 16:
		out->family = AF_INET6;
		break;
	default:
		return -EBADMSG;
	}
	return codec_get(a, out->addr, nla_len(a));
}

static int codec_get_multicast(const struct nlattr *a, struct nl_ip *out)
{
	if (nla_len(a))
		return codec_get_ip(a, out);
	memset(out, 0, sizeof(*out));
	return 0;
}

static int codec_get_text(const struct nlattr *a, char *out, size_t size)
{
	size_t len = strnlen(nla_data(a), nla_len(a));
	const unsigned char *c = nla_data(a);

	if (len >= size)
		return -EBADMSG;
	for (size_t i = 0; i < len; i++)
		if (c[i] < ' ' || c[i] >= 0x7f)
			return -EBADMSG;
	memcpy(out, nla_data(a), len);
	out[len] = 0;
	return 0;
}

static int codec_get_times(const struct nlattr *nest, struct nl_times *t)
{
	struct nlattr *a;
	int rem, err = 0;

	nla_for_each_nested(a, nest, rem) {
		switch (nla_type(a)) {
		case GAGG_TA_COMPUTE:
			err = codec_get(a, &t->compute_ns, sizeof(t->compute_ns));
			break;
		case GAGG_TA_WAIT:
			err = codec_get(a, &t->wait_ns, sizeof(t->wait_ns));
			break;
		case GAGG_TA_OPS:
			err = codec_get(a, &t->ops, sizeof(t->ops));
			break;
		case GAGG_TA_SHARE:
			err = codec_get_u32(a, &t->share);
			break;
		case GAGG_TA_BATCH:
			err = codec_get_u32(a, &t->batch);
			break;
		}
		if (err)
			return err;
	}
	return 0;
}

static int codec_get_member_attr(const struct nlattr *a, struct nl_member *m)
{
	uint32_t *number = nl_member_number(m, nla_type(a));

	if (number)
		return codec_get_u32(a, number);
	switch (nla_type(a)) {
	case GAGG_MA_ADDRESS:
		return codec_get_ip(a, &m->addr);
	case GAGG_MA_LOCAL:
		m->local = true;
		return 0;
	case GAGG_MA_MISMATCH:
		return codec_get_text(a, m->mismatch, sizeof(m->mismatch));
	case GAGG_MA_TIMES:
		return codec_get_times(a, &m->times);
	}
	return 0;
}

static int codec_get_members(const struct nlattr *nest, struct nl_group *g)
{
	struct nlattr *entry, *a;
	int rem, rem2, err;

	nla_for_each_nested(entry, nest, rem) {
		struct nl_member *m = &g->members[g->n_members];

		if (nla_type(entry) != GAGG_MA_MEMBER)
			continue;
		if (g->n_members == GAGG_RANKS_MAX)
			return -EBADMSG;
		nla_for_each_nested(a, entry, rem2) {
			err = codec_get_member_attr(a, m);
			if (err)
				return err;
			if (nla_type(a) <= GAGG_MA_MAX)
				m->set |= NL_SET(nla_type(a));
		}
		g->n_members++;
	}
	return 0;
}

static int codec_get_field(const struct nlattr *a, struct nl_group *g)
{
	const struct gagg_param *f;
	uint16_t v16 = 0;
	uint32_t v = 0;
	int err;

	nl_for_each_field(f) {
		if (f->attr != nla_type(a))
			continue;
		err = f->bits == 32 ? codec_get_u32(a, &v) :
				      codec_get(a, &v16, sizeof(v16));
		if (!err)
			nl_field_write(g, f, f->bits == 32 ? v : v16);
		return err;
	}
	return 0;
}

static int codec_get_group_attr(const struct nlattr *a, struct nl_group *g)
{
	uint32_t *number = nl_group_number(g, nla_type(a));

	if (number)
		return codec_get_u32(a, number);
	switch (nla_type(a)) {
	case GAGG_GA_NAME:
		return codec_get_text(a, g->name, sizeof(g->name));
	case GAGG_GA_LOCAL:
		return codec_get_ip(a, &g->local);
	case GAGG_GA_MULTICAST:
		return codec_get_multicast(a, &g->multicast);
	case GAGG_GA_SYNC:
		return codec_get(a, &g->sync, sizeof(g->sync));
	case GAGG_GA_MEMBERS:
		return codec_get_members(a, g);
	case GAGG_GA_EPOCH:
		return codec_get(a, &g->epoch, sizeof(g->epoch));
	case GAGG_GA_MISMATCH:
		return codec_get_text(a, g->mismatch, sizeof(g->mismatch));
	default:
		return codec_get_field(a, g);
	}
}

static struct nlattr *codec_top_attr(struct nlmsghdr *hdr, int attr)
{
	return nlmsg_find_attr(hdr, GENL_HDRLEN, attr);
}

int nl_parse_group(struct nlmsghdr *hdr, struct nl_group *out)
{
	struct nlattr *nest = codec_top_attr(hdr, GAGG_A_GROUP);
	struct nlattr *a;
	int rem, err;

	memset(out, 0, sizeof(*out));
	if (!nest)
		return -ENODATA;
	nla_for_each_nested(a, nest, rem) {
		err = codec_get_group_attr(a, out);
		if (err)
			return err;
		if (nla_type(a) <= GAGG_GA_MAX)
			out->set |= NL_SET(nla_type(a));
	}
	return 0;
}

int nl_parse_stats(struct nlmsghdr *hdr, uint64_t values[NL_STATS])
{
	struct nlattr *nest = codec_top_attr(hdr, GAGG_A_STATS);
	struct nlattr *a;
	int rem;

	memset(values, 0, NL_STATS * sizeof(values[0]));
	if (!nest)
		return -ENODATA;
	nla_for_each_nested(a, nest, rem) {
		if (!nl_stat_name(nla_type(a)))
			continue;
		if (codec_get(a, &values[nla_type(a)], sizeof(values[0])))
			return -EBADMSG;
	}
	return 0;
}

int nl_parse_event(struct nlmsghdr *hdr, struct nl_event *out)
{
	const struct genlmsghdr *genl = nlmsg_data(hdr);
	struct nlattr *a;
	int err;

	err = nl_parse_group(hdr, &out->group);
	if (err)
		return err;
	a = codec_top_attr(hdr, GAGG_A_EVENT);
	if (!a)
		return -ENODATA;
	err = codec_get_u32(a, &out->event);
	if (err)
		return err;
	out->is_member = genl->cmd == GAGG_CMD_MEMBER_NTF;
	return out->is_member && !out->group.n_members ? -ENODATA : 0;
}
