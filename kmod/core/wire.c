// SPDX-License-Identifier: GPL-2.0
/*
 * Only this file knows where a field of the header lies.
 */
#include "wire.h"

_Static_assert(sizeof(struct gagg_hdr) == GAGG_WIRE_HDRLEN, "header has holes");
_Static_assert(sizeof(struct gagg_ack) == 8 + 8 * GAGG_ACK_WORDS, "ack has holes");
_Static_assert(sizeof(struct gagg_start) == 16 + 8 * GAGG_NODES_MAX, "start has holes");
_Static_assert(sizeof(struct gagg_hello) == 112, "hello has holes");

#define START_FIXED	offsetof(struct gagg_start, instance)

/* legal lengths of a type's payload: min, min + step + 1, .. max */
struct body {
	u16 min;
	u16 max;
	u8 step;	/* 2^n - 1: must be clear in length - min */
	u8 known;
};

#define BODY(type)	{ sizeof(type), sizeof(type), 0, 1 }
#define EMPTY		{ 0, 0, 0, 1 }

/*
 * A reserved type is unknown as well: no sender of version 1 uses it. EMPTY does not count lanes,
 * see gagg_wire_parse().
 */
static const struct body bodies[32] = {
	[GAGG_T_HELLO]	 = { sizeof(struct gagg_hello), 4 * GAGG_WIRE_LANES_MAX, 0, 1 },
	[GAGG_T_START]	 = { START_FIXED, sizeof(struct gagg_start), 7, 1 },
	[GAGG_T_ABORT]	 = BODY(struct gagg_abort),
	[GAGG_T_CONTRIB] = EMPTY,
	[GAGG_T_READY]	 = EMPTY,
	[GAGG_T_RESULT]	 = EMPTY,
	[GAGG_T_DONE]	 = EMPTY,
	[GAGG_T_RESEND]	 = EMPTY,
	[GAGG_T_ACK]	 = BODY(struct gagg_ack),
	[GAGG_T_QUERY]	 = EMPTY,
	[GAGG_T_PULL]	 = EMPTY,
	[GAGG_T_NAK]	 = EMPTY,
	[GAGG_T_OPEN]	 = BODY(struct gagg_open),
	[GAGG_T_TOLD]	 = EMPTY,
	[GAGG_T_WAITS]	 = EMPTY,
};

enum gagg_drop gagg_wire_parse(const void *raw, u32 len, struct gagg_msg *m)
{
	const struct body *body;
	struct gagg_hdr h;
	__le64 cookie;
	u32 extra;

	if (len < GAGG_WIRE_HDRLEN)
		return GAGG_DROP_SHORT;
	memcpy(&h, raw, sizeof(h));
	memcpy(&cookie, h.tag, sizeof(cookie));
	m->type = h.type;
	m->laneop = h.laneop;
	m->flags = le16_to_cpu(h.flags);
	m->group = le32_to_cpu(h.group);
	m->epoch = le32_to_cpu(h.epoch);
	m->channel = le16_to_cpu(h.channel);
	m->src = le16_to_cpu(h.src);
	m->sig = le32_to_cpu(h.sig);
	m->chunk = le32_to_cpu(h.chunk);
	m->round = le32_to_cpu(h.round);
	m->run = le16_to_cpu(h.run);
	m->lanes = le16_to_cpu(h.lanes);
	m->exp = h.exp;
	m->want = h.want;
	m->weight = le16_to_cpu(h.weight);
	m->pn = le32_to_cpu(h.pn);
	m->aux = le32_to_cpu(h.aux);
	m->cookie = le64_to_cpu(cookie);
	m->len = len - GAGG_WIRE_HDRLEN;

	if (le16_to_cpu(h.magic) != GAGG_WIRE_MAGIC || h.ver != GAGG_WIRE_VERSION ||
	    h.hdrlen != GAGG_WIRE_HDRLEN ||
	    (m->flags & ~GAGG_WF_KNOWN & ~(GAGG_WF_FATAL - 1)))
		return GAGG_DROP_VERSION;
	body = &bodies[m->type % 32];
	if (m->type >= 32 || !body->known)
		return GAGG_DROP_TYPE;
	if (!m->run || m->lanes > GAGG_WIRE_LANES_MAX)
		return GAGG_DROP_CHUNK;
	if (gagg_wire_has_lanes(m)) {
		if (m->run != 1 || !m->lanes)
			return GAGG_DROP_CHUNK;
		return m->len == m->lanes * 4u ? GAGG_DROP_NONE : GAGG_DROP_SHORT;
	}
	extra = m->len - body->min;	/* wraps beyond max if there is less */
	if (extra > (u32)(body->max - body->min) || (extra & body->step))
		return GAGG_DROP_SHORT;
	return GAGG_DROP_NONE;
}

struct word {
	__le64 v;
} __attribute__((packed, may_alias));

/* word @i of a header, in any alignment */
static inline u64 wire_word(const void *p, u32 i)
{
	return le64_to_cpu(((const struct word *)p)[i].v);
}

/* the same, read once */
static inline u64 wire_word_once(const void *p, u32 i)
{
	return le64_to_cpu(((const volatile struct word *)p)[i].v);
}

_Static_assert(offsetof(struct gagg_hdr, chunk) == 24 &&
	       offsetof(struct gagg_hdr, round) == 28, "the lower half of word 3 may differ");
_Static_assert(offsetof(struct gagg_hdr, run) == 32 &&
	       offsetof(struct gagg_hdr, exp) == 36 &&
	       offsetof(struct gagg_hdr, want) == 37, "two bytes of word 4 may differ");
_Static_assert(offsetof(struct gagg_hdr, pn) == 40 &&
	       offsetof(struct gagg_hdr, aux) == 44, "the lower half of word 5 may differ");

bool gagg_wire_follows(const struct gagg_hdr *first, const void *raw, struct gagg_msg *m)
{
	u64 w3 = wire_word_once(raw, 3), w4 = wire_word_once(raw, 4), w5 = wire_word_once(raw, 5);

	if (wire_word(first, 0) != wire_word_once(raw, 0) ||
	    wire_word(first, 1) != wire_word_once(raw, 1) ||
	    wire_word(first, 2) != wire_word_once(raw, 2) ||
	    (wire_word(first, 3) ^ w3) >> 32 ||
	    ((wire_word(first, 4) ^ w4) & 0xffff0000ffffffffULL) ||
	    (wire_word(first, 5) ^ w5) >> 32 ||
	    wire_word(first, 6) != wire_word_once(raw, 6) ||
	    wire_word(first, 7) != wire_word_once(raw, 7))
		return false;
	m->chunk = (u32)w3;
	m->exp = (u8)(w4 >> 32);
	m->want = (u8)(w4 >> 40);
	m->pn = (u32)w5;
	return true;
}

void gagg_wire_build(void *hdr, const struct gagg_msg *m)
{
	__le64 cookie = cpu_to_le64(m->cookie);
	struct gagg_hdr h = {
		.magic = cpu_to_le16(GAGG_WIRE_MAGIC),
		.ver = GAGG_WIRE_VERSION,
		.type = m->type,
		.flags = cpu_to_le16(m->flags),
		.hdrlen = GAGG_WIRE_HDRLEN,
		.laneop = m->laneop,
		.group = cpu_to_le32(m->group),
		.epoch = cpu_to_le32(m->epoch),
		.channel = cpu_to_le16(m->channel),
		.src = cpu_to_le16(m->src),
		.sig = cpu_to_le32(m->sig),
		.chunk = cpu_to_le32(m->chunk),
		.round = cpu_to_le32(m->round),
		.run = cpu_to_le16(m->run),
		.lanes = cpu_to_le16(m->lanes),
		.exp = m->exp,
		.want = m->want,
		.weight = cpu_to_le16(m->weight),
		.pn = cpu_to_le32(m->pn),
		.aux = cpu_to_le32(m->aux),
	};

	memcpy(h.tag, &cookie, sizeof(cookie));
	memcpy(hdr, &h, sizeof(h));
}

void gagg_wire_follow(void *hdr, const void *prev, const struct gagg_msg *m)
{
	struct gagg_hdr h;

	memcpy(&h, prev, sizeof(h));
	h.chunk = cpu_to_le32(m->chunk);
	h.exp = m->exp;
	h.want = m->want;
	h.pn = cpu_to_le32(m->pn);
	memcpy(hdr, &h, sizeof(h));
}

/* a bijection of 64 bits */
static u64 wire_finalize(u64 z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Finalised twice: the plain sum of both words would collide for all pairs with the same sum. */
u64 gagg_mix64(u64 a, u64 b)
{
	return wire_finalize(wire_finalize(a + 0x9e3779b97f4a7c15ULL) + b);
}

u32 gagg_sig(u8 kind, u8 dtype, u8 laneop, u32 root, u64 count)
{
	u64 digest = gagg_mix64(count, (u64)laneop << 32 | root);

	return (u32)(kind & 15) << 28 | (u32)(dtype & 15) << 24 | (u32)(digest >> 40);
}
