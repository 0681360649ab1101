// SPDX-License-Identifier: GPL-2.0
/*
 * gaggd: the command line.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon.h"
#include "log.h"
#include "../lib/broker_proto.h"

#ifndef GAGG_VERSION
#define GAGG_VERSION "0.1"
#endif

static const char usage[] =
	"Usage: gaggd [OPTION]...\n"
	"Keeps this host's gagg groups as the configuration says, and opens sessions\n"
	"for trainers.\n"
	"\n"
	"  --config FILE      groups to keep [" CONFIG_PATH "]\n"
	"  --local ADDR       this host's address among the members [its interfaces']\n"
	"  --socket PATH      where trainers ask [" BROKER_SOCKET "]\n"
	"  --log TARGET       stderr or journal [stderr]\n"
	"  --log-level LEVEL  error, warning, info or debug [info]\n"
	"  --version          print the version\n"
	"  --help             print this\n"
	"\n"
	"SIGHUP reads FILE again. See gaggd(8), gagg.conf(5).\n";

static int bad(const char *option, const char *value, const char *allowed)
{
	fprintf(stderr, "gaggd: --%s %s: allowed is %s\n", option, value,
		allowed);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option longopts[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "local", required_argument, NULL, 'a' },
		{ "socket", required_argument, NULL, 's' },
		{ "log", required_argument, NULL, 'l' },
		{ "log-level", required_argument, NULL, 'L' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct options opt = { .socket = BROKER_SOCKET };
	enum log_target target = LOG_T_STDERR;
	enum log_level level = LOG_L_INFO;
	int c;

	while ((c = getopt_long(argc, argv, "", longopts, NULL)) != -1) {
		switch (c) {
		case 'c':
			opt.config = optarg;
			break;
		case 'a':
			if (!nl_ip_parse(optarg, &opt.local))
				return bad("local", optarg, "an IPv4 or IPv6 address");
			break;
		case 's':
			opt.socket = optarg;
			break;
		case 'l':
			if (!log_target_parse(optarg, &target))
				return bad("log", optarg, "stderr or journal");
			break;
		case 'L':
			if (!log_level_parse(optarg, &level))
				return bad("log-level", optarg,
					   "error, warning, info or debug");
			break;
		case 'V':
			puts("gaggd " GAGG_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		default:
			fputs("gaggd: see gaggd --help\n", stderr);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "gaggd: %s: no arguments are taken, only options; see gaggd --help\n",
			argv[optind]);
		return 2;
	}
	log_open(target, level);
	return daemon_run(&opt);
}
