/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is there, do we agree, which epoch is it: one object per group.
 *
 * Every node sends HELLO to every other node: at once when something changed,
 * every GAGG_HELLO_FAST until everybody is heard and during a start or an end,
 * else every GAGG_HELLO_SLOW (or a quarter of dead_after if that is less).
 *
 * The coordinator (node of the lowest configured rank) starts epoch
 * max(all epochs heard) + 1 once it is idle, every node is heard with an equal
 * digest and an idle phase, and the attached ranks are the workers. It sends
 * START until the node's HELLO shows the epoch. START names the instance ids
 * of all nodes: state lost by a re-created group is never taken for the old
 * one's (PROTOCOL rule 8).
 *
 * Any node may end the epoch: a local rank left, ranks called different
 * collectives, a node has been silent for dead_after, a node's instance id
 * changed. It sends ABORT to every node until that node's HELLO shows that the
 * epoch is over for it. The first reason a node learns is the one it keeps. All
 * attachments of an epoch end with it; ranks attach again for the next.
 */
#ifndef GAGG_CORE_JOIN_H
#define GAGG_CORE_JOIN_H

#include "geom.h"

#define GAGG_HELLO_FAST		(50 * GAGG_MSEC)
#define GAGG_HELLO_SLOW		(1000 * GAGG_MSEC)

/* what is known of another node */
struct gagg_peer {
	u64 instance;
	u64 attached;
	u64 epoch;
	u64 heard;	/* time; 0: never */
	u8 phase;
	u8 mismatch;	/* 1 + enum gagg_digest; 0: agrees */
	u8 knows_me;	/* it echoed my instance id */
	u8 pad[5];
};

struct gagg_end {
	u32 reason;	/* enum gagg_reason */
	u16 rank;
	u16 other;
	u32 sig;
	u32 other_sig;
};

/* actions of the join object, drained by the caller */
enum gagg_join_act_type {
	GAGG_JOIN_SEND_HELLO,	/* to .node; gagg_join_hello() fills the body */
	GAGG_JOIN_SEND_START,	/* to .node; gagg_join_start() */
	GAGG_JOIN_SEND_ABORT,	/* to .node; gagg_join_abort_body() */
	GAGG_JOIN_EPOCH_START,	/* reset all shards: .epoch, cookie in the object */
	GAGG_JOIN_EPOCH_END,	/* fail all waiters: end in the object */
	GAGG_JOIN_NOTIFY,	/* state of .node changed (mismatch, heard, attached) */
};

struct gagg_join_act {
	u8 type;
	u8 node;
	u64 epoch;
};

#define GAGG_JOIN_ACTS	(3 * GAGG_NODES + 8)

struct gagg_join {
	u64 instance;
	u64 epoch;	/* running, or the last one */
	u64 cookie;
	u64 attached;	/* local ranks */
	u64 hello_at;	/* next periodic HELLO */
	u64 started;	/* time of START, silence counts from here */
	u32 digest[GAGG_DG_COUNT];
	struct gagg_end end;
	u64 start_instance[GAGG_NODES];
	u8 phase;
	u8 enabled;	/* configuration is complete */
	u16 nacts;
	struct gagg_peer peer[GAGG_NODES];
	struct gagg_join_act act[GAGG_JOIN_ACTS];
};

/* @instance: random, not 0 */
void gagg_join_init(struct gagg_join *j, const struct gagg_geom *g,
		    const u32 digest[GAGG_DG_COUNT], u64 instance);

/* a local rank has attached, or has left (@reason BYE or DIED) */
void gagg_join_attach(struct gagg_join *j, const struct gagg_geom *g, u32 rank, u64 now);
void gagg_join_leave(struct gagg_join *j, const struct gagg_geom *g, u32 rank,
		     u32 reason, u64 now);

/* the epoch must end (DESYNC, DELETED, ADMIN); no effect when none is running */
void gagg_join_end(struct gagg_join *j, const struct gagg_geom *g,
		   const struct gagg_end *end, u64 now);

/*
 * gagg_join_rx - HELLO, START or ABORT of @node (whose source address was
 * compared already); @body has at least m->len bytes
 * @random: fresh random number, used as a cookie if an epoch starts
 */
enum gagg_drop gagg_join_rx(struct gagg_join *j, const struct gagg_geom *g,
			    u32 node, const struct gagg_msg *m, const void *body,
			    u64 random, u64 now);

/* periodic work; call when gagg_join_deadline() has come */
void gagg_join_timer(struct gagg_join *j, const struct gagg_geom *g, u64 random, u64 now);
u64 gagg_join_deadline(const struct gagg_join *j, const struct gagg_geom *g);

/* bodies and headers of what is to be sent; return the body's length */
u32 gagg_join_hello(const struct gagg_join *j, const struct gagg_geom *g,
		    u32 node, struct gagg_msg *m, struct gagg_hello *body);
u32 gagg_join_start(const struct gagg_join *j, const struct gagg_geom *g,
		    struct gagg_msg *m, struct gagg_start *body);
u32 gagg_join_abort_body(const struct gagg_join *j, const struct gagg_geom *g,
			 struct gagg_msg *m, struct gagg_abort *body);

/* ranks known to be attached, and ranks whose node is heard, everywhere */
u64 gagg_join_attached(const struct gagg_join *j, const struct gagg_geom *g);
u64 gagg_join_heard(const struct gagg_join *j, const struct gagg_geom *g, u64 now);

#endif
