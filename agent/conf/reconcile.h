/* SPDX-License-Identifier: GPL-2.0 */
/* Make the kernel's groups those of the configuration file. */
#ifndef GAGG_CONF_RECONCILE_H
#define GAGG_CONF_RECONCILE_H

#include "config.h"

/* Lines about failures begin with this. */
#define RECONCILE_CANNOT	"cannot: "

/**
 * reconcile() - apply a configuration to this network namespace
 * @nl: a socket of nl_open()
 * @cfg: a configuration of config_load(); if it has a @local address, that is this host's;
 *       otherwise the addresses of the host's interfaces are
 * @dry_run: only report what would be done
 * @say: gets a line for each change made (or, in a dry run, to be made) and
 *	for each that failed
 * @arg: for @say
 *
 * A second call without other changes in between makes no calls that change.
 * When a change of a group fails, the rest of that group is left as it is, and
 * other groups go on.
 *
 * Return: 0; -EBUSY: something must wait until ranks detach (call again then); else -errno of the
 * first failure.
 */
int reconcile(struct nl *nl, const struct config *cfg, bool dry_run,
	      void (*say)(void *arg, const char *line), void *arg);

#endif
