/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The generic netlink family: netlink.c parses and answers, encode.c writes
 * groups, members and counters, notify.c tells who subscribed.
 */
#ifndef GAGG_NETLINK_H
#define GAGG_NETLINK_H

#include <linux/gagg_netlink.h>
#include <net/genetlink.h>
#include "group.h"

/* a group with 64 members of IPv6 takes about 8 KiB */
#define GAGG_MSG_MAX	16384

extern struct genl_family gagg_family;

int gagg_netlink_init(void);
void gagg_netlink_exit(void);

/* encode.c: attributes into @skb; -EMSGSIZE when it is full */
int gagg_encode_group(struct sk_buff *skb, struct gagg_group *grp);
int gagg_encode_member(struct sk_buff *skb, struct gagg_group *grp, u32 rank);
int gagg_encode_stats(struct sk_buff *skb, struct gagg_group *grp);

/* notify.c: process context; what is lost for memory is lost */
void gagg_notify_group(struct gagg_group *grp, enum gagg_event event);
void gagg_notify_member(struct gagg_group *grp, u32 rank, enum gagg_event event);

#endif
