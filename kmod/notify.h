/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events to subscribers. Process context. An event that finds no memory is lost.
 */
#ifndef GAGG_NOTIFY_H
#define GAGG_NOTIFY_H

#include <linux/gagg_netlink.h>
#include <linux/types.h>

struct gagg_group;

void gagg_notify_group(struct gagg_group *grp, enum gagg_event event);
void gagg_notify_member(struct gagg_group *grp, u32 rank, enum gagg_event event);

#endif
