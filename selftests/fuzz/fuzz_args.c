// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggctl/args.c agent/gaggctl/batch.c agent/gaggctl/checkpoint.c agent/gaggctl/command.c agent/gaggctl/group.c agent/conf/ports.c agent/conf/ring.c agent/gaggctl/member.c agent/gaggctl/stats.c agent/gaggctl/monitor.c agent/gaggctl/apply.c agent/gaggctl/version.c agent/gaggctl/sync.c agent/gaggctl/print.c agent/nl/names.c kmod/core/group/param.c sync; libs: json-c -lcmocka */
/*
 * The command line of gaggctl: a byte for what the kernel answers, then words,
 * each on a line. What holds:
 *	- a wrong command line says so, in one sentence and to the end, and asks
 *	  nothing of the kernel; what the kernel refuses is said as well
 *	- what the kernel is asked is complete: names end, ranks and attributes that
 *	  are set are those of the words
 *	- what the archive is asked stays in it
 *	- what is printed with -j is JSON
 */
/* a header for tests of other shape */
#pragma clang diagnostic ignored "-Wunused-function"
#include "selftests/unit/fake_ctl.h"

#include <grp.h>
#include <json-c/json.h>
#include <pwd.h>

#include "fuzz.h"
#include "sync/sync.h"

/* no files of this host: they would be the slowest part */
struct passwd *getpwnam(const char *name)
{
	static struct passwd root = { .pw_name = "root" };

	return strcmp(name, "root") ? NULL : &root;
}

struct group *getgrnam(const char *name)
{
	static struct group root = { .gr_name = "root" };

	return strcmp(name, "root") ? NULL : &root;
}

/* a group that is there */
static struct nl_group have = {
	.set = NL_SET(GAGG_GA_LANES) | NL_SET(GAGG_GA_WINDOW) | NL_SET(GAGG_GA_STATE),
	.name = "g", .lanes = 344, .window = 2048, .n_members = 1,
	.members = {
		{
			.set = NL_SET(GAGG_MA_RANK) | NL_SET(GAGG_MA_ADDRESS),
			.addr = { AF_INET, { 10, 0, 0, 1 } },
		},
	},
};

static int run_words(char *text, size_t size)
{
	FILE *was_out = stdout, *was_err = stderr;
	char *argv[WORDS + 2] = { "gaggctl" }, *rest = text;
	size_t len;
	int argc = 1, ret;
	sigset_t mask;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (char *word; size && argc <= WORDS && (word = strsep(&rest, "\n")); )
		argv[argc++] = word;
	stdout = open_memstream(&out, &len);
	stderr = open_memstream(&err, &len);
	if (!stdout || !stderr)
		exit(0);
	ret = ctl_run(argc, argv);
	fclose(stdout);
	fclose(stderr);
	stdout = was_out;
	stderr = was_err;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return ret;
}

static void check_member(const struct nl_member *m)
{
	fuzz_assert(m->set & NL_SET(GAGG_MA_RANK));
	fuzz_assert(!(m->set >> (GAGG_MA_MAX + 1)));
	if (m->set & NL_SET(GAGG_MA_ADDRESS))
		fuzz_assert(m->addr.family == AF_INET || m->addr.family == AF_INET6);
	if (m->set & NL_SET(GAGG_MA_ROLES))
		fuzz_assert(m->roles >= 1 && m->roles <= 3);
}

/* nothing leads out of the archive */
static void check_archive(void)
{
	bool deletes = !strcmp(kernel.asked, "archive delete");

	fuzz_assert(*kernel.state);
	fuzz_assert(!strchr(kernel.name, '/') && !strspn(kernel.name, ".-"));
	fuzz_assert(!strchr(kernel.checkpoint, '/') && !strspn(kernel.checkpoint, ".-"));
	fuzz_assert(!*kernel.checkpoint == !deletes && (*kernel.name || !deletes));
}

static void check_asked(void)
{
	const struct nl_group *g = &kernel.group;

	if (!kernel.asked || !strcmp(kernel.asked, "reconcile"))
		return;
	if (!strncmp(kernel.asked, "archive", 7)) {
		check_archive();
		return;
	}
	fuzz_assert(memchr(g->name, 0, sizeof(g->name)));
	fuzz_assert(!gagg_sync_check(&g->sync));
	fuzz_assert(memchr(kernel.name, 0, sizeof(kernel.name)));
	fuzz_assert(g->n_members <= GAGG_RANKS_MAX);
	for (uint32_t i = 0; i < g->n_members; i++)
		check_member(&g->members[i]);
	if (*kernel.name)
		check_member(&kernel.member);
	if (!strcmp(kernel.asked, "new"))
		fuzz_assert(g->local.family);
}

static void check_json(const char *text)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o;

	if (!tok)
		exit(0);
	o = json_tokener_parse_ex(tok, text, -1);
	fuzz_assert(o);
	json_object_put(o);
	json_tokener_free(tok);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t answer = size ? *data : 0;
	size_t len = size ? size - 1 : 0;
	char *text = malloc(len + 1);
	int ret;

	if (!text)
		exit(0);
	if (len)
		memcpy(text, data + 1, len);
	text[len] = 0;
	setup(NULL);
	/* the same on every machine */
	ports_sysctl = "";
	kernel.err = answer & 1 ? -EPERM : 0;
	kernel.have = answer & 2 ? NULL : &have;
	ret = run_words(text, len);
	fuzz_assert(!kernel.opened);
	switch (ret) {
	case CTL_OK:
		fuzz_assert(!*err || !strncmp(err, "gaggctl: warning: ", 18));
		if (answer & 4 && (*out == '{' || *out == '['))
			check_json(out);
		break;
	case CTL_FAILED:
		fuzz_assert(!strncmp(err, "gaggctl: ", 9) || *out);
		break;
	case CTL_USAGE:
		fuzz_assert(!kernel.calls && !*out);
		fuzz_assert(!strncmp(err, "gaggctl: ", 9) && err[9] != '\n');
		fuzz_assert(strstr(err, "\nTry 'gaggctl help'"));
		break;
	default:
		fuzz_fail("status %d", ret);
	}
	check_asked();
	free(out);
	free(err);
	out = NULL;
	err = NULL;
	free(text);
	return 0;
}
