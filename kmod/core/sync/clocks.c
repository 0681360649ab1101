// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of all workers. A tick looks at all of them only when the last worker that was at
 * the least clock leaves it, which is once for each time that the least clock grows:
 *
 *	1. clocks only grow, so the least one grows only when none is at it any more;
 *	2. @slowest counts those that are at it.
 */
#include "sync/clocks.h"

static void clock_find_least(struct gagg_clocks *k)
{
	u32 rank;

	k->min = GAGG_CLOCK_END;
	k->slowest = 0;
	gagg_for_each_worker(k, rank) {
		if (k->clock[rank] < k->min) {
			k->min = k->clock[rank];
			k->slowest = 0;
		}
		k->slowest += k->clock[rank] == k->min;
	}
}

void gagg_clocks_init(struct gagg_clocks *k, const u64 *members)
{
	u32 word;

	memset(k, 0, sizeof(*k));
	for (word = 0; word < GAGG_CLOCK_WORDS; word++) {
		k->members[word] = members[word];
		k->n += gagg_weight64(members[word]);
	}
	clock_find_least(k);
}

bool gagg_clocks_tick(struct gagg_clocks *k, u32 rank, u32 clock)
{
	u32 was = k->clock[rank];

	/* a repetition, or overtaken by a later one */
	if (clock <= was || clock > GAGG_CLOCK_END)
		return false;
	k->clock[rank] = clock;
	if (was == k->min && !--k->slowest)
		clock_find_least(k);
	return true;
}

u32 gagg_clocks_place(const struct gagg_clocks *k, u32 rank)
{
	u64 before = k->members[rank / 64] & (GAGG_BIT(rank % 64) - 1);
	u32 place = gagg_weight64(before);
	u32 word;

	for (word = 0; word < rank / 64; word++)
		place += gagg_weight64(k->members[word]);
	return place;
}

u32 gagg_clocks_at(const struct gagg_clocks *k, u32 place)
{
	u32 word = 0, n;
	u64 left;

	for (; place >= (n = gagg_weight64(k->members[word])); word++)
		place -= n;
	for (left = k->members[word]; place; place--)
		left &= left - 1;
	return word * 64 + gagg_lowest(left);
}

u64 gagg_clocks_seed(const struct gagg_clocks *k)
{
	u64 seed = 0;
	u32 word;

	for (word = GAGG_CLOCK_WORDS; word; word--)
		seed = seed * 0x9e3779b97f4a7c15ULL + k->members[word - 1];
	return seed;
}
