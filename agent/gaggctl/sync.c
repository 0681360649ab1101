// SPDX-License-Identifier: GPL-2.0
/* gaggctl sync: the sync modes, as the core that is in the kernel has them. */
#include <stdio.h>

#include <linux/gagg.h>
#include "gaggctl.h"
#include "print.h"
#include "sync/sync.h"

static const char usage[] =
	"Usage: gaggctl sync list\n"
	"\n"
	"The sync modes and their parameters, for 'gaggctl group create ... sync MODE'.\n";

static void sync_print_mode_of(const struct gagg_sync_ops *ops)
{
	char form[GAGG_SYNC_MAX];
	int n = snprintf(form, sizeof(form), "%s", ops->name);

	for (u32 i = 0; i < ops->nargs; i++)
		n += snprintf(form + n, sizeof(form) - n, ":%s", ops->arg[i].name);
	print_object(NULL);
	print_str("mode", "", form, "");
	print_str("about", "  ", ops->about, "\n");
	print_array("parameters");
	for (u32 i = 0; i < ops->nargs; i++) {
		print_object(NULL);
		print_str("name", "    ", ops->arg[i].name, "");
		print_u64("min", " from ", ops->arg[i].min, "");
		print_u64("max", " to ", ops->arg[i].max, "\n");
		print_close();
	}
	print_close();
	print_str("kind", "    ", ops->store ? "store" : "collectives", "\n");
	print_close();
}

static enum ctl_exit sync_list(struct args *a)
{
	const struct gagg_sync_ops *ops;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_end(a))
		return CTL_USAGE;
	print_array(NULL);
	for (u32 i = 0; (ops = gagg_sync_get(i)); i++)
		sync_print_mode_of(ops);
	print_close();
	return CTL_OK;
}

static const struct command commands[] = {
	{ "list", sync_list },
	{ NULL, NULL },
};

enum ctl_exit sync_command(struct args *a)
{
	return ctl_dispatch(a, commands, usage);
}
