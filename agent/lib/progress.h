/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A thread of the library's own for a communicator whose operations in flight need
 * more than the kernel: more of them than it takes at once, or longer than the ring.
 *
 * The kernel goes on by itself with what it has been told; the rest would wait until
 * the caller's next call on this communicator. Meanwhile the caller may block elsewhere,
 * on another communicator or outside of the library, for a rank that waits for that
 * rest. So a communicator that is left with a rest gets a thread, which steps as the
 * caller does, and sleeps while the caller does so or nothing is left.
 */
#ifndef GAGG_PROGRESS_H
#define GAGG_PROGRESS_H

struct gagg_comm;

/* its lock; progress_exit() after progress_stop() */
void progress_init(struct gagg_comm *c);
void progress_exit(struct gagg_comm *c);

/*
 * If @c needs it. Without memory for a thread, the rest waits for the caller's next
 * call on @c, as it would without this.
 */
void progress_start(struct gagg_comm *c);

/*
 * The thread has ended. @c has nothing in flight; if the session has left its epoch
 * that is at once, else it may take PROGRESS_SLICE_NS.
 */
void progress_stop(struct gagg_comm *c);

/* how long the thread sleeps in the kernel without a look at whether it is to end */
#define PROGRESS_SLICE_NS	500000000ULL

#endif
