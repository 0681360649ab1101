/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the parts of the world share.
 */
#ifndef WORLD_INT_H
#define WORLD_INT_H

#include "world.h"

#define WORLD_OPS	64
#define WORLD_SHARDS	4
#define WORLD_BODY	(WORLD_LANES * 4 > sizeof(struct gagg_ack) ? \
			 WORLD_LANES * 4 : sizeof(struct gagg_ack))

struct packet {
	struct packet *next;	/* next of the free ones */
	u64 takes;		/* ns that it still needs on the receiver's link */
	u8 from, to, shard, life;
	u8 hdr[GAGG_WIRE_HDRLEN];
	u8 body[WORLD_BODY];
	u32 len;
};

struct arrival {
	u64 at, order;
	struct packet *p;
};

struct trainer {
	u64 filled;		/* what the kernel sees */
	u64 read;		/* virtual chunks read */
	u32 next_op;
	u64 done_in[WORLD_SHARDS];
	u64 busy_until;
	struct gagg_cdesc *desc;
	s32 *contrib;
};

/* a channel on a host */
struct chan_host {
	struct gagg_chan *part[WORLD_SHARDS];
	s32 *result;
	s32 *held;		/* quorum: a home's results */
	s32 *acc[WORLD_SHARDS];	/* sums; shards are not in step */
	u16 *lanes;		/* in the result of a slot */
	u64 *holds;		/* virtual chunk of the result, + 1 */
	struct trainer trainer[GAGG_LOCALS];
};

struct host {
	struct world *w;
	u32 id;
	/* what has happened since the host was last served: most moments concern one host */
	bool news;		/* for trainers */
	u64 due;		/* earliest of its timers; 0: not known yet */
	struct gagg_geom g;
	struct gagg_shard *sh[WORLD_SHARDS];
	struct chan_host c[WORLD_CHANS];
	u32 turn;		/* channel that is refilled first */
	u64 link_out, link_in;	/* busy until */
	bool bad;		/* in a burst of losses */
	u64 batch;		/* shards that have received since the last refill */
	struct gagg_burst burst;	/* the burst of a batch that the next datagram may follow */
};

/* the expected result; computed once for all hosts */
struct reference {
	s64 lanes[WORLD_LANES];
	struct gagg_rdesc desc;
	bool known;
};

struct world {
	struct world_config cfg;
	u64 rng, now, order;
	u64 epoch, cookie;
	u32 life;			/* number of the epoch, from 0 */
	u64 befell[WORLD_WEATHERS];	/* datagrams */
	u64 read_at;			/* when a result was read last */
	u64 stall;			/* the longest time without one */
	u64 sent[32], lanes[32];	/* by type; 0: all */
	u64 members[WORLD_CHANS];
	u64 total[WORLD_CHANS];
	u64 chan_time[WORLD_CHANS];
	u64 op_end[WORLD_CHANS][WORLD_OPS];
	u16 op_last[WORLD_CHANS][WORLD_OPS];
	struct reference *ref[WORLD_CHANS];
	u64 *decided[WORLD_CHANS];	/* quorum: ranks in a result; 0: still open */
	struct host *host;
	struct arrival *flight;
	u32 nflight, room;
	struct packet *spare;
	char error[400];
};

typedef unsigned long long ull;

void world_fail(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
u64 world_random(struct world *w);

/* world_ref.c: the contribution of a rank, and the expected result */
struct gagg_cdesc world_contribution(const struct world *w, u32 rank, u32 c, u64 v, s32 *lanes);
const struct reference *world_reference(const struct world *w, u32 c, u64 v);

/* signature of an op; in a quorum all but every fourth may do without a rank */
static inline u32 world_sig(u32 op)
{
	return (u32)(op % 4 == 3 ? GAGG_K_BROADCAST : GAGG_K_ALLREDUCE) << 28 | op;
}

/* lanes of int64 are two words each */
static inline bool world_wide(const struct world *w)
{
	return w->cfg.laneop >> 4 == GAGG_LANE_S64;
}

/* halves of 32 bits of a lane: 0, or of narrow ones 1 or 2 */
static inline u32 world_narrow(const struct world *w)
{
	return gagg_lane_narrow(w->cfg.laneop);
}

/* 32-bit lanes of a chunk */
u16 world_chunk_lanes(const struct world *w, u32 c, u64 v);

bool world_chance(struct world *w, u32 permille);

/* world_net.c: a datagram leaves; what has arrived is received */
void world_put(struct host *h, u32 to, u32 s, struct gagg_msg *m, const void *body, u32 len);

void world_deliver(struct world *w);
bool world_rough(const struct world *w);
void world_net_free(struct world *w);

/* world_host.c */
void host_init(struct world *w, u32 id);
void host_begin(struct host *h);
void host_end(struct host *h);
void host_free(struct host *h);
void host_receive(struct host *h, const struct packet *p);
void host_end_batch(struct host *h);
u64 host_due(struct host *h);
void host_timers(struct host *h);
void host_refill(struct host *h, u32 s);

#endif
