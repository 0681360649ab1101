/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The work that sends a group's messages because of its join object: HELLO, START, ABORT. The
 * caller holds no lock, except where stated.
 */
#ifndef GAGG_SPEAK_H
#define GAGG_SPEAK_H

#include "core/core.h"

struct gagg_group;

/* at load and unload of the module */
int gagg_speak_init(void);
void gagg_speak_exit(void);
/* once, before all others; the work is grp->speak_work */
void gagg_speak_setup(struct gagg_group *grp);
/* something is due; any lock may be held */
void gagg_speak_queue(struct gagg_group *grp);

#endif
