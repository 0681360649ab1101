// SPDX-License-Identifier: GPL-2.0
/* gaggctl sync: the sync modes that have names. */
#include <stdio.h>

#include "gaggctl.h"
#include "print.h"
#include "../conf/sync_text.h"

static const char usage[] =
	"Usage: gaggctl sync list\n"
	"\n"
	"The sync modes and their parameters, for 'gaggctl group create ... sync MODE'.\n";

static void sync_print_mode(const struct sync_mode *m)
{
	char form[SYNC_NAME_MAX];

	print_object(NULL);
	print_str("mode", "", sync_mode_form(m, form), "");
	print_str("about", "  ", m->about, "\n");
	print_array("parameters");
	for (u32 i = 0; i < sync_mode_args(m); i++) {
		struct gagg_sync_range range = sync_text_range(m, i);

		print_object(NULL);
		print_str("name", "    ", m->arg[i].name, "");
		print_u64("min", " from ", range.min, "");
		print_u64("max", " to ", range.max, "\n");
		print_close();
	}
	print_close();
	print_str("kind", "    ", gagg_sync_get(m->number)->store ? "store" : "collectives", "\n");
	print_close();
}

static enum ctl_exit sync_list(struct args *a)
{
	const struct sync_mode *m;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_end(a))
		return CTL_USAGE;
	print_array(NULL);
	for (m = sync_modes; m->name; m++)
		sync_print_mode(m);
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
