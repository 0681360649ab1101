// SPDX-License-Identifier: GPL-2.0
/* links: core selftests/model/search.c selftests/model/cluster.c selftests/model/cluster_path.c selftests/model/cluster_sum.c selftests/model/cluster_ring.c selftests/model/cluster_equal.c; libs: -DGAGG_NODES=3 -DGAGG_RANKS=3 -DGAGG_LOCALS=2 -DGAGG_OPS=3 -DGAGG_GAPS=1 -DGAGG_PATH_LOG=8 */
/*
 * One epoch, one channel: every order of every event (search.h).
 */
#include "search.h"

static const struct search searches[] = {
	{ "2 hosts, 3 rounds", 3, 0, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 3, .ops = 3 } },
	{ "2 hosts, lanes, zeros, nonfinite", 5, 0, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts and a home, 2 rounds", 3, 0, 0, 10,
	  { .nodes = 3, .ranks = { 0, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 2 } },
	{ "3 hosts, 2 rounds", 3, 0, 0, 10,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts, 3 ranks, 2 rounds", 3, 0, 0, 10,
	  { .nodes = 2, .ranks = { 1, 2 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts, 3 ranks, two of them at the home, 2 rounds", 3, 0, 0, 10,
	  { .nodes = 2, .ranks = { 2, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "3 hosts, 3 rounds, some", 0, 4, 0, 10,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 3, .ops = 3 } },
	{ "2 hosts, a chunk at each, some", 0, 20, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 3, .ring = 2, .window = 2, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts, a chunk at each, window of one, some", 0, 20, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 3, .ring = 2, .window = 1, .stripe = 1,
	    .cwnd = 1, .rounds = 2, .ops = 2 } },
	{ "2 hosts, runs of two chunks, some", 0, 10, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .window = 2, .stripe = 2,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts, two chunks, one datagram at a time, some", 0, 6, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .window = 2, .stripe = 2,
	    .cwnd = 1, .rounds = 2, .ops = 1 } },
	{ "3 hosts, two chunks, a home at each, 3 rounds, some", 0, 4, 100000, 10,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 7, .ring = 2, .window = 2, .stripe = 1,
	    .cwnd = 4, .rounds = 3, .ops = 3 } },
	{ "3 hosts, runs of two chunks, 3 rounds, some", 0, 4, 100000, 10,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 2, .window = 2, .stripe = 2,
	    .cwnd = 4, .rounds = 3, .ops = 3 } },
	{ "2 hosts, two chunks, window of one, raw, some", 0, 6, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .window = 1, .stripe = 2,
	    .cwnd = 4, .rounds = 2, .ops = 1, .raw = true } },
	{ "quorum of 1, 2 hosts, 2 rounds", 3, 0, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1, .sync = "bsp-quorum:1:0" } },
	{ "quorum of 1, 2 hosts and a home, 2 rounds, some", 0, 4, 0, 10,
	  { .nodes = 3, .ranks = { 0, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 2, .sync = "bsp-quorum:1:0" } },
	{ "quorum of 1, 2 hosts, a chunk ahead, some", 0, 4, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .window = 1, .stripe = 2,
	    .cwnd = 1, .rounds = 2, .ops = 2, .sync = "bsp-quorum:1:0" } },
	{ "quorum of 2, 3 hosts, a round", 3, 0, 0, 10,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 1, .ops = 1, .sync = "bsp-quorum:2:0" } },
	{ "quorum of 1, 2 hosts, 3 ranks, some", 0, 4, 0, 10,
	  { .nodes = 2, .ranks = { 2, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1, .sync = "bsp-quorum:1:0" } },
	{ "deadline, 2 hosts, some", 0, 4, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .window = 1, .stripe = 2,
	    .cwnd = 1, .rounds = 2, .ops = 1, .sync = "bsp-deadline:1:1:0" } },
};

/* anything of up to three hosts */
static void shape(struct setup *su)
{
	static const char *const modes[] = {
		"bsp-quorum:1:0", "bsp-quorum:2:0", "bsp-deadline:1:1:0", "bsp-deadline:2:1:0",
	};

	search_shape(su);
	su->stripe = 1 + (u32)rnd(2);
	su->raw = !rnd(4);
	su->rounds = 2 + (u32)rnd(C_ROUNDS - 1);
	su->ops = rnd(2) ? su->rounds : 1;
	if (su->nodes == 2)
		su->ranks[rnd(2)] = 2;
	else if (!rnd(3))
		su->ranks[0] = 0;
	su->sync = rnd(2) ? modes[rnd(4)] : NULL;
}

const struct model model = {
	.searches = searches,
	.nsearches = sizeof(searches) / sizeof(searches[0]),
	.walks = 5000,
	.shape = shape,
};
