/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kinds of channel: a ring works in rounds (ring/), the chunks of a store persist
 * (store/). What is common to both does not know which one it has.
 *
 * Private to the core.
 */
#ifndef GAGG_CORE_KIND_H
#define GAGG_CORE_KIND_H

#include "shard.h"

/**
 * struct gagg_chan_ops - a kind of channel
 * @waits:	does the sender of that type of message go on only with an answer?
 * @rx:		gagg_shard_rx() of a message for the channel
 * @commit:	gagg_shard_commit()
 * @acked:	a datagram was acknowledged
 * @over:	does nothing that a datagram has carried matter any more?
 * @lost:	a datagram was lost: what it carried is to be sent again
 * @refill:	gagg_chan_refill(), while an epoch runs
 * @timer:	gagg_chan_timer(), while an epoch runs
 * @deadline:	gagg_chan_deadline()
 * @missing:	gagg_chan_missing() for an op that is not done
 */
struct gagg_chan_ops {
	bool (*waits)(u8 type);
	enum gagg_rx (*rx)(struct gagg_shard *sh, const struct gagg_geom *g,
			   struct gagg_chan *ch, u32 node, struct gagg_msg *m, bool ce,
			   u64 now, struct gagg_todo *todo);
	void (*commit)(struct gagg_shard *sh, const struct gagg_geom *g,
		       const struct gagg_todo *todo, u64 now);
	void (*acked)(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_sent *s);
	bool (*over)(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_sent *s);
	void (*lost)(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_sent *s);
	bool (*refill)(struct gagg_shard *sh, const struct gagg_geom *g,
		       const struct gagg_env *env, struct gagg_chan *ch, u64 now);
	void (*timer)(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		      u64 now);
	u64 (*deadline)(struct gagg_chan *ch);
	u64 (*missing)(const struct gagg_geom *g, struct gagg_chan *ch,
		       const struct gagg_op *op);
};

extern const struct gagg_chan_ops gagg_ring_ops;
extern const struct gagg_chan_ops gagg_store_ops;

/* of the channels that a group has, all of one kind */
static inline const struct gagg_chan_ops *gagg_group_ops(const struct gagg_geom *g)
{
	return g->store ? &gagg_store_ops : &gagg_ring_ops;
}

static inline const struct gagg_chan_ops *gagg_chan_ops(const struct gagg_chan *ch)
{
	return ch->store ? &gagg_store_ops : &gagg_ring_ops;
}

#endif
