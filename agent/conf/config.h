/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The configuration file, gagg.conf(5): the groups of a whole cluster, the
 * same content on every host.
 */
#ifndef GAGG_CONFIG_H
#define GAGG_CONFIG_H

#include <limits.h>

#include "../nl/nl.h"

#define CONFIG_PATH	"/etc/gagg.conf"

/**
 * struct config - contents of the file
 * @path:	absolute path of the file
 * @applied:	where the list of groups that were made from it is kept; "": at the usual place
 * @local:	the address that the file calls this host's; no family: the host
 *		is asked
 * @n_groups:	number of @groups
 * @groups:	in the order of the file. Every field that can be configured is
 *		set, defaults included, except the id when the file has none,
 *		and what depends on the host (local address and flags)
 */
struct config {
	char path[PATH_MAX];
	char applied[PATH_MAX];
	struct nl_ip local;
	unsigned int n_groups;
	struct nl_group *groups;
};

/**
 * config_load() - read and check a file
 * @path: of the file
 * @out: receives its contents, for config_free(); unchanged on error
 * @err: on error, a line for each bad line of the file, without a final newline
 * @errlen: bytes of @err; whole lines that do not fit are left out
 *
 * Not reentrant: the parser's callbacks have no argument.
 *
 * Return: 0; -EINVAL the file is wrong; -errno it cannot be read.
 */
int config_load(const char *path, struct config *out, char *err, size_t errlen);

/* The same for text; @path is for messages, and is not opened. */
int config_parse(const char *text, const char *path, struct config *out,
		 char *err, size_t errlen);

void config_free(struct config *cfg);

#endif
