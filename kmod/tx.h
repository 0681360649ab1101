/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sending: actions of the core become UDP GSO bursts.
 *
 * Datagrams are collected under the port's lock and leave after it is dropped,
 * both in the port's poll.
 */
#ifndef GAGG_TX_H
#define GAGG_TX_H

#include "group.h"

struct gagg_tx;		/* a batch; on the port, under its lock */

/* what a port needs to send; exit: no poll runs any more, sockets still open */
int gagg_tx_init(struct gagg_port *port);
void gagg_tx_exit(struct gagg_port *port);
/* cached routes of a group's nodes; exit: at its death, after synchronize_net(),
 * since they must not outlive the namespace
 */
int gagg_routes_init(struct gagg_group *grp);
void gagg_routes_exit(struct gagg_group *grp);

/* drain the actions of one group's shard into the batch; port lock held */
void gagg_tx_actions(struct gagg_port *port, struct gagg_group *grp);
/* bytes that were collected, but for those of bursts that are open; port lock held */
u64 gagg_tx_bytes(const struct gagg_port *port);
/* take what was collected; port lock held; then, without it, send */
void gagg_tx_take(struct gagg_port *port, struct sk_buff_head *out);
void gagg_tx_send(struct gagg_port *port, struct sk_buff_head *out);
/* one control datagram (HELLO, START, ABORT) with @len bytes of @body, then zeros up to
 * m->len; no port lock held: it leaves from the next poll of the shard's port, or from
 * gagg_tx_exit()
 */
int gagg_tx_control(struct gagg_group *grp, u32 shard, u32 node, const struct gagg_msg *m,
		    const void *body, u32 len);

#endif
