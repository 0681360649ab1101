// SPDX-License-Identifier: GPL-2.0
/* Options, choosing the command, and functions that all commands share. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gaggctl.h"
#include "../lib/broker_proto.h"

#define WORDS_MAX	32	/* commands in one table */

static const char usage[] =
	"Usage: gaggctl [-j] [--twin SOCKET] OBJECT COMMAND ...\n"
	"       gaggctl OBJECT help\n"
	"\n"
	"  group create|delete|set|show|list   groups of this network namespace\n"
	"  member add|delete|set|list          members of a group\n"
	"  stats [GROUP] [--nonzero]           counters\n"
	"  monitor                             print events as they come\n"
	"  apply FILE [--dry-run|--check]      make the groups those of a file\n"
	"  sync list                           sync modes and their parameters\n"
	"  batch show GROUP                    how long ranks compute, and their shares\n"
	"  checkpoint list|delete              what gaggd keeps of tables\n"
	"  version                             of gaggctl and of the kernel module\n"
	"\n"
	"  -j, --json      print JSON\n"
	"  --twin SOCKET   ask the gagg-twin there, not the kernel module\n"
	"  -V, --version   print the version of gaggctl\n"
	"  -h, --help      print this, or the help of a command\n"
	"\n"
	"Words may be shortened as long as they are clear.\n";

static const struct command objects[] = {
	{ "group", group_command },
	{ "member", member_command },
	{ "stats", stats_command },
	{ "monitor", monitor_command },
	{ "apply", apply_command },
	{ "sync", sync_command },
	{ "batch", batch_command },
	{ "checkpoint", checkpoint_command },
	{ "version", version_command },
	{ NULL, NULL },
};

void ctl_say(const char *fmt, ...)
{
	va_list ap;

	/* Output comes before the error. */
	fflush(stdout);
	fputs("gaggctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

/* path of --twin; NULL: the module is asked, if there is one */
static const char *twin_path;

static struct nl *command_open_twin(const char *path)
{
	struct nl *nl = nl_open_twin(path);

	if (!nl)
		ctl_say("%s", nl_error(NULL));
	return nl;
}

const char *ctl_usual_twin(void)
{
	const char *path = secure_getenv(BROKER_SOCKET_ENV);

	return path && *path ? path : BROKER_SOCKET;
}

/* there is no module; @why: the error */
static struct nl *command_open_usual(const char *why)
{
	const char *path = ctl_usual_twin();
	struct nl *nl = nl_open_twin(path);

	if (nl)
		ctl_say("no kernel module gagg is loaded: this is about gagg-twin at %s", path);
	else
		ctl_say("%s; %s", why, nl_error(NULL));
	return nl;
}

struct nl *ctl_open(void)
{
	char why[256];
	struct nl *nl;

	if (twin_path)
		return command_open_twin(twin_path);
	nl = nl_open();
	if (nl)
		return nl;
	snprintf(why, sizeof(why), "%s", nl_error(NULL));
	if (errno == ENOENT)
		return command_open_usual(why);
	ctl_say("%s", why);
	return NULL;
}

enum ctl_exit ctl_close(struct nl *nl, int err)
{
	if (err)
		ctl_say("%s", nl_error(nl));
	nl_free(nl);
	return err ? CTL_FAILED : CTL_OK;
}

bool ctl_help(struct args *a, const char *text)
{
	bool word = a->next[0] && !strcmp(a->next[0], "help") && !a->next[1];

	if (word || a->help)
		fputs(text, stdout);
	return word || a->help;
}

enum ctl_exit ctl_dispatch(struct args *a, const struct command *table,
			   const char *text)
{
	const char *words[WORDS_MAX];
	int n, i;

	for (n = 0; table[n].name; n++)
		words[n] = table[n].name;
	words[n] = "help";
	words[n + 1] = NULL;

	if (!*a->next && a->help) {
		fputs(text, stdout);
		return CTL_OK;
	}
	i = args_match(a, "command", *a->next ? *a->next++ : "", words);
	if (i < 0)
		return CTL_USAGE;
	if (i == n) {
		fputs(text, stdout);
		return CTL_OK;
	}
	return table[i].run(a);
}

/*
 * Options may stand anywhere, because no value begins with '-'. Options of a command stay where
 * they are. False: -V was there, and the version was printed.
 */
static bool command_take_options(struct args *a, char **argv)
{
	char **to = a->next;

	for (; *argv; argv++) {
		if (!strcmp(*argv, "-j") || !strcmp(*argv, "--json"))
			a->json = true;
		else if (!strcmp(*argv, "--twin"))
			a->twin = argv[1] ? *++argv : "";
		else if (!strcmp(*argv, "-h") || !strcmp(*argv, "--help"))
			a->help = true;
		else if (!strcmp(*argv, "-V") || !strcmp(*argv, "--version"))
			return false;
		else
			*to++ = *argv;
	}
	*to = NULL;
	return true;
}

int ctl_run(int argc, char **argv)
{
	struct args a = { .help = false };
	enum ctl_exit ret;
	char **words;

	words = calloc(argc + 1, sizeof(*words));
	if (!words) {
		ctl_say("%s", strerror(ENOMEM));
		return CTL_FAILED;
	}
	a.next = words;
	if (!command_take_options(&a, argc ? argv + 1 : argv)) {
		puts("gaggctl " GAGGCTL_VERSION);
		ret = CTL_OK;
	} else if (a.twin && !*a.twin) {
		args_fail(&a, "--twin needs the path of gagg-twin's socket");
		ret = CTL_USAGE;
	} else {
		print_mode(a.json);
		twin_path = a.twin;
		ret = ctl_dispatch(&a, objects, usage);
	}
	if (ret == CTL_USAGE)
		ctl_say("%s\nTry 'gaggctl help', or 'help' after any command.",
			a.error);
	free(words);
	return ret;
}
