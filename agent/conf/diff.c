// SPDX-License-Identifier: GPL-2.0
/*
 * The difference between the file and the kernel.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

#define ACCESS_SET \
	(NL_SET(GAGG_GA_UID) | NL_SET(GAGG_GA_GID) | NL_SET(GAGG_GA_MODE))

static struct change *diff_push(struct change_list *list, enum change_kind kind,
				const char *name)
{
	struct change *v;

	v = realloc(list->v, (list->n + 1) * sizeof(*v));
	if (!v)
		return NULL;
	list->v = v;
	v += list->n++;
	memset(v, 0, sizeof(*v));
	v->kind = kind;
	memcpy(v->group.name, name, sizeof(v->group.name));
	memcpy(v->was.name, name, sizeof(v->was.name));
	return v;
}

static const struct nl_group *diff_find_group(const struct group_list *list, const char *name)
{
	for (unsigned int i = 0; i < list->n; i++)
		if (!strcmp(list->v[i].name, name))
			return &list->v[i];
	return NULL;
}

static const struct nl_member *diff_find_rank(const struct nl_group *g, uint32_t rank)
{
	for (unsigned int i = 0; i < g->n_members; i++)
		if (g->members[i].rank == rank)
			return &g->members[i];
	return NULL;
}

/* Fields that are wanted and differ, or that the kernel did not tell. */
static uint64_t diff_fields_differ(const struct nl_group *want,
				   const struct nl_group *have)
{
	const struct gagg_param *f;
	uint64_t differ = 0;

	nl_for_each_field(f)
		if (want->set & NL_SET(f->attr) &&
		    (!(have->set & NL_SET(f->attr)) ||
		     nl_field_read(want, f) != nl_field_read(have, f)))
			differ |= NL_SET(f->attr);
	if (want->set & NL_SET(GAGG_GA_SYNC) &&
	    (!(have->set & NL_SET(GAGG_GA_SYNC)) ||
	     memcmp(&want->sync, &have->sync, sizeof(want->sync))))
		differ |= NL_SET(GAGG_GA_SYNC);
	if (want->set & NL_SET(GAGG_GA_MULTICAST) &&
	    (!(have->set & NL_SET(GAGG_GA_MULTICAST)) ||
	     !nl_ip_equal(&want->multicast, &have->multicast)))
		differ |= NL_SET(GAGG_GA_MULTICAST);
	return differ;
}

static bool diff_push_fields(struct change_list *out, enum change_kind kind,
			     uint64_t fields, const struct nl_group *want,
			     const struct nl_group *have)
{
	struct change *c;

	if (!fields)
		return true;
	c = diff_push(out, kind, want->name);
	if (!c)
		return false;
	c->group = *want;
	c->group.set = fields;
	c->group.n_members = 0;
	c->was = *have;
	c->was.set = fields & have->set;
	return true;
}

/* @m: its fields in m->set are sent, and the rank; @was: NULL: the kernel has no such member */
static bool diff_push_member(struct change_list *out, enum change_kind kind,
			     const char *name, const struct nl_member *m,
			     const struct nl_member *was)
{
	struct change *c = diff_push(out, kind, name);

	if (!c)
		return false;
	c->group.n_members = 1;
	c->group.members[0] = *m;
	c->group.members[0].set |= NL_SET(GAGG_MA_RANK);
	if (was) {
		c->was.n_members = 1;
		c->was.members[0] = *was;
	}
	return true;
}

static bool diff_push_member_del(struct change_list *out, const char *name,
				 const struct nl_member *was)
{
	struct nl_member m = *was;

	m.set = 0;
	return diff_push_member(out, CHANGE_MEMBER_DEL, name, &m, was);
}

static uint32_t diff_member_differs(const struct nl_member *want,
				    const struct nl_member *have)
{
	uint32_t differ = 0;

	if (!nl_ip_equal(&want->addr, &have->addr))
		differ |= NL_SET(GAGG_MA_ADDRESS);
	if (want->roles != have->roles)
		differ |= NL_SET(GAGG_MA_ROLES);
	return differ;
}

/*
 * Additions come before removals, so that the group is never without members.
 * There is room: ranks are distinct, and the one case of a rank that is both
 * removed and added is done at once.
 */
static bool diff_push_members(struct change_list *out, const struct nl_group *want,
			      const struct nl_group *have)
{
	for (unsigned int i = 0; i < want->n_members; i++) {
		struct nl_member m = want->members[i];
		const struct nl_member *was = diff_find_rank(have, m.rank);

		/* A set flag can be sent, a cleared one cannot. */
		if (was && was->local != m.local) {
			if (!diff_push_member_del(out, want->name, was))
				return false;
			was = NULL;
		}
		if (!was) {
			if (!diff_push_member(out, CHANGE_MEMBER_ADD, want->name, &m, NULL))
				return false;
			continue;
		}
		m.set = diff_member_differs(&m, was);
		if (m.set && !diff_push_member(out, CHANGE_MEMBER_SET, want->name, &m, was))
			return false;
	}
	for (unsigned int i = 0; i < have->n_members; i++) {
		const struct nl_member *m = &have->members[i];

		if (!diff_find_rank(want, m->rank) && !diff_push_member_del(out, want->name, m))
			return false;
	}
	return true;
}

static bool diff_push_replace(struct change_list *out, const struct nl_group *want,
			      const struct nl_group *have)
{
	struct change *c = diff_push(out, CHANGE_REPLACE, want->name);

	if (!c)
		return false;
	c->group = *want;
	c->was = *have;
	for (unsigned int i = 0; i < have->n_members; i++) {
		const struct nl_member *m = &have->members[i];

		if (!m->local || (m->state != GAGG_MS_ATTACHED &&
				  m->state != GAGG_MS_RUNNING))
			continue;
		if (!c->busy || m->rank < c->busy_rank)
			c->busy_rank = m->rank;
		c->busy = true;
	}
	return true;
}

static bool diff_one(const struct nl_group *want, const struct nl_group *have,
		     struct change_list *out)
{
	uint64_t fields = diff_fields_differ(want, have);

	/*
	 * Exactly the members at the local address are flagged, so address and
	 * flags would have to change in one call, and there is none.
	 */
	if (!(have->set & NL_SET(GAGG_GA_LOCAL)) ||
	    !nl_ip_equal(&want->local, &have->local))
		return diff_push_replace(out, want, have);
	return diff_push_fields(out, CHANGE_ACCESS, fields & ACCESS_SET, want, have) &&
	       diff_push_fields(out, CHANGE_SET, fields & ~ACCESS_SET, want, have) &&
	       diff_push_members(out, want, have);
}

static bool diff_push_new(struct change_list *out, const struct nl_group *want)
{
	struct change *c = diff_push(out, CHANGE_NEW, want->name);

	if (c)
		c->group = *want;
	return c;
}

static bool diff_names_address(const struct nl_group *g, const struct nl_ip *ip)
{
	for (unsigned int i = 0; i < g->n_members; i++)
		if (nl_ip_equal(&g->members[i].addr, ip))
			return true;
	return false;
}

int diff_groups(const struct group_list *want, const struct group_list *have,
		bool (*owned)(void *arg, const char *name), void *arg,
		struct change_list *out)
{
	*out = (struct change_list){ 0 };

	/* Deletions first: they free ports and ids. */
	for (unsigned int i = 0; i < have->n; i++) {
		const struct nl_group *h = &have->v[i], *w = diff_find_group(want, h->name);

		if (w && (w->set & NL_SET(GAGG_GA_LOCAL) ||
			  !(h->set & NL_SET(GAGG_GA_LOCAL)) ||
			  diff_names_address(w, &h->local)))
			continue;
		if (owned(arg, h->name) && !diff_push(out, CHANGE_DEL, h->name))
			goto nomem;
	}
	for (unsigned int i = 0; i < want->n; i++) {
		const struct nl_group *w = &want->v[i], *h = diff_find_group(have, w->name);

		if (!(w->set & NL_SET(GAGG_GA_LOCAL)))
			continue;
		if (!(h ? diff_one(w, h, out) : diff_push_new(out, w)))
			goto nomem;
	}
	return 0;
nomem:
	diff_free(out);
	return -ENOMEM;
}

void diff_free(struct change_list *list)
{
	free(list->v);
	*list = (struct change_list){ 0 };
}
