/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nl.h in memory, for tests that link agent/nl/names.c only. Calls that change something are
 * counted, and logged by a word each.
 */
#ifndef FAKE_NL_H
#define FAKE_NL_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "../../agent/nl/nl.h"

#define FAKE_GROUPS 8

static struct fake {
	bool absent;			/* no module */
	const char *busy;		/* EBUSY for the group of this name */
	unsigned int calls;		/* that change something */
	unsigned int *dumps;		/* dumps of groups, shared with a child; or NULL */
	char log[2048];
	unsigned int n;
	struct nl_group groups[FAKE_GROUPS];
} fake;

struct nl {
	int dummy;
};

static struct nl fake_nl;

static inline struct nl_group *fake_find(const char *name)
{
	for (unsigned int i = 0; i < fake.n; i++)
		if (!strcmp(fake.groups[i].name, name))
			return &fake.groups[i];
	return NULL;
}

/* 0: go on */
static inline int fake_call(const char *word, const char *name, bool access)
{
	size_t len = strlen(fake.log);

	fake.calls++;
	snprintf(fake.log + len, sizeof(fake.log) - len, "%s:%s ", word, name);
	return !access && fake.busy && !strcmp(fake.busy, name) ? -EBUSY : 0;
}

struct nl *nl_open(void)
{
	errno = ENOENT;
	return fake.absent ? NULL : &fake_nl;
}

struct nl *nl_open_twin(const char *path)
{
	(void)path;
	errno = ECONNREFUSED;
	return NULL;
}

const struct nl_twin *nl_twin(const struct nl *nl)
{
	(void)nl;
	return NULL;
}

void nl_free(struct nl *nl)
{
	(void)nl;
}

unsigned int nl_family_version(const struct nl *nl)
{
	(void)nl;
	return GAGG_GENL_VERSION;
}

const char *nl_error(const struct nl *nl)
{
	(void)nl;
	return "the fake refuses";
}

int nl_group_new(struct nl *nl, const struct nl_group *g)
{
	int ret = fake_call("new", g->name, false);

	(void)nl;
	if (ret)
		return ret;
	if (fake_find(g->name))
		return -EEXIST;
	if (fake.n == FAKE_GROUPS)
		return -ENOSPC;
	fake.groups[fake.n] = *g;
	/* The kernel makes up an id when there is none. */
	if (!(g->set & NL_SET(GAGG_GA_ID)))
		fake.groups[fake.n].id = 0x1234 + fake.n;
	fake.groups[fake.n++].set |= NL_SET(GAGG_GA_ID);
	return 0;
}

int nl_group_del(struct nl *nl, const struct nl_group *g)
{
	struct nl_group *mine = fake_find(g->name);
	int ret = fake_call("del", g->name, true);

	(void)nl;
	if (ret)
		return ret;
	if (!mine)
		return -ENOENT;
	*mine = fake.groups[--fake.n];
	return 0;
}

int nl_group_set(struct nl *nl, const struct nl_group *g)
{
	const uint64_t access = NL_SET(GAGG_GA_UID) | NL_SET(GAGG_GA_GID) |
				NL_SET(GAGG_GA_MODE);
	int ret = fake_call("set", g->name, !(g->set & ~access));
	struct nl_group *mine = fake_find(g->name);
	const struct gagg_param *f;

	(void)nl;
	if (ret)
		return ret;
	if (!mine)
		return -ENOENT;
	nl_for_each_field(f)
		if (g->set & NL_SET(f->attr))
			nl_field_write(mine, f, nl_field_read(g, f));
	if (g->set & NL_SET(GAGG_GA_SYNC))
		mine->sync = g->sync;
	if (g->set & NL_SET(GAGG_GA_MULTICAST))
		mine->multicast = g->multicast;
	return g->set & NL_SET(GAGG_GA_LOCAL) ? -EINVAL : 0;
}

int nl_group_get(struct nl *nl, const char *name, struct nl_group *out)
{
	struct nl_group *mine = fake_find(name);

	(void)nl;
	if (!mine)
		return -ENOENT;
	*out = *mine;
	return 0;
}

static inline int fake_rank(const struct nl_group *g, uint32_t rank)
{
	for (unsigned int i = 0; i < g->n_members; i++)
		if (g->members[i].rank == rank)
			return i;
	return -ENOENT;
}

int nl_member_add(struct nl *nl, const char *name, const struct nl_member *m)
{
	int ret = fake_call("add", name, false);
	struct nl_group *g = fake_find(name);

	(void)nl;
	if (ret)
		return ret;
	if (!g || g->n_members == GAGG_RANKS_MAX)
		return g ? -ENOSPC : -ENOENT;
	if (fake_rank(g, m->rank) >= 0)
		return -EEXIST;
	g->members[g->n_members++] = *m;
	return 0;
}

int nl_member_del(struct nl *nl, const char *name, const struct nl_member *m)
{
	int ret = fake_call("drop", name, false);
	struct nl_group *g = fake_find(name);
	int at;

	(void)nl;
	if (ret)
		return ret;
	at = g ? fake_rank(g, m->rank) : -ENOENT;
	if (at < 0)
		return at;
	g->members[at] = g->members[--g->n_members];
	return 0;
}

int nl_member_set(struct nl *nl, const char *name, const struct nl_member *m)
{
	int ret = fake_call("change", name, false);
	struct nl_group *g = fake_find(name);
	int at;

	(void)nl;
	if (ret)
		return ret;
	at = g ? fake_rank(g, m->rank) : -ENOENT;
	if (at < 0)
		return at;
	if (m->set & NL_SET(GAGG_MA_ADDRESS))
		g->members[at].addr = m->addr;
	if (m->set & NL_SET(GAGG_MA_ROLES))
		g->members[at].roles = m->roles;
	return 0;
}

int nl_group_dump(struct nl *nl, nl_group_cb cb, void *arg)
{
	int ret = 0;

	(void)nl;
	if (fake.dumps)
		++*fake.dumps;
	for (unsigned int i = 0; i < fake.n && !ret; i++)
		ret = cb(&fake.groups[i], arg);
	return ret;
}

int nl_member_dump(struct nl *nl, const char *name, nl_member_cb cb, void *arg)
{
	struct nl_group *g = fake_find(name);
	int ret = 0;

	(void)nl;
	if (!g)
		return -ENOENT;
	for (unsigned int i = 0; i < g->n_members && !ret; i++)
		ret = cb(&g->members[i], arg);
	return ret;
}

/* Never readable: there are no events. */
int nl_subscribe(struct nl *nl)
{
	nl->dummy = eventfd(0, EFD_CLOEXEC);
	return nl->dummy < 0 ? -errno : 0;
}

int nl_fd(const struct nl *nl)
{
	return nl->dummy;
}

int nl_event_next(struct nl *nl, struct nl_event *out)
{
	(void)nl;
	(void)out;
	return 0;
}

#endif
