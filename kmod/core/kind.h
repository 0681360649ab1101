/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kinds of channel: a ring works in rounds (ring/), the chunks of a store persist (store/).
 * Code that is common to both does not depend on the kind.
 *
 * Private to the core.
 */
#ifndef GAGG_CORE_KIND_H
#define GAGG_CORE_KIND_H

#include "ring/internal.h"
#include "store/internal.h"

/**
 * struct gagg_chan_ops - a kind of channel
 * @bytes:	bytes that the kind needs in the block of a channel, after struct gagg_chan
 * @init:	gagg_chan_init(), after ranks and homes are set
 * @knows:	is @kind one of the ops of such a channel?
 * @may_submit:	gagg_chan_may_submit()
 * @may_begin:	may a local rank begin an op, which @may_submit accepts, now?
 * @moves:	by how many virtual chunks an op moves the rank's cursor
 * @submit:	gagg_chan_submit_arg()
 * @waits:	does the sender of that type of message need an answer to go on?
 * @rx:		gagg_shard_rx() for a message of the channel
 * @commit:	gagg_shard_commit()
 * @acked:	a datagram was acknowledged
 * @over:	is everything that a datagram carried out of date?
 * @lost:	a datagram was lost: what it carried must be sent again
 * @refill:	gagg_chan_refill(), while an epoch runs
 * @timer:	gagg_chan_timer(), while an epoch runs
 * @deadline:	gagg_chan_deadline()
 * @missing:	gagg_chan_missing() for an op that is not done
 */
struct gagg_chan_ops {
	u64 (*bytes)(const struct gagg_geom *g, const struct gagg_stake *stake);
	void (*init)(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_stake *stake);
	bool (*knows)(u8 kind);
	bool (*may_submit)(const struct gagg_geom *g, const struct gagg_ioc_submit *arg);
	enum gagg_refusal (*may_begin)(const struct gagg_geom *g, const struct gagg_chan *ch,
				       const struct gagg_ledger *led,
				       const struct gagg_ioc_submit *arg);
	u64 (*moves)(const struct gagg_ioc_submit *arg);
	u64 (*submit)(const struct gagg_geom *g, struct gagg_chan *ch, u32 local,
		      const struct gagg_ioc_submit *arg);
	bool (*waits)(u8 type);
	enum gagg_rx (*rx)(struct gagg_arrival *in, struct gagg_msg *m);
	void (*commit)(const struct gagg_arrival *in);
	void (*acked)(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_sent *s);
	bool (*over)(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_sent *s);
	void (*lost)(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_sent *s);
	bool (*refill)(const struct gagg_visit *vis, const struct gagg_env *env);
	void (*timer)(const struct gagg_visit *vis);
	u64 (*deadline)(struct gagg_chan *ch);
	u64 (*missing)(const struct gagg_geom *g, struct gagg_chan *ch,
		       const struct gagg_op *op);
};

static const struct gagg_chan_ops gagg_ring_ops = {
	.bytes = gagg_ring_bytes,
	.init = gagg_ring_init,
	.knows = gagg_ring_knows,
	.may_submit = gagg_ring_may_submit,
	.may_begin = gagg_ring_may_begin,
	.moves = gagg_ring_moves,
	.submit = gagg_ring_submit_arg,
	.waits = gagg_ring_waits,
	.rx = gagg_ring_rx,
	.commit = gagg_ring_commit,
	.acked = gagg_worker_acked,
	.over = gagg_worker_over,
	.lost = gagg_worker_lost,
	.refill = gagg_ring_refill,
	.timer = gagg_ring_timer,
	.deadline = gagg_ring_deadline,
	.missing = gagg_ring_missing,
};

static const struct gagg_chan_ops gagg_store_ops = {
	.bytes = gagg_store_bytes,
	.init = gagg_store_init,
	.knows = gagg_store_knows,
	.may_submit = gagg_store_may_submit,
	.may_begin = gagg_store_may_begin,
	.moves = gagg_store_moves,
	.submit = gagg_store_submit_arg,
	.waits = gagg_store_waits,
	.rx = gagg_store_rx,
	.commit = gagg_store_commit,
	.acked = gagg_store_acked,
	.over = gagg_store_over,
	.lost = gagg_store_lost,
	.refill = gagg_store_refill,
	.timer = gagg_store_timer,
	.deadline = gagg_store_deadline,
	.missing = gagg_store_missing,
};

/*
 * Calls @op of a kind. @store is gagg_chan.store or gagg_geom.store: all channels of a group are of
 * one kind. Both tables are constants in this header, so the compiler makes a branch and a direct
 * call. Some of these are called for each datagram, and a call through a pointer is slow where it
 * needs a retpoline.
 */
#define gagg_kind(store, op, ...)	((store) ? gagg_store_ops.op(__VA_ARGS__) : \
						   gagg_ring_ops.op(__VA_ARGS__))

#endif
