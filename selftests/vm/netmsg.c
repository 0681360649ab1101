// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/gagg_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include "netmsg.h"

#ifndef NETLINK_EXT_ACK
#define NETLINK_EXT_ACK 11
#endif

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

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
	{ "m.member", GAGG_MA_MEMBER }, { "m.rank", GAGG_MA_RANK },
	{ "m.address", GAGG_MA_ADDRESS }, { "m.roles", GAGG_MA_ROLES },
	{ "m.weight", GAGG_MA_WEIGHT }, { "m.local", GAGG_MA_LOCAL },
	{ "m.state", GAGG_MA_STATE }, { "m.mismatch", GAGG_MA_MISMATCH },
	{ "m.rtt", GAGG_MA_RTT }, { "m.cwnd", GAGG_MA_CWND }, { "m.heard", GAGG_MA_HEARD },
};

static const char *const commands[] = {
	"unspec", "group-new", "group-del", "group-set", "group-get", "member-add",
	"member-del", "member-set", "member-get", "stats-get", "group-ntf", "member-ntf",
};

static struct {
	union {
		struct nlmsghdr h;
		char raw[16384];
	} u;
	size_t len;
	struct {
		size_t at;
		char name[32];
	} attr[256];
	int attrs;
	struct nlattr *open[16];
	int depth;
} msg;

static void *put(size_t n)
{
	void *p = msg.u.raw + msg.len;

	if (msg.len + n + 4 > sizeof(msg.u))
		die("too long");
	memset(p, 0, n + 4);
	msg.len += (n + 3) & ~3UL;
	return p;
}

static struct nlattr *attr_begin(const char *name, size_t n)
{
	struct nlattr *a;
	size_t i, type = 0;

	if (*name == '#')
		type = strtoul(name + 1, NULL, 0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == n && !strncmp(names[i].name, name, n))
			type = names[i].type;
	if (!type && *name != '#')
		die(name);
	if (msg.attrs < 256) {
		msg.attr[msg.attrs].at = msg.len;
		snprintf(msg.attr[msg.attrs++].name, 32, "%.*s", (int)n, name);
	}
	a = put(sizeof(*a));
	a->nla_type = type;
	a->nla_len = sizeof(*a);
	return a;
}

static void add(struct nlattr *a, const void *data, size_t n)
{
	memcpy(put(n), data, n);
	a->nla_len += n;
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
		add(a, &n, len);
	} else if (!strncmp(v, "ip:", 3)) {
		len = strchr(v + 3, ':') ? 16 : 4;
		if (inet_pton(len == 4 ? AF_INET : AF_INET6, v + 3, raw) != 1)
			die(v);
		add(a, raw, len);
	} else if (*v == 's' || *v == 't') {
		add(a, v + 2, strlen(v + 2) + (*v == 's'));
	} else if (*v == 'x') {
		for (len = 0, v += 2; *v && len < sizeof(raw); v += 2)
			raw[len++] = (uint8_t)strtoul((char[]){ v[0], v[1], 0 }, NULL, 16);
		add(a, raw, len);
	} else {
		die(v);
	}
}

void netmsg_attribute(const char *word)
{
	size_t n = strcspn(word, "={[");
	struct nlattr *a;

	if (!strcmp(word, "}")) {
		a = msg.open[--msg.depth];
		a->nla_len = (uint16_t)(msg.u.raw + msg.len - (char *)a);
		return;
	}
	a = attr_begin(word, n);
	if (word[n] == '{' || word[n] == '[') {
		msg.open[msg.depth++] = a;
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
			for (i = 0; i < msg.attrs; i++)
				if (msg.attr[i].at == offset)
					*blamed = msg.attr[i].name;
		}
		at += (a->nla_len + 3) & ~3;
	}
	return -e->error;
}

void netmsg_begin(uint16_t type, uint16_t flags, uint8_t cmd)
{
	struct genlmsghdr g = { .cmd = cmd, .version = 1 };

	memset(&msg, 0, sizeof(msg));
	msg.u.h.nlmsg_type = type;
	msg.u.h.nlmsg_flags = NLM_F_REQUEST | flags;
	msg.len = NLMSG_HDRLEN;
	memcpy(put(sizeof(g)), &g, sizeof(g));
}

int netmsg_send(int fd)
{
	msg.u.h.nlmsg_len = (uint32_t)msg.len;
	return send(fd, &msg.u, msg.len, 0) < 0 ? errno : 0;
}

static uint16_t family(int fd)
{
	char raw[4096];
	struct nlmsghdr *h = (void *)raw;
	struct nlattr *a;
	ssize_t n;

	netmsg_begin(GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	a = put(sizeof(*a));
	a->nla_type = CTRL_ATTR_FAMILY_NAME;
	a->nla_len = sizeof(*a);
	add(a, GAGG_GENL_NAME, sizeof(GAGG_GENL_NAME));
	if (netmsg_send(fd))
		die("send");
	n = recv(fd, raw, sizeof(raw), 0);
	if (n < 0 || h->nlmsg_type == NLMSG_ERROR)
		die("no family gagg");
	for (a = (void *)(raw + NLMSG_HDRLEN + GENL_HDRLEN); (char *)a < raw + n;
	     a = (void *)((char *)a + ((a->nla_len + 3) & ~3)))
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)(a + 1);
	die("no id");
	return 0;
}

int netmsg_open(uint16_t *type)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on)))
		die("socket");
	*type = family(fd);
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
