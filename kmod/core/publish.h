/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a PUBLISH action asks for: the lanes of a result, and what is said of
 * them. Then the caller stores gagg_rdesc.published, with release semantics.
 */
#ifndef GAGG_CORE_PUBLISH_H
#define GAGG_CORE_PUBLISH_H

#include "shard.h"
#include "reduce.h"

/*
 * gagg_publish_lanes - finish a result: local contributions are added last
 * @part:	the channel's part in the shard that said PUBLISH
 * @result:	lanes of the slot in the result ring; with GAGG_KEEP_STORE in the one
 *		of what is kept
 * @acc:	lanes of the slot's accumulator; used if @pub->from_acc. With
 *		GAGG_KEEP_TAKE those of the slot in the ring of what is kept
 * @local:	lanes of the slot in the contribution rings, by local index; used are
 *		those of @pub->locals
 * @reduce:	adds them
 */
void gagg_publish_lanes(const struct gagg_publish *pub, struct gagg_chan *part,
			void *result, const void *acc,
			const void *const local[GAGG_LOCALS], gagg_reduce_fn reduce);

/* all of @rd but published */
void gagg_publish_desc(const struct gagg_publish *pub, struct gagg_rdesc *rd);

#endif
