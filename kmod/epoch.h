/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Epochs of a group: its join object, and what follows from it.
 */
#ifndef GAGG_EPOCH_H
#define GAGG_EPOCH_H

#include <linux/gagg.h>
#include "core/core.h"

struct gagg_group;

/* init allocates; begin starts to send, once the group can be found */
int gagg_epoch_init(struct gagg_group *grp);
void gagg_epoch_begin(struct gagg_group *grp);
/* stops timer and works for good; ends the epoch, and wakes all that wait for one */
void gagg_epoch_stop(struct gagg_group *grp);
/* HELLO, START, ABORT from the poll; port lock held */
enum gagg_drop gagg_epoch_rx(struct gagg_group *grp, u32 node, u32 shard,
			     const struct gagg_msg *m, const void *body);
void gagg_epoch_attach(struct gagg_group *grp, u32 rank);
void gagg_epoch_leave(struct gagg_group *grp, u32 rank, u32 reason);
void gagg_epoch_end(struct gagg_group *grp, const struct gagg_end *end);
/* sends what the join object wants said; process context, no lock held */
void gagg_epoch_speak(struct gagg_group *grp);
/* the least MTU of the interfaces to the other nodes; 0: there is no route to any */
u32 gagg_epoch_mtu(struct gagg_group *grp);
/* fills in the answer to GAGG_IOC_STATUS (all but size) */
void gagg_epoch_status(struct gagg_group *grp, struct gagg_ioc_status *st);

#endif
