/* SPDX-License-Identifier: GPL-2.0 */
/* The socket of a session. Control thread. */
#ifndef GAGG_TWIN_LINK_H
#define GAGG_TWIN_LINK_H

#include <stdbool.h>

#include "core/core.h"

struct group;
struct session;

int link_open(struct session *s);	/* returns the trainer's end of the socket, or -1 */
void link_close(struct session *s);	/* frees @s, at once or soon */
/*
 * If the trainer has closed its end, what it has asked before that is carried out now, and the
 * session ends: the loop may hear of somebody else first
 */
void link_settle(struct session *s);
/* after loop_exit(): frees sessions that are closed, and still had events armed */
void links_free(struct group *g);
/*
 * Was the rank's last session closed with answers that the trainer has not read? They may hold
 * descriptors, which count against this process. So a rank has at most one such session.
 */
bool link_unread(struct group *g, u32 rank);

#endif
