/* SPDX-License-Identifier: GPL-2.0 */
/* MTUs of the interfaces to the other nodes. Control thread. */
#ifndef GAGG_TWIN_MTU_H
#define GAGG_TWIN_MTU_H

#include <stdbool.h>

#include "core/core.h"

struct group;

/* bytes of a datagram with all headers; least MTU towards all nodes, 0: not known for any */
u32 mtu_needed(const struct group *g, u32 lanes);
u32 mtu_least(const struct group *g);
/* lanes of the longest datagram that fits to all nodes; false: not known for any */
bool mtu_lanes(const struct group *g, u32 *lanes);
/* at the start, if lanes are configured: 0, or -1 after it has logged why */
int mtu_check(const struct group *g);
/* a datagram of @lanes did not fit: logs which hosts cannot be reached */
void mtu_tell(const struct group *g, u32 lanes);

#endif
