// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "gagg.h"
#include "run.h"

int main(int argc, char **argv)
{
	struct bench_system *sys;
	struct bench_args args;
	enum bench_exit status;
	int err;

	if (!bench_args_parse(&args, argc, argv)) {
		fprintf(stderr, "gagg-bench: %s\n", args.error);
		return BENCH_USAGE;
	}
	if (args.help) {
		fputs(bench_args_usage, stdout);
		return BENCH_OK;
	}
	if (!args.group) {
		fprintf(stderr, "gagg-bench: which group? --group NAME\n");
		return BENCH_USAGE;
	}
	err = usage_init(args.idle_file);
	if (err) {
		fprintf(stderr, "gagg-bench: %s: %s\n", args.idle_file, strerror(-err));
		return BENCH_USAGE;
	}
	sys = gagg_system_join(&args);
	if (!sys)
		return BENCH_NO_GROUP;
	status = bench_run(&args, sys);
	gagg_system_leave(sys, status == BENCH_OK);
	return status;
}
