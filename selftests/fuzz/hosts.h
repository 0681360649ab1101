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
 * What holds at every step, whoever sends:
 *	- no action names a chunk, rank, node or lanes that are not there, every
 *	  datagram parses, the queue of actions never runs over, calls end
 *	- a slot's rounds are published one by one, never before every local rank
 *	  has read the last, and stay as they are until they are read
 *	- an op is done once, in order, when all its chunks are there
 *	- a result that a home has added up holds one contribution of each member
 *	  whose host is no insider, once
 * without insiders also:
 *	- lanes, exponents, flags and contributors are those of a reference
 *	- no datagram is dropped but for its epoch or a channel not yet open
 *	- ranks that call the same collectives are never told to disagree
 *	- in the end, if nothing is lost from then on, all ranks get all results
 *
 * The first lanes of a contribution are zero but for that of its own rank: so
 * each of them says how often that rank was counted.
 */
#ifndef HOSTS_H
#define HOSTS_H

#include "core.h"
#include "fuzz.h"

#define HOSTS_RANKS	4
#define HOSTS_LANES	8
#define HOSTS_CHANS	2	/* channel 0, and 1 of the even ranks */
#define HOSTS_SHARDS	2
#define HOSTS_OPS	16	/* of a channel in an epoch */
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

/* the n-th collective of a channel in an epoch, the same for all ranks */
struct plan {
	u32 n;
	u64 total;
	struct {
		u64 end;
		u32 sig;
		u16 last;
	} op[HOSTS_OPS];
};

struct trainer {
	u64 filled, read;
	u32 next_op;
	u64 done_in[HOSTS_SHARDS];
	struct gagg_cdesc *desc;
	s32 *contrib;
};

/* a channel on a host */
struct part {
	struct gagg_chan *core[HOSTS_SHARDS];
	u64 base[HOSTS_SHARDS];
	s32 *acc[HOSTS_SHARDS];
	s32 *result, *shadow;	/* as it was published */
	u16 *lanes;
	u64 *holds;		/* virtual chunk of the result, + 1 */
	struct trainer trainer[GAGG_LOCALS];
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
	u32 nodes, ranks, exps;
	u8 zeros, nonfinite, noresult;	/* of 256 */
	u8 op_flags;
	u64 now;
	u64 insiders;		/* nodes */
	bool disagree;		/* ranks have called different collectives */
	u64 members[HOSTS_CHANS];
	struct plan plan[HOSTS_EPOCHS][HOSTS_CHANS];
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
void rank_submit(struct host *h, u32 c, u32 l, u8 shape, bool disagree);
void rank_fill(struct host *h, u32 c, u32 l, u64 chunks);
void rank_read(struct host *h, u32 c, u32 l);
void hosts_finish(struct hosts *w);

/* hosts_check.c: what must hold */
struct gagg_cdesc hosts_contribution(const struct hosts *w, u32 epoch, u32 rank, u32 c, u64 v,
				     s32 *lanes);
u16 hosts_lanes(const struct hosts *w, u32 epoch, u32 c, u64 v);
void check_action(struct host *h, u32 s, const struct gagg_act *a);
void check_publish(struct host *h, u32 c, u32 s, u64 v, const struct gagg_publish *p);
void check_unread(struct host *h, u32 c, u32 slot);
void check_read(struct host *h, u32 c, u64 v);
void check_state(struct host *h);

#endif
