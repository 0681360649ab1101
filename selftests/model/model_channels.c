// SPDX-License-Identifier: GPL-2.0
/* links: core selftests/model/search.c selftests/model/cluster.c selftests/model/cluster_path.c selftests/model/cluster_sum.c selftests/model/cluster_ring.c selftests/model/cluster_equal.c; libs: -DGAGG_NODES=3 -DGAGG_RANKS=3 -DGAGG_LOCALS=2 -DGAGG_OPS=3 -DGAGG_GAPS=1 -DGAGG_PATH_LOG=8 -DC_CHANS=2 */
/*
 * Two channels that share shard and paths: one may hold up the other only as
 * long as the window says; ranks use them in different orders; a home learns of
 * channel 1 when a host that uses it is asked (cluster.h).
 */
#include "search.h"

static const struct search searches[] = {
	{ "2 hosts, one datagram under way, any order of channels", 2, 0, 0, 0,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 1, .rounds = 1, .ops = 1, .chans = 2, .members = { 3, 3 } } },
	{ "a home of its own that learns of a channel, some", 0, 4, 0, 10,
	  { .nodes = 3, .ranks = { 0, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 1, .rounds = 1, .ops = 1, .chans = 2, .members = { 3, 3 } } },
	{ "3 hosts, two of them on channel 1, some", 0, 4, 100000, 10,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 1, .rounds = 1, .ops = 1, .chans = 2, .members = { 7, 6 } } },
	{ "2 hosts, a home at each, one datagram under way to each, some", 0, 4, 100000, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 3, .ring = 2, .window = 1, .stripe = 1,
	    .cwnd = 1, .rounds = 1, .ops = 1, .chans = 2, .members = { 3, 3 } } },
	{ "2 hosts, 2 rounds, some", 0, 2, 100000, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 2, .rounds = 2, .ops = 2, .chans = 2, .members = { 3, 3 } } },
};

static void shape(struct setup *su)
{
	static const u64 some[] = { 7, 6, 5, 3 };

	search_shape(su);
	su->epochs = 1 + (u32)rnd(2);
	su->chans = 2;
	if (su->nodes == 2)
		su->ranks[rnd(2)] = 2;
	su->members[0] = 7;
	su->members[1] = some[rnd(4)];
}

const struct model model = {
	.searches = searches,
	.nsearches = sizeof(searches) / sizeof(searches[0]),
	.walks = 2000,
	.shape = shape,
};
