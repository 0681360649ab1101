/* SPDX-License-Identifier: GPL-2.0 */
/* A gagg-twin that was started for a job ends with it: nobody else would end it. */
#ifndef GAGG_TWIN_IDLE_H
#define GAGG_TWIN_IDLE_H

#include "twin.h"

/*
 * Ends the loop when no rank has had a session for @t->idle_most seconds, after the first one, or
 * its starter has ended before. 0, or -1 with errno.
 */
int idle_begin(struct twin *t);

/* Removes the folder of @socket, which the job made for it, unless something else lies there. */
void idle_remove_folder(const char *socket);

#endif
