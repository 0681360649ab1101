// SPDX-License-Identifier: GPL-2.0
/* gaggctl apply: applies a configuration file once, as gaggd does. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../conf/config.h"
#include "../conf/reconcile.h"
#include "gaggctl.h"

static const char usage[] =
	"Usage: gaggctl apply FILE [--dry-run | --check]\n"
	"\n"
	"Make the groups of this network namespace those of the file, changing only what\n"
	"differs. --dry-run says what would be done and does nothing. --check reads the\n"
	"file alone, and asks no kernel: it says which groups are in it.\n";

struct words {
	const char *path;
	bool dry_run;
	bool check;
};

static void apply_say(void *arg, const char *line)
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
	const struct nl_twin *twin;
	unsigned int i;
	int err;

	if (!nl)
		return CTL_FAILED;
	twin = nl_twin(nl);
	if (twin) {
		ctl_say("cannot apply '%s': gagg-twin at %s has read %s: edit that, and restart gagg-twin",
			cfg->path, twin->path, twin->config);
		nl_free(nl);
		return CTL_FAILED;
	}
	for (i = 0; i < cfg->n_groups; i++)
		group_warn(&cfg->groups[i]);
	print_array(NULL);
	err = reconcile(nl, cfg, dry_run, apply_say, NULL);
	print_close();
	nl_free(nl);
	if (err == -EBUSY)
		ctl_say("some changes wait until ranks detach; apply the file again then");
	else if (err)
		ctl_say("not all of the file could be applied: %s",
			strerror(-err));
	return err ? CTL_FAILED : CTL_OK;
}

/* prints the groups of a file without errors */
static enum ctl_exit apply_check(const struct config *cfg)
{
	unsigned int i;

	for (i = 0; i < cfg->n_groups; i++)
		group_warn(&cfg->groups[i]);
	print_array(NULL);
	for (i = 0; i < cfg->n_groups; i++) {
		print_object(NULL);
		print_str("group", "group ", cfg->groups[i].name, "");
		print_u64("members", " members ", cfg->groups[i].n_members, "\n");
		print_close();
	}
	print_close();
	return CTL_OK;
}

static bool apply_take_words(struct args *a, struct words *w)
{
	for (; *a->next; a->next++) {
		if (!strcmp(*a->next, "--dry-run"))
			w->dry_run = true;
		else if (!strcmp(*a->next, "--check"))
			w->check = true;
		else if (**a->next == '-')
			return args_fail(a, "'%s' is no option; there are: --dry-run, --check",
					 *a->next);
		else if (w->path)
			return args_end(a);
		else
			w->path = *a->next;
	}
	if (w->dry_run && w->check)
		return args_fail(a, "either --dry-run or --check");
	return w->path || args_fail(a, "FILE is missing");
}

enum ctl_exit apply_command(struct args *a)
{
	struct config cfg = { .n_groups = 0 };
	struct words w = { .path = NULL };
	char text[4096] = "";
	enum ctl_exit ret;
	int err;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!apply_take_words(a, &w))
		return CTL_USAGE;
	err = config_load(w.path, &cfg, text, sizeof(text));
	if (err) {
		ctl_say("%s%s%s", *text ? text : w.path, *text ? "" : ": ",
			*text ? "" : strerror(-err));
		return CTL_FAILED;
	}
	ret = w.check ? apply_check(&cfg) : apply(&cfg, w.dry_run);
	config_free(&cfg);
	return ret;
}
