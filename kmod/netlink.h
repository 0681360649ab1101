/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family: parses requests and answers them. encode.h writes groups, members and
 * counters; notify.h sends events to subscribers.
 */
#ifndef GAGG_NETLINK_H
#define GAGG_NETLINK_H

#include <net/genetlink.h>

/* a group with 64 members of IPv6 takes about 8 KiB */
#define GAGG_MSG_MAX	16384

extern struct genl_family gagg_family;

int gagg_netlink_init(void);
void gagg_netlink_exit(void);

#endif
