// SPDX-License-Identifier: GPL-2.0
/*
 * Ako (Watcharapichat et al., SoCC 2016): no servers. Every rank has a replica of the model,
 * whose chunks are divided into P partitions: chunk i is in partition i mod P. At each clock a
 * rank sends one partition to each of the others, with the sum of its last P gradients in it.
 * So it sends 1/P of what all-to-all would.
 *
 * Every rank receives every gradient of every other exactly once, within P clocks:
 *
 *	1. To rank i goes partition (i + clock) mod P, so P clocks lie between two times that the
 *	   same partition goes to the same rank.
 *	2. Each brings the last P gradients, so what the two bring joins: nothing is left out,
 *	   nothing comes twice.
 *	3. An update is added exactly once. The paper leaves that to TCP.
 *
 * The paper's Algorithm 1 has i mod P, without the clock, by which a rank would get the same
 * partition for ever. Its text says round-robin, as it is here.
 *
 * A rank that has come to clock c reads when it has received all that the others have sent at
 * clocks below c - P - S.
 */
#include "sync/internal.h"

static bool ako_sends(const struct gagg_sync_param *p, u32 to, u32 clock, u32 chunk)
{
	return ((u64)to + clock) % p->arg[0] == chunk % p->arg[0];
}

static bool ako_may_read(const struct gagg_sync_param *p, union gagg_sync_state *st,
			 const struct gagg_clocks *k, u32 rank, u32 clock)
{
	(void)st;
	(void)rank;
	return clock <= k->min || clock - k->min <= p->arg[0] + p->arg[1];
}

const struct gagg_sync_ops gagg_sync_ako = {
	.nargs = 2,
	.arg = { { 1, 1024 }, { 0, 1000000 } },
	.store = true,
	.copies = true,
	.sends = ako_sends,
	.may_read = ako_may_read,
};
