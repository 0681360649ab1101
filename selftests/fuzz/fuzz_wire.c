// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/wire.c */
/*
 * The header of a datagram: two bytes for the length of the payload, then what
 * differs from a header of zeros with the right magic, version and length. The
 * parser has only the header in memory, so that reading beyond it is seen, and
 * must say what the grammar of gagg_wire.h says, which is written down here a
 * second time. What it accepts is the same when written again.
 */
#include "fuzz.h"
#include "wire.h"

/* payload of a type, without lanes: least, most, multiple */
static bool body_fits(u8 type, u32 len)
{
	switch (type) {
	case GAGG_T_HELLO:
		return len >= 112 && len <= 4 * GAGG_WIRE_LANES_MAX;
	case GAGG_T_START:
		return len >= 16 && len <= 16 + 8 * 64 && len % 8 == 0;
	case GAGG_T_ABORT:
		return len == 24;
	case GAGG_T_ACK:
		return len == 72;
	case GAGG_T_OPEN:
		return len == 8;
	default:
		return !len;
	}
}

static bool known(u8 type)
{
	return type >= GAGG_T_HELLO && type <= GAGG_T_WAITS && type != 6 && type != 12 &&
	       type != 13 && type != 15;
}

static enum gagg_drop verdict(const struct gagg_hdr *h, u32 len)
{
	u32 flags = le16_to_cpu(h->flags), lanes = le16_to_cpu(h->lanes);
	u32 payload = len - 64;

	if (le16_to_cpu(h->magic) != 0x4147 || h->ver != 1 || h->hdrlen != 64 || flags & 0xe000)
		return GAGG_DROP_VERSION;
	if (!known(h->type))
		return GAGG_DROP_TYPE;
	if (!h->run || lanes > 2240)
		return GAGG_DROP_CHUNK;
	if ((h->type == GAGG_T_CONTRIB || h->type == GAGG_T_RESULT) &&
	    !(flags & (GAGG_WF_ZERO | GAGG_WF_NONFINITE))) {
		if (le16_to_cpu(h->run) != 1 || !lanes)
			return GAGG_DROP_CHUNK;
		return payload == 4 * lanes ? GAGG_DROP_NONE : GAGG_DROP_SHORT;
	}
	return body_fits(h->type, payload) ? GAGG_DROP_NONE : GAGG_DROP_SHORT;
}

/* the keyed part of the tag is not of this version */
#define KEPT	(offsetof(struct gagg_hdr, tag) + 8)

static void round_trip(const struct gagg_hdr *h, u32 len, const struct gagg_msg *m)
{
	struct gagg_msg again;
	struct gagg_hdr built;

	fuzz_assert(m->len == len - GAGG_WIRE_HDRLEN);
	memset(&built, 0xa5, sizeof(built));
	gagg_wire_build(&built, m);
	if (memcmp(&built, h, KEPT))
		fuzz_fail("type %u is written otherwise than it was read", m->type);
	memset(&again, 0, sizeof(again));
	fuzz_assert(!gagg_wire_parse(&built, len, &again));
	fuzz_assert(!memcmp(&again, m, sizeof(again)));
}

/* @h is there, at most, of a datagram of @len bytes */
static void check(const struct gagg_hdr *h, u32 len)
{
	u32 have = len < sizeof(*h) ? len : sizeof(*h);
	enum gagg_drop got, want = GAGG_DROP_SHORT;
	u8 *raw = malloc(have ? have : 1);
	struct gagg_msg m;

	if (!raw)
		exit(0);
	memcpy(raw, h, have);
	memset(&m, 0, sizeof(m));
	got = gagg_wire_parse(raw, len, &m);
	if (len >= sizeof(*h))
		want = verdict(h, len);
	if (got != want)
		fuzz_fail("type %u, length %u: drop %u, not %u", h->type, len, got, want);
	if (!got)
		round_trip(h, len, &m);
	free(raw);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* where a type begins or ends to fit */
	static const u16 edges[] = {
		0, 1, 4, 7, 8, 9, 15, 16, 17, 24, 71, 72, 73, 103, 104, 105, 112, 520, 527, 528,
		529, 536, 8956, 8960, 8964,
	};
	struct input in = { data, size };
	struct gagg_hdr h = { .type = 0 };
	u32 payload = take16(&in), i;

	for (i = 0; i < sizeof(h); i++)
		((u8 *)&h)[i] = take8(&in);
	h.magic ^= cpu_to_le16(GAGG_WIRE_MAGIC);
	h.ver ^= GAGG_WIRE_VERSION;
	h.hdrlen ^= GAGG_WIRE_HDRLEN;
	check(&h, payload % sizeof(h));
	check(&h, (u32)sizeof(h) + payload);
	check(&h, (u32)sizeof(h) + 4U * le16_to_cpu(h.lanes));
	for (i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		check(&h, (u32)sizeof(h) + edges[i]);
	return 0;
}
