// SPDX-License-Identifier: GPL-2.0
/*
 * From the file to the kernel.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "applied.h"
#include "diff.h"
#include "host.h"
#include "reconcile.h"

#define LINE_MAX_	1024

struct run {
	struct nl *nl;
	const struct config *cfg;
	void (*say)(void *arg, const char *line);
	void *arg;
	int error;			/* the first, or -EBUSY */
	unsigned int n_want, n_have;
	struct nl_group *want, *have;
	struct applied applied;
	char applied_path[PATH_MAX];
};

static void reconcile_cannot(struct run *r, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void reconcile_cannot(struct run *r, int error, const char *fmt, ...)
{
	char line[LINE_MAX_] = RECONCILE_CANNOT;
	size_t used = strlen(line);
	va_list ap;

	if (!r->error || error == -EBUSY)
		r->error = error;
	va_start(ap, fmt);
	vsnprintf(line + used, sizeof(line) - used, fmt, ap);
	va_end(ap);
	r->say(r->arg, line);
}

/* Groups of the file, with this host in them. */
static bool reconcile_resolve(struct run *r)
{
	struct nl_ip *host = NULL;
	const struct nl_ip *ips = &r->cfg->local;
	char msg[256];
	int n = 1;

	if (!r->cfg->local.family) {
		n = host_addresses(&host);
		if (n < 0) {
			reconcile_cannot(r, n, "list this host's addresses: %s",
					 strerror(-n));
			return false;
		}
		ips = host;
	}
	r->want = calloc(r->cfg->n_groups + 1, sizeof(*r->want));
	if (!r->want) {
		free(host);
		reconcile_cannot(r, -ENOMEM, "out of memory");
		return false;
	}
	for (unsigned int i = 0; i < r->cfg->n_groups; i++) {
		struct nl_group *g = &r->want[r->n_want++];
		int ret;

		*g = r->cfg->groups[i];
		ret = host_resolve(g, ips, n, msg, sizeof(msg));
		if (!ret)
			continue;
		/* Still a group of the file: it must not be deleted. */
		g->set &= ~NL_SET(GAGG_GA_LOCAL);
		reconcile_cannot(r, ret, "group \"%s\": %s", g->name, msg);
	}
	free(host);
	return true;
}

static int reconcile_take_member(const struct nl_member *m, void *arg)
{
	struct nl_group *g = arg;

	if (g->n_members < GAGG_RANKS_MAX)
		g->members[g->n_members++] = *m;
	return 0;
}

static int reconcile_take_group(const struct nl_group *g, void *arg)
{
	struct run *r = arg;
	struct nl_group *have;
	int ret;

	have = realloc(r->have, (r->n_have + 1) * sizeof(*have));
	if (!have)
		return -ENOMEM;
	r->have = have;
	have += r->n_have;
	*have = *g;
	have->n_members = 0;
	ret = nl_member_dump(r->nl, g->name, reconcile_take_member, have);
	if (ret == -ENOENT)	/* deleted meanwhile */
		return 0;
	if (ret)
		return ret;
	r->n_have++;
	return 0;
}

static int reconcile_make_change(struct nl *nl, const struct change *c)
{
	const struct nl_group *g = &c->group;
	int ret;

	switch (c->kind) {
	case CHANGE_NEW:
		return nl_group_new(nl, g);
	case CHANGE_SET:
	case CHANGE_ACCESS:
		return nl_group_set(nl, g);
	case CHANGE_REPLACE:
		ret = nl_group_del(nl, g);
		return ret && ret != -ENOENT ? ret : nl_group_new(nl, g);
	case CHANGE_DEL:
		ret = nl_group_del(nl, g);
		return ret == -ENOENT ? 0 : ret;
	case CHANGE_MEMBER_ADD:
		return nl_member_add(nl, g->name, &g->members[0]);
	case CHANGE_MEMBER_SET:
		return nl_member_set(nl, g->name, &g->members[0]);
	case CHANGE_MEMBER_DEL:
		return nl_member_del(nl, g->name, &g->members[0]);
	}
	return -EINVAL;
}

static bool reconcile_owned(void *arg, const char *name)
{
	struct run *r = arg;

	return applied_has(&r->applied, name, r->cfg->path);
}

static void reconcile_remember(struct run *r, const struct change *c)
{
	bool ok = true;

	if (c->kind == CHANGE_NEW || c->kind == CHANGE_REPLACE)
		ok = applied_add(&r->applied, c->group.name, r->cfg->path);
	else if (c->kind == CHANGE_DEL)
		applied_remove(&r->applied, c->group.name);
	if (!ok)
		reconcile_cannot(r, -ENOMEM, "out of memory");
}

/*
 * Saved after each group that was made: after a crash, at most one group is
 * not known to be the file's, and it stays.
 */
static void reconcile_save(struct run *r)
{
	int ret = applied_save(&r->applied, r->applied_path);

	if (!ret)
		return;
	reconcile_cannot(r, ret, "write %s: %s; groups made now stay when the file drops them",
			 r->applied_path, strerror(-ret));
	r->applied.changed = false;
}

static void reconcile_make_changes(struct run *r, const struct change_list *list,
				   bool dry_run)
{
	const char *failed = "";
	char text[LINE_MAX_];

	for (unsigned int i = 0; i < list->n; i++) {
		const struct change *c = &list->v[i];
		int ret;

		if (!strcmp(failed, c->group.name))
			continue;
		diff_describe(c, text, sizeof(text));
		if (c->busy) {
			reconcile_cannot(r, -EBUSY, "%s: rank %u is attached", text,
					 c->busy_rank);
			failed = c->group.name;
			continue;
		}
		ret = dry_run ? 0 : reconcile_make_change(r->nl, c);
		if (ret) {
			reconcile_cannot(r, ret, "%s: %s", text, nl_error(r->nl));
			failed = c->group.name;
			continue;
		}
		r->say(r->arg, text);
		if (dry_run)
			continue;
		reconcile_remember(r, c);
		reconcile_save(r);
	}
}

int reconcile(struct nl *nl, const struct config *cfg, bool dry_run,
	      void (*say)(void *arg, const char *line), void *arg)
{
	struct run r = { .nl = nl, .cfg = cfg, .say = say, .arg = arg };
	struct group_list want, have;
	struct change_list list = { 0 };
	int ret;

	if (!reconcile_resolve(&r))
		goto out;
	ret = nl_group_dump(nl, reconcile_take_group, &r);
	if (ret) {
		reconcile_cannot(&r, ret, "list the groups: %s", nl_error(nl));
		goto out;
	}
	if (*cfg->applied)
		strcpy(r.applied_path, cfg->applied);
	else
		ret = applied_path(r.applied_path, sizeof(r.applied_path));
	if (!ret)
		ret = applied_load(&r.applied, r.applied_path);
	if (ret)
		reconcile_cannot(&r, ret, "read %s: %s; no group will be deleted",
				 r.applied_path, strerror(-ret));
	if (!r.applied.text)
		goto out;
	want = (struct group_list){ r.want, r.n_want };
	have = (struct group_list){ r.have, r.n_have };
	ret = diff_groups(&want, &have, reconcile_owned, &r, &list);
	if (ret)
		reconcile_cannot(&r, ret, "out of memory");
	else
		reconcile_make_changes(&r, &list, dry_run);
	diff_free(&list);
out:
	applied_free(&r.applied);
	free(r.want);
	free(r.have);
	return r.error;
}
