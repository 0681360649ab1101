/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whole command lines of gaggctl, with a kernel, a reconcile() and an archive that only record what
 * they are asked.
 */
#ifndef FAKE_CTL_H
#define FAKE_CTL_H

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>

#include <cmocka.h>

#include "../../agent/archive/archive.h"
#include "../../agent/conf/config.h"
#include "../../agent/conf/ports.h"
#include "../../agent/conf/reconcile.h"
#include "../../agent/gaggctl/gaggctl.h"

#define WORDS	160

static struct {
	const char *asked;	/* the last call that would change something */
	int calls;
	int err;		/* answer of all calls */
	char name[GAGG_NAME_MAX];
	struct nl_group group;
	struct nl_member member;
	struct nl_group *have;	/* for get and dumps */
	int stats_err;
	bool dry_run;
	char state[64];		/* directory of the archive */
	char checkpoint[GAGG_NAME_MAX];
	struct archive_entry *entries;
	int n_entries;
	int opened;
	struct nl_event *events;	/* then SIGTERM */
	int n_events;
	int open_errno;		/* there is no module, or it cannot be asked */
	bool twin_answers;
	struct nl_twin twin;	/* the twin that was asked; no path: the module */
} kernel;

struct nl {
	int dummy;
};

static struct nl *const handle = (struct nl *)&kernel;

struct nl *nl_open(void)
{
	if (kernel.open_errno) {
		errno = kernel.open_errno;
		return NULL;
	}
	kernel.opened++;
	return handle;
}

struct nl *nl_open_twin(const char *path)
{
	if (!kernel.twin_answers || strlen(path) >= sizeof(kernel.twin.path)) {
		errno = ECONNREFUSED;
		return NULL;
	}
	strcpy(kernel.twin.path, path);
	strcpy(kernel.twin.version, "7.8");
	strcpy(kernel.twin.config, "/etc/a.conf");
	kernel.opened++;
	return handle;
}

const struct nl_twin *nl_twin(const struct nl *nl)
{
	assert_ptr_equal(nl, handle);
	return *kernel.twin.path ? &kernel.twin : NULL;
}

void nl_free(struct nl *nl)
{
	if (nl)
		kernel.opened--;
}

const char *nl_error(const struct nl *nl)
{
	(void)nl;
	return "the kernel says no";
}

unsigned int nl_family_version(const struct nl *nl)
{
	(void)nl;
	return 1;
}

static int take_group(const char *asked, const struct nl_group *g)
{
	kernel.asked = asked;
	kernel.calls++;
	kernel.group = *g;
	return kernel.err;
}

static int take_member(const char *asked, const char *name,
		       const struct nl_member *m)
{
	kernel.asked = asked;
	kernel.calls++;
	strcpy(kernel.name, name);
	kernel.member = *m;
	return kernel.err;
}

#define GROUP_CALL(x)						\
int nl_group_##x(struct nl *nl, const struct nl_group *g)	\
{								\
	assert_ptr_equal(nl, handle);				\
	return take_group(#x, g);				\
}

#define MEMBER_CALL(x)						\
int nl_member_##x(struct nl *nl, const char *name,		\
		  const struct nl_member *m)			\
{								\
	assert_ptr_equal(nl, handle);				\
	return take_member(#x, name, m);			\
}

GROUP_CALL(new)
GROUP_CALL(set)
GROUP_CALL(del)
MEMBER_CALL(add)
MEMBER_CALL(set)
MEMBER_CALL(del)

int nl_group_get(struct nl *nl, const char *name, struct nl_group *out)
{
	(void)nl;
	if (!kernel.have || strcmp(kernel.have->name, name))
		return -ENOENT;
	*out = *kernel.have;
	return kernel.err;
}

int nl_group_dump(struct nl *nl, nl_group_cb cb, void *arg)
{
	(void)nl;
	if (!kernel.err && kernel.have)
		return cb(kernel.have, arg);
	return kernel.err;
}

int nl_member_dump(struct nl *nl, const char *name, nl_member_cb cb, void *arg)
{
	int err = kernel.err;

	(void)nl;
	if (!kernel.have || strcmp(kernel.have->name, name))
		return -ENOENT;
	for (uint32_t i = 0; i < kernel.have->n_members && !err; i++)
		err = cb(&kernel.have->members[i], arg);
	return err;
}

int nl_stats_get(struct nl *nl, const char *name, uint64_t values[NL_STATS])
{
	(void)nl;
	if (!kernel.have || strcmp(kernel.have->name, name))
		return -ENOENT;
	for (int i = 0; i < NL_STATS; i++)
		values[i] = i & 1 ? UINT64_MAX - i : 0;
	return kernel.stats_err;
}

int nl_subscribe(struct nl *nl)
{
	(void)nl;
	return kernel.err;
}

/* always readable */
int nl_fd(const struct nl *nl)
{
	static int fd = -1;

	(void)nl;
	if (fd < 0)
		fd = eventfd(1, EFD_CLOEXEC);
	return fd;
}

int nl_event_next(struct nl *nl, struct nl_event *e)
{
	(void)nl;
	if (!kernel.n_events) {
		raise(SIGTERM);
		return 0;
	}
	*e = *kernel.events++;
	kernel.n_events--;
	return e->event == UINT32_MAX ? -ENOBUFS : 1;
}

int config_load(const char *path, struct config *out, char *err, size_t errlen)
{
	static struct nl_group group = { .name = "a", .port = 9000, .shards = 1, .mode = 0600 };

	if (!strcmp(path, "good")) {
		out->n_groups = 1;
		out->groups = &group;
		return 0;
	}
	if (!strcmp(path, "bad"))
		snprintf(err, errlen, "bad:1: a sentence");
	return strcmp(path, "bad") ? -ENOENT : -EINVAL;
}

void config_free(struct config *cfg)
{
	assert_int_equal(cfg->n_groups, 1);
}

int reconcile(struct nl *nl, const struct config *cfg, bool dry_run,
	      void (*say)(void *arg, const char *line), void *arg)
{
	assert_ptr_equal(nl, handle);
	assert_int_equal(cfg->n_groups, 1);
	kernel.asked = "reconcile";
	kernel.dry_run = dry_run;
	say(arg, "create group a");
	say(arg, "cannot: delete group b");
	return kernel.err;
}

static void take_archive(const char *asked, const char *path, const char *group,
			 const char *name)
{
	kernel.asked = asked;
	kernel.calls++;
	snprintf(kernel.state, sizeof(kernel.state), "%s", path);
	snprintf(kernel.name, sizeof(kernel.name), "%s", group ?: "");
	snprintf(kernel.checkpoint, sizeof(kernel.checkpoint), "%s", name);
}

static int archive_answer(struct archive_error *error)
{
	snprintf(error->text, sizeof(error->text), "the archive says no");
	return kernel.err;
}

int archive_list(const char *path, const char *group, archive_cb cb, void *arg,
		 struct archive_error *error)
{
	take_archive("archive list", path, group, "");
	for (int i = 0; i < kernel.n_entries; i++)
		assert_int_equal(cb(&kernel.entries[i], arg), 0);
	return archive_answer(error);
}

int archive_delete(const char *path, const char *group, const char *name,
		   struct archive_error *error)
{
	take_archive("archive delete", path, group, name);
	return archive_answer(error);
}

static char *out, *err;

/* Run a command line; what it prints is in @out and @err. */
static int run(const char *line)
{
	FILE *was_out = stdout, *was_err = stderr;
	char *argv[WORDS + 2] = { "gaggctl" }, *copy = strdup(line), *rest = copy;
	size_t len;
	int argc = 1, ret;

	for (char *word; (word = strsep(&rest, " ")); )
		if (*word && argc <= WORDS)
			argv[argc++] = strcmp(word, "''") ? word : "";
	free(out);
	free(err);
	fflush(stdout);
	stdout = open_memstream(&out, &len);
	stderr = open_memstream(&err, &len);
	ret = ctl_run(argc, argv);
	fclose(stdout);
	fclose(stderr);
	stdout = was_out;
	stderr = was_err;
	free(copy);
	assert_int_equal(kernel.opened, 0);
	return ret;
}

static void expect(const char *line, int ret)
{
	int got = run(line);

	if (got != ret)
		fail_msg("gaggctl %s: %d\n%s%s", line, got, out, err);
}

static void expect_in(const char *line, const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("gaggctl %s: no '%s' in: %s", line, part, text);
}

static int setup(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	return 0;
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

static int run_all(const struct CMUnitTest *tests, size_t n)
{
	int ret;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	ret = _cmocka_run_group_tests("gaggctl", tests, n, NULL, NULL);
	free(out);
	free(err);
	return ret;
}

#endif
