// SPDX-License-Identifier: GPL-2.0
/*
 * Bulk-synchronous rounds: a round is complete when every member has contributed to it, and no
 * rank is more than one round away from the open one. Both policies here do that. They differ in
 * what the core can know of the sums:
 *
 *	1. of bsp they are gradients, which lose little in narrow lanes;
 *	2. of an algorithm over rounds they are what it likes, weights for instance. It has its
 *	   number and its parameters from trainers and gives them back to them, so every
 *	   parameter may be anything.
 */
#include "sync/internal.h"

const struct gagg_sync_ops gagg_sync_bsp = {
	.narrow = true,
};

const struct gagg_sync_ops gagg_sync_algorithm = {
	.nargs = GAGG_SYNC_ARGS,
	.optional = GAGG_SYNC_ARGS,
	.arg = { { 0, ~0U }, { 0, ~0U }, { 0, ~0U }, { 0, ~0U } },
};

_Static_assert(GAGG_SYNC_ARGS == 4, "a range for each parameter of an algorithm");
