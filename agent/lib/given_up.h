/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Sessions in which an operation has timed out. If the program then calls exit() without
 * gagg_abort(), its ranks leave in order all the same: if the file were only closed, the other
 * ranks would be told that the process has died.
 */
#ifndef GAGG_GIVEN_UP_H
#define GAGG_GIVEN_UP_H

struct session;

/* may be called again; undone by given_up_remove(), before the session leaves or is freed */
void given_up_add(struct session *s);
void given_up_remove(struct session *s);

/* called by exit() */
void given_up_leave(void);

#endif
