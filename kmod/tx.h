/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending: datagrams of the core become UDP GSO bursts.
 *
 * Datagrams are collected under the port's lock and leave after it is dropped,
 * both in the port's poll.
 */
#ifndef GAGG_TX_H
#define GAGG_TX_H

#include <linux/skbuff.h>
#include "core/core.h"

struct gagg_group;
struct gagg_port;
struct gagg_tx;		/* bursts and queue; on the port, under its lock */

/* the state that a port needs to send; exit: after the last poll, with sockets still open */
int gagg_tx_init(struct gagg_port *port);
void gagg_tx_exit(struct gagg_port *port);

/*
 * Between open and close, actions of one group become bursts. Port lock held. gagg_tx_contrib(),
 * gagg_tx_result(): send all chunks of the action's run, with their lanes, if any, which are in
 * @mem.
 */
void gagg_tx_open(struct gagg_port *port, struct gagg_group *grp);
void gagg_tx_contrib(struct gagg_port *port, struct gagg_act *a, void *const *mem);
void gagg_tx_result(struct gagg_port *port, struct gagg_act *a, void *const *mem);
void gagg_tx_ctrl(struct gagg_port *port, const struct gagg_act *a);
void gagg_tx_close(struct gagg_port *port);

/* bytes that were collected, without those of open bursts; port lock held */
u64 gagg_tx_bytes(const struct gagg_port *port);
/*
 * take: moves what was collected to @out, after bursts are closed; port lock held. send: sends it,
 * without the lock
 */
void gagg_tx_take(struct gagg_port *port, struct sk_buff_head *out);
void gagg_tx_send(struct gagg_port *port, struct sk_buff_head *out);
/* one control datagram (HELLO, START, ABORT), on @shard, whatever w->shards are; no port lock
 * held: it leaves from the next poll of the shard's port, or from gagg_tx_exit()
 */
enum gagg_fate gagg_tx_control(struct gagg_group *grp, u32 shard, u32 node,
			       const struct gagg_word *w);

#endif
