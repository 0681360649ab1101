/* SPDX-License-Identifier: GPL-2.0 */
/* Sending: datagrams of the core become bursts. Under the worker's lock, but where it says so. */
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

/* Actions of one group at a time become bursts, until they are closed.
 *
 * tx_contrib(), tx_result(): all chunks of the action's run, with their lanes, if any, which
 * are in @mem, and stay as they are until they are sent.
 */
void tx_open(struct port *p, struct group *g);
void tx_contrib(struct port *p, struct gagg_act *a, void *const *mem);
void tx_result(struct port *p, struct gagg_act *a, void *const *mem);
void tx_ctrl(struct port *p, const struct gagg_act *a);
void tx_close(struct port *p);
/* send what the sockets take, when bursts are closed */
void tx_flush(struct worker *w);

/*
 * On a slow link, HELLOs that ask after those who are quiet, and the answers, would be what
 * makes others quiet. Was one (@wide: as long as a chunk) said to @node a moment ago, and is in
 * the socket still, or has just left? Control thread
 */
bool tx_is_said(struct group *g, u32 shard, u32 node, bool wide);

/* one control datagram (HELLO, START, ABORT), from the port of @shard, whatever w->shards are,
 * at once; false: the socket did not take it. Control thread
 */
bool tx_control(struct group *g, u32 shard, u32 node, const struct gagg_word *w);

#endif
