// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/gagg.h>
#include "netmsg.h"

#ifndef NETLINK_EXT_ACK
#define NETLINK_EXT_ACK 11
#endif

static const struct name {
	const char *name;
	uint16_t type;
} names[] = {
	{ "group", GAGG_A_GROUP }, { "stats", GAGG_A_STATS }, { "event", GAGG_A_EVENT },
	{ "g.name", GAGG_GA_NAME }, { "g.id", GAGG_GA_ID }, { "g.local", GAGG_GA_LOCAL },
	{ "g.port", GAGG_GA_PORT }, { "g.uid", GAGG_GA_UID }, { "g.gid", GAGG_GA_GID },
	{ "g.mode", GAGG_GA_MODE }, { "g.lanes", GAGG_GA_LANES },
	{ "g.ring", GAGG_GA_RING }, { "g.window", GAGG_GA_WINDOW },
	{ "g.stripe", GAGG_GA_STRIPE }, { "g.shards", GAGG_GA_SHARDS },
	{ "g.channels", GAGG_GA_CHANNELS }, { "g.cwnd", GAGG_GA_CWND },
	{ "g.dead-after", GAGG_GA_DEAD_AFTER }, { "g.sync", GAGG_GA_SYNC },
	{ "g.placement", GAGG_GA_PLACEMENT }, { "g.key", GAGG_GA_KEY },
	{ "g.members", GAGG_GA_MEMBERS }, { "g.state", GAGG_GA_STATE },
	{ "g.epoch", GAGG_GA_EPOCH }, { "g.reason", GAGG_GA_REASON },
	{ "g.reason-rank", GAGG_GA_REASON_RANK }, { "g.mismatch", GAGG_GA_MISMATCH },
	{ "g.lane-type", GAGG_GA_LANE_TYPE }, { "g.multicast", GAGG_GA_MULTICAST },
	{ "g.wire", GAGG_GA_WIRE },
	{ "m.member", GAGG_MA_MEMBER }, { "m.rank", GAGG_MA_RANK },
	{ "m.address", GAGG_MA_ADDRESS }, { "m.roles", GAGG_MA_ROLES },
	{ "m.reserved", GAGG_MA_RESERVED }, { "m.local", GAGG_MA_LOCAL },
	{ "m.state", GAGG_MA_STATE }, { "m.mismatch", GAGG_MA_MISMATCH },
	{ "m.rtt", GAGG_MA_RTT }, { "m.cwnd", GAGG_MA_CWND }, { "m.heard", GAGG_MA_HEARD },
	{ "m.times", GAGG_MA_TIMES },
};

static const char *const commands[] = {
	"unspec", "group-new", "group-del", "group-set", "group-get", "member-add",
	"member-del", "member-set", "member-get", "stats-get", "group-ntf", "member-ntf",
};

/* of the request in genl_msg */
static struct {
	char name[GENL_ATTRS][32];
	struct nlattr *open[16];
	int depth;
} words;

static struct nlattr *attr_begin(const char *name, size_t n)
{
	size_t i, type = 0;

	if (*name == '#')
		type = strtoul(name + 1, NULL, 0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == n && !strncmp(names[i].name, name, n))
			type = names[i].type;
	if (!type && *name != '#')
		genl_die(name);
	if (genl_msg.attrs < GENL_ATTRS)
		snprintf(words.name[genl_msg.attrs], 32, "%.*s", (int)n, name);
	return genl_attr((uint16_t)type);
}

/* the numbers behind colons, 32 bits each: struct gagg_sync_param, where there are fewer */
static void numbers(struct nlattr *a, const char *v)
{
	uint32_t n[1 + GAGG_SYNC_ARGS] = { 0 };
	size_t i;
	char *end;

	for (i = 0; *v == ':' && i < 1 + GAGG_SYNC_ARGS; i++, v = end)
		n[i] = (uint32_t)strtoul(v + 1, &end, 0);
	if (*v)
		genl_die(v);
	genl_add(a, n, sizeof(n));
}

static void value(struct nlattr *a, const char *v)
{
	uint8_t raw[4096];
	uint64_t n;
	size_t len;

	if (!*v)
		return;
	if (*v == 'u') {
		len = strtoul(v + 1, NULL, 10) / 8;
		n = strtoull(strchr(v, ':') + 1, NULL, 0);
		genl_add(a, &n, len);
	} else if (!strncmp(v, "ip:", 3)) {
		len = strchr(v + 3, ':') ? 16 : 4;
		if (inet_pton(len == 4 ? AF_INET : AF_INET6, v + 3, raw) != 1)
			genl_die(v);
		genl_add(a, raw, len);
	} else if (*v == 'm') {
		numbers(a, v + 1);
	} else if (*v == 's' || *v == 't') {
		genl_add(a, v + 2, strlen(v + 2) + (*v == 's'));
	} else if (*v == 'x') {
		for (len = 0, v += 2; *v && len < sizeof(raw); v += 2)
			raw[len++] = (uint8_t)strtoul((char[]){ v[0], v[1], 0 }, NULL, 16);
		genl_add(a, raw, len);
	} else {
		genl_die(v);
	}
}

void netmsg_attribute(const char *word)
{
	size_t n = strcspn(word, "={[");
	struct nlattr *a;

	if (!strcmp(word, "}")) {
		genl_nest_end(words.open[--words.depth]);
		return;
	}
	a = attr_begin(word, n);
	if (word[n] == '{' || word[n] == '[') {
		words.open[words.depth++] = a;
		if (word[n] == '{')
			a->nla_type |= NLA_F_NESTED;
	} else {
		value(a, word + n + 1);
	}
}

int netmsg_answer(int fd, char *sentence, size_t size, const char **blamed)
{
	union {
		struct nlmsghdr h;
		char raw[32768];
	} r;
	struct nlmsgerr *e = NLMSG_DATA(&r.h);
	ssize_t n = recv(fd, &r, sizeof(r), 0);
	size_t at, skip;
	int i;

	*sentence = 0;
	*blamed = "-";
	if (n < 0)
		return errno;
	if (r.h.nlmsg_type != NLMSG_ERROR && r.h.nlmsg_type != NLMSG_DONE)
		return 0;
	if (!(r.h.nlmsg_flags & NLM_F_ACK_TLVS))
		return -e->error;
	skip = sizeof(*e);
	if (r.h.nlmsg_type == NLMSG_DONE)
		skip = sizeof(int);
	else if (!(r.h.nlmsg_flags & NLM_F_CAPPED))
		skip += e->msg.nlmsg_len - sizeof(struct nlmsghdr);
	for (at = NLMSG_HDRLEN + ((skip + 3) & ~3UL); at + 4 <= r.h.nlmsg_len;) {
		struct nlattr *a = (void *)(r.raw + at);
		uint32_t offset;

		if (a->nla_len < 4)
			break;
		if ((a->nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
			snprintf(sentence, size, "%s", (char *)(a + 1));
		if ((a->nla_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_OFFS) {
			memcpy(&offset, a + 1, 4);
			for (i = 0; i < genl_msg.attrs; i++)
				if (genl_msg.attr[i] == offset)
					*blamed = words.name[i];
		}
		at += (a->nla_len + 3) & ~3;
	}
	return -e->error;
}

int netmsg_open(uint16_t *type)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)))
		genl_die("socket");
	*type = genl_family(fd);
	return fd;
}

uint8_t netmsg_command(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(word, commands[i]))
			return (uint8_t)i;
	return (uint8_t)strtoul(word, NULL, 0);
}
