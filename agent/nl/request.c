// SPDX-License-Identifier: GPL-2.0
/* Groups, members and counters: one function for each thing one may ask. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "socket.h"

#define DUMP_TRIES	16

static int request(struct nl *nl, const struct nl_question *q, char text[NL_SENTENCE_MAX])
{
	struct nl_msg *msg;
	int err = 0;

	text[0] = 0;
	if (nl_twin(nl))
		return nl_twin_transact(nl, q, text);
	if (!nl->family)
		return -ENOENT;
	msg = nl_message(nl->family, q->cmd, GAGG_GENL_VERSION, q->flags);
	if (!msg)
		return -ENOMEM;
	if (q->member)
		err = nl_put_member(msg, q->group->name, q->member);
	else if (q->group)
		err = nl_put_group(msg, q->group);
	if (!err)
		err = nl_transact(nl, msg, q->each, q->arg, text);
	nlmsg_free(msg);
	return err;
}

static int request_named(const char *name, struct nl_group *g)
{
	memset(g, 0, sizeof(*g));
	if (strlen(name) >= sizeof(g->name))
		return -ENAMETOOLONG;
	strcpy(g->name, name);
	return 0;
}

/* A request about a group that is answered by yes or no, or by one message. */
static int request_ask(struct nl *nl, const struct nl_question *q, const char *asked)
{
	char text[NL_SENTENCE_MAX];
	int err = request(nl, q, text);

	return nl_fail(nl, err, text, "cannot %s group '%.*s'", asked,
		    GAGG_NAME_MAX - 1, q->group->name);
}

int nl_group_new(struct nl *nl, const struct nl_group *group)
{
	const struct nl_question q = { .cmd = GAGG_CMD_GROUP_NEW, .group = group };

	return request_ask(nl, &q, "create");
}

int nl_group_del(struct nl *nl, const struct nl_group *group)
{
	struct nl_group g;
	const struct nl_question q = { .cmd = GAGG_CMD_GROUP_DEL, .group = &g };
	int err = request_named(group->name, &g);

	if (err)
		return nl_fail(nl, err, NULL, "cannot delete the group");
	return request_ask(nl, &q, "delete");
}

int nl_group_set(struct nl *nl, const struct nl_group *group)
{
	const struct nl_question q = { .cmd = GAGG_CMD_GROUP_SET, .group = group };

	return request_ask(nl, &q, "change");
}

static int request_each_group(struct nlmsghdr *hdr, void *arg)
{
	return nl_parse_group(hdr, arg);
}

int nl_group_get(struct nl *nl, const char *name, struct nl_group *out)
{
	struct nl_group g;
	const struct nl_question q = {
		.cmd = GAGG_CMD_GROUP_GET, .group = &g, .each = request_each_group, .arg = out,
	};
	int err = request_named(name, &g);

	memset(out, 0, sizeof(*out));
	if (err)
		return nl_fail(nl, err, NULL, "cannot show group '%s'", name);
	return request_ask(nl, &q, "show");
}

static int request_each_stats(struct nlmsghdr *hdr, void *arg)
{
	return nl_parse_stats(hdr, arg);
}

int nl_stats_get(struct nl *nl, const char *name, uint64_t values[NL_STATS])
{
	struct nl_group g;
	const struct nl_question q = {
		.cmd = GAGG_CMD_STATS_GET, .group = &g, .each = request_each_stats, .arg = values,
	};
	int err = request_named(name, &g);

	memset(values, 0, NL_STATS * sizeof(values[0]));
	if (err)
		return nl_fail(nl, err, NULL, "cannot read counters of '%s'", name);
	return request_ask(nl, &q, "read counters of");
}

static int request_ask_member(struct nl *nl, int cmd, const char *name,
			      const struct nl_member *m, const char *asked)
{
	char text[NL_SENTENCE_MAX] = "";
	struct nl_group g;
	const struct nl_question q = { .cmd = cmd, .group = &g, .member = m };
	int err = request_named(name, &g);

	if (!err)
		err = request(nl, &q, text);
	return nl_fail(nl, err, err == -ENOENT && !*text ?
			     "no such group or member" : text,
		    "cannot %s member %u of group '%s'", asked, m->rank, name);
}

int nl_member_add(struct nl *nl, const char *name, const struct nl_member *m)
{
	return request_ask_member(nl, GAGG_CMD_MEMBER_ADD, name, m, "add");
}

int nl_member_del(struct nl *nl, const char *name, const struct nl_member *m)
{
	struct nl_member rank = {
		.set = NL_SET(GAGG_MA_RANK), .rank = m->rank,
	};

	return request_ask_member(nl, GAGG_CMD_MEMBER_DEL, name, &rank, "delete");
}

int nl_member_set(struct nl *nl, const char *name, const struct nl_member *m)
{
	return request_ask_member(nl, GAGG_CMD_MEMBER_SET, name, m, "change");
}

/* What a dump has brought so far. */
struct list {
	struct nl_group *groups;
	size_t n;
	size_t room;
};

static int request_each_listed(struct nlmsghdr *hdr, void *arg)
{
	struct list *list = arg;

	if (list->n == list->room) {
		size_t room = list->room ? 2 * list->room : 4;
		void *p = reallocarray(list->groups, room,
				       sizeof(*list->groups));

		if (!p)
			return -ENOMEM;
		list->groups = p;
		list->room = room;
	}
	return nl_parse_group(hdr, &list->groups[list->n++]);
}

static int request_dump(struct nl *nl, int cmd, const struct nl_group *group,
			struct list *list, char text[NL_SENTENCE_MAX])
{
	const struct nl_question q = {
		.cmd = cmd, .flags = NLM_F_DUMP, .group = group, .each = request_each_listed,
		.arg = list,
	};
	int err = -EINTR;

	for (int i = 0; i < DUMP_TRIES && err == -EINTR; i++) {
		list->n = 0;
		err = request(nl, &q, text);
	}
	return err;
}

int nl_group_dump(struct nl *nl, nl_group_cb cb, void *arg)
{
	char text[NL_SENTENCE_MAX];
	struct list list = { NULL, 0, 0 };
	int err;

	err = request_dump(nl, GAGG_CMD_GROUP_GET, NULL, &list, text);
	nl_fail(nl, err, text, "cannot list groups");
	for (size_t i = 0; i < list.n && !err; i++)
		err = cb(&list.groups[i], arg);
	free(list.groups);
	return err;
}

int nl_member_dump(struct nl *nl, const char *name, nl_member_cb cb, void *arg)
{
	char text[NL_SENTENCE_MAX] = "";
	struct list list = { NULL, 0, 0 };
	struct nl_group g;
	int err = request_named(name, &g);

	if (!err)
		err = request_dump(nl, GAGG_CMD_MEMBER_GET, &g, &list, text);
	nl_fail(nl, err, text, "cannot list members of group '%s'", name);
	for (size_t i = 0; i < list.n && !err; i++)
		for (uint32_t k = 0; k < list.groups[i].n_members && !err; k++)
			err = cb(&list.groups[i].members[k], arg);
	free(list.groups);
	return err;
}
