/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds without all members: see struct gagg_round_ops (round.h) and quorum.c.
 */
#ifndef GAGG_CORE_RING_QUORUM_H
#define GAGG_CORE_RING_QUORUM_H

#include "ring/internal.h"

void gagg_quorum_init(const struct gagg_geom *g, struct gagg_chan *ch);
void gagg_quorum_pushed(const struct gagg_geom *g, struct gagg_chan *ch,
			const struct gagg_msg *m, u64 now);
bool gagg_quorum_is_late(struct gagg_shard *sh, const struct gagg_geom *g,
			 struct gagg_chan *ch, const struct gagg_msg *m, u64 now);
void gagg_quorum_counted(const struct gagg_geom *g, struct gagg_chan *ch, struct gagg_acc *a,
			 u32 rank, u64 now);
bool gagg_quorum_complete(const struct gagg_geom *g, const struct gagg_chan *ch,
			  const struct gagg_acc *a, u64 bits, u64 now);
void gagg_quorum_announce(const struct gagg_chan *ch, u64 bits, struct gagg_publish *pub);
void gagg_quorum_published(struct gagg_shard *sh, const struct gagg_geom *g,
			   struct gagg_chan *ch, const struct gagg_acc *a, u64 now);
void gagg_quorum_name(struct gagg_chan *ch, u32 slot, struct gagg_msg *m);
void gagg_quorum_heard(const struct gagg_chan *ch, const struct gagg_msg *m,
		       struct gagg_publish *pub);
/* ranks that are in a result */
u64 gagg_quorum_get(const struct gagg_msg *m);

#endif
