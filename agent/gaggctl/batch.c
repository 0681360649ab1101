// SPDX-License-Identifier: GPL-2.0
/* gaggctl batch: how long ranks compute and wait, and how a batch is divided. */
#include "gaggctl.h"

#define NS_PER_US	1000

static const char usage[] =
	"Usage: gaggctl batch show GROUP\n"
	"\n"
	"Each rank of this host, in its last epoch: its share of the batch, if its trainer\n"
	"divides batches (gagg_batch_create()); how long it has computed, and waited for\n"
	"operations; how many of these are done.\n";

static int batch_show_one(const struct nl_member *m, void *arg)
{
	const struct nl_times *t = &m->times;

	(void)arg;
	if (!(m->set & NL_SET(GAGG_MA_TIMES)))
		return 0;
	print_object(NULL);
	print_u64("rank", "", m->rank, "");
	print_str("state", " ", nl_member_state_name(m->state), "");
	if (t->batch) {
		print_u64("share", " share ", t->share, "");
		print_u64("batch", " of ", t->batch, "");
	}
	print_u64("compute-us", " computing ", t->compute_ns / NS_PER_US, "us");
	print_u64("wait-us", " waiting ", t->wait_ns / NS_PER_US, "us");
	print_u64("ops", " ops ", t->ops, "\n");
	print_close();
	return 0;
}

static enum ctl_exit batch_show(struct args *a)
{
	return member_each(a, usage, batch_show_one);
}

enum ctl_exit batch_command(struct args *a)
{
	static const struct command table[] = {
		{ "show", batch_show },
		{ NULL, NULL },
	};

	return ctl_dispatch(a, table, usage);
}
