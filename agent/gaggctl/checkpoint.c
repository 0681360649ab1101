// SPDX-License-Identifier: GPL-2.0
/* gaggctl checkpoint: checkpoints that gaggd keeps on this host, read from its directory. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../archive/archive.h"
#include "../archive/name.h"
#include "gaggctl.h"

static const char usage[] =
	"Usage: gaggctl checkpoint list [GROUP] [--state DIR]\n"
	"       gaggctl checkpoint delete GROUP NAME [--state DIR]\n"
	"\n"
	"Checkpoints that trainers have saved with gaggd of this host, also of groups that\n"
	"are gone: name, bytes, tables, when. DIR is that of gaggd, [" ARCHIVE_DIR "].\n";

/* Take options out of the words that are left. */
static bool checkpoint_take_state(struct args *a, const char **state)
{
	char **from = a->next, **to = a->next;

	for (; *from; from++) {
		if (!strcmp(*from, "--state")) {
			if (*state)
				return args_fail(a, "--state is there twice");
			if (!from[1] || !*from[1])
				return args_fail(a, "--state needs a directory");
			*state = *++from;
		} else if (**from == '-') {
			return args_fail(a, "'%s' is no option; there is: --state", *from);
		} else {
			*to++ = *from;
		}
	}
	*to = NULL;
	return true;
}

/* A word that is the name of a directory or file of the archive. */
static bool checkpoint_take_name(struct args *a, const char *what, char name[GAGG_NAME_MAX])
{
	const char *text = "";

	return args_take(a, what, &text) && args_copy(a, "name", text, name, GAGG_NAME_MAX) &&
	       (name_kept(name) ||
		args_fail(a, "name: expected A-Z a-z 0-9 . _ -, the first neither . nor -, not '%s'",
			  name));
}

/* @arg: bool, set if not all are listed */
static int checkpoint_list_one(const struct archive_entry *e, void *arg)
{
	char when[32] = "";
	bool *missed = arg;
	struct tm tm;

	if (!*e->name) {
		ctl_say("%s", e->problem);
		*missed = true;
		return 0;
	}
	if (gmtime_r(&e->saved, &tm))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	print_object(NULL);
	print_str("group", "", e->group, "/");
	print_str("name", "", e->name, "");
	print_u64("bytes", " bytes ", e->bytes, "");
	if (!e->problem)
		print_u64("tables", " tables ", e->tables, "");
	else
		print_str("problem", " ", e->problem, "");
	print_str("saved", " saved ", when, "\n");
	print_close();
	return 0;
}

static enum ctl_exit checkpoint_list(struct args *a)
{
	struct archive_error err;
	char group[GAGG_NAME_MAX];
	const char *state = NULL;
	bool one, missed = false;
	int ret;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!checkpoint_take_state(a, &state))
		return CTL_USAGE;
	one = *a->next;
	if ((one && !checkpoint_take_name(a, "the name of a group", group)) || !args_end(a))
		return CTL_USAGE;
	print_array(NULL);
	ret = archive_list(state ?: ARCHIVE_DIR, one ? group : NULL,
			   checkpoint_list_one, &missed, &err);
	print_close();
	/* gaggd has never run on this host */
	if (ret == -ENOENT && !state)
		return CTL_OK;
	if (ret)
		ctl_say("%s", err.text);
	return ret || missed ? CTL_FAILED : CTL_OK;
}

static enum ctl_exit checkpoint_delete(struct args *a)
{
	char group[GAGG_NAME_MAX], name[GAGG_NAME_MAX];
	const char *state = NULL;
	struct archive_error err;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!checkpoint_take_state(a, &state) ||
	    !checkpoint_take_name(a, "the name of a group", group) ||
	    !checkpoint_take_name(a, "the name of a checkpoint", name) ||
	    !args_end(a))
		return CTL_USAGE;
	if (!archive_delete(state ?: ARCHIVE_DIR, group, name, &err))
		return CTL_OK;
	ctl_say("%s", err.text);
	return CTL_FAILED;
}

enum ctl_exit checkpoint_command(struct args *a)
{
	static const struct command table[] = {
		{ "list", checkpoint_list },
		{ "delete", checkpoint_delete },
		{ NULL, NULL },
	};

	return ctl_dispatch(a, table, usage);
}
