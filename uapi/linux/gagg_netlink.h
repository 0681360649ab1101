/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink family "gagg": names, membership, limits, observation.
 *
 * All commands act on the network namespace of the socket. Commands that change something, and the
 * multicast group, require CAP_NET_ADMIN in the user namespace that owns the network namespace.
 * Errors carry an extended ack with a sentence, and with the attribute if one is the cause.
 *
 *	GROUP_NEW	GAGG_A_GROUP with a name, a local address and members
 *	GROUP_DEL	GAGG_A_GROUP with a name. Waiters get an error; the command
 *			does not wait for open files.
 *	GROUP_SET	GAGG_A_GROUP with a name and what to change. uid, gid, mode
 *			and channels any time; everything else only while no
 *			rank is attached (EBUSY), and it makes the group anew:
 *			files that are bound to it are stale, counters zero.
 *	GROUP_GET	by name, or dump: GAGG_A_GROUP
 *	MEMBER_ADD	GAGG_A_GROUP with a name and GAGG_GA_MEMBERS of one member
 *			or more: all or none. EEXIST, EBUSY while a rank is
 *			attached
 *	MEMBER_DEL	the same, rank only
 *	MEMBER_SET	the same, rank and what to change
 *	MEMBER_GET	dump, GAGG_A_GROUP with a name: GAGG_A_GROUP with
 *			GAGG_GA_NAME and one member per message; only this
 *			reports times
 *	STATS_GET	GAGG_A_GROUP with a name: GAGG_A_STATS
 *	GROUP_NTF, MEMBER_NTF
 *			multicast on GAGG_MCGRP_NAME: what GET would return,
 *			and GAGG_A_EVENT
 */
#ifndef _UAPI_LINUX_GAGG_NETLINK_H
#define _UAPI_LINUX_GAGG_NETLINK_H

#define GAGG_GENL_NAME		"gagg"
#define GAGG_GENL_VERSION	1
#define GAGG_MCGRP_NAME		"events"

enum gagg_cmd {
	GAGG_CMD_UNSPEC,
	GAGG_CMD_GROUP_NEW,
	GAGG_CMD_GROUP_DEL,
	GAGG_CMD_GROUP_SET,
	GAGG_CMD_GROUP_GET,
	GAGG_CMD_MEMBER_ADD,
	GAGG_CMD_MEMBER_DEL,
	GAGG_CMD_MEMBER_SET,
	GAGG_CMD_MEMBER_GET,
	GAGG_CMD_STATS_GET,
	GAGG_CMD_GROUP_NTF,
	GAGG_CMD_MEMBER_NTF,
	__GAGG_CMD_MAX,
};

#define GAGG_CMD_MAX (__GAGG_CMD_MAX - 1)

/* top level */
enum gagg_attr {
	GAGG_A_UNSPEC,
	GAGG_A_GROUP,		/* nest of enum gagg_group_attr */
	GAGG_A_STATS,		/* nest of enum gagg_stats_attr */
	GAGG_A_EVENT,		/* u32, enum gagg_event */
	__GAGG_A_MAX,
};

#define GAGG_A_MAX (__GAGG_A_MAX - 1)

/*
 * A group. Defaults are in brackets. "same": must be the same on every host; hosts compare digests.
 */
enum gagg_group_attr {
	GAGG_GA_UNSPEC,
	GAGG_GA_NAME,		/* string, 1 to 31 of [A-Za-z0-9._-] */
	GAGG_GA_ID,		/* u32, id on the wire [hash of the name]; same */
	GAGG_GA_LOCAL,		/* binary, 4 or 16 bytes: this host's address. To
				 * change it, make the group anew: the members that
				 * are marked local must have it all the time
				 */
	GAGG_GA_PORT,		/* u16, base port [7440]; same */
	GAGG_GA_UID,		/* u32, user that may train [0]; as in the user namespace that owns
				 * the network namespace
				 */
	GAGG_GA_GID,		/* u32 [0] */
	GAGG_GA_MODE,		/* u32, 0000 to 0666: read+write bits [0600] */
	GAGG_GA_LANES,		/* u16, 32-bit words of a chunk, 8 to 2240, multiple of 8; 0: auto,
				 * as many as fit the MTUs of all hosts, at most 344 [0]; same
				 */
	GAGG_GA_RING,		/* u32, chunks; a multiple of window; at least 2 stripes in each
				 * shard for every host [49152]; same
				 */
	GAGG_GA_WINDOW,		/* u32, chunks in flight, power of two, 64 to 16384 [2048]; same */
	GAGG_GA_STRIPE,		/* u16, chunks in a row with one home, 1 to 64 [8];
				 * same
				 */
	GAGG_GA_SHARDS,		/* u16, 1 to 16 [1]; same */
	GAGG_GA_CHANNELS,	/* u16, most channels, 1 to 64 [16] */
	GAGG_GA_CWND,		/* u32, datagrams in flight to one host, 4 to 448 [256] */
	GAGG_GA_DEAD_AFTER,	/* u32, ms of silence after which a host is dead,
				 * 100 to 600000 [5000]; same
				 */
	GAGG_GA_SYNC,		/* struct gagg_sync_param (gagg.h) [GAGG_SYNC_BSP]; same */
	GAGG_GA_PLACEMENT,	/* u32, enum gagg_placement [striped]; same */
	GAGG_GA_KEY,		/* binary; EOPNOTSUPP for now */
	GAGG_GA_MEMBERS,	/* nest of GAGG_MA_MEMBER nests */
	GAGG_GA_STATE,		/* out: u32, enum gagg_group_state */
	GAGG_GA_EPOCH,		/* out: u64 */
	GAGG_GA_REASON,		/* out: u32, enum gagg_reason, how the last epoch
				 * ended
				 */
	GAGG_GA_REASON_RANK,	/* out: u32 */
	GAGG_GA_MISMATCH,	/* out: string, the field that differs */
	GAGG_GA_PAD,
	GAGG_GA_LANE_TYPE,	/* u32, enum gagg_lane_type [int32]; same. INT64 requires a sync
				 * mode with a store: without one each op has its own lane type
				 */
	GAGG_GA_MULTICAST,	/* binary, 4 or 16 bytes, or 0: none [none]; same. The multicast
				 * address to which results are sent that all hosts with workers
				 * want. Not with a store
				 */
	GAGG_GA_WIRE,		/* u32, enum gagg_wire_lane [int32]; same. INT16 and INT8
				 * require bulk-synchronous rounds of gradients (bsp, bsp-...)
				 */
	GAGG_GA_MTU,		/* out: u32, bytes: the least MTU of this host's interfaces
				 * to the other members; absent: no route, or none
				 */
	GAGG_GA_MTU_NEEDED,	/* out: u32, bytes of a chunk with its IP header; the whole path
				 * must carry as many
				 */
	GAGG_GA_LANES_NOW,	/* out: u32, 32-bit words of a chunk in the epoch that runs; without
				 * an epoch, as hosts have agreed so far
				 */
	GAGG_GA_IDLE_AFTER,	/* u32, ms without a datagram sent to a host after which its window
				 * is halved, at least a timeout; 0 to 600000 [0]
				 */
	__GAGG_GA_MAX,
};

#define GAGG_GA_MAX (__GAGG_GA_MAX - 1)

enum gagg_placement {
	GAGG_PLACE_STRIPED,	/* chunks striped over the aggregators */
	GAGG_PLACE_ROOT,	/* all chunks at the lowest aggregator */
	GAGG_PLACE_TENSOR,	/* those of channel c at the (c % H)-th of its H aggregators;
				 * requires a sync mode without a store
				 */
};

/* lanes of a store; each collective has a lane type of its own */
enum gagg_lane_type {
	GAGG_LANE_TYPE_INT32,
	GAGG_LANE_TYPE_INT64,	/* two words of a chunk each */
};

/* lanes of floating-point sums on the wire; all others have 32 bits */
enum gagg_wire_lane {
	GAGG_WIRE_INT32,
	GAGG_WIRE_INT16,	/* two in the place of one */
	GAGG_WIRE_INT8,		/* four */
};

enum gagg_group_state {
	GAGG_GS_INCOMPLETE,	/* no member is on this host, or no worker or
				 * no aggregator at all
				 */
	GAGG_GS_WAITING,	/* not every rank is attached */
	GAGG_GS_MISMATCH,	/* a host is configured differently */
	GAGG_GS_RUNNING,
	GAGG_GS_BLOCKED,	/* chunks do not pass between some hosts */
};

enum gagg_member_attr {
	GAGG_MA_UNSPEC,
	GAGG_MA_MEMBER,		/* nest of the following */
	GAGG_MA_RANK,		/* u32, 0 to 63; ranks need not be dense */
	GAGG_MA_ADDRESS,	/* binary, 4 or 16 bytes */
	GAGG_MA_ROLES,		/* u32, GAGG_ROLE_* [both] */
	GAGG_MA_RESERVED,	/* never */
	GAGG_MA_LOCAL,		/* flag: this host. Required on exactly the members
				 * whose address is the group's local address
				 */
	GAGG_MA_STATE,		/* out: u32, enum gagg_member_state */
	GAGG_MA_MISMATCH,	/* out: string, the field that differs */
	GAGG_MA_RTT,		/* out: u32, us, smoothed; absent: unknown */
	GAGG_MA_CWND,		/* out: u32, datagrams */
	GAGG_MA_HEARD,		/* out: u32, ms since it was heard; absent: never */
	GAGG_MA_TIMES,		/* out: nest of enum gagg_times_attr, of local ranks
				 * that have begun an op in their last epoch
				 */
	GAGG_MA_BLOCKED_IN,	/* out: u32, shards (bit per shard) on which no chunks come from its
				 * host; absent: none
				 */
	GAGG_MA_BLOCKED_OUT,	/* out: u32, shards on which no chunks from here reach it */
	GAGG_MA_MISMATCH_HERE,	/* out: u32, this host's value of the field that differs; absent: no
				 * field differs, or it is no number
				 */
	GAGG_MA_MISMATCH_THERE,	/* out: u32, its host's value; with the former */
	__GAGG_MA_MAX,
};

#define GAGG_MA_MAX (__GAGG_MA_MAX - 1)

#define GAGG_ROLE_WORKER	(1U << 0)
#define GAGG_ROLE_AGGREGATOR	(1U << 1)

/* units: see struct gagg_ioc_times */
enum gagg_times_attr {
	GAGG_TA_UNSPEC,
	GAGG_TA_COMPUTE,	/* u64, ns */
	GAGG_TA_WAIT,		/* u64, ns */
	GAGG_TA_OPS,		/* u64 */
	GAGG_TA_SHARE,		/* u32, absent if the trainer has not set it */
	GAGG_TA_BATCH,		/* u32, with it */
	GAGG_TA_PAD,
	__GAGG_TA_MAX,
};

#define GAGG_TA_MAX (__GAGG_TA_MAX - 1)

enum gagg_member_state {
	GAGG_MS_UNHEARD,	/* its host was never heard, or not for a long time */
	GAGG_MS_MISMATCH,
	GAGG_MS_HEARD,		/* host is up, rank is not attached */
	GAGG_MS_ATTACHED,
	GAGG_MS_RUNNING,	/* in the running epoch */
	GAGG_MS_BLOCKED,	/* its host is heard, but chunks do not pass between it and this
				 * host, or a third host
				 */
};

/* Counters, u64 each. Dropped datagrams are counted by reason, never answered. */
enum gagg_stats_attr {
	GAGG_SA_UNSPEC,
	GAGG_SA_ROUNDS,		/* ops completed by local ranks */
	GAGG_SA_CHUNKS,		/* chunks published by this home */
	GAGG_SA_TX_DATAGRAMS,
	GAGG_SA_TX_BYTES,	/* UDP payload */
	GAGG_SA_RX_DATAGRAMS,
	GAGG_SA_RX_BYTES,
	GAGG_SA_CONTRIBUTIONS,	/* contributions counted, local ones included */
	GAGG_SA_RESULTS,	/* results placed */
	GAGG_SA_RETRANSMITS,	/* contributions sent again */
	GAGG_SA_REPAIRS,	/* results sent again */
	GAGG_SA_QUERIES,	/* QUERY sent */
	GAGG_SA_PULLS,		/* PULL sent */
	GAGG_SA_ACKS,		/* ACK sent */
	GAGG_SA_VOIDS,		/* sums voided by a larger exponent */
	GAGG_SA_DUPLICATES,	/* contributions that were counted already */
	GAGG_SA_STALE,		/* of an earlier round */
	GAGG_SA_EPOCHS,		/* epochs started */
	GAGG_SA_NONFINITE,	/* results with NaN or infinity */
	GAGG_SA_OVERFLOW,	/* results that may have wrapped */
	GAGG_SA_DROP_SHORT,	/* shorter than its type requires, or lanes and length differ; a
				 * datagram without a whole header names no group: the socket counts
				 * it (/proc/net/udp)
				 */
	GAGG_SA_DROP_VERSION,	/* magic, version, header length or fatal flag */
	GAGG_SA_DROP_CHECKSUM,
	GAGG_SA_DROP_TYPE,	/* unknown or misplaced type */
	GAGG_SA_DROP_SOURCE,	/* address is not the member's */
	GAGG_SA_DROP_EPOCH,
	GAGG_SA_DROP_COOKIE,
	GAGG_SA_DROP_RANK,	/* rank is not of the channel or not at that host */
	GAGG_SA_DROP_CHANNEL,
	GAGG_SA_DROP_CHUNK,	/* chunk out of range, or its home is not here */
	GAGG_SA_DROP_ROUND,	/* round out of range */
	GAGG_SA_DROP_WINDOW,	/* beyond the window */
	GAGG_SA_DROP_OP,	/* lane type or operator unknown, or lanes differ */
	GAGG_SA_DROP_NOMEM,
	GAGG_SA_TX_ERRORS,	/* datagrams that the stack did not accept. They are not in
				 * TX_DATAGRAMS and TX_BYTES: the module, which counts when it
				 * queues, subtracts them there. It does not learn of HELLO, START
				 * and ABORT that were refused: these count as sent
				 */
	GAGG_SA_LATE,		/* first contributions to a round that was complete
				 * without them
				 */
	GAGG_SA_PAD,
	__GAGG_SA_MAX,
};

#define GAGG_SA_MAX (__GAGG_SA_MAX - 1)

enum gagg_event {
	GAGG_EV_NEW,
	GAGG_EV_DEL,
	GAGG_EV_SET,
	GAGG_EV_EPOCH_START,
	GAGG_EV_EPOCH_END,
	GAGG_EV_MISMATCH,
	GAGG_EV_MEMBER_STATE,
};

#endif /* _UAPI_LINUX_GAGG_NETLINK_H */
