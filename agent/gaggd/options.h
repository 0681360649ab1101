/* SPDX-License-Identifier: GPL-2.0 */
/* The command line of a daemon that answers trainers: gaggd, gagg-twin. */
#ifndef GAGGD_OPTIONS_H
#define GAGGD_OPTIONS_H

#include "../archive/archive.h"
#include "../conf/config.h"
#include "../lib/broker_proto.h"
#include "../nl/nl.h"

#ifndef GAGG_VERSION
#define GAGG_VERSION "0.1"
#endif

/* options of both, for their usage */
#define OPTIONS_USAGE \
	"  --config FILE      groups to keep [" CONFIG_PATH "]\n" \
	"  --local ADDR       this host's address among the members [its interfaces']\n" \
	"  --socket PATH      where trainers ask [" BROKER_SOCKET "]\n" \
	"  --log TARGET       stderr or journal [stderr]\n" \
	"  --log-level LEVEL  error, warning, info or debug [info]\n" \
	"  --version          print the version\n" \
	"  --help             print this\n"

/* checkpoints of a group, by default */
#define OPTIONS_CHECKPOINTS		16
#define OPTIONS_CHECKPOINT_GIB		64

#define OPTIONS_TEXT_(x)	#x
#define OPTIONS_TEXT(x)		OPTIONS_TEXT_(x)

/* options of gaggd only */
#define OPTIONS_STATE_USAGE \
	"  --state DIR        where checkpoints are kept [" ARCHIVE_DIR "]\n" \
	"  --checkpoints N    most of a group [" OPTIONS_TEXT(OPTIONS_CHECKPOINTS) "]\n" \
	"  --checkpoint-bytes SIZE\n" \
	"                     most bytes of a group's, with K, M, G or T [" \
	OPTIONS_TEXT(OPTIONS_CHECKPOINT_GIB) "G]\n"

/* option of gagg-twin only */
#define OPTIONS_IDLE_USAGE \
	"  --end-when-idle SECONDS\n" \
	"                     end when nobody on this host has trained for so long\n"

/**
 * struct options - the command line
 * @config:	file; NULL: CONFIG_PATH, which may be missing
 * @socket:	path of the socket where trainers ask
 * @local:	this host's address; no family: not given
 * @state:	directory of checkpoints; NULL: not given
 * @checkpoints: most checkpoints of a group; 0: not given
 * @checkpoint_bytes: most bytes of a group's checkpoints; 0: not given
 * @end_when_idle: seconds without a trainer after which it ends; 0: not given
 */
struct options {
	const char *config;
	const char *socket;
	struct nl_ip local;
	const char *state;
	uint64_t checkpoints;
	uint64_t checkpoint_bytes;
	uint64_t end_when_idle;
};

#define OPTIONS_GO_ON	(-1)

/**
 * options_parse() - read the command line, and open the log accordingly
 * @opt:	receives it
 * @program:	name of the program
 * @usage:	what --help prints
 * @argc:	of main()
 * @argv:	of main()
 *
 * Return: OPTIONS_GO_ON, or the status to exit with; then the error was written to standard error.
 */
int options_parse(struct options *opt, const char *program, const char *usage, int argc,
		  char **argv);

#endif
