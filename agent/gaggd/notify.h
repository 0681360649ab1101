/* SPDX-License-Identifier: GPL-2.0 */
/* Events of the module as lines of the log. */
#ifndef GAGGD_NOTIFY_H
#define GAGGD_NOTIFY_H

#include "../nl/nl.h"
#include "log.h"

/* A line for an event, and how important it is. */
enum log_level notify_describe(const struct nl_event *e, char *buf, size_t size);

/* May a change that was EBUSY succeed now? */
bool notify_frees(const struct nl_event *e);

#endif
