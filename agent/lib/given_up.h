/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Sessions whose time for an operation is over. A program that then calls exit() without
 * gagg_abort() leaves all the same: a file that is merely closed is what is left of a process
 * that has died, and the others would be told so.
 */
#ifndef GAGG_GIVEN_UP_H
#define GAGG_GIVEN_UP_H

struct session;

/* may be called again; until given_up_remove(), before it leaves, or is freed */
void given_up_add(struct session *s);
void given_up_remove(struct session *s);

/* what exit() does */
void given_up_leave(void);

#endif
