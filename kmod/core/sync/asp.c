// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous: no rank waits for another. The store adds and does nothing else; a rank scales
 * its own updates. So has mpiT, the code of the authors of EASGD: its server does p += g.
 */
#include "sync/internal.h"

bool gagg_sync_read_at_once(const struct gagg_sync_param *p, union gagg_sync_state *st,
			    const struct gagg_clocks *k, u32 rank, u32 clock)
{
	(void)p;
	(void)st;
	(void)k;
	(void)rank;
	(void)clock;
	return true;
}

const struct gagg_sync_ops gagg_sync_asp = {
	.store = true,
	.may_read = gagg_sync_read_at_once,
};
