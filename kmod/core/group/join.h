/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The join object of a group: which hosts are there, do all agree, which epoch is it.
 *
 * HELLO. A node sends HELLO, its whole state, to every other node:
 *	1. at once when something has changed;
 *	2. every GAGG_HELLO_FAST to a living node that has not caught up;
 *	3. else every GAGG_HELLO_SLOW, or a quarter of dead_after if that is less;
 *	4. in between as well to a node that was never heard or is gone, but slower and slower.
 *
 * Life. A node is alive while it is heard: by HELLO, or by any datagram with the cookie of an
 * epoch (gagg_join_hear()). A node that has been silent for a quarter of dead_after is asked for
 * an answer, some hundred times until dead_after is over: a link that comes and goes, or loses
 * most datagrams, lets one through.
 *
 * Chunks pass. A path that carries HELLO need not carry chunks (its MTU), nor need a firewall
 * let all shards pass. So each node wants from each other one, on each shard, a datagram as long
 * as a chunk: a HELLO that is padded, for which it asks, or any datagram of an epoch.
 *	1. It asks when it meets the node, and again when the last such datagram is old.
 *	2. The coordinator starts when every node says that it has them of all (THROUGH).
 *	3. A node calls another one blocked, and ends the epoch if one runs, when it has had none
 *	   for dead_after although HELLOs came that say that one has left before them (SENT).
 * Such a HELLO shows that chunks do not pass, and not merely that datagrams get lost:
 *	1. Both are lost together, in bursts or when a link is down.
 *	2. Both wait in the same queues: on a slow link the HELLO arrives after what it speaks of.
 *	3. Where a socket has no room for a long datagram, no HELLO says that one was sent. Where
 *	   the interface refuses its length, HELLO does: no chunk passes there.
 *
 * Lanes. Nodes agree on how long chunks are. HELLO says how many lanes fit the MTU of its
 * sender's interfaces; START, how many a chunk of its epoch has: the least of all nodes'.
 *	1. In an epoch, a node has the lanes of START, which are the same in every copy of it. So
 *	   all nodes that run the epoch cut operations into the same chunks.
 *	2. Without an epoch, a node goes by the least that it has heard. When that grows, the
 *	   datagrams that have shown that chunks pass were too short: it meets all nodes anew.
 *
 * Trips. When a rank attaches, its node asks all others. What lies between the HELLO that asks
 * and its answer is the round trip that paths of the next epoch begin with. The coordinator waits
 * TRIP_WAIT for the answers: where its own rank is the last, START would overtake them.
 *
 * Forgers. One that cannot read our datagrams is not believed:
 *	1. A HELLO carries the instance id that we know, or echoes ours.
 *	2. START names ours.
 *	3. ABORT carries the epoch's cookie.
 *
 * The past is not believed:
 *	1. HELLOs of an instance count in the order in which they were sent.
 *	2. Another instance than the known one is accepted when it echoes the number of a HELLO
 *	   that was sent after it was first heard. A dead instance cannot.
 *
 * Start. The coordinator (node of the lowest configured rank, which is node 0) starts epoch
 * max(all epochs heard) + 1 once it is idle, the attached ranks are the workers, and every other
 * node
 *	1. is alive, is idle, and has an equal digest;
 *	2. has accepted the coordinator's instance;
 *	3. has heard that the coordinator's last epoch is over.
 * It sends START until the node's HELLO shows the epoch. START names the instance ids of all
 * nodes: state that a re-created group has lost is never taken for the old one's (protocol.md
 * R40).
 *
 * End. Any node may end the epoch: a local rank has left, ranks have called different
 * collectives, a node has been silent for dead_after, a node's instance id has changed.
 *	1. It sends ABORT to every node until that node's HELLO shows that it has heard of the end
 *	   and does not run the epoch.
 *	2. A node keeps the first reason that it learns.
 *	3. All attachments of an epoch end with it; ranks attach again for the next.
 *
 * A node that cannot follow START, because a rank has left since its HELLO or the node is not the
 * instance that START names, ends the epoch without having run it: it emits no EPOCH_START and no
 * EPOCH_END, and ranks that are attached stay so.
 */
#ifndef GAGG_CORE_JOIN_H
#define GAGG_CORE_JOIN_H

#include "geom.h"
#include <linux/gagg.h>

#define GAGG_HELLO_FAST		(50 * GAGG_MSEC)
#define GAGG_HELLO_SLOW		(1000 * GAGG_MSEC)

/* what a node has configured differently: the versions, or else the lowest field, see digest.h */
struct gagg_mismatch {
	u32 field;	/* 1 + enum gagg_digest; 0: agrees */
	u32 here;	/* digest of it; of the versions the number */
	u32 there;
};

/* what is known of another node */
struct gagg_peer {
	u64 instance;	/* accepted; 0: none */
	u64 attached;
	u64 epoch;
	u64 heard;	/* time; 0: never */
	struct gagg_mismatch mismatch;
	u8 phase;
	u8 knows_me;	/* it has accepted my instance */
	/* private */
	u8 any_pn;	/* no HELLO of @instance has counted yet */
	u8 ask;		/* the next HELLO asks for an answer */
	u8 echo_other;	/* @other was heard last: echo it, else @instance; */
			/* the one that lives can then answer a challenge */
	u8 flags;	/* of the last HELLO: THROUGH, BLOCKED */
	u8 alone;	/* HELLOs with SENT since @lacks, without what has left before them */
	u8 sent;	/* one has left since the last HELLO */
	u8 shorter;	/* it pads to less than is agreed here */
	u16 lacks;	/* shards on which a datagram as long as a chunk is due */
	u16 limit;	/* most lanes that it can send; 0: not known */
	u16 stale;	/* those on which none has come for dead_after */
	u16 missed;	/* shards on which it wants one from here */
	u16 cut;	/* those on which it has had none for dead_after */
	u64 met;	/* time: instance accepted, or alive again */
	u64 answered;	/* time of the last WIDE */
	u64 wide[GAGG_SHARDS_MAX];	/* time of the last such datagram; 0: never */
	u32 pn;		/* largest of @instance that has counted */
	u32 other_pn;	/* largest heard of @other */
	u32 challenge;	/* an @other, or @instance against it, must echo this */
	u32 trip;	/* from a HELLO that asked to its answer, ns; 0: not known */
	u32 asked_pn;	/* that HELLO */
	u64 asked_at;	/* when that was wanted; 0: it is answered */
	u64 other;	/* another instance was heard; 0: no */
};

/* actions of the join object, drained by the caller */
enum gagg_join_act_type {
	/* to .node: gagg_join_say() makes it */
	GAGG_JOIN_SEND_HELLO,
	GAGG_JOIN_SEND_START,
	GAGG_JOIN_SEND_ABORT,
	GAGG_JOIN_SEND_WIDE,	/* HELLO as long as a chunk; then gagg_join_sent() */
	/* of this node */
	GAGG_JOIN_EPOCH_START,	/* reset all shards: .epoch, cookie in the object */
	GAGG_JOIN_EPOCH_END,	/* fail all waiters: end in the object */
	GAGG_JOIN_NOTIFY,	/* state of .node changed (mismatch, heard, attached) */
	GAGG_JOIN_TYPES,
};

/*
 * The caller empties the queue (nacts = 0) after each call. It may make the
 * datagrams later: they say what is true then, and an action stands for all
 * equal ones that came before. One call queues at most:
 *	1. for each other node one HELLO, one NOTIFY, and one of START and ABORT: a call that
 *	   ends an epoch starts none, since no rank is attached then;
 *	2. one WIDE;
 *	3. one of EPOCH_START and EPOCH_END.
 */
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
	u8 through;	/* chunks of all other nodes have come of late */
	u16 most;	/* lanes per chunk that there is memory for */
	u16 limit;	/* those that fit the MTU here: at most as many */
	u16 lanes;	/* of the epoch that runs; without one, as agreed so far */
	u16 start_lanes;	/* of @epoch, even when it is over: START may be made late */
	u16 nacts;
	/* private */
	u8 kick;	/* run the timer at once */
	u32 pn;		/* of the last HELLO */
	u32 end_pn;	/* first HELLO that shows the end of @epoch */
	u32 say_pn;	/* first HELLO that shows @attached */
	u64 end_wait;	/* nodes that have not acknowledged end_pn */
	u64 say_wait;	/* the same for say_pn; only the coordinator counts */
	u64 died;	/* local ranks whose trainer died since the last end */
	u64 top;	/* largest epoch ever heard of */
	u64 others;	/* all nodes but this one */
	u64 alive;	/* nodes last reported as alive */
	u64 repeat_at;	/* next repetition for nodes that have not caught up */
	u64 pace;	/* its interval while none of them is alive */
	u64 ask_at;	/* next HELLO to nodes that are quiet */
	u64 trip_until;	/* START waits for trips until then; 0: for none */
	u64 last_epoch;	/* the last that ended here: what ABORT is about, even */
	u64 last_cookie;	/* if it is made when the next one runs */
	struct gagg_end last_end;
	u64 queued[GAGG_JOIN_TYPES];		/* nodes, by action in the queue */
	struct gagg_peer peer[GAGG_NODES];
	struct gagg_join_act act[GAGG_JOIN_ACTS];
};

#define gagg_for_each_node(n, left, mask)					\
	for ((left) = (mask); (left) && ((n) = gagg_lowest(left), 1); (left) &= (left) - 1)

static inline bool gagg_peer_alive(const struct gagg_geom *g, const struct gagg_peer *p,
				   u64 now)
{
	return p->heard && now < p->heard + g->dead_after;
}

/* @instance: random, not 0 */
void gagg_join_init(struct gagg_join *j, const struct gagg_geom *g,
		    const u32 digest[GAGG_DG_COUNT], u64 instance);

/* a local rank has attached, or has left (@reason BYE or DIED) */
void gagg_join_attach(struct gagg_join *j, const struct gagg_geom *g, u32 rank, u64 now);
void gagg_join_leave(struct gagg_join *j, const struct gagg_geom *g, u32 rank,
		     u32 reason, u64 now);

/* the epoch must end (DESYNC, MTU, ADMIN); no effect when none is running */
void gagg_join_end(struct gagg_join *j, const struct gagg_geom *g,
		   const struct gagg_end *end, u64 now);

/*
 * The group is deleted: its epoch ends; ranks that wait for one leave. What is to be said of that
 * is due. Afterwards nothing that arrives changes anything, and there is no deadline.
 */
void gagg_join_delete(struct gagg_join *j, const struct gagg_geom *g,
		      const struct gagg_end *end, u64 now);

/*
 * gagg_join_limit - what fits the MTU of this node's interfaces has become known
 * @lanes: 32-bit lanes of a chunk, rounded down to a multiple of 8 from 8 on. At first, and
 *	   at most, those of the geometry that gagg_join_init() was given
 * An epoch goes on with the lanes that it has.
 */
void gagg_join_limit(struct gagg_join *j, const struct gagg_geom *g, u32 lanes, u64 now);

/* length of the body of a HELLO that is as long as a chunk */
static inline u32 gagg_join_wide_len(const struct gagg_join *j)
{
	return 4u * j->lanes > sizeof(struct gagg_hello) ? 4u * j->lanes :
							   (u32)sizeof(struct gagg_hello);
}

/**
 * struct gagg_join_dgram - HELLO, START or ABORT of another node, as it has arrived
 * @node:	its sender; the caller has compared the source address with that of the node
 * @shard:	the shard on whose port it arrived
 * @m:		its header
 * @body:	what follows the header: m->len bytes at least, of a HELLO those before the padding
 * @random:	fresh random number, the cookie if an epoch starts
 * @now:	the time
 */
struct gagg_join_dgram {
	u32 node;
	u32 shard;
	const struct gagg_msg *m;
	const void *body;
	u64 random;
	u64 now;
};

/**
 * gagg_join_rx - receive a datagram of the join object
 * @j: of the group
 * @g: of the group
 * @d: the datagram; not used after the call
 *
 * Return: why the datagram does not count; GAGG_DROP_NONE: it does
 */
enum gagg_drop gagg_join_rx(struct gagg_join *j, const struct gagg_geom *g,
			    const struct gagg_join_dgram *d);

/*
 * gagg_join_hear - what @shard has heard
 * @epoch:	in which it was started last
 * @heard:	when a datagram of an epoch came last, by node; 0: never
 * @wide:	the same of one as long as a chunk of @epoch; 0: never in it
 * To be called for each shard before gagg_join_timer(), which judges silence. If lanes have
 * become more and @shard has not been stopped yet, what it hears shows nothing of them.
 */
void gagg_join_hear(struct gagg_join *j, u32 shard, u64 epoch,
		    const u64 heard[GAGG_NODES], const u64 wide[GAGG_NODES]);

/* periodic work; call when gagg_join_deadline() has come */
void gagg_join_timer(struct gagg_join *j, const struct gagg_geom *g, u64 random, u64 now);
u64 gagg_join_deadline(const struct gagg_join *j, const struct gagg_geom *g);

/*
 * The datagrams of GAGG_JOIN_SEND_WIDE have left to @node, on all shards: the next HELLO says so.
 * gagg_join_deadline() stays as it is.
 */
void gagg_join_sent(struct gagg_join *j, u32 node);

/* behind the header, by its type; the longest is a whole number of words */
union gagg_join_body {
	struct gagg_hello hello;
	struct gagg_start start;
	struct gagg_abort abort;
	u64 word[(sizeof(struct gagg_start) + 7) / 8];
};

/**
 * struct gagg_word - a datagram that is to be sent to a node
 * @shards:	on each of these
 * @m:		its header
 * @len:	bytes of @body, then zeros up to m.len
 * @body:	of HELLO, START or ABORT
 */
struct gagg_word {
	u32 shards;
	u32 len;
	struct gagg_msg m;
	union gagg_join_body body;
};

/*
 * gagg_join_say - what one of GAGG_JOIN_SEND_* is about, as it is now
 * It counts as said: a HELLO that asks is not made twice. gagg_join_deadline() stays as it is:
 * hosts look at that again after other calls only (step.h).
 */
void gagg_join_say(struct gagg_join *j, const struct gagg_geom *g, u8 type, u32 node,
		   struct gagg_word *w);

/* what the sender of @hello has configured differently: the versions first, since digests of
 * different versions cannot be compared
 */
struct gagg_mismatch gagg_join_mismatch(const struct gagg_join *j,
					const struct gagg_hello *hello);

/* fills in what @st says of a mismatch, which is that of the lowest node that differs */
void gagg_join_tell_mismatch(const struct gagg_join *j, const struct gagg_geom *g,
			     struct gagg_ioc_status *st);

/**
 * struct gagg_blocked - the shards on which chunks do not pass between a node and this one
 * @in:		a bit for each shard on which none arrives from it
 * @out:	a bit for each shard on which none from here reaches it
 */
struct gagg_blocked {
	u16 in;
	u16 out;
};

/**
 * gagg_join_blocked - does a node live, but chunks do not pass between it and others?
 * @j: of the group
 * @g: of the group
 * @node: the node; this one is never blocked
 * @now: the time
 * @shards: out; empty if they pass. Empty as well if they do not pass between @node and a third
 *	    node, which then is to blame as much
 *
 * Return: whether
 */
bool gagg_join_blocked(const struct gagg_join *j, const struct gagg_geom *g, u32 node,
		       u64 now, struct gagg_blocked *shards);

/* 1 + the lowest rank of a blocked node, or 0. A node whose path to or from here is blocked comes
 * before one whose path to a third node is: all nodes that the third one does not reach name it
 */
u32 gagg_join_names_blocked(const struct gagg_join *j, const struct gagg_geom *g, u64 now);

/*
 * gagg_join_trips - the round trip to each node as HELLOs have shown it, ns
 * @trip: by node; 0: not known
 * Such a trip
 *	1. is sometimes too long, since the answer leaves from a thread;
 *	2. is never too short: what acknowledges a HELLO has left after the HELLO came;
 *	3. is less than TRIP_WAIT;
 *	4. is no older, of a node with workers, than when a rank of it attached: its node asks
 *	   all others then.
 */
void gagg_join_trips(const struct gagg_join *j, const struct gagg_geom *g,
		     u32 trip[GAGG_NODES]);

/*
 * gagg_join_status - what GAGG_IOC_STATUS says of the group; ops and size are the caller's
 * @runs: the epoch that runs here: the object's counts as running when it is that one
 */
void gagg_join_status(const struct gagg_join *j, const struct gagg_geom *g, u64 runs, u64 now,
		      struct gagg_ioc_status *st);

/* ranks known to be attached, and ranks whose node is heard, everywhere */
u64 gagg_join_attached(const struct gagg_join *j, const struct gagg_geom *g);
u64 gagg_join_heard(const struct gagg_join *j, const struct gagg_geom *g, u64 now);

#endif
