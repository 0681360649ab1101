// SPDX-License-Identifier: GPL-2.0
/*
 * Changes in words.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../lib/sync_name.h"
#include "diff.h"

struct text {
	char *buf;
	size_t size, used;
};

static void describe_add(struct text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void describe_add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->buf + t->used, t->size - t->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->used += (size_t)n < t->size - t->used ? (size_t)n :
							  t->size - t->used - 1;
}

static void describe_add_field(struct text *t, const struct nl_group *g,
			       const struct gagg_param *f)
{
	uint32_t v = nl_field_read(g, f);

	if (!(g->set & NL_SET(f->attr)))
		describe_add(t, "?");
	else if (f->kind == GAGG_PARAM_BITS)
		describe_add(t, "%04o", v);
	else if (nl_field_word(f, v))
		describe_add(t, "%s", nl_field_word(f, v));
	else
		describe_add(t, "%u", v);
}

static void describe_add_sync(struct text *t, const char *sep, const struct change *c)
{
	char was[SYNC_NAME_MAX], is[SYNC_NAME_MAX];

	describe_add(t, "%ssync %s -> %s", sep, sync_print(&c->was.sync, was),
		     sync_print(&c->group.sync, is));
}

static void describe_add_fields(struct text *t, const struct change *c)
{
	char a[NL_IP_MAX], b[NL_IP_MAX];
	const char *sep = "set ";
	const struct gagg_param *f;

	nl_for_each_field(f) {
		if (!(c->group.set & NL_SET(f->attr)))
			continue;
		describe_add(t, "%s%s ", sep, f->name);
		describe_add_field(t, &c->was, f);
		describe_add(t, " -> ");
		describe_add_field(t, &c->group, f);
		sep = ", ";
	}
	if (c->group.set & NL_SET(GAGG_GA_SYNC)) {
		describe_add_sync(t, sep, c);
		sep = ", ";
	}
	if (c->group.set & NL_SET(GAGG_GA_MULTICAST))
		describe_add(t, "%smulticast %s -> %s", sep,
			     nl_multicast_format(&c->was.multicast, a),
			     nl_multicast_format(&c->group.multicast, b));
}

static void describe_add_member(struct text *t, const struct change *c)
{
	const struct nl_member *m = &c->group.members[0];
	const struct nl_member *was = &c->was.members[0];
	char a[NL_IP_MAX], b[NL_IP_MAX];
	const char *sep = "";

	describe_add(t, "set member %u: ", m->rank);
	if (m->set & NL_SET(GAGG_MA_ADDRESS)) {
		describe_add(t, "address %s -> %s", nl_ip_format(&was->addr, a),
			     nl_ip_format(&m->addr, b));
		sep = ", ";
	}
	if (m->set & NL_SET(GAGG_MA_ROLES))
		describe_add(t, "%srole %s -> %s", sep, nl_roles_name(was->roles),
			     nl_roles_name(m->roles));
}

const char *diff_describe(const struct change *c, char *buf, size_t size)
{
	struct text t = { buf, size, 0 };
	const struct nl_group *g = &c->group;
	char a[NL_IP_MAX], b[NL_IP_MAX];

	*buf = 0;
	describe_add(&t, "group \"%s\": ", g->name);
	switch (c->kind) {
	case CHANGE_NEW:
		describe_add(&t, "create, %u member%s, local address %s", g->n_members,
			     g->n_members == 1 ? "" : "s", nl_ip_format(&g->local, a));
		break;
	case CHANGE_SET:
	case CHANGE_ACCESS:
		describe_add_fields(&t, c);
		break;
	case CHANGE_REPLACE:
		describe_add(&t, "replace, local address %s -> %s",
			     nl_ip_format(&c->was.local, a), nl_ip_format(&g->local, b));
		break;
	case CHANGE_DEL:
		describe_add(&t, "delete");
		break;
	case CHANGE_MEMBER_ADD:
		describe_add(&t, "add member %u at %s as %s", g->members[0].rank,
			     nl_ip_format(&g->members[0].addr, a),
			     nl_roles_name(g->members[0].roles));
		break;
	case CHANGE_MEMBER_SET:
		describe_add_member(&t, c);
		break;
	case CHANGE_MEMBER_DEL:
		describe_add(&t, "delete member %u", g->members[0].rank);
		break;
	}
	return buf;
}
