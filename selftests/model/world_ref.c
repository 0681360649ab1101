// SPDX-License-Identifier: GPL-2.0
/*
 * What is contributed is a function of seed, rank, channel and chunk; what must
 * come of it is computed with plain integers, in another way than by the core.
 */
#include <string.h>
#include "world_int.h"

static u64 draw(const struct world *w, u32 rank, u32 c, u64 v, u32 what)
{
	return gagg_mix64(gagg_mix64((w->cfg.seed + ((u64)w->life << 32)) * 64 + rank, v), c * 1000 + what);
}

struct gagg_cdesc world_contribution(const struct world *w, u32 rank, u32 c, u64 v, s32 *lanes)
{
	const struct world_config *cfg = &w->cfg;
	struct gagg_cdesc d = { 0 };
	u64 x = draw(w, rank, c, v, 6);
	u32 i;

	if (cfg->raw) {
		/* bits of the largest magnitude; now and then too many to add */
		d.want = 26 + draw(w, rank, c, v, 1) % 200 / 195 * 4;
	} else {
		d.exp = (u8)(100 + draw(w, rank, c, v, 1) % (cfg->exps + 1));
		d.want = (u8)(d.exp - draw(w, rank, c, v, 2) % 3);
	}
	if (draw(w, rank, c, v, 3) % 1000 < cfg->zeros) {
		d.flags |= GAGG_C_ZERO;
		d.want = 0;
	} else if (draw(w, rank, c, v, 4) % 1000 < cfg->nonfinite) {
		d.flags |= GAGG_C_NONFINITE;
	}
	if (draw(w, rank, c, v, 5) % 1000 < cfg->noresult)
		d.flags |= GAGG_C_NORESULT;
	if (cfg->shape)
		cfg->shape(cfg, rank, c, v, &d);
	for (i = 0; i < WORLD_LANES; i++)
		lanes[i] = (s32)((x = x * 6364136223846793005ULL + 1) >> 32) >>
			   (world_narrow(w) ? 0 : 6);
	return d;
}

/* q / 2^s to nearest, ties to even */
static s64 rounded(s64 q, u32 s)
{
	s64 down = q >> s, rest = q - down * ((s64)1 << s), half = s ? (s64)1 << (s - 1) : 1;

	return down + (rest > half || (s && rest == half && (down & 1)));
}

static s64 combine(u8 laneop, s64 a, s64 b)
{
	switch (laneop & 15) {
	case GAGG_OP_MIN:
		return a < b ? a : b;
	case GAGG_OP_MAX:
		return a > b ? a : b;
	default:
		return a + b;
	}
}

/* lane @i of narrow ones, which are @bits wide */
static s64 narrow_lane(const s32 *words, u32 bits, u32 i)
{
	u32 v = (u32)words[i * bits / 32] >> i * bits % 32 & ((1U << bits) - 1);

	return (s64)v - (s64)(v >> (bits - 1)) * (1LL << bits);
}

/*
 * Narrow lanes: sums of all that count, shifted so far that the largest has at most
 * bits - 1 bits. As words in @lanes.
 */
static void compute_narrow(const struct world *w, u64 members, u32 words,
			   const struct gagg_cdesc *k, s32 q[][WORLD_LANES], s64 *lanes,
			   struct gagg_rdesc *d)
{
	u32 bits = 32 >> world_narrow(w), n = words * 32 / bits, i;
	s64 sum[WORLD_LANES * 4] = { 0 }, most = 0;
	u64 left;

	for (left = members; left; left &= left - 1) {
		u32 rank = gagg_lowest(left);

		for (i = 0; i < n && !(k[rank].flags & (GAGG_C_ZERO | GAGG_C_NONFINITE)); i++)
			sum[i] += rounded(narrow_lane(q[rank], bits, i), d->exp - k[rank].exp);
	}
	for (i = 0; i < n; i++)
		most = sum[i] > most ? sum[i] : -sum[i] > most ? -sum[i] : most;
	d->nonfinite = 0;
	while (rounded(most, d->nonfinite) >= 1LL << (bits - 1))
		d->nonfinite++;
	memset(lanes, 0, WORLD_LANES * sizeof(*lanes));
	for (i = 0; i < n; i++)
		lanes[i * bits / 32] |= (rounded(sum[i], d->nonfinite) & ((1LL << bits) - 1)) <<
					i * bits % 32;
}

static void compute(const struct world *w, u32 c, u64 v, s64 *lanes, struct gagg_rdesc *d)
{
	struct gagg_cdesc k[GAGG_RANKS];
	s32 q[GAGG_RANKS][WORLD_LANES];
	u32 i, zexp = 0, bits = 0;
	bool any = false;
	u64 left;
	u64 members = w->host->g.quorum ? w->decided[c][v] : w->members[c];

	d->nonfinite = 0xff;
	for (left = members; left; left &= left - 1) {
		u32 rank = gagg_lowest(left);
		struct gagg_cdesc *r = &k[rank];

		*r = world_contribution(w, rank, c, v, q[rank]);
		d->contributors++;
		if (r->want > d->want)
			d->want = r->want;
		if ((r->flags & GAGG_C_NONFINITE) && rank < d->nonfinite)
			d->nonfinite = (u16)rank;
		if (r->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE)) {
			if (r->exp > zexp)
				zexp = r->exp;
			continue;
		}
		any = true;
		if (r->exp > d->exp)
			d->exp = r->exp;
	}
	if (!any)
		d->exp = (u8)zexp;
	while ((1U << bits) < gagg_weight64(w->members[c]))
		bits++;
	if (d->nonfinite != 0xff)
		d->flags = GAGG_C_NONFINITE;
	else if (!any)
		d->flags = GAGG_C_ZERO;
	else if (w->cfg.raw && !w->cfg.laneop && d->want && d->want + bits > 31)
		d->flags = GAGG_C_OVERFLOW;
	if (world_narrow(w) && !d->flags) {
		compute_narrow(w, members, world_chunk_lanes(w, c, v), k, q, lanes, d);
		return;
	}
	any = false;
	for (left = members; left; left &= left - 1) {
		u32 rank = gagg_lowest(left);

		if (k[rank].flags & (GAGG_C_ZERO | GAGG_C_NONFINITE))
			continue;
		for (i = 0; i < WORLD_LANES; i++) {
			s64 one = world_wide(w) ? (u32)q[rank][i] :
				  rounded(q[rank][i], d->exp - k[rank].exp);

			lanes[i] = any ? combine(w->cfg.laneop, lanes[i], one) : one;
		}
		any = true;
	}
	/* what a lower half does not hold */
	for (i = 0; world_wide(w) && i < WORLD_LANES; i += 2)
		lanes[i + 1] += lanes[i] >> 32;
}

const struct reference *world_reference(const struct world *w, u32 c, u64 v)
{
	struct reference *r = &w->ref[c][v];

	if (!r->known)
		compute(w, c, v, r->lanes, &r->desc);
	r->known = true;
	return r;
}
