/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A few hosts with the real core objects whose every step is somebody's choice:
 * what a trainer does, which datagram arrives, is lost or comes twice, what time
 * it is, which host goes on to the next epoch, and what others send in a
 * member's name. (selftests/model/world.h draws its steps from a seed.)
 *
 * A *stranger* does not know the epoch or its cookie. Nothing it sends changes
 * a byte of a shard or a channel. An *insider* knows both, and sends from the
 * address of a member: its hosts' ranks may add and say what they like.
 *
 * What holds at every step, whatever is sent: no action names a rank, node, chunk
 * or lanes that are not there, every datagram parses, the queue of actions never
 * runs over, calls end. Without insiders no datagram is dropped but for its epoch
 * or for what chunks_may_drop() says; and in the end, if nothing is lost from then
 * on, all ops are done. What else holds is a matter of what the chunks are,
 * see ring.h and stores.h: one of them is linked.
 */
#ifndef HOSTS_H
#define HOSTS_H

#include "core.h"
#include "fuzz.h"

#define HOSTS_RANKS	4
#define HOSTS_LANES	8
#define HOSTS_CHANS	2	/* channel 0, and 1 of the even ranks */
#define HOSTS_SHARDS	2
#define HOSTS_EPOCHS	3
#define HOSTS_FLIGHT	192
#define HOSTS_BODY	sizeof(struct gagg_ack)

_Static_assert(GAGG_NODES >= HOSTS_RANKS && GAGG_RANKS >= HOSTS_RANKS, "-D of the target");
_Static_assert(HOSTS_BODY >= HOSTS_LANES * 4, "fits lanes");

struct packet {
	u8 from, to, shard;
	u32 len;		/* of the body */
	u8 hdr[GAGG_WIRE_HDRLEN];
	u8 body[HOSTS_BODY];
};

/* a channel on a host */
struct part {
	struct gagg_chan *core[HOSTS_SHARDS];
	u64 base[HOSTS_SHARDS];
	struct chunks *chunks;	/* NULL: not open */
};

struct host {
	struct hosts *w;
	struct gagg_geom g;
	u32 epoch;		/* index */
	bool stopped;
	struct gagg_shard *sh[HOSTS_SHARDS];
	struct part c[HOSTS_CHANS];
};

struct hosts {
	u32 nodes, ranks;
	u64 now;
	u64 insiders;		/* nodes */
	bool disagree;		/* ranks have called different collectives */
	u64 members[HOSTS_CHANS];
	struct calls *calls;
	struct host host[GAGG_NODES];
	struct packet pool[HOSTS_FLIGHT];
	/* a permutation of the pool: under way, oldest first, and free */
	u8 flight[HOSTS_FLIGHT];
	u32 nflight;
};

static inline struct packet *under_way(struct hosts *w, u32 i)
{
	return &w->pool[w->flight[i]];
}

static inline struct packet *leave(struct hosts *w)
{
	return &w->pool[w->flight[w->nflight++]];
}

/* valid until the next one leaves */
static inline struct packet *arrive(struct hosts *w, u32 i)
{
	u8 which = w->flight[i];

	memmove(&w->flight[i], &w->flight[i + 1], --w->nflight - i);
	w->flight[w->nflight] = which;
	return &w->pool[which];
}

/* of the lanes behind the header of @m */
static inline u32 lanes_bytes(const struct gagg_msg *m)
{
	return gagg_wire_has_lanes(m) ? m->lanes * 4U : 0;
}

static inline void *hosts_zalloc(size_t bytes)
{
	void *p = calloc(1, bytes ? bytes : 1);

	if (!p)
		exit(0);
	return p;
}

/* hosts.c: shape from a few bytes of the input */
void hosts_init(struct hosts *w, struct input *in);
void hosts_free(struct hosts *w);
void host_restart(struct host *h, u32 epoch);
/* true if a datagram of (epoch, cookie) is one of those that @h believes */
u64 hosts_cookie(u32 epoch);
void host_open(struct host *h, u32 c, u64 members);

/* hosts_step.c: what may happen */
void host_receive(struct host *h, const struct packet *p, bool ours);
void host_batch(struct host *h, u32 s);
void host_timers(struct host *h);
u64 host_deadline(const struct host *h);
void hosts_finish(struct hosts *w);

/* hosts_play.c: what happens, by the input */
void hosts_play(struct hosts *w, struct input *in);

/* hosts_check.c: what must hold */
void check_action(struct host *h, u32 s, const struct gagg_act *a);
void check_state(struct host *h);

/* --- what ranks call: of a ring or of a store --------------------------- */

/* @b, @c: bytes of the input, of which the shape has taken some bits, see there */
void calls_init(struct hosts *w, struct gagg_geom *g, u8 b, u8 c, struct input *in);
/* a rank does something: @op is what the schedule says, 0 to 3 in its low bits */
void calls_train(struct hosts *w, struct input *in, u8 op);
/* something that a host could say to shard @s of @h: type, channel and chunk are
 * there, the rest may follow from a byte of the input
 */
void calls_compose(const struct hosts *w, const struct host *h, u32 s, u8 round,
		   struct gagg_msg *m);
/* of an insider's contribution the lanes in which ranks of others are counted
 * become zero
 */
void calls_own_lanes(const struct hosts *w, struct packet *p);
/* the end: ranks do what is left; true: all of it is done */
bool calls_finish(struct host *h);

struct chunks *chunks_new(const struct host *h, u32 c);
void chunks_free(struct chunks *k);
/* the i-th of the blocks that a datagram could change; NULL: there are no more */
const void *chunks_block(const struct host *h, u32 c, u32 i, size_t *bytes);
u64 chunks_filled(const struct host *h, u32 c, u32 l);
struct gagg_cdesc chunks_desc(const struct host *h, u32 c, u32 l, u32 slot);
/* lanes of a CONTRIB or RESULT that leaves */
const s32 *chunks_lanes(struct host *h, const struct gagg_act *a);
void chunks_act(struct host *h, u32 s, const struct gagg_act *a);
void chunks_add(struct host *h, const struct gagg_arrival *in, const void *lanes);
void chunks_place(struct host *h, const struct gagg_arrival *in, const void *lanes);
/* an honest host's datagram is dropped for that */
bool chunks_may_drop(const struct host *h, const struct gagg_msg *m, enum gagg_drop why);
void chunks_check_action(const struct host *h, u32 s, const struct gagg_act *a);
void chunks_check(struct host *h, u32 c, u32 s);

#endif
