// SPDX-License-Identifier: GPL-2.0
/*
 * Asynchronous: nobody waits for anybody. The store is a pure adder; the
 * worker's side scales its updates (mpiT, the code of the authors of EASGD: the
 * server does p += g and nothing else).
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
	.name = "asp",
	.about = "asynchronous store: nobody waits, staleness has no bound",
	.usage = "asp has no parameters",
	.store = true,
	.may_read = gagg_sync_read_at_once,
};
