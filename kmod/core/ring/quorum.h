/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds without all members: see struct gagg_round_ops (round.h) and quorum.c.
 */
#ifndef GAGG_CORE_RING_QUORUM_H
#define GAGG_CORE_RING_QUORUM_H

#include "ring/internal.h"

void gagg_quorum_init(const struct gagg_geom *g, struct gagg_chan *ch);
void gagg_quorum_pushed(const struct gagg_visit *vis, const struct gagg_msg *m);
bool gagg_quorum_is_late(const struct gagg_visit *vis, const struct gagg_msg *m);
void gagg_quorum_counted(const struct gagg_visit *vis, struct gagg_acc *a, u32 rank);
bool gagg_quorum_complete(const struct gagg_visit *vis, const struct gagg_acc *a, u64 bits);
void gagg_quorum_announce(const struct gagg_chan *ch, u64 bits, struct gagg_publish *pub);
void gagg_quorum_published(const struct gagg_visit *vis, const struct gagg_acc *a);
void gagg_quorum_name(struct gagg_chan *ch, u32 slot, struct gagg_msg *m);
void gagg_quorum_heard(const struct gagg_chan *ch, const struct gagg_msg *m,
		       struct gagg_publish *pub);
/* ranks that are in a result */
u64 gagg_quorum_get(const struct gagg_msg *m);

#endif
