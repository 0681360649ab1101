/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Epochs of a group: its join object, and what follows from it. Control thread, except where
 * stated.
 */
#ifndef GAGG_TWIN_EPOCH_H
#define GAGG_TWIN_EPOCH_H

#include <linux/gagg.h>

#include "core/core.h"

struct group;
struct twin;

int epoch_init(struct group *g);
/* sends and makes everything that is due, for all groups; sets the timer */
void epoch_run(struct twin *t);
/* sends HELLO only, if it is time: to be called in the middle of long work */
void epoch_breathe(struct twin *t);
/* HELLO, START, ABORT have arrived; from a worker that holds its lock */
enum gagg_drop epoch_rx(struct group *g, u32 node, u32 shard, const struct gagg_msg *m,
			const void *body);
void epoch_attach(struct group *g, u32 rank);
void epoch_leave(struct group *g, u32 rank, u32 reason);
/* any thread */
void epoch_end(struct group *g, const struct gagg_end *end);
void epoch_status(struct group *g, struct gagg_ioc_status *st);
/* of the interfaces to the other nodes; 0: not known for any */
u32 epoch_least_mtu(struct group *g);
/* sends the last messages, before the end of the process */
void epoch_farewell(struct twin *t);

#endif
