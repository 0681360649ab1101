// SPDX-License-Identifier: GPL-2.0
#include "genl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct genl_msg genl_msg;

void genl_die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static void *put(size_t n)
{
	void *p = genl_msg.u.raw + genl_msg.len;

	if (genl_msg.len + n + 4 > sizeof(genl_msg.u))
		genl_die("too long");
	memset(p, 0, n + 4);
	genl_msg.len += (n + 3) & ~3UL;
	return p;
}

void genl_begin(uint16_t family, uint16_t flags, uint8_t cmd)
{
	struct genlmsghdr g = { .cmd = cmd, .version = GAGG_GENL_VERSION };

	memset(&genl_msg, 0, sizeof(genl_msg));
	genl_msg.u.h.nlmsg_type = family;
	genl_msg.u.h.nlmsg_flags = NLM_F_REQUEST | flags;
	genl_msg.len = NLMSG_HDRLEN;
	memcpy(put(sizeof(g)), &g, sizeof(g));
}

struct nlattr *genl_attr(uint16_t type)
{
	size_t at = genl_msg.len;
	struct nlattr *a = put(sizeof(*a));

	if (genl_msg.attrs < GENL_ATTRS)
		genl_msg.attr[genl_msg.attrs++] = at;
	a->nla_type = type;
	a->nla_len = sizeof(*a);
	return a;
}

void genl_add(struct nlattr *a, const void *data, size_t n)
{
	memcpy(put(n), data, n);
	a->nla_len += n;
}

void genl_nest_end(struct nlattr *a)
{
	a->nla_len = (uint16_t)(genl_msg.u.raw + genl_msg.len - (char *)a);
}

int genl_send(int fd)
{
	genl_msg.u.h.nlmsg_len = (uint32_t)genl_msg.len;
	return send(fd, &genl_msg.u, genl_msg.len, 0) < 0 ? errno : 0;
}

uint16_t genl_family(int fd)
{
	char raw[4096];
	struct nlmsghdr *h = (void *)raw;
	struct nlattr *a;
	ssize_t n;

	genl_begin(GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	genl_add(genl_attr(CTRL_ATTR_FAMILY_NAME), GAGG_GENL_NAME, sizeof(GAGG_GENL_NAME));
	n = genl_send(fd) ? -1 : recv(fd, raw, sizeof(raw), 0);
	if (n < 0 || h->nlmsg_type == NLMSG_ERROR)
		genl_die("no family gagg");
	for (a = (void *)(raw + NLMSG_HDRLEN + GENL_HDRLEN); (char *)a < raw + n;
	     a = (void *)((char *)a + ((a->nla_len + 3) & ~3)))
		if (a->nla_type == CTRL_ATTR_FAMILY_ID)
			return *(uint16_t *)(a + 1);
	genl_die("no id");
	return 0;
}
