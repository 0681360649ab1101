/* SPDX-License-Identifier: GPL-2.0 */
/* gaggd: its parts, and the calls between them. */
#ifndef GAGGD_DAEMON_H
#define GAGGD_DAEMON_H

#include "broker.h"
#include "kernel.h"
#include "loop.h"
#include "options.h"
#include "watch.h"
#include "../conf/config.h"

/* Run until SIGTERM. Returns the exit code. */
int daemon_run(const struct options *opt);

#endif
