/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Actions of the core are carried out here, as core/act.h says: trainers are woken, channels asked
 * for, epochs ended; what is to be sent goes on to tx.h. All under the worker's lock.
 *
 * A batch is what one turn of a worker carries out. At its end each trainer is told once of
 * everything.
 */
#ifndef GAGG_TWIN_ACT_H
#define GAGG_TWIN_ACT_H

#include "core/core.h"

struct gagg_batch;
struct group;
struct port;
struct worker;

/* NULL: no memory */
struct gagg_batch *act_new(void);
void act_free(struct gagg_batch *b);

/*
 * takes the actions of one group's shard. They are carried out no later than in act_settle();
 * before that this may be called for other ports and groups
 */
void act_drain(struct port *p, struct group *g);
/*
 * a turn of one group's shard: gagg_batch_work(), with what arrived before and what it carries out
 * in one batch
 */
bool act_work(struct port *p, struct group *g, u64 now, u64 *at);
/* the end of a batch: bursts are closed, trainers are told */
void act_settle(struct worker *w);

#endif
