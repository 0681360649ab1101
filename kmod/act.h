/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Actions of the core are carried out here, as core/act.h says: trainers are woken, channels asked
 * for, epochs ended; what is to be sent goes on to tx.h.
 *
 * A batch is what one poll of a port carries out: everything is said to a trainer once, at
 * its end.
 */
#ifndef GAGG_ACT_H
#define GAGG_ACT_H

#include "core/core.h"

struct gagg_batch;	/* on the port, under its lock */
struct gagg_group;
struct gagg_port;

/* the batch of a port: init before its first poll, exit after its last one; init sleeps; ENOMEM */
int gagg_act_init(struct gagg_port *port);
void gagg_act_exit(struct gagg_port *port);

/* carry out the actions of one group's shard; port lock held */
void gagg_act_drain(struct gagg_port *port, struct gagg_group *grp);
/*
 * a turn of one group's shard: gagg_batch_work(), with what arrived before and what it carries out
 * in one batch; port lock held
 */
bool gagg_act_work(struct gagg_port *port, struct gagg_group *grp, u64 now, u64 *at);
/* the end of a batch: bursts are closed, trainers are told; under the same port lock */
void gagg_act_settle(struct gagg_port *port);

#endif
