/* SPDX-License-Identifier: GPL-2.0 */
/* MTUs of the interfaces to the other nodes. Control thread. */
#ifndef GAGG_TWIN_MTU_H
#define GAGG_TWIN_MTU_H

#include <stdbool.h>

#include "core/core.h"

struct group;

/*
 * struct mtu_seen - the MTU of the path that was read last, and that of its interface
 * Most paths have the same. All 0: none was read.
 */
struct mtu_seen {
	int path;
	int own;
};

/*
 * MTU of the interface to a node; or to the multicast address, if results go there. 0: not known.
 * For all nodes in a row @seen is the same, and all 0 before the first.
 */
u32 mtu_to(const struct group *g, u32 node, struct mtu_seen *seen);
u32 mtu_to_all(const struct group *g, struct mtu_seen *seen);
/* at the start, if lanes are configured: 0, or -1 after it has logged why */
int mtu_check(const struct group *g);
/* a datagram of @lanes did not fit: logs which hosts cannot be reached */
void mtu_tell(const struct group *g, u32 lanes);

#endif
