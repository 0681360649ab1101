/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The gagg wire format, version 1.
 *
 * Every datagram is one UDP payload: a 64-byte header, then nothing, or the lanes of one chunk, or
 * the body of a control message. All fields are little-endian. A datagram is dropped if magic,
 * version or hdrlen differs, or if it has a flag at or above GAGG_WF_FATAL that the receiver does
 * not know; unknown flags below that are ignored.
 *
 *	HELLO	node <-> node	the sender's instance and configuration, which of
 *				its ranks are attached, its epoch. Also answers
 *				START and ABORT, and is the keep-alive. Padded with
 *				zeros to the length of a chunk, on each shard, it
 *				shows that chunks pass.
 *	START	coordinator ->	epoch, cookie, instance ids of all nodes.
 *	ABORT	any node ->	an epoch has ended: reason and ranks.
 *	CONTRIB	worker -> home	one rank's lanes of one chunk in one round.
 *	READY	worker -> home	a run of chunks to which a rank adds nothing.
 *	RESULT	home -> members	the result of one chunk, or, without payload,
 *				of a run of chunks that are all zero.
 *	DONE	home -> member	a run of chunks whose result the member did
 *				not ask for.
 *	RESEND	home -> worker	contribute the same bytes of a run again.
 *	ACK	node <-> node	packet numbers received.
 *	QUERY	worker -> home	what became of this run of chunks? With REPAIR:
 *				repeat their results.
 *	TOLD	home -> worker	these of them are published, and every result
 *				up to this packet number was sent before this
 *				datagram. What it overtook nothing of is lost.
 *	WAITS	home -> worker	this chunk has been open for a while: it waits for
 *				these ranks.
 *	PULL	member -> home	repeat results by their packet number.
 *	NAK	home -> worker	I do not know this channel.
 *	OPEN	worker -> home	the members of a channel, in answer to NAK.
 *
 * Types 6, 12, 13 and 15 are reserved: no host sends them, and receivers drop them.
 *
 * A *run* counts consecutive chunks of one home (see gagg_geom_next() in
 * kmod/core/geom.h), no more than the window, and never crosses the end of the ring.
 */
#ifndef _UAPI_LINUX_GAGG_WIRE_H
#define _UAPI_LINUX_GAGG_WIRE_H

#include <linux/types.h>

#define GAGG_WIRE_MAGIC		0x4147	/* "GA" */
#define GAGG_WIRE_VERSION	1
#define GAGG_WIRE_HDRLEN	64
#define GAGG_WIRE_LANES		344	/* most lanes per chunk unless asked for (MTU 1500) */
#define GAGG_WIRE_LANES_MAX	2240	/* most lanes per chunk (MTU 9000) */
#define GAGG_WIRE_PORT		7440	/* default base port */

enum gagg_wire_type {
	GAGG_T_HELLO	= 1,
	GAGG_T_START	= 2,
	GAGG_T_ABORT	= 3,
	GAGG_T_CONTRIB	= 4,
	GAGG_T_READY	= 5,
	/* 6 is reserved */
	GAGG_T_RESULT	= 7,
	GAGG_T_DONE	= 8,
	GAGG_T_RESEND	= 9,
	GAGG_T_ACK	= 10,
	GAGG_T_QUERY	= 11,
	/* 12 and 13 are reserved */
	GAGG_T_PULL	= 14,
	/* 15 is reserved */
	GAGG_T_NAK	= 16,
	GAGG_T_OPEN	= 17,
	GAGG_T_TOLD	= 18,
	GAGG_T_WAITS	= 19,
};

/* header flags; a receiver may ignore bits 0-7 if it does not know them */
#define GAGG_WF_FRESH		0x0001	/* caused at once by your datagram */
#define GAGG_WF_REPAIR		0x0004	/* a repetition that was asked for */
#define GAGG_WF_FATAL		0x0100	/* the first flag that a receiver must know */
#define GAGG_WF_ZERO		0x0100	/* the value is the operator's identity */
#define GAGG_WF_NONFINITE	0x0200	/* a contribution had NaN or infinity */
#define GAGG_WF_OVERFLOW	0x0400	/* the sum may have wrapped */
#define GAGG_WF_NORESULT	0x0800	/* the contributor wants no result */
#define GAGG_WF_RAW		0x1000	/* lanes carry no exponent: never shift */
#define GAGG_WF_KNOWN		0x1f00

/* lane types and operators: header byte laneop = lane << 4 | operator */
enum gagg_lane {
	GAGG_LANE_S32	= 0,
	GAGG_LANE_U8	= 1,	/* four to a 32-bit lane (exponent runs) */
	GAGG_LANE_S64	= 2,	/* two 32-bit lanes, lower half first; sums only */
	GAGG_LANE_S16	= 3,	/* two to a 32-bit lane, added in int32; sums only */
	GAGG_LANE_S8	= 4,	/* four to a 32-bit lane, added in int32; sums only */
};

enum gagg_redop {
	GAGG_OP_ADD	= 0,
	GAGG_OP_MIN	= 1,
	GAGG_OP_MAX	= 2,
};

#define GAGG_LANEOP(lane, op)	(((lane) << 4) | (op))

/**
 * struct gagg_hdr - header of every datagram
 * @magic:	GAGG_WIRE_MAGIC
 * @ver:	GAGG_WIRE_VERSION
 * @type:	enum gagg_wire_type
 * @flags:	GAGG_WF_*
 * @hdrlen:	GAGG_WIRE_HDRLEN
 * @laneop:	lane type and operator, GAGG_LANEOP()
 * @group:	group id
 * @epoch:	low 32 bits of the epoch; 0 in HELLO of a node without one
 * @channel:	channel id; 0: all ranks
 * @src:	rank that contributes or asks; RESULT, DONE, TOLD, WAITS: node of
 *		the home
 * @sig:	signature of the collective (gagg_sig()); WAITS: ranks 32 to 63, a bit
 *		each
 * @chunk:	slot in the ring, first of the run
 * @round:	round of that slot; the first is 1
 * @run:	chunks covered, at least 1
 * @lanes:	32-bit lanes of the chunk in this op (payload bytes / 4, unless the datagram is
 *		header-only). A lane of GAGG_LANE_S64 counts as two; two of GAGG_LANE_S16, or four
 *		of GAGG_LANE_S8, count as one. HELLO: most lanes of a chunk that the sender allows;
 *		START: lanes of a chunk in the epoch
 * @exp:	block exponent of the lanes, biased by 127; 0: none
 * @want:	exponent that the data needs; RESULT: the largest of these; 0: none
 * @weight:	contributions: 1, since all count alike; RESULT: 0
 * @pn:		packet number; CONTRIB and READY: number on the path; RESULT and DONE: number of the
 *		first chunk, in the channel's sequence at that home; PULL: first result wanted;
 *		TOLD: the next result; HELLO: grows with each HELLO sent; ACK: marks of congestion
 *		seen on the path so far, at least one for each datagram that had one
 * @aux:	CONTRIB, READY: count and root of the collective (gagg_call());
 *		RESULT: number of contributors | lowest rank with NaN or infinity << 16
 *		(with GAGG_WF_NONFINITE), or, for lanes of GAGG_LANE_S16 and _S8, bits by which
 *		sums were shifted << 16; RESEND, NAK: rank that is asked; ACK: the FRESH packet
 *		number; HELLO: largest packet number heard from the instance in its echo; WAITS:
 *		ranks 0 to 31, a bit each. In a group with a quorum RESULT names its contributors:
 *		a bit each, 0 to 15 in the lower half of aux, then @weight, then @sig
 * @tag:	bytes 0-7: cookie of the epoch; RESULT in a group with multicast: a value that
 *		follows from it (kmod/core/cookie.h); 8-15: zero until groups have keys
 *
 * RESULT has no field that depends on the receiver, so the same pages can be sent to all members.
 */
struct gagg_hdr {
	__le16	magic;
	__u8	ver;
	__u8	type;
	__le16	flags;
	__u8	hdrlen;
	__u8	laneop;
	__le32	group;
	__le32	epoch;
	__le16	channel;
	__le16	src;
	__le32	sig;
	__le32	chunk;
	__le32	round;
	__le16	run;
	__le16	lanes;
	__u8	exp;
	__u8	want;
	__le16	weight;
	__le32	pn;
	__le32	aux;
	__u8	tag[16];
};

#define GAGG_ACK_WORDS	8

/**
 * struct gagg_ack - body of ACK
 * @base:	every packet number before it was received, or is too old to tell
 * @largest:	largest packet number received
 * @map:	bit i, over all words: packet number base + i was received
 */
struct gagg_ack {
	__le32	base;
	__le32	largest;
	__le64	map[GAGG_ACK_WORDS];
};

/* The fields that a configuration digest covers; the index names the field that differs */
enum gagg_digest {
	GAGG_DG_MEMBERS,	/* number of members */
	GAGG_DG_ADDRESS,	/* addresses of the members, and the multicast address */
	GAGG_DG_ROLE,
	GAGG_DG_RULES,		/* GAGG_RULES */
	GAGG_DG_LANES,
	GAGG_DG_RING,
	GAGG_DG_WINDOW,
	GAGG_DG_STRIPE,
	GAGG_DG_SHARDS,
	GAGG_DG_PORT,
	GAGG_DG_SYNC,
	GAGG_DG_PLACEMENT,
	GAGG_DG_DEAD_AFTER,
	GAGG_DG_KEY,
	GAGG_DG_LANE_TYPE,
	GAGG_DG_WIRE,
	GAGG_DG_COUNT = 16,
};

/* version of the rules that say where a chunk lives */
#define GAGG_RULES	1

/* a bit each: fields that are one number; the number is the digest. Others are hashed */
#define GAGG_DG_NUMBERS	(1U << GAGG_DG_MEMBERS | 1U << GAGG_DG_LANES | 1U << GAGG_DG_RING |	\
			 1U << GAGG_DG_WINDOW | 1U << GAGG_DG_STRIPE | 1U << GAGG_DG_SHARDS |	\
			 1U << GAGG_DG_PORT | 1U << GAGG_DG_SYNC | 1U << GAGG_DG_PLACEMENT |	\
			 1U << GAGG_DG_DEAD_AFTER | 1U << GAGG_DG_LANE_TYPE | 1U << GAGG_DG_WIRE)

/*
 * GAGG_DG_SYNC: bits 24-31 the number of the mode, bits 21-22 how many parameters it has, below
 * them each in an equal part of 21 bits, the last one in the lowest; or, of more than three, or one
 * that does not fit, GAGG_DG_SYNC_HASHED and 23 bits of a hash. An algorithm over rounds has those
 * up to the last that is not 0.
 */
#define GAGG_DG_SYNC_HASHED	(1U << 23)
#define GAGG_DG_SYNC_MODE(v)	((v) >> 24)
#define GAGG_DG_SYNC_ARGS(v)	((v) >> 21 & 3)		/* how many */
#define GAGG_DG_SYNC_BITS(n)	((n) ? 21U / (n) : 0)	/* of each of @n */

/*
 * The sync modes by number, on the wire and in struct gagg_sync_param. Those below
 * GAGG_SYNC_ROUNDS are carried out by the hosts; new ones go behind the last. Those from
 * GAGG_SYNC_ROUNDS to GAGG_SYNC_ROUNDS_MAX are algorithms of trainers over bulk-synchronous
 * rounds: hosts carry out all of them as GAGG_SYNC_BSP, compare number and parameters, and know
 * nothing else of them. Those that have names are here, new ones go to the end; 240 to 255 are for
 * experiments, and have none.
 */
enum gagg_sync_mode {
	GAGG_SYNC_BSP,
	GAGG_SYNC_ASP,
	GAGG_SYNC_SSP,
	GAGG_SYNC_DSSP,
	GAGG_SYNC_DSSP_LITERAL,
	GAGG_SYNC_R2SP,
	/* 6 to 8 are reserved */
	GAGG_SYNC_BSP_QUORUM = 9,
	GAGG_SYNC_BSP_DEADLINE,
	GAGG_SYNC_BSP_ADAPTIVE,
	GAGG_SYNC_AKO,
	GAGG_SYNC_GOSSIP_PULL,
	GAGG_SYNC_GOSSIP_PUSH,
	GAGG_SYNC_GOSSIP_PAIR,
	GAGG_SYNC_PUSH_SUM,
	GAGG_SYNC_EASGD,

	GAGG_SYNC_ROUNDS = 128,
	GAGG_SYNC_LOCALSGD = GAGG_SYNC_ROUNDS,
	GAGG_SYNC_EASGD_SYNC,
	GAGG_SYNC_HPSGD,
	GAGG_SYNC_ROUNDS_MAX = 255,
};

#define GAGG_HELLO_KNOWN	0x01	/* the sender has accepted the instance in echo */
#define GAGG_HELLO_ASK		0x02	/* answer at once */
#define GAGG_HELLO_THROUGH	0x04	/* chunks of all other nodes reach the sender */
#define GAGG_HELLO_BLOCKED	0x08	/* chunks of some node have not for dead_after */
#define GAGG_HELLO_SENT		0x10	/* HELLOs as long as a chunk have left to the receiver, */
					/* on each shard in its lacks, since the HELLO before */

/**
 * struct gagg_hello - body of HELLO
 * @instance:	random id of the sender's group object
 * @echo:	the receiver's instance id as last heard; 0: never
 * @attached:	ranks of the sender that are attached (bit per rank)
 * @reserved0:	zero
 * @ver_min:	lowest wire version spoken
 * @ver_max:	highest wire version spoken
 * @phase:	enum gagg_phase of the epoch
 * @flags:	GAGG_HELLO_*
 * @epoch_hi:	high 32 bits of the epoch (low ones: header)
 * @digest:	digests of the configuration, by enum gagg_digest: the value itself of a
 *		field in GAGG_DG_NUMBERS, a hash of any other
 * @lacks:	shards on which no datagram as long as a chunk has come recently from the instance
 *		in @echo (bit per shard). With GAGG_HELLO_ASK: send one on each of them
 * @blocked:	shards of @lacks on which none has come for dead_after
 * @reserved:	zero
 */
struct gagg_hello {
	__le64	instance;
	__le64	echo;
	__le64	attached;
	__le64	reserved0;
	__u8	ver_min;
	__u8	ver_max;
	__u8	phase;
	__u8	flags;
	__le32	epoch_hi;
	__le32	digest[GAGG_DG_COUNT];
	__le16	lacks;
	__le16	blocked;
	__le32	reserved;
};

enum gagg_phase {
	GAGG_PHASE_IDLE		= 0,	/* no epoch, or the last one has ended */
	GAGG_PHASE_RUNNING	= 1,
};

#define GAGG_NODES_MAX	64

/**
 * struct gagg_start - body of START
 * @cookie:	secret of the epoch; every datagram of the epoch carries it, but see @tag of struct
 *		gagg_hdr
 * @epoch_hi:	high 32 bits of the epoch
 * @nodes:	number of entries that follow
 * @instance:	instance id of each node; a node refuses if its own differs
 */
struct gagg_start {
	__le64	cookie;
	__le32	epoch_hi;
	__le32	nodes;
	__le64	instance[GAGG_NODES_MAX];
};

/* Why an epoch ended */
enum gagg_reason {
	GAGG_R_NONE,
	GAGG_R_BYE,		/* a rank has finished and detached */
	GAGG_R_DIED,		/* a trainer has exited without detaching */
	GAGG_R_SILENT,		/* a host is no longer heard */
	GAGG_R_RESTART,		/* a host has lost its state */
	GAGG_R_DESYNC,		/* two ranks called different collectives */
	GAGG_R_DELETED,		/* the group was deleted or changed on a host */
	GAGG_R_ADMIN,		/* ended by the administrator */
	GAGG_R_BLOCKED,		/* chunks of a host no longer reach another host */
	GAGG_R_MTU,		/* a chunk is too long for a host's own interface */
	GAGG_R_COUNT,
};

/**
 * struct gagg_abort - body of ABORT
 * @reason:	enum gagg_reason
 * @rank:	the rank that the reason is about
 * @other:	GAGG_R_DESYNC: the rank that @rank disagrees with; GAGG_R_BLOCKED: the rank whose
 *		host does not get the chunks
 * @sig:	GAGG_R_DESYNC: signature of @rank
 * @other_sig:	GAGG_R_DESYNC: signature of @other
 * @call:	GAGG_R_DESYNC: count and root of @rank, gagg_call(); 0 if not known
 * @other_call:	the same for @other
 */
struct gagg_abort {
	__le32	reason;
	__le16	rank;
	__le16	other;
	__le32	sig;
	__le32	other_sig;
	__le32	call;
	__le32	other_call;
};

/**
 * struct gagg_open - body of OPEN
 * @members:	ranks of the channel, a bit each
 */
struct gagg_open {
	__le64	members;
};

#endif /* _UAPI_LINUX_GAGG_WIRE_H */
