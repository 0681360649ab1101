// SPDX-License-Identifier: GPL-2.0
/* links: core selftests/model/search.c selftests/model/cluster.c selftests/model/cluster_path.c selftests/model/cluster_store.c selftests/model/cluster_store_equal.c; libs: -DGAGG_NODES=3 -DGAGG_RANKS=3 -DGAGG_LOCALS=2 -DGAGG_OPS=3 -DGAGG_GAPS=1 -DGAGG_PATH_LOG=8 -DC_ROUNDS=4 -DC_BLOCK=2048 */
/*
 * Stores, and copies: every order of every event (search.h). Two hosts: three clocks of one chunk,
 * in each mode; two or three clocks of two chunks, at one home or one at each, also where ranks
 * read at different clocks. Three hosts: two clocks of a chunk (ako: one). Updates are of all
 * chunks, or (SOME) some of them are zero in a few ways drawn by seed. With copies on three hosts
 * two clocks are a sample (CUT).
 *
 * In every state: each update counts once, whole, in order and where it belongs; a
 * read shows what the mode promises, of gossip in all chunks the same; and there is a
 * way on to the end.
 */
#include "search.h"

#define HOSTS(clocks, mode) \
	.window = 2, .cwnd = 4, .ops = 1, .rounds = clocks, .sync = mode
#define TWO(clocks, mode) \
	{ .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .stripe = 1, HOSTS(clocks, mode) }
#define THREE(clocks, mode) \
	{ .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 1, .stripe = 1, HOSTS(clocks, mode) }
/* a read at every second clock */
#define SELDOM(clocks, mode) \
	{ .nodes = 2, .ranks = { 1, 1 }, .homes = 3, .ring = 2, .stripe = 1, .window = 2, \
	  .cwnd = 4, .ops = 2, .rounds = clocks, .sync = mode }
/* two chunks, at one home or at two */
#define AT_ONE(clocks, mode) \
	{ .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .stripe = 2, HOSTS(clocks, mode) }
#define AT_TWO(clocks, mode) \
	{ .nodes = 2, .ranks = { 1, 1 }, .homes = 3, .ring = 2, .stripe = 1, HOSTS(clocks, mode) }

/* updates of all chunks; and some of some */
#define ALL	1, 0, 0, 0
#define SOME	0, 6, 0, 10
#define CUT	0, 2, 50000, 10

static const struct search searches[] = {
	{ "asp, 3 clocks", ALL, TWO(3, "asp") },
	{ "asp, two chunks", ALL, AT_ONE(2, "asp") },
	{ "asp, 3 hosts", ALL, THREE(2, "asp") },
	{ "ssp:0, 3 clocks", ALL, TWO(3, "ssp:0") },
	{ "ssp:0, two chunks", SOME, AT_ONE(2, "ssp:0") },
	{ "ssp:0, a chunk at each", SOME, AT_TWO(2, "ssp:0") },
	{ "ssp:0, a chunk at each, seldom read", SOME, SELDOM(2, "ssp:0") },
	{ "ssp:0, 3 hosts", ALL, THREE(2, "ssp:0") },
	{ "ssp:1, 3 clocks", ALL, TWO(3, "ssp:1") },
	{ "ssp:1, a chunk at each", ALL, AT_TWO(3, "ssp:1") },
	{ "ssp:1, 3 hosts", ALL, THREE(2, "ssp:1") },
	{ "r2sp, 3 clocks", SOME, TWO(3, "r2sp:0:0:1") },
	{ "r2sp, both at a time", SOME, TWO(3, "r2sp:0:0:2") },
	{ "r2sp, a chunk at each", SOME, AT_TWO(2, "r2sp:0:0:1") },
	{ "r2sp, a chunk at each, seldom read", SOME, SELDOM(3, "r2sp:0:0") },
	{ "r2sp, 3 hosts", ALL, THREE(2, "r2sp:0:0:1") },
	{ "r2sp, 3 hosts, two at a time", ALL, THREE(2, "r2sp:0:0:2") },
	{ "ako, 3 clocks", SOME, TWO(3, "ako:1:0") },
	{ "ako, partitions", SOME, AT_TWO(3, "ako:2:0") },
	{ "ako, 3 hosts", ALL, THREE(1, "ako:1:0") },
	{ "ako, 3 hosts, 2 clocks", CUT, THREE(2, "ako:1:0") },
	{ "pull, 3 clocks", ALL, TWO(3, "gossip-pull:1") },
	{ "pull, two chunks", ALL, AT_TWO(2, "gossip-pull:1") },
	{ "pull, 3 hosts, 2 clocks", CUT, THREE(2, "gossip-pull:1") },
	{ "push, 3 clocks", ALL, TWO(3, "gossip-push:1:0") },
	{ "push, two chunks", ALL, AT_TWO(2, "gossip-push:1:0") },
	{ "push, 3 hosts, 2 clocks", CUT, THREE(2, "push-sum:1") },
};

/* anything of up to three hosts; copies have a rank each */
static void shape(struct setup *su)
{
	static const char *const modes[] = {
		"asp", "ssp:0", "ssp:1", "dssp:0:1", "r2sp:0:0:1", "ako:1:0", "ako:2:1",
		"gossip-pull:1", "gossip-push:1:0", "push-sum:1",
	};
	u32 i = (u32)rnd(sizeof(modes) / sizeof(modes[0]));

	search_shape(su);
	su->sync = modes[i];
	su->window = 2;
	su->stripe = 1 + (u32)rnd(2);
	su->ops = 1 + (u32)rnd(2);
	/* one is of the last update */
	su->rounds = 1 + (u32)rnd(C_ROUNDS - 1);
	if (su->nodes == 2 && i < 5)
		su->ranks[rnd(2)] = 2;
	else if (i < 5 && !rnd(3))
		su->ranks[0] = 0;
}

const struct model model = {
	.searches = searches,
	.nsearches = sizeof(searches) / sizeof(searches[0]),
	.walks = 1500,
	.shape = shape,
};
