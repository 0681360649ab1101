// SPDX-License-Identifier: GPL-2.0
/*
 * The hot loops.
 * 1. They are scalar: softirq may use vector registers only where it has asked (kmod/simd.c).
 * 2. They do eight lanes at a time: with one, half of the instructions would count and branch.
 */
#include "reduce.h"

/* lanes lie in datagrams at any alignment, in memory of any type */
struct lane {
	__le32 v;
} __attribute__((packed, may_alias));

struct wide {
	__le64 v;
} __attribute__((packed, may_alias));

struct half {
	__le16 v;
} __attribute__((packed, may_alias));

static inline u32 reduce_get(const struct lane *p)
{
	return le32_to_cpu(p->v);
}

static inline void reduce_put(struct lane *p, u32 v)
{
	p->v = cpu_to_le32(v);
}

/* STEP(i) for every i < n */
#define FOR_LANES(n, STEP) do {						\
	unsigned long i_ = 0; /* as wide as a pointer */		\
									\
	for (; i_ + 8 <= (n); i_ += 8) {				\
		STEP(i_); STEP(i_ + 1); STEP(i_ + 2); STEP(i_ + 3);	\
		STEP(i_ + 4); STEP(i_ + 5); STEP(i_ + 6); STEP(i_ + 7);	\
	}								\
	for (; i_ < (n); i_++)						\
		STEP(i_);						\
} while (0)

/* gagg_shift_rne() for 0 < s < 32; @bias is half - 1, which is the same for all lanes */
static inline u32 reduce_shifted(const struct lane *p, u32 s, s64 bias)
{
	s64 q = (s32)reduce_get(p);

	return (u32)((q + bias + ((q >> s) & 1)) >> s);
}

static void reduce_store_shifted(struct lane *d, const struct lane *b, u32 n, u32 s)
{
	s64 bias = ((s64)1 << (s - 1)) - 1;

#define STEP(i)	reduce_put(d + (i), reduce_shifted(b + (i), s, bias))
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_add_shifted(struct lane *d, const struct lane *a, const struct lane *b,
			       u32 n, u32 s)
{
	s64 bias = ((s64)1 << (s - 1)) - 1;

#define STEP(i)	reduce_put(d + (i), reduce_get(a + (i)) + reduce_shifted(b + (i), s, bias))
	FOR_LANES(n, STEP);
#undef STEP
}

/* reduce_add() with d == a: with a pointer less the sum is one read-modify-write */
static void reduce_add_to(struct lane *d, const struct lane *b, u32 n)
{
#define STEP(i)	reduce_put(d + (i), reduce_get(d + (i)) + reduce_get(b + (i)))
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_add(struct lane *d, const struct lane *a, const struct lane *b, u32 n)
{
#define STEP(i)	reduce_put(d + (i), reduce_get(a + (i)) + reduce_get(b + (i)))
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_add_wide(struct wide *d, const struct wide *a, const struct wide *b, u32 n)
{
#define STEP(i)	(d[i].v = cpu_to_le64(le64_to_cpu(a[i].v) + le64_to_cpu(b[i].v)))
	FOR_LANES(n, STEP);
#undef STEP
}

static inline u32 reduce_lower(u32 a, u32 b)
{
	return (s32)a < (s32)b ? a : b;
}

static inline u32 reduce_higher(u32 a, u32 b)
{
	return (s32)a > (s32)b ? a : b;
}

static inline u32 reduce_scaled(s32 q, const struct gagg_rne *r)
{
	return (u32)((q + r->bias + ((q >> r->s) & r->odd)) >> r->s);
}

static inline s32 reduce_half_at(const struct half *p)
{
	return (s16)le16_to_cpu(p->v);
}

static void reduce_add_halves(struct lane *d, const struct lane *a,
			      const struct half *b, u32 n, u32 s)
{
	const struct gagg_rne r = gagg_rne_narrow(s);

#define STEP(i)                          \
	reduce_put(d + (i),              \
		   reduce_get(a + (i)) + \
			   reduce_scaled(reduce_half_at(b + (i)), &r))
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_store_halves(struct lane *d, const struct half *b, u32 n, u32 s)
{
	const struct gagg_rne r = gagg_rne_narrow(s);

#define STEP(i)	reduce_put(d + (i), reduce_scaled(reduce_half_at(b + (i)), &r))
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_add_bytes(struct lane *d, const struct lane *a, const s8 *b, u32 n, u32 s)
{
	const struct gagg_rne r = gagg_rne_narrow(s);

#define STEP(i)	reduce_put(d + (i), reduce_get(a + (i)) + reduce_scaled(b[i], &r))
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_store_bytes(struct lane *d, const s8 *b, u32 n, u32 s)
{
	const struct gagg_rne r = gagg_rne_narrow(s);

#define STEP(i)	reduce_put(d + (i), reduce_scaled(b[i], &r))
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_halves(struct lane *d, const struct lane *a, const struct half *b, u32 n,
			  u32 s)
{
	if (a)
		reduce_add_halves(d, a, b, n, s);
	else
		reduce_store_halves(d, b, n, s);
}

static void reduce_bytes(struct lane *d, const struct lane *a, const s8 *b, u32 n, u32 s)
{
	if (a)
		reduce_add_bytes(d, a, b, n, s);
	else
		reduce_store_bytes(d, b, n, s);
}

static u32 reduce_magnitude(const struct lane *p)
{
	u32 q = reduce_get(p);

	return q >> 31 ? 0 - q : q;
}

u32 gagg_narrow_most(const void *sum, u32 lanes)
{
	const struct lane *a = sum;
	u32 most = 0;

#define STEP(i)	(most = reduce_magnitude(a + (i)) > most ? reduce_magnitude(a + (i)) : most)
	FOR_LANES(lanes, STEP);
#undef STEP
	return most;
}

/* rounding keeps the order of magnitudes: where the largest fits all do */
u32 gagg_narrow_shift(u8 laneop, u32 most)
{
	u32 limit = laneop >> 4 == GAGG_LANE_S16 ? 0x7fff : 0x7f, s = 0;

	while ((u64)most + ((1ULL << s) >> 1) >= ((u64)limit + 1) << s)
		s++;
	return s;
}

void gagg_narrow_lanes(u8 laneop, void *dst, const void *sum, u32 n, u32 s)
{
	s64 bias = ((1LL << s) >> 1) - !!s, odd = !!s;
	u32 lanes = n << gagg_lane_narrow(laneop);
	const struct lane *a = sum;
	struct half *halves = dst;
	u8 *bytes = dst;

#define ROUNDED(i)                                    \
	(((s32)reduce_get(a + (i)) + bias +           \
	  (((s32)reduce_get(a + (i)) >> s) & odd)) >> \
	 s)
	if (laneop >> 4 == GAGG_LANE_S16) {
#define STEP(i)	(halves[i].v = cpu_to_le16((u16)ROUNDED(i)))
		FOR_LANES(lanes, STEP);
#undef STEP
	} else {
#define STEP(i)	(bytes[i] = (u8)ROUNDED(i))
		FOR_LANES(lanes, STEP);
#undef STEP
	}
#undef ROUNDED
}

u32 gagg_narrow_chunk(u8 laneop, void *dst, const void *sum, u32 n)
{
	u32 s;

	if (!gagg_lane_narrow(laneop))
		return 0;
	s = gagg_narrow_shift(laneop, gagg_narrow_most(sum, n << gagg_lane_narrow(laneop)));
	gagg_narrow_lanes(laneop, dst, sum, n, s);
	return s;
}

static void reduce_store_min(struct lane *d, const struct lane *a, const struct lane *b, u32 n)
{
#define STEP(i)	reduce_put(d + (i), reduce_lower(reduce_get(a + (i)), reduce_get(b + (i))))
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_store_max(struct lane *d, const struct lane *a, const struct lane *b, u32 n)
{
#define STEP(i)	reduce_put(d + (i), reduce_higher(reduce_get(a + (i)), reduce_get(b + (i))))
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_store_max_bytes(u8 *d, const u8 *a, const u8 *b, u32 n)
{
#define STEP(i)	(d[i] = a[i] > b[i] ? a[i] : b[i])
	FOR_LANES(n, STEP);
#undef STEP
}

static void reduce_add_any(void *dst, const void *a, const void *b, u32 n, u32 shift)
{
	if (shift > 31) {	/* adds nothing: gagg_shift_rne() */
		if (dst != a)
			memcpy(dst, a, (u64)n * 4);
	} else if (shift) {
		reduce_add_shifted(dst, a, b, n, shift);
	} else if (dst == a) {
		reduce_add_to(dst, b, n);
	} else {
		reduce_add(dst, a, b, n);
	}
}

static void reduce_store_any(void *dst, const void *b, u32 n, u32 shift)
{
	if (shift > 31)
		memset(dst, 0, (u64)n * 4);
	else if (shift)
		reduce_store_shifted(dst, b, n, shift);
	else
		memcpy(dst, b, (u64)n * 4);
}

void gagg_reduce_chunk(u8 laneop, void *dst, const void *a, const void *b,
		       u32 n, u32 shift)
{
	if (!gagg_reduce_fits(laneop, n))
		return;
	switch (laneop >> 4) {
	case GAGG_LANE_S16:
		reduce_halves(dst, a, b, n * 2, shift);
		return;
	case GAGG_LANE_S8:
		reduce_bytes(dst, a, b, n * 4, shift);
		return;
	}
	if (laneop != GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD))
		shift = 0;
	if (!a) {
		reduce_store_any(dst, b, n, shift);
		return;
	}
	switch (laneop) {
	case GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD):
		reduce_add_any(dst, a, b, n, shift);
		break;
	case GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MIN):
		reduce_store_min(dst, a, b, n);
		break;
	case GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MAX):
		reduce_store_max(dst, a, b, n);
		break;
	case GAGG_LANEOP(GAGG_LANE_U8, GAGG_OP_MAX):
		reduce_store_max_bytes(dst, a, b, n * 4);
		break;
	case GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD):
		reduce_add_wide(dst, a, b, n / 2);
		break;
	}
}

bool gagg_reduce_fits(u8 laneop, u32 n)
{
	switch (laneop) {
	case GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD):
	case GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MIN):
	case GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MAX):
	case GAGG_LANEOP(GAGG_LANE_U8, GAGG_OP_MAX):
	case GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD):
	case GAGG_LANEOP(GAGG_LANE_S8, GAGG_OP_ADD):
		return true;
	case GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD):
		return n % 2 == 0;
	default:
		return false;
	}
}

const struct gagg_loops gagg_loops = {
	.reduce = gagg_reduce_chunk,
	.narrow = gagg_narrow_chunk,
};
