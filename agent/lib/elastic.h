/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/* What a replica and the centre exchange. */
#ifndef GAGG_ELASTIC_H
#define GAGG_ELASTIC_H

#include <stdint.h>

#define ELASTIC_ONE	65536			/* alpha, in 16 fractional bits */
#define ELASTIC_FAR	((int64_t)1 << 46)	/* times alpha it fits 64 bits */
#define ELASTIC_MOST	(1 << 30)		/* half of what a clock can push */

static inline int64_t elastic_clamp(int64_t x, int64_t most)
{
	return x > most ? most : x < -most ? -most : x;
}

/*
 * elastic_delta - steps that the replica gives to the centre
 * @replica, @centre: in steps
 * @alpha: in 16 fractional bits, at most ELASTIC_ONE
 *
 * Rounds towards zero, which favours neither side: both are at rest when less than a step is due.
 * The part above ELASTIC_MOST is left for later exchanges.
 */
static inline int32_t elastic_delta(int64_t replica, int64_t centre, uint32_t alpha)
{
	int64_t apart;

	if (__builtin_sub_overflow(replica, centre, &apart))
		apart = replica < centre ? -ELASTIC_FAR : ELASTIC_FAR;
	apart = elastic_clamp(apart, ELASTIC_FAR);
	return (int32_t)elastic_clamp(apart * alpha / ELASTIC_ONE, ELASTIC_MOST);
}

#endif
