/* SPDX-License-Identifier: GPL-2.0 */
/* Make the kernel's groups those of the configuration file. */
#ifndef GAGG_CONF_RECONCILE_H
#define GAGG_CONF_RECONCILE_H

#include "config.h"

/* Lines that say what did not work begin with this. */
#define RECONCILE_CANNOT	"cannot: "

/**
 * reconcile() - apply a configuration to this network namespace
 * @nl: of nl_open()
 * @cfg: of config_load(); with a @local address, that is this host's, and
 *	otherwise the host's interfaces are asked
 * @dry_run: only say what would be done
 * @say: gets a line for each change made (or, in a dry run, to be made) and
 *	for each that failed
 * @arg: for @say
 *
 * A second call without other changes in between makes no calls that change.
 * When a change of a group fails, the rest of that group is left as it is, and
 * other groups go on.
 *
 * Return: 0; -EBUSY something has to wait until ranks detach (call again
 * then); else -errno of the first failure.
 */
int reconcile(struct nl *nl, const struct config *cfg, bool dry_run,
	      void (*say)(void *arg, const char *line), void *arg);

#endif
