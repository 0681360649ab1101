// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * How many partitions the sync mode ako should have: so many that what a rank sends
 * fits its link (Watcharapichat et al., SoCC 2016, section 4.2).
 */
#include <math.h>

#include "gagg.h"

#define PARTITIONS_MAX	1024

int gagg_ako_partitions(double rate, double bytes, int ranks, double bandwidth)
{
	double p = ceil(rate * bytes * (ranks - 1) / bandwidth);

	if (!(rate > 0) || !(bytes > 0) || ranks < 2 || !(bandwidth > 0) || !isfinite(p))
		return GAGG_ERR_INVALID;
	if (p < 1)
		return 1;
	return p > PARTITIONS_MAX ? PARTITIONS_MAX : (int)p;
}
