/* SPDX-License-Identifier: GPL-2.0 */
/* A netlink multicast group to which others send. */
#ifndef GAGGD_WATCH_H
#define GAGGD_WATCH_H

#include <linux/netlink.h>

#include "loop.h"

struct watch {
	struct loop *loop;
	struct loop_event event;
	int fd;
	/* called for each message; with NULL when some were lost */
	void (*heard)(struct watch *w, const struct nlmsghdr *msg);
};

/* Join @groups (zero-terminated) of @protocol. 0 or -errno. */
int watch_open(struct watch *w, struct loop *loop, int protocol,
	       const unsigned int *groups,
	       void (*heard)(struct watch *w, const struct nlmsghdr *msg));
void watch_close(struct watch *w);

#endif
