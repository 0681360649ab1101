/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Writes groups, members and counters as attributes into @skb; -EMSGSIZE when that is full.
 */
#ifndef GAGG_ENCODE_H
#define GAGG_ENCODE_H

#include <linux/skbuff.h>

struct gagg_group;

int gagg_encode_group(struct sk_buff *skb, struct gagg_group *grp);
int gagg_encode_member(struct sk_buff *skb, struct gagg_group *grp, u32 rank);
int gagg_encode_stats(struct sk_buff *skb, struct gagg_group *grp);

#endif
