/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a group says to others because of its join object: HELLO, START, ABORT. Nothing here is
 * called with a lock held, but where it says so.
 */
#ifndef GAGG_SPEAK_H
#define GAGG_SPEAK_H

#include "core/core.h"

struct gagg_group;

/* of the module */
int gagg_speak_init(void);
void gagg_speak_exit(void);
/* once, before anything else; the work is grp->speak_work */
void gagg_speak_setup(struct gagg_group *grp);
/* something is due; any lock may be held */
void gagg_speak_queue(struct gagg_group *grp);
/* all that has been taken (gagg_due_take()); process context */
void gagg_speak_now(struct gagg_group *grp, struct gagg_due *taken);

#endif
