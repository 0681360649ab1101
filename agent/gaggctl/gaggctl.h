/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations that the files of gaggctl share: commands, and printing of objects. */
#ifndef GAGGCTL_H
#define GAGGCTL_H

#include "../nl/nl.h"
#include "args.h"
#include "print.h"

#define GAGGCTL_VERSION	"0.1.0"	/* as MODULE_VERSION of gagg.ko */

/* exit codes */
enum ctl_exit {
	CTL_OK,
	CTL_FAILED,	/* the kernel refused, or there is no such thing */
	CTL_USAGE,	/* the command line is wrong: args.error has a sentence */
};

/* @run has printed the error when it returns CTL_FAILED */
struct command {
	const char *name;
	enum ctl_exit (*run)(struct args *a);
};

/* Runs the command of @table that the next word names. The table ends with name NULL. */
enum ctl_exit ctl_dispatch(struct args *a, const struct command *table,
			   const char *usage);

/* "help" alone in place of arguments, or --help: prints @usage and returns true */
bool ctl_help(struct args *a, const char *usage);

/* The whole program, without the last flush. */
int ctl_run(int argc, char **argv);

/*
 * Opens the module, or a gagg-twin: that of --twin; or, if no module is loaded, the one that
 * trainers would find, with a note on stderr. NULL: an error was printed
 */
struct nl *ctl_open(void);

/* the socket at which trainers would find a gagg-twin */
const char *ctl_usual_twin(void);

/* Prints the error of @nl if @err is not 0, and frees @nl. */
enum ctl_exit ctl_close(struct nl *nl, int err);

void ctl_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

enum ctl_exit group_command(struct args *a);
enum ctl_exit member_command(struct args *a);
enum ctl_exit stats_command(struct args *a);
enum ctl_exit monitor_command(struct args *a);
enum ctl_exit apply_command(struct args *a);
enum ctl_exit sync_command(struct args *a);
enum ctl_exit batch_command(struct args *a);
enum ctl_exit checkpoint_command(struct args *a);
enum ctl_exit version_command(struct args *a);

/* prints warnings on stderr, if there are any */
void group_warn(const struct nl_group *g);
/* " STATE [FIELD] [epoch N] [ended REASON rank N]" */
void group_print_state(const struct nl_group *g);
/* "0=ADDR,ROLE [local] STATE ...", inside an object of its own */
void member_print(const struct nl_member *m);
/* the rest of @a names a group: prints its members as an array, each by @print */
enum ctl_exit member_each(struct args *a, const char *usage, nl_member_cb print);

#endif
