/* SPDX-License-Identifier: GPL-2.0 */
/* The ranks of a group, as the core reads them. */
#ifndef GAGG_ROSTER_H
#define GAGG_ROSTER_H

#include "../nl/nl.h"
#include "../../kmod/core/group/roster.h"

/* @roster: out; refers to addresses of @g. Its ranks are below GAGG_RANKS */
void roster_of(const struct nl_group *g, struct gagg_roster *roster);

#endif
