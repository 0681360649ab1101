/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A thread of the library for a communicator whose operations in flight need more than the kernel:
 * there are more of them than the kernel accepts at once, or they are longer than the ring.
 *
 * The kernel goes on by itself with what it has got. The rest would wait until the caller's next
 * call on this communicator. Meanwhile the caller may block elsewhere, on another communicator or
 * outside of the library, for a rank that waits for that rest. So a communicator that is left with
 * a rest gets a thread. It makes the same steps as the caller, and sleeps while the caller does so,
 * or nothing is left.
 */
#ifndef GAGG_PROGRESS_H
#define GAGG_PROGRESS_H

struct gagg_comm;

/* init and exit of its lock; progress_exit() after progress_stop() */
void progress_init(struct gagg_comm *c);
void progress_exit(struct gagg_comm *c);

/*
 * Starts the thread if @c needs one. Without memory for a thread the rest waits for the caller's
 * next call on @c.
 */
void progress_start(struct gagg_comm *c);

/*
 * Ends the thread. @c has nothing in flight. This is immediate if the session has left its epoch;
 * otherwise it needs up to PROGRESS_SLICE_NS.
 */
void progress_stop(struct gagg_comm *c);

/* longest sleep of the thread in the kernel without a check whether it must end */
#define PROGRESS_SLICE_NS	500000000ULL

#endif
