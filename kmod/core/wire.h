/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The header of a datagram, parsed, in host byte order. Only wire.c reads and writes the bytes of a
 * header. What gagg_wire_parse() accepts has passed every check that needs no state.
 */
#ifndef GAGG_CORE_WIRE_H
#define GAGG_CORE_WIRE_H

#include "types.h"
#include <linux/gagg_wire.h>

/* versions of datagrams that a host understands */
#define GAGG_WIRE_OLDEST	GAGG_WIRE_VERSION
#define GAGG_WIRE_NEWEST	GAGG_WIRE_VERSION

/*
 * A parsed header: fields as in struct gagg_hdr. @len is the payload's length in bytes.
 * gagg_hdr.sig has three meanings, and a name for each:
 *	sig	a ring's CONTRIB, READY: signature of the collective. RESULT, DONE: the same, except
 *		in a quorum
 *	ranks	ranks 32 to 63 of a set, a bit each: a quorum's RESULT and DONE; WAITS
 *	number	a store's PULL and RESULT: number of the op that asks
 */
struct gagg_msg {
	u8 type;
	u8 laneop;
	u16 flags;
	u32 group;
	u32 epoch;
	u16 channel;
	u16 src;
	union {
		u32 sig;
		u32 ranks;
		u32 number;
	};
	u32 chunk;
	u32 round;
	u16 run;
	u16 lanes;
	u8 exp;
	u8 want;
	u16 weight;
	u32 pn;
	u32 aux;
	u64 cookie;
	u32 len;
};

/* Why a datagram was dropped; the module counts by it. */
enum gagg_drop {
	GAGG_DROP_NONE,
	GAGG_DROP_SHORT,
	GAGG_DROP_VERSION,
	GAGG_DROP_CHECKSUM,
	GAGG_DROP_TYPE,
	GAGG_DROP_SOURCE,
	GAGG_DROP_EPOCH,
	GAGG_DROP_COOKIE,
	GAGG_DROP_RANK,
	GAGG_DROP_CHANNEL,
	GAGG_DROP_CHUNK,
	GAGG_DROP_ROUND,
	GAGG_DROP_WINDOW,
	GAGG_DROP_OP,
	GAGG_DROP_NOMEM,
	GAGG_DROP_COUNT,
};

/*
 * gagg_wire_parse - read and check a header
 * @raw: at least @len bytes that do not change during the call; of the payload only the length
 *       matters
 * @len: length of the whole datagram
 *
 * Checks length, magic, version, hdrlen, fatal flags, known type, run >= 1, and that the payload's
 * length fits type, flags and lanes: CONTRIB and RESULT without ZERO and NONFINITE carry exactly
 * lanes * 4 bytes (1 to GAGG_WIRE_LANES_MAX lanes) and run 1; HELLO, START (by its node count: at
 * least the fixed part), ABORT, ACK, OPEN their struct; all others nothing.
 */
enum gagg_drop gagg_wire_parse(const void *raw, u32 len, struct gagg_msg *m);

/*
 * gagg_wire_follows - is a header like one before it?
 * @first: a header that gagg_wire_parse() found good
 * @raw: the header of a datagram of the same length, in any alignment. It may change during the
 *       call: each byte is read once
 * @m: what @first was parsed to, or a later one that followed it
 *
 * Returns true if nothing but chunk, pn, exp and want differs. Then @m has the new values, and is
 * what gagg_wire_parse() would make of @raw. If false, @m is unchanged.
 */
bool gagg_wire_follows(const struct gagg_hdr *first, const void *raw, struct gagg_msg *m);

/* the id of the group in a header, in any alignment */
static inline u32 gagg_wire_group(const void *raw)
{
	const struct {
		__le32 v;
	} __attribute__((packed, may_alias)) *id =
		(const void *)((const u8 *)raw + offsetof(struct gagg_hdr, group));

	return le32_to_cpu(id->v);
}

/* gagg_wire_build - write a header; @hdr gets GAGG_WIRE_HDRLEN bytes */
void gagg_wire_build(void *hdr, const struct gagg_msg *m);

/*
 * gagg_wire_follow - write the header of @m after that of a message before it
 * @hdr: gets GAGG_WIRE_HDRLEN bytes
 * @prev: the header that gagg_wire_build() wrote for a message that differs from @m in chunk, pn,
 *	  exp and want at most: see gagg_wire_follows()
 */
void gagg_wire_follow(void *hdr, const void *prev, const struct gagg_msg *m);

/* true if the type and flags of @m mean that lanes follow the header */
static inline bool gagg_wire_has_lanes(const struct gagg_msg *m)
{
	return (m->type == GAGG_T_CONTRIB || m->type == GAGG_T_RESULT) &&
	       !(m->flags & (GAGG_WF_ZERO | GAGG_WF_NONFINITE));
}

/*
 * Does the window of a path react if the network marks the message as congested?
 *
 * 1. It reacts to marks of the datagrams that the window counts: CONTRIB and READY.
 * 2. A mark of any other datagram would have no effect. So those are sent as not markable: a
 *    congested router drops them instead.
 */
static inline bool gagg_wire_reacts(const struct gagg_msg *m)
{
	return m->type == GAGG_T_CONTRIB || m->type == GAGG_T_READY;
}

/*
 * gagg_wire_behind - what a message must not overtake on its way to a node
 *
 * 1. READY shares its packet numbers with CONTRIB; DONE and empty RESULTs share theirs with RESULT.
 *    The receiver would take overtaking for loss.
 * 2. TOLD names results that must have left before it.
 *
 * Returns GAGG_T_CONTRIB or GAGG_T_RESULT: datagrams of that type to the node which still wait in a
 * burst must leave first. 0: none.
 */
static inline u8 gagg_wire_behind(const struct gagg_msg *m)
{
	switch (m->type) {
	case GAGG_T_READY:
		return GAGG_T_CONTRIB;
	case GAGG_T_DONE:
	case GAGG_T_RESULT:
	case GAGG_T_TOLD:
		return GAGG_T_RESULT;
	default:
		return 0;
	}
}

/* is it taken if it comes by multicast? Nothing is that many hosts would answer at once */
static inline bool gagg_wire_is_for_all(const struct gagg_msg *m)
{
	return m->type == GAGG_T_RESULT;
}

/* is the message for the join object, and for no shard? */
static inline bool gagg_wire_joins(const struct gagg_msg *m)
{
	return m->type == GAGG_T_HELLO || m->type == GAGG_T_START || m->type == GAGG_T_ABORT;
}

/*
 * gagg_sig - signature of a collective: bits 28-31 kind, 24-27 dtype, 0-23 a
 * digest of (count, root, laneop). If two ranks have different signatures for one chunk, they have
 * called different collectives.
 */
u32 gagg_sig(u8 kind, u8 dtype, u8 laneop, u32 root, u64 count);

/*
 * gagg_call - count and root in 32 bits: the low 26 bits of the count, 6 bits of the root
 *
 * The root of a broadcast is a rank. For a reduction @root has an operator, and a kind above bit 8.
 * A reader that has this value and the signature knows the rest of the count.
 */
static inline u32 gagg_call(u32 root, u64 count)
{
	return (u32)(count & 0x3ffffff) | (root | root >> 8 << 4) << 26;
}

/* 64-bit mixing of two words (splitmix64 finalizer, Steele et al. 2014) */
u64 gagg_mix64(u64 a, u64 b);

/* a chunk's packet: bytes of its headers; lanes that fit @mtu bytes. @v6: IPv6, else IPv4 */
static inline u32 gagg_wire_overhead(bool v6)
{
	return (v6 ? 40 : 20) + 8 + GAGG_WIRE_HDRLEN;
}

/* bytes of a datagram of so many lanes: the least MTU that it passes */
static inline u32 gagg_wire_needs(u32 lanes, bool v6)
{
	return gagg_wire_overhead(v6) + 4 * lanes;
}

/* the lesser of two MTUs; 0: one that is not known */
static inline u32 gagg_wire_lesser(u32 a, u32 b)
{
	if (!a || !b)
		return a | b;
	return a < b ? a : b;
}

static inline u32 gagg_wire_fit(u32 mtu, bool v6)
{
	u32 overhead = gagg_wire_overhead(v6);

	return mtu > overhead ? (mtu - overhead) / 4 : 0;
}

#endif
