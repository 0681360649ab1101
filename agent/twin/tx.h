/* SPDX-License-Identifier: GPL-2.0 */
/* Sending: actions of the core become bursts. All under the worker's lock. */
#ifndef GAGG_TWIN_TX_H
#define GAGG_TWIN_TX_H

#include "twin.h"

/* NULL: no memory */
struct tx *tx_new(void);
void tx_free(struct tx *tx);

/* take the actions of one group's shard; they are carried out by tx_flush() at
 * the latest, which may be called for other ports and groups in between
 */
void tx_actions(struct port *p, struct group *g);
/* the end of a batch: send what the sockets take, tell trainers */
void tx_flush(struct worker *w);

/*
 * On a slow link, HELLOs that ask after those who are quiet, and the answers, would be what
 * makes others quiet. Was one (@wide: as long as a chunk) said to @node a moment ago, and is in
 * the socket still, or has just left? Control thread
 */
bool tx_is_said(struct group *g, u32 shard, u32 node, bool wide);

/* one control datagram (HELLO, START, ABORT) with @len bytes of @body, then zeros up to
 * m->len, from the shard's port, at once; false: the socket did not take it. Control thread
 */
bool tx_control(struct group *g, u32 shard, u32 node, const struct gagg_msg *m,
		const void *body, u32 len);

#endif
