// SPDX-License-Identifier: GPL-2.0
/* links: core selftests/model/search.c selftests/model/cluster.c selftests/model/cluster_path.c selftests/model/cluster_sum.c selftests/model/cluster_ring.c selftests/model/cluster_equal.c; libs: -DGAGG_NODES=3 -DGAGG_RANKS=3 -DGAGG_LOCALS=2 -DGAGG_OPS=3 -DGAGG_GAPS=1 -DGAGG_PATH_LOG=8 */
/*
 * Two epochs: a host ends one and begins the next at any time, in the midst of a
 * round or after the last, while others still run the old one, and what they
 * have sent arrives at any time (cluster.h).
 */
#include "search.h"

static const struct search searches[] = {
	{ "2 hosts, 2 rounds", 3, 0, 0, 0,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1, .epochs = 2 } },
	{ "2 hosts, 2 rounds, another cookie of the same number", 3, 0, 0, 0,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1, .epochs = 2, .same_number = true } },
	{ "2 hosts, 3 rounds, 3 epochs", 3, 0, 0, 0,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 3, .ops = 3, .epochs = 3 } },
	{ "3 hosts, 1 round", 3, 0, 0, 0,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 1, .ops = 1, .epochs = 2 } },
	{ "3 hosts, 2 rounds, some", 0, 6, 200000, 10,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1, .epochs = 2 } },
	{ "2 hosts, a chunk at each, some", 0, 10, 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 3, .ring = 2, .window = 2, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1, .epochs = 2 } },
	{ "2 hosts, runs of two chunks, window of one, some", 0, 4, 200000, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .window = 1, .stripe = 2,
	    .cwnd = 4, .rounds = 2, .ops = 1, .epochs = 2 } },
};

static void shape(struct setup *su)
{
	search_shape(su);
	su->epochs = 2 + (u32)rnd(3);
	su->same_number = rnd(2);
}

const struct model model = {
	.searches = searches,
	.nsearches = sizeof(searches) / sizeof(searches[0]),
	.walks = 3000,
	.shape = shape,
};
