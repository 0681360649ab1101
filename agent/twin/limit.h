/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much may lie in a socket: what the link carries in LIMIT_NS, so that a HELLO, which
 * comes last, leaves soon after. It is found out as the kernel does for a device (T. Herbert,
 * bql: Byte Queue Limits, 2011; lib/dynamic_queue_limits.c): it grows when what lay there was
 * gone in less, and shrinks to what was seen to leave while more waited.
 *
 * Bytes are the kernel's (SIOCOUTQ, SO_SNDBUF): a buffer counts with all that belongs to it,
 * a small datagram for several times what is sent of it. That is why it grows only if many
 * times as much was seen to leave. No clock and no system call: the caller says what it has
 * read.
 */
#ifndef GAGG_TWIN_LIMIT_H
#define GAGG_TWIN_LIMIT_H

#include <stdbool.h>
#include "core.h"

#define LIMIT_NS	(50 * GAGG_MSEC)
#define LIMIT_LEAST	4096		/* bytes */

/**
 * struct limit - of one socket
 * @most: bytes, whatever the link carries
 * @bytes: LIMIT_LEAST, or @most if that is less, to @most; a message may go when fewer lie there
 * @dead: bytes that do not leave whatever the link does: those to a host whose address
 *	nobody tells (ARP) lie there for seconds. They do not count
 * @was: bytes that lay there @since, and what was sent after that
 * @since: when as many lay there as may, and some did, and more waited, ever since; 0: that
 *	is not so
 */
struct limit {
	int most;
	int bytes;
	int dead;
	int was;
	u64 since;
};

void limit_init(struct limit *l, int most);
/* bytes that may lie there with the dead ones */
int limit_most(const struct limit *l);
/* nothing waits any more: what leaves says nothing about the link */
void limit_idle(struct limit *l);
/* @bytes lie there, as many as may, at @now */
void limit_full(struct limit *l, int bytes, u64 now);
/* @bytes are sent */
void limit_sent(struct limit *l, int bytes);
/* @bytes lie there at @now */
void limit_look(struct limit *l, int bytes, u64 now);
/* when to look again, as @bytes lie there at @now: when half of what may does, or before */
u64 limit_at(const struct limit *l, int bytes, u64 now);

#endif
