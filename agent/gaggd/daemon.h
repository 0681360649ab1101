/* SPDX-License-Identifier: GPL-2.0 */
/* gaggd: the parts, and what passes between them. */
#ifndef GAGGD_DAEMON_H
#define GAGGD_DAEMON_H

#include "broker.h"
#include "kernel.h"
#include "loop.h"
#include "watch.h"
#include "../conf/config.h"

/**
 * struct options - the command line
 * @config:	file; NULL: CONFIG_PATH, which may be missing
 * @local:	this host's address; no family: not given
 */
struct options {
	const char *config;
	const char *socket;
	struct nl_ip local;
};

/* Run until SIGTERM. Returns the exit code. */
int daemon_run(const struct options *opt);

#endif
