// SPDX-License-Identifier: GPL-2.0
/* gaggctl apply: what gaggd does with its configuration file, once. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../conf/config.h"
#include "../conf/reconcile.h"
#include "gaggctl.h"

static const char usage[] =
	"Usage: gaggctl apply FILE [--dry-run]\n"
	"\n"
	"Make the groups of this network namespace those of the file, changing only what\n"
	"differs. --dry-run says what would be done and does nothing.\n";

static void say(void *arg, const char *line)
{
	size_t len = strlen(RECONCILE_CANNOT);
	bool cannot = !strncmp(line, RECONCILE_CANNOT, len);

	(void)arg;
	print_object(NULL);
	if (cannot)
		print_str("cannot", RECONCILE_CANNOT, line + len, "\n");
	else
		print_str("change", "", line, "\n");
	print_close();
}

static enum ctl_exit apply(const struct config *cfg, bool dry_run)
{
	struct nl *nl = ctl_open();
	unsigned int i;
	int err;

	if (!nl)
		return CTL_FAILED;
	for (i = 0; i < cfg->n_groups; i++)
		group_warn(&cfg->groups[i]);
	print_array(NULL);
	err = reconcile(nl, cfg, dry_run, say, NULL);
	print_close();
	nl_free(nl);
	if (err == -EBUSY)
		ctl_say("some changes wait until ranks detach; apply the file again then");
	else if (err)
		ctl_say("not all of the file could be applied: %s",
			strerror(-err));
	return err ? CTL_FAILED : CTL_OK;
}

enum ctl_exit apply_command(struct args *a)
{
	struct config cfg = { .n_groups = 0 };
	const char *path = NULL;
	bool dry_run = false;
	char text[4096] = "";
	enum ctl_exit ret;
	int err;

	if (ctl_help(a, usage))
		return CTL_OK;
	for (; *a->next; a->next++) {
		if (!strcmp(*a->next, "--dry-run")) {
			dry_run = true;
		} else if (**a->next == '-') {
			args_fail(a, "'%s' is no option; there is: --dry-run",
				  *a->next);
			return CTL_USAGE;
		} else if (path) {
			args_end(a);
			return CTL_USAGE;
		} else {
			path = *a->next;
		}
	}
	if (!path) {
		args_fail(a, "FILE is missing");
		return CTL_USAGE;
	}
	err = config_load(path, &cfg, text, sizeof(text));
	if (err) {
		ctl_say("%s%s%s", *text ? text : path, *text ? "" : ": ",
			*text ? "" : strerror(-err));
		return CTL_FAILED;
	}
	ret = apply(&cfg, dry_run);
	config_free(&cfg);
	return ret;
}
