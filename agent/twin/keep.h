/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channels of a store, whose chunks persist: their memory, their payload, their ops.
 *
 * channel.result holds the chunks that are homed here, and is passed to nobody; channel.acc
 * what lies beside them, of a store with snapshots; channel.copy what each rank has read.
 * Payload is touched under the lock of the worker whose shard the chunk is in.
 */
#ifndef GAGG_TWIN_KEEP_H
#define GAGG_TWIN_KEEP_H

#include "channel.h"
#include "core/core.h"

/* lanes that the core has taken: GAGG_RX_ADD, GAGG_RX_PLACE */
void keep_add(const struct gagg_geom *g, const struct channel *ch,
	      const struct gagg_todo *todo, const void *lanes);
void keep_place(const struct gagg_geom *g, const struct channel *ch,
		const struct gagg_todo *todo, const void *lanes);
/* GAGG_ACT_FOLD, GAGG_ACT_ADD_LOCAL, GAGG_ACT_READ */
void keep_act(const struct gagg_geom *g, const struct channel *ch, const struct gagg_act *a);

#endif
