// SPDX-License-Identifier: GPL-2.0
/*
 * Elastic averaging (Zhang, Choromanska, LeCun, NIPS 2015), asynchronous: replicas and a common
 * centre draw each other closer (agent/lib/replica_easgd.c). The centre is in a store, to which
 * each rank adds whenever it comes by. So the core does what it does for asp. The synchronous
 * form is an algorithm over rounds.
 */
#include "sync/internal.h"

#define LEAST_ALPHA	16	/* in GAGG_SYNC_DECIMALS-ths of a percent; trainers have 1/65536 */

/* ALPHA is more than nothing, and at most all */
static bool easgd_fits(const struct gagg_sync_param *p)
{
	u32 alpha = p->arg[1] * GAGG_SYNC_DECIMALS + p->arg[2];

	return alpha >= LEAST_ALPHA && alpha <= 100 * GAGG_SYNC_DECIMALS;
}

const struct gagg_sync_ops gagg_sync_easgd = {
	.nargs = 3,
	.optional = 1,
	.arg = { { 1, 1000000 }, { 0, 100 }, { 0, GAGG_SYNC_DECIMALS - 1 } },
	.fits = easgd_fits,
	.store = true,
	.may_read = gagg_sync_read_at_once,
};
