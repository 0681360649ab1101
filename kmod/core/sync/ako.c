// SPDX-License-Identifier: GPL-2.0
/*
 * Ako (Watcharapichat et al., SoCC 2016): no servers. Every worker has a replica of
 * the model, of which its chunks are divided into P partitions: chunk i is in
 * partition i mod P. At each clock a worker sends one partition to each of the
 * others, a different one from clock to clock, as the sum of its last P
 * gradients. So a worker sends 1/P of what all-to-all would, and every gradient is
 * everywhere after P clocks.
 *
 * To rank i goes partition (i + clock) mod P. The paper's Algorithm 1 has i mod P,
 * without the clock, by which a worker would get the same partition for ever; its
 * text says round-robin. Between two sendings of a partition to the same worker
 * there are P clocks then, and the windows of P gradients join: every gradient is
 * received exactly once. That takes exactly-once delivery, which the paper leaves
 * to TCP.
 *
 * A worker that has come to clock c waits until it has received what every other
 * one has sent at clocks below c - P - S.
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
	.name = "ako",
	.about = "replicas everywhere: each clock one of P partitions to each other rank, S clocks late at most",
	.usage = "ako needs its partitions and its bound, as in ako:4:2",
	.nargs = 2,
	.arg = {
		{ "P", "P of ako:P:S must be from 1 to 1024 partitions", 1, 1024 },
		{ "S", "S of ako:P:S must be from 0 to 1000000 clocks", 0, 1000000 },
	},
	.store = true,
	.copies = true,
	.sends = ako_sends,
	.may_read = ako_may_read,
};
