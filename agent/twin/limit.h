/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many bytes may lie in a socket: as many as the link carries in LIMIT_NS, so that a HELLO,
 * which comes last, leaves soon after. The kernel does the same for a device (T. Herbert, bql: Byte
 * Queue Limits, 2011; lib/dynamic_queue_limits.c). The limit grows when the bytes that lay there
 * left sooner. It shrinks to what was seen to leave while more waited.
 *
 * Bytes are the kernel's (SIOCOUTQ, SO_SNDBUF). A buffer counts with its overhead, so a small
 * datagram counts for several times its length. That is why the limit grows only if many times as
 * much was seen to leave. No clock and no system call: the caller passes what it has read.
 */
#ifndef GAGG_TWIN_LIMIT_H
#define GAGG_TWIN_LIMIT_H

#include <stdbool.h>
#include "core.h"

#define LIMIT_NS	(50 * GAGG_MSEC)
#define LIMIT_LEAST	4096		/* bytes */

/**
 * struct limit - the limit of one socket
 * @most: upper bound in bytes, however fast the link is
 * @bytes: the limit, from LIMIT_LEAST, or @most if that is less, to @most; a message may go when
 *         fewer bytes lie there
 * @dead: bytes that do not leave, however fast the link is: bytes to a host that does not answer
 *        ARP lie there for seconds. They do not count
 * @was: bytes that lay there @since, plus the bytes sent after that
 * @since: from this time on the limit was reached, and more waited; 0: that is not so
 */
struct limit {
	int most;
	int bytes;
	int dead;
	int was;
	u64 since;
};

void limit_init(struct limit *l, int most);
/* bytes that may lie there, with dead ones */
int limit_most(const struct limit *l);
/* nothing waits any more: from now on leaving bytes do not measure the link */
void limit_idle(struct limit *l);
/* @bytes lie there at @now, and the limit is reached */
void limit_full(struct limit *l, int bytes, u64 now);
/* @bytes are sent */
void limit_sent(struct limit *l, int bytes);
/* @bytes lie there at @now */
void limit_look(struct limit *l, int bytes, u64 now);
/* when to look again, if @bytes lie there at @now: when half of the limit lies there, or sooner */
u64 limit_at(const struct limit *l, int bytes, u64 now);

#endif
