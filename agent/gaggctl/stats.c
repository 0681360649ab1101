// SPDX-License-Identifier: GPL-2.0
/* gaggctl stats: the counters of groups. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gaggctl.h"

static const char usage[] =
	"Usage: gaggctl stats [GROUP] [--nonzero]\n"
	"\n"
	"Counters since the group was created or changed, by group; gaggctl(8) says what\n"
	"each counts. --nonzero leaves out those that are 0.\n";

struct stats {
	struct nl *nl;
	bool nonzero;
};

static int stats_show(struct stats *s, const char *name)
{
	uint64_t values[NL_STATS];
	int err = nl_stats_get(s->nl, name, values);

	if (err)
		return err;
	print_object(NULL);
	print_str("name", "", name, "\n");
	print_object("stats");
	for (unsigned int i = 0; i < NL_STATS; i++) {
		const char *stat = nl_stat_name(i);

		if (!stat || (s->nonzero && !values[i]))
			continue;
		print_text("    ");
		print_text(stat);
		print_u64(stat, " ", values[i], "\n");
	}
	print_close();
	print_close();
	return 0;
}

/* A group that is deleted while the others are read is no error. */
static int stats_show_one(const struct nl_group *g, void *arg)
{
	int err = stats_show(arg, g->name);

	return err == -ENOENT ? 0 : err;
}

enum ctl_exit stats_command(struct args *a)
{
	char name[GAGG_NAME_MAX] = "";
	struct stats s = { .nonzero = false };
	int err;

	if (ctl_help(a, usage))
		return CTL_OK;
	for (; *a->next && !a->error[0];) {
		if (!strcmp(*a->next, "--nonzero")) {
			s.nonzero = true;
			a->next++;
		} else if (**a->next == '-') {
			args_fail(a, "'%s' is no option; there is: --nonzero",
				  *a->next);
		} else if (*name) {
			args_end(a);
		} else {
			args_group(a, name);
		}
	}
	if (a->error[0])
		return CTL_USAGE;
	s.nl = ctl_open();
	if (!s.nl)
		return CTL_FAILED;
	print_array(NULL);
	err = *name ? stats_show(&s, name) : nl_group_dump(s.nl, stats_show_one, &s);
	print_close();
	return ctl_close(s.nl, err);
}
