/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/gagg: the data interface of gagg.
 *
 *	open("/dev/gagg")	any process that may open the node (mode 0600)
 *	GAGG_IOC_OPEN		bind the file to one rank of a group of the
 *				caller's network namespace. Requires
 *				CAP_NET_ADMIN there; gaggd does it and passes
 *				the file on.
 *	GAGG_IOC_ATTACH		allocate and join, charged to the caller. The
 *				epoch starts once every worker is attached.
 *	GAGG_IOC_WAIT		wait for the epoch, or for an op.
 *	mmap()			the regions of a channel
 *	GAGG_IOC_SUBMIT		start a collective; the kernel then reads the
 *				contributions from the mapped ring as `filled`
 *				moves, and publishes results
 *	GAGG_IOC_CHANNEL	make a further channel
 *	read(), poll()		number of ops completed since the last read
 *	GAGG_IOC_TIMES		how long this rank has computed, and waited
 *	GAGG_IOC_DETACH, close	leave: the epoch ends for all ranks
 *
 * Every argument struct starts with its size. The kernel accepts a longer one whose tail is zero
 * (E2BIG otherwise), and no shorter one (EINVAL). Reserved fields and unknown flags must be zero
 * (EINVAL). A file that is not bound gets ENOTCONN, an unknown number ENOTTY.
 */
#ifndef _UAPI_LINUX_GAGG_H
#define _UAPI_LINUX_GAGG_H

#include <linux/types.h>
#include <linux/ioctl.h>

#define GAGG_NAME_MAX		32	/* group name, with the final zero */
#define GAGG_RANKS_MAX		64
#define GAGG_CHANNELS_MAX	64	/* per group */
#define GAGG_SYNC_ARGS		4	/* most parameters of a sync mode */
#define GAGG_SYNC_DECIMALS	10000	/* parts of a parameter's unit, see gagg_sync_param */

/*
 * Version of this interface. It grows with each change by which a program that was built with
 * another one would be misunderstood; libgagg refuses another one.
 */
#define GAGG_ABI		2

/**
 * struct gagg_sync_param - a sync mode as configured
 * @mode:	enum gagg_sync_mode (gagg_wire.h)
 * @arg:	its parameters, in their order; zero behind the last
 *
 * A parameter with decimals is two numbers: whole units, and how many GAGG_SYNC_DECIMALS-ths of
 * one come to them. ALPHA of GAGG_SYNC_EASGD has decimals: 1.5 percent are 1 and 5000.
 */
struct gagg_sync_param {
	__u32	mode;
	__u32	arg[GAGG_SYNC_ARGS];
};

/* features, GAGG_IOC_FEATURES */
#define GAGG_FEAT_BSP		(1ULL << 0)
#define GAGG_FEAT_IPV6		(1ULL << 1)
#define GAGG_FEAT_URING		(1ULL << 2)
#define GAGG_FEAT_CHANNELS	(1ULL << 3)
#define GAGG_FEAT_STORE		(1ULL << 4)
#define GAGG_FEAT_TIMES		(1ULL << 5)
#define GAGG_FEAT_COPIES	(1ULL << 6)

/**
 * struct gagg_ioc_features - what this kernel module can do
 * @size:	size of this struct
 * @abi:	out: version of this interface, GAGG_ABI
 * @features:	out: GAGG_FEAT_*
 * @wire_min:	out: lowest wire version
 * @wire_max:	out: highest wire version
 * @reserved:	zero
 */
struct gagg_ioc_features {
	__u32	size;
	__u32	abi;
	__u64	features;
	__u32	wire_min;
	__u32	wire_max;
	__u64	reserved[2];
};

/**
 * struct gagg_ioc_open - bind a file to a rank
 * @size:	size of this struct
 * @flags:	zero
 * @name:	name of the group, zero-terminated
 * @rank:	rank to bind to; must be a local worker
 * @reserved:	zero
 *
 * ENOENT: no such group; EINVAL: the rank is not a local worker; EBUSY: another file is bound to
 * the rank, or this file is bound already; EPERM: no CAP_NET_ADMIN.
 */
struct gagg_ioc_open {
	__u32	size;
	__u32	flags;
	char	name[GAGG_NAME_MAX];
	__u32	rank;
	__u32	reserved[3];
};

/**
 * struct gagg_region - offset and length for mapping a part of a channel
 * @offset:	offset for mmap()
 * @length:	bytes
 */
struct gagg_region {
	__u64	offset;
	__u64	length;
};

/*
 * The regions of a channel. PUSH and CONTRIB belong to one session and are mapped read-write; DONE
 * and RESULT are shared by all local ranks and mapped read-only (PROT_READ only: EPERM otherwise).
 * A region is mapped as a whole and with MAP_SHARED (EINVAL otherwise).
 *
 * The kernel reads CONTRIB and never writes it: a contribution stays there, even after its result
 * is published, until the trainer fills the slot again.
 *
 * CONTRIB, RESULT: chunk i of the ring starts at
 *	(i / per_block) * block + (i % per_block) * stride
 * PUSH: struct gagg_push, at 4096 an array of struct gagg_cdesc by slot
 * DONE: struct gagg_done, at 4096 an array of struct gagg_rdesc by slot
 */
enum gagg_region_id {
	GAGG_REG_PUSH,
	GAGG_REG_CONTRIB,
	GAGG_REG_DONE,
	GAGG_REG_RESULT,
	GAGG_REG_COUNT,
};

#define GAGG_DESC_OFFSET	4096

/**
 * struct gagg_geometry - shape of a channel
 * @channel:	id
 * @rank:	rank of this session in the group
 * @members:	ranks of the channel, a bit each
 * @epoch:	epoch the channel belongs to; 0 from GAGG_IOC_ATTACH, since it has
 *		not started yet (GAGG_IOC_STATUS tells)
 * @mode:	enum gagg_sync_mode: by which trainers tell apart what the kernel does alike
 * @ring:	chunks in the ring
 * @window:	chunks that may be in flight
 * @lanes:	32-bit lanes per chunk. GAGG_IOC_ATTACH returns the maximum; the epoch may have
 *		fewer (GAGG_IOC_STATUS tells)
 * @stride:	bytes from one chunk to the next in a block
 * @per_block:	chunks in a block
 * @block:	bytes of a block
 * @region:	where to map what, by enum gagg_region_id
 * @flags:	GAGG_GEO_STORE: the chunks persist, see GAGG_K_UPDATE. GAGG_GEO_COPIES: in addition
 *		every rank has a copy of its own of all chunks. GAGG_GEO_INT64: lanes of the store
 *		have 64 bits, and count as two of @lanes. GAGG_GEO_INT16, GAGG_GEO_INT8: ops may
 *		have lanes of GAGG_LANE_S16 or _S8 (GAGG_GA_WIRE). GAGG_GEO_CARRY: rounds may be
 *		complete without all ranks, and the trainer adds a contribution that was late to its
 *		next one
 * @bound:	store: number of clocks by which a rank that reads may be ahead of the slowest; ~0:
 *		any number
 * @fresh:	store: offset in RESULT of an array of __u32 by chunk: the least clock of all ranks
 *		when the chunk was read. The chunk includes all updates with smaller stamps
 * @local:	index of this rank among the ranks of the channel on this host
 * @homes:	with placement tensor: how many aggregators channels of @members are divided over,
 *		of which channel c has the (c % homes)-th; otherwise 1
 * @arg:	parameters of @mode, in their order; zero behind the last
 */
struct gagg_geometry {
	__u32	channel;
	__u32	rank;
	__u64	members;
	__u64	epoch;
	__u32	mode;
	__u32	ring;
	__u32	window;
	__u32	lanes;
	__u32	stride;
	__u32	per_block;
	__u64	block;
	struct gagg_region region[GAGG_REG_COUNT];
	__u32	flags;
	__u32	bound;
	__u64	fresh;
	__u32	local;
	__u32	homes;
	__u32	arg[GAGG_SYNC_ARGS];
};

#define GAGG_GEO_STORE		(1U << 0)
#define GAGG_GEO_COPIES		(1U << 1)
#define GAGG_GEO_INT64		(1U << 2)
#define GAGG_GEO_INT16		(1U << 3)
#define GAGG_GEO_INT8		(1U << 4)
#define GAGG_GEO_CARRY		(1U << 5)

/**
 * struct gagg_ioc_attach - allocate channel 0 and join
 * @size:	size of this struct
 * @flags:	zero
 * @ranks:	out: ranks of the group
 * @reserved:	zero
 * @geo:	out: channel 0; last, because it may grow
 *
 * Returns at once; the epoch has started when GAGG_IOC_WAIT with GAGG_WAIT_EPOCH returns 0. EBUSY:
 * attached already; ENOMEM; EDQUOT: the user namespace has as many channels as the module allows;
 * ESTALE: the group was deleted, or made anew with another configuration: open again; ENOTCONN: the
 * group is incomplete. After an epoch has ended, the same call attaches again. The kernel no longer
 * uses mappings of the old epoch; the caller must unmap them.
 */
struct gagg_ioc_attach {
	__u32	size;
	__u32	flags;
	__u32	ranks;
	__u32	reserved;
	struct gagg_geometry geo;
};

/**
 * struct gagg_ioc_channel - make a channel among a subset of ranks
 * @size:	size of this struct
 * @flags:	zero
 * @channel:	id, from 1 to 65535, the same on every member. By convention
 *		1 + lowest member * 1000 + a number that the lowest member has
 *		free, so that ids never collide between disjoint channels.
 * @reserved:	zero
 * @members:	ranks, the caller's among them
 * @geo:	out: its shape
 *
 * EEXIST: this session has the channel already, or has given it back: an id is used once in an
 * epoch; EBUSY: this host has the channel with other members; ENOSPC: too many channels; ENOMEM,
 * EDQUOT: as for GAGG_IOC_ATTACH; ENOTCONN: no epoch; EPIPE: the epoch has ended.
 */
struct gagg_ioc_channel {
	__u32	size;
	__u32	flags;
	__u32	channel;
	__u32	reserved;
	__u64	members;
	struct gagg_geometry geo;
};

/**
 * struct gagg_ioc_channel_free - give a channel back
 * @size:	size of this struct
 * @channel:	id, not 0. EBUSY while an op is in flight on it, ENOENT.
 */
struct gagg_ioc_channel_free {
	__u32	size;
	__u32	channel;
};

/* collectives */
enum gagg_kind {
	GAGG_K_ALLREDUCE	= 1,
	GAGG_K_REDUCE_SCATTER	= 2,
	GAGG_K_ALLGATHER	= 3,
	GAGG_K_BROADCAST	= 4,
	GAGG_K_BARRIER		= 5,
	GAGG_K_EXPONENTS	= 6,
	GAGG_K_UPDATE		= 7,	/* of a store */
	GAGG_K_READ		= 8,	/* of a store */
};

/*
 * A group whose sync mode keeps a store (GAGG_GEO_STORE) has no collectives.
 * Chunk i of the store is slot i of the regions; its lanes are int32 (with
 * GAGG_GEO_INT64 int64, little-endian as all lanes) and wrap, zero when the epoch
 * starts.
 *
 *	UPDATE	adds the lanes of @chunks chunks from @count on, read from CONTRIB, to the store,
 *		each exactly once; those with GAGG_C_ZERO are left out. CONTRIB and its descriptions
 *		must be complete before the call, and must not change until the op is done: then
 *		every home has confirmed it. The rank's clock, 0 at first, grows by one. With
 *		GAGG_SUBMIT_LAST it is the rank's last update: the clock goes to the end, and no
 *		rank waits for it any more.
 *	READ	copies chunks into RESULT, which is the rank's own, as soon as the sync mode lets a
 *		rank with its clock read. They include all of its own updates. After its last
 *		update: as soon as all ranks have made theirs. With GAGG_SUBMIT_FENCE, in any mode:
 *		as soon as all ranks have come to the caller's clock. So if no rank goes on before
 *		all have read, they read the same.
 *
 * Ops of a rank take effect in order. DONE holds no chunks.
 *
 * With GAGG_GEO_COPIES every rank's host has a copy of the store, and an op is for one of them:
 * with GAGG_SUBMIT_OWN for the rank's own copy, with GAGG_SUBMIT_PEER for that of rank @root.
 * Exactly one of the two is set (EINVAL otherwise). Exception: an UPDATE in a mode that divides
 * updates among the copies of the other ranks (ako) has neither. A clock belongs to a rank,
 * whatever copy its updates were for. If reads lock a whole copy (gossip-pull, gossip-push,
 * push-sum), a rank may have one read between two updates (EINVAL), not counting reads with
 * GAGG_SUBMIT_FENCE.
 */

/**
 * struct gagg_ioc_submit - start a collective
 * @size:	size of this struct
 * @flags:	GAGG_SUBMIT_*
 * @channel:	id
 * @kind:	enum gagg_kind
 * @laneop:	lane type and operator, GAGG_LANEOP()
 * @dtype:	the caller's element type, 0 to 15; compared between ranks, else
 *		unused
 * @reserved:	zero
 * @root:	root of a broadcast; compared between ranks, else unused
 * @last_lanes:	32-bit lanes of the last chunk, 1 to lanes; all others are full.
 *		0 only for a barrier
 * @count:	elements; compared between ranks, else unused. UPDATE and READ: first
 *		chunk; @laneop, @dtype and @last_lanes are zero then, and @root without
 *		GAGG_SUBMIT_PEER
 * @chunks:	chunks of the op, at least 1; a barrier has 1; an UPDATE may have 0
 * @op:		out: number of the op on this channel and session, from 1
 *
 * The op takes the next @chunks virtual chunks of the channel. Contributions may be filled before
 * or after the call. E2BIG: too many ops in flight; EOPNOTSUPP: a collective in a group with a
 * store, or the reverse; EOVERFLOW: the channel has used all rounds (2^32 - 2 for each slot);
 * EINVAL; ENOENT: no such channel; ENOTCONN: no epoch; EPIPE: the epoch has ended (GAGG_IOC_STATUS
 * tells why).
 */
struct gagg_ioc_submit {
	__u32	size;
	__u32	flags;
	__u32	channel;
	__u8	kind;
	__u8	laneop;
	__u8	dtype;
	__u8	reserved;
	__u32	root;
	__u32	last_lanes;
	__u64	count;
	__u64	chunks;
	__u64	op;
};

#define GAGG_SUBMIT_RAW		(1U << 0)	/* lanes carry no exponent */
#define GAGG_SUBMIT_LAST	(1U << 1)	/* the rank's last update of a store */
#define GAGG_SUBMIT_FENCE	(1U << 2)	/* READ: wait until all ranks have come as far */
#define GAGG_SUBMIT_PEER	(1U << 3)	/* UPDATE, READ: the copy of rank @root */
#define GAGG_SUBMIT_OWN		(1U << 4)	/* UPDATE, READ: the rank's own copy */

#define GAGG_WAIT_EPOCH		(~0U)		/* as channel: wait for the epoch */

/**
 * struct gagg_ioc_wait - sleep until something is done
 * @size:	size of this struct
 * @channel:	id, or GAGG_WAIT_EPOCH
 * @op:		op to wait for; for GAGG_WAIT_EPOCH zero
 * @chunk:	0: until the op is done. Otherwise until all virtual chunks of
 *		the channel below it are done
 * @timeout_ns:	relative; ~0: for ever; 0: only look
 *
 * ETIMEDOUT; EINTR; EPIPE: the epoch has ended; EPROTO (GAGG_WAIT_EPOCH): a host's configuration
 * differs, or chunks do not pass between hosts; ENOTCONN: not attached; ENOENT: no such channel;
 * EINVAL: @op or @chunk was not submitted.
 */
struct gagg_ioc_wait {
	__u32	size;
	__u32	channel;
	__u64	op;
	__u64	chunk;
	__u64	timeout_ns;
};

/**
 * struct gagg_ioc_status - state of the epoch
 * @size:	size of this struct
 * @phase:	out: enum gagg_phase
 * @epoch:	out: the last epoch
 * @reason:	out: enum gagg_reason why it ended
 * @rank:	out: the rank that the reason is about
 * @other:	out: GAGG_R_DESYNC: the rank that @rank disagrees with; GAGG_R_BLOCKED: the rank
 *		whose host does not get chunks of @rank's host
 * @sig:	out: GAGG_R_DESYNC: signature of @rank
 * @other_sig:	out: GAGG_R_DESYNC: signature of @other
 * @mismatch:	out: 1 + enum gagg_digest when a host's configuration differs
 * @mismatch_node: out: lowest rank of that host
 * @blocked:	in: zero; out: 1 + lowest rank of a host that is heard, while chunks do not pass
 *		between it and this host, or a third one; 0: none
 * @attached:	out: ranks known to be attached
 * @heard:	out: ranks whose host is heard
 * @lanes:	out: 32-bit lanes per chunk in the epoch; without an epoch, those that hosts have
 *		agreed on so far
 * @channel:	in: channel of @op
 * @op:		in: an op of the caller that is in flight; 0: none
 * @missing:	out: ranks that @op waits for, as far as this host knows: nothing that it needs from
 *		them next has arrived. If another host adds a chunk, this is known when the chunk
 *		has been open for a quarter of a second. A read of a store: the ranks furthest
 *		behind, if it waits for their clocks
 * @call:	out: GAGG_R_DESYNC: the call of @rank: the low 26 bits of @count in struct
 *		gagg_ioc_submit, and above them six bits of root | root >> 8 << 4; 0: not known
 * @other_call:	out: the same for @other
 * @mismatch_here: out: this host's digest of the field in @mismatch: its value, if the field is
 *		in GAGG_DG_NUMBERS. For GAGG_DG_COUNT this host's version of datagrams
 * @mismatch_there: out: the same for the host of @mismatch_node. If it is a version: of those that
 *		the host knows the one nearest to this host's
 */
struct gagg_ioc_status {
	__u32	size;
	__u32	phase;
	__u64	epoch;
	__u32	reason;
	__u32	rank;
	__u32	other;
	__u32	sig;
	__u32	other_sig;
	__u32	mismatch;
	__u32	mismatch_node;
	__u32	blocked;
	__u64	attached;
	__u64	heard;
	__u32	lanes;
	__u32	channel;
	__u64	op;
	__u64	missing;
	__u32	call;
	__u32	other_call;
	__u32	mismatch_here;
	__u32	mismatch_there;
};

struct gagg_ioc_detach {
	__u32	size;
	__u32	flags;
};

/**
 * struct gagg_ioc_times - how the rank has spent its time
 * @size:	size of this struct
 * @flags:	GAGG_TIMES_SHARE or zero
 * @share:	in, with GAGG_TIMES_SHARE: this rank's samples of a batch. The kernel does not use
 *		it, but reports it with the times over netlink
 * @batch:	in, with GAGG_TIMES_SHARE: samples of the batch, at least @share and 1
 * @compute_ns:	out: time without an op in flight
 * @wait_ns:	out: time with one or more ops in flight
 * @ops:	out: ops done
 * @reserved:	zero
 *
 * Counted since the session's first submission in its last epoch, and up to now or the end of the
 * epoch; ops of all its channels together. An op is in flight from GAGG_IOC_SUBMIT until all of its
 * results are published. So the time from then to the next submission counts as computing, with
 * reading these results; and computing while an op is in flight does not count as such.
 *
 * EINVAL; ENOTCONN: not attached.
 */
struct gagg_ioc_times {
	__u32	size;
	__u32	flags;
	__u32	share;
	__u32	batch;
	__u64	compute_ns;
	__u64	wait_ns;
	__u64	ops;
	__u64	reserved;
};

#define GAGG_TIMES_SHARE	(1U << 0)	/* @share and @batch have new values */

#define GAGG_IOC_MAGIC		0xF7
#define GAGG_IOC_FEATURES	_IOWR(GAGG_IOC_MAGIC, 0, struct gagg_ioc_features)
#define GAGG_IOC_OPEN		_IOWR(GAGG_IOC_MAGIC, 1, struct gagg_ioc_open)
#define GAGG_IOC_ATTACH		_IOWR(GAGG_IOC_MAGIC, 2, struct gagg_ioc_attach)
#define GAGG_IOC_DETACH		_IOWR(GAGG_IOC_MAGIC, 3, struct gagg_ioc_detach)
#define GAGG_IOC_CHANNEL	_IOWR(GAGG_IOC_MAGIC, 4, struct gagg_ioc_channel)
#define GAGG_IOC_CHANNEL_FREE	_IOWR(GAGG_IOC_MAGIC, 5, struct gagg_ioc_channel_free)
#define GAGG_IOC_SUBMIT		_IOWR(GAGG_IOC_MAGIC, 6, struct gagg_ioc_submit)
#define GAGG_IOC_WAIT		_IOWR(GAGG_IOC_MAGIC, 7, struct gagg_ioc_wait)
#define GAGG_IOC_STATUS		_IOWR(GAGG_IOC_MAGIC, 8, struct gagg_ioc_status)
#define GAGG_IOC_TIMES		_IOWR(GAGG_IOC_MAGIC, 9, struct gagg_ioc_times)

/**
 * struct gagg_uring_cmd - the 16 bytes of an io_uring command (sqe->cmd)
 * @addr:	user address of the argument struct of the ioctl
 * @len:	its size
 * @reserved:	zero
 *
 * sqe->cmd_op is GAGG_IOC_SUBMIT (starts the op and completes when it is done) or GAGG_IOC_WAIT.
 * The argument is read, and for SUBMIT its @op is written, before io_uring_enter() returns. A wait
 * has no timeout: timeout_ns must be ~0 (link a timeout instead). It ends by completion, by the end
 * of the epoch, or, with ECANCELED, when the process that submitted it closes the file. It does not
 * begin in a process that no longer has a descriptor of the file. EBUSY: 4096 commands wait
 * already. A host's different configuration is reported only when the wait begins.
 */
struct gagg_uring_cmd {
	__u64	addr;
	__u32	len;
	__u32	reserved;
};

/**
 * struct gagg_push - first page of the PUSH region, written by the trainer
 * @filled:	all virtual chunks below it are in CONTRIB and described. Write it with release
 *		semantics. Virtual chunk v is in slot v % ring; filling v tells the kernel that the
 *		result of v - ring was read.
 * @reserved:	zero
 */
struct gagg_push {
	__u64	filled;
	__u64	reserved[7];
};

/* flags of a contribution (struct gagg_cdesc) and of a result */
#define GAGG_C_ZERO		0x01	/* adds nothing: no payload */
#define GAGG_C_NONFINITE	0x02	/* has NaN or infinity: no payload */
#define GAGG_C_NORESULT		0x04	/* this rank does not want the result */
#define GAGG_C_OVERFLOW		0x08	/* result only: the sum may have wrapped */

/**
 * struct gagg_cdesc - description of one contribution
 * @exp:	exponent of the lanes, biased by 127; raw lanes: 0
 * @want:	exponent the data needs; int32: bits of the largest magnitude; int64: 0
 * @flags:	GAGG_C_ZERO, GAGG_C_NONFINITE, GAGG_C_NORESULT
 * @reserved:	zero
 */
struct gagg_cdesc {
	__u8	exp;
	__u8	want;
	__u8	flags;
	__u8	reserved[5];
};

/**
 * struct gagg_done - first page of the DONE region, written by the kernel
 * @epoch:	epoch the region belongs to
 * @failed:	not 0: the epoch has ended; enum gagg_reason
 * @reserved:	zero
 * @completed:	virtual chunks below it are done
 */
struct gagg_done {
	__u64	epoch;
	__u32	failed;
	__u32	reserved;
	__u64	completed;
};

/**
 * struct gagg_rdesc - one result
 * @published:	epoch << 32 | round of the result in the slot. Read it with
 *		acquire semantics, before everything else
 * @exp:	largest exponent of the contributions
 * @want:	largest exponent wanted
 * @flags:	GAGG_C_*; with ZERO or NONFINITE or NORESULT there are no lanes
 * @contributors: number of ranks that are in the sum
 * @nonfinite:	with GAGG_C_NONFINITE: lowest rank that had NaN or infinity. Lanes of GAGG_LANE_S16
 *		and GAGG_LANE_S8: bits by which sums were shifted to fit; their unit is 2^@nonfinite
 *		times the one that @exp means
 * @counted:	ranks of this host that are in the sum, a bit each, by
 *		gagg_geometry.local
 */
struct gagg_rdesc {
	__u64	published;
	__u8	exp;
	__u8	want;
	__u8	flags;
	__u8	contributors;
	__u16	nonfinite;
	__u16	counted;
};

#endif /* _UAPI_LINUX_GAGG_H */
