// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "options.h"

static int option_bad(const char *program, const char *option, const char *value,
		      const char *allowed)
{
	fprintf(stderr, "%s: --%s %s: allowed is %s\n", program, option, value, allowed);
	return 2;
}

/* 1 and more, with one of @units: 1024, its square and so on */
static bool option_parse_number(const char *text, const char *units, uint64_t *out)
{
	const char *unit;
	char *end;
	long i;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (errno || !isdigit((unsigned char)*text) || !*out)
		return false;
	if (!*end)
		return true;
	unit = strchr(units, *end);
	if (!unit || end[1])
		return false;
	for (i = 0; i <= unit - units; i++)
		if (__builtin_mul_overflow(*out, 1024, out))
			return false;
	return true;
}

int options_parse(struct options *opt, const char *program, const char *usage, int argc,
		  char **argv)
{
	static const struct option longopts[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "local", required_argument, NULL, 'a' },
		{ "socket", required_argument, NULL, 's' },
		{ "state", required_argument, NULL, 'd' },
		{ "checkpoints", required_argument, NULL, 'n' },
		{ "checkpoint-bytes", required_argument, NULL, 'b' },
		{ "end-when-idle", required_argument, NULL, 'e' },
		{ "log", required_argument, NULL, 'l' },
		{ "log-level", required_argument, NULL, 'L' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	enum log_target target = LOG_T_STDERR;
	enum log_level level = LOG_L_INFO;
	int c;

	*opt = (struct options){ .socket = BROKER_SOCKET };
	while ((c = getopt_long(argc, argv, "", longopts, NULL)) != -1) {
		switch (c) {
		case 'c':
			opt->config = optarg;
			break;
		case 'a':
			if (!nl_ip_parse(optarg, &opt->local))
				return option_bad(program, "local", optarg,
						  "an IPv4 or IPv6 address");
			break;
		case 's':
			opt->socket = optarg;
			break;
		case 'd':
			opt->state = optarg;
			break;
		case 'n':
			if (!option_parse_number(optarg, "", &opt->checkpoints))
				return option_bad(program, "checkpoints",
						  optarg, "a number from 1");
			break;
		case 'b':
			if (!option_parse_number(optarg, "KMGT", &opt->checkpoint_bytes))
				return option_bad(program, "checkpoint-bytes", optarg,
						  "a number from 1, with K, M, G or T");
			break;
		case 'e':
			if (!option_parse_number(optarg, "", &opt->end_when_idle))
				return option_bad(program, "end-when-idle", optarg,
						  "a number of seconds from 1");
			break;
		case 'l':
			if (!log_target_parse(optarg, &target))
				return option_bad(program, "log", optarg, "stderr or journal");
			break;
		case 'L':
			if (!log_level_parse(optarg, &level))
				return option_bad(program, "log-level", optarg,
						  "error, warning, info or debug");
			break;
		case 'V':
			printf("%s %s\n", program, GAGG_VERSION);
			return EXIT_SUCCESS;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		default:
			fprintf(stderr, "%s: see %s --help\n", program, program);
			return 2;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "%s: %s: no arguments are taken, only options; see %s --help\n",
			program, argv[optind], program);
		return 2;
	}
	log_open(target, level);
	return OPTIONS_GO_ON;
}
