/* SPDX-License-Identifier: GPL-2.0 */
/* The socket of a session. Control thread. */
#ifndef GAGG_TWIN_LINK_H
#define GAGG_TWIN_LINK_H

#include <stdbool.h>

#include "core/core.h"

struct group;
struct session;

int link_open(struct session *s);	/* returns the trainer's end, or -1 */
void link_close(struct session *s);	/* frees @s, at once or soon */
/* after loop_exit(): those that are closed, and that the loop has not given back */
void links_free(struct group *g);
/*
 * The rank's last session was closed with answers that nobody has read. They may hold
 * descriptors, which count against this process: so there is one such session of a rank.
 */
bool link_unread(struct group *g, u32 rank);

#endif
