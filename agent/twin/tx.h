/* SPDX-License-Identifier: GPL-2.0 */
/* Sending: datagrams of the core become bursts. Under the worker's lock, except where stated. */
#ifndef GAGG_TWIN_TX_H
#define GAGG_TWIN_TX_H

#include <stdbool.h>

#include "core/core.h"

struct group;
struct port;
struct worker;

/* NULL: no memory */
struct tx *tx_new(void);
void tx_free(struct tx *tx);

/*
 * Between open and close, actions of one group become bursts. tx_contrib(), tx_result(): send all
 * chunks of the action's run, with their lanes, if any, which are in @mem. Lanes must not change
 * until they are sent.
 */
void tx_open(struct port *p, struct group *g);
void tx_contrib(struct port *p, struct gagg_act *a, void *const *mem);
void tx_result(struct port *p, struct gagg_act *a, void *const *mem);
void tx_ctrl(struct port *p, const struct gagg_act *a);
void tx_close(struct port *p);
/* sends as much as the sockets accept, after bursts are closed */
void tx_flush(struct worker *w);

/*
 * Was a HELLO (@wide: as long as a chunk) sent to @node a moment ago, so that it is still in the
 * socket, or has just left? On a slow link HELLOs that ask after quiet hosts, and their answers,
 * would otherwise be what makes other hosts quiet. Control thread
 */
bool tx_is_said(struct group *g, u32 shard, u32 node, bool wide);

/* one control datagram (HELLO, START, ABORT), from the port of @shard, whatever w->shards are,
 * at once. Control thread
 */
enum gagg_fate tx_control(struct group *g, u32 shard, u32 node, const struct gagg_word *w);

#endif
