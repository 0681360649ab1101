/* SPDX-License-Identifier: GPL-2.0 */
/* The policies, for the table of modes; and what several of them do alike. */
#ifndef GAGG_CORE_SYNC_INTERNAL_H
#define GAGG_CORE_SYNC_INTERNAL_H

#include "sync/sync.h"

extern const struct gagg_sync_ops gagg_sync_ako;
extern const struct gagg_sync_ops gagg_sync_algorithm;
extern const struct gagg_sync_ops gagg_sync_asp;
extern const struct gagg_sync_ops gagg_sync_bsp;
extern const struct gagg_sync_ops gagg_sync_dssp;
extern const struct gagg_sync_ops gagg_sync_dssp_literal;
extern const struct gagg_sync_ops gagg_sync_r2sp;
extern const struct gagg_sync_ops gagg_sync_bsp_adaptive;
extern const struct gagg_sync_ops gagg_sync_bsp_deadline;
extern const struct gagg_sync_ops gagg_sync_bsp_quorum;
extern const struct gagg_sync_ops gagg_sync_easgd;
extern const struct gagg_sync_ops gagg_sync_gossip_pair;
extern const struct gagg_sync_ops gagg_sync_gossip_pull;
extern const struct gagg_sync_ops gagg_sync_gossip_push;
extern const struct gagg_sync_ops gagg_sync_push_sum;
extern const struct gagg_sync_ops gagg_sync_ssp;

/* always true: no rank waits for another */
bool gagg_sync_read_at_once(const struct gagg_sync_param *p, union gagg_sync_state *st,
			    const struct gagg_clocks *k, u32 rank, u32 clock);

#endif
