// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "daemon.h"
#include "options.h"

static const char usage[] =
	"Usage: gaggd [OPTION]...\n"
	"Keeps this host's gagg groups as the configuration says, and opens sessions\n"
	"for trainers.\n"
	"\n"
	OPTIONS_USAGE
	OPTIONS_STATE_USAGE
	"\n"
	"SIGHUP reads FILE again. See gaggd(8), gagg.conf(5).\n";

int main(int argc, char **argv)
{
	struct options opt;
	int status = options_parse(&opt, "gaggd", usage, argc, argv);

	if (status == OPTIONS_GO_ON && opt.end_when_idle) {
		fprintf(stderr, "gaggd: --end-when-idle is gagg-twin's: groups of the kernel stay without gaggd\n");
		return 2;
	}
	return status == OPTIONS_GO_ON ? daemon_run(&opt) : status;
}
