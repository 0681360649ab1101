// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "gagg.h"
#include "local.h"
#include "run.h"

/* measures as one rank */
static enum bench_exit main_measure(const struct bench_args *args)
{
	struct bench_system *sys;
	enum bench_exit status;
	int err;

	err = usage_init(args->idle_file);
	if (err) {
		fprintf(stderr, "gagg-bench: %s: %s\n", args->idle_file, strerror(-err));
		return BENCH_USAGE;
	}
	sys = gagg_system_join(args);
	if (!sys)
		return BENCH_NO_GROUP;
	status = bench_run(args, sys);
	gagg_system_leave(sys, status == BENCH_OK);
	return status;
}

int main(int argc, char **argv)
{
	struct bench_args args;

	if (!bench_args_parse(&args, argc, argv)) {
		fprintf(stderr, "gagg-bench: %s\n", args.error);
		return BENCH_USAGE;
	}
	if (args.help) {
		fputs(bench_args_usage, stdout);
		return BENCH_OK;
	}
	if (args.local)
		return local_run(&args, main_measure);
	if (!args.group) {
		fprintf(stderr, "gagg-bench: which group? --group NAME, or --local N\n");
		return BENCH_USAGE;
	}
	return main_measure(&args);
}
