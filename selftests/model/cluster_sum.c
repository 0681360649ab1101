// SPDX-License-Identifier: GPL-2.0
/*
 * Contributions and their sum, rounded in another way than the core does.
 */
#include "cluster_int.h"

static const s32 values[] = { 3, -5, 6, 9, 2, -3, 11, 5, -7, 13, 1, 10, -2, 15, 7, -9, 17, 18 };

s32 lane_of(u32 epoch, u32 c, u32 rank, u64 v)
{
	return values[(7 * epoch + 5 * c + rank * C_CHUNKS + v) % 18];
}

struct gagg_cdesc desc_of(u32 rank, u64 v)
{
	struct gagg_cdesc d = { 0 };
	u8 kind = su.kind[rank][v] & 7;

	d.flags = (kind == K_ZERO ? GAGG_C_ZERO : 0) |
		  (kind == K_NONFINITE ? GAGG_C_NONFINITE : 0) |
		  (su.kind[rank][v] & K_NORESULT ? GAGG_C_NORESULT : 0);
	d.exp = su.raw ? 0 : 100 + kind % K_EXP;
	/* raw: sums of some that need 30 bits may need more than 31 */
	d.want = kind == K_ZERO ? 0 : su.raw ? 28 + kind % K_EXP : d.exp - 1;
	return d;
}

s32 sum_of(u32 epoch, u32 c, u64 v, struct gagg_rdesc *d)
{
	u32 rank, exp = 0, zexp = 0, lanes = 0, total = gagg_weight64(su.members[c]);
	u64 in = su.sync ? cur->decided[v] : su.members[c], left;
	s32 sum = 0;

	memset(d, 0, sizeof(*d));
	d->nonfinite = 0xff;
	for (left = in; left; left &= left - 1) {
		struct gagg_cdesc k = desc_of(rank = gagg_lowest(left), v);
		u32 *e = k.flags & (GAGG_C_ZERO | GAGG_C_NONFINITE) ? &zexp : &exp;

		lanes += e == &exp;
		if (k.exp > *e)
			*e = k.exp;
		if (k.want > d->want)
			d->want = k.want;
		if ((k.flags & GAGG_C_NONFINITE) && rank < d->nonfinite)
			d->nonfinite = (u16)rank;
	}
	d->exp = (u8)(lanes ? exp : zexp);
	d->flags = d->nonfinite != 0xff ? GAGG_C_NONFINITE : lanes ? 0 : GAGG_C_ZERO;
	d->contributors = (u8)gagg_weight64(in);
	if (su.raw && !d->flags && d->want + (total > 2 ? 2 : total > 1) > 31)
		d->flags = GAGG_C_OVERFLOW;
	for (left = in; left; left &= left - 1) {
		struct gagg_cdesc k = desc_of(rank = gagg_lowest(left), v);
		s32 half = 1 << (d->exp - k.exp) >> 1, q = lane_of(epoch, c, rank, v);
		s32 unit = 1 << (d->exp - k.exp), down;

		if (k.flags & (GAGG_C_ZERO | GAGG_C_NONFINITE))
			continue;
		down = (q - (q % unit + unit) % unit) / unit;
		q -= down * unit;
		sum += down + (q > half || (half && q == half && (down & 1)));
	}
	return sum;
}
