/* SPDX-License-Identifier: GPL-2.0 */
/* Parses answers of a gagg-twin. No socket, so that it can be fuzzed. */
#ifndef GAGG_NL_TWIN_H
#define GAGG_NL_TWIN_H

#include <linux/netlink.h>

#include "nl.h"
#include "../lib/broker_proto.h"

/*
 * 0 and the @n bytes that follow @reply, which is a copy: @more; or -errno: what the answer
 * says, with a sentence in @reply, or -EBADMSG, and @reply has no error: it is no answer.
 */
int twin_answer(const void *buf, size_t len, struct broker_reply *reply, const void **more,
		size_t *n);

/* the netlink message that follows, for nl_parse_group() and nl_parse_stats(); NULL: it is none */
struct nlmsghdr *twin_message(const void *more, size_t n);

/* struct broker_twin that follows: 0, or -EBADMSG */
int twin_hello(const void *more, size_t n, struct nl_twin *out);

#endif
