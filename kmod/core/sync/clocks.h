/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far the workers are. Ranks here are those that policies know: a group has
 * GAGG_RANKS at most, a simulator that drives the same objects may have more.
 */
#ifndef GAGG_CORE_CLOCKS_H
#define GAGG_CORE_CLOCKS_H

#include "geom.h"

#ifndef GAGG_CLOCK_RANKS
#define GAGG_CLOCK_RANKS	GAGG_RANKS
#endif

#define GAGG_CLOCK_WORDS	((GAGG_CLOCK_RANKS + 63) / 64)

/* the clock of a worker that has finished: it holds nobody up */
#define GAGG_CLOCK_END	0x7fffffffU

/**
 * struct gagg_clocks - how far the workers are, as one home knows it
 * @members:	ranks that count, a bit each, from the lowest bit of the first word on
 * @n:		how many they are
 * @min:	least clock of them; GAGG_CLOCK_END if there is none
 * @slowest:	how many of them are at it
 * @owner:	copies: the rank whose copy this is
 * @homes:	over so many homes the chunks are spread; 0: as if it were one
 * @clock:	by rank: every update with a smaller stamp is in the store
 *
 * Ranks are below GAGG_CLOCK_RANKS, by which all that policies keep by rank is
 * sized as well.
 */
struct gagg_clocks {
	u64 members[GAGG_CLOCK_WORDS];
	u32 n;
	u32 min;
	u32 slowest;
	u32 owner;
	u32 homes;
	u32 clock[GAGG_CLOCK_RANKS];
};

/* @members: GAGG_CLOCK_WORDS words */
void gagg_clocks_init(struct gagg_clocks *k, const u64 *members);

/*
 * gagg_clocks_tick - @rank, a member, has come to @clock
 *
 * False if it was there before. All are looked at when the least clock grows by it, not
 * with every tick.
 */
bool gagg_clocks_tick(struct gagg_clocks *k, u32 rank, u32 clock);

static inline bool gagg_clocks_has(const struct gagg_clocks *k, u32 rank)
{
	return k->members[rank / 64] & GAGG_BIT(rank % 64);
}

/* the first member from @rank on; GAGG_CLOCK_RANKS: there is none */
static inline u32 gagg_clocks_next(const struct gagg_clocks *k, u32 rank)
{
	for (; rank < GAGG_CLOCK_RANKS; rank = (rank | 63) + 1) {
		u64 left = k->members[rank / 64] >> rank % 64;

		if (left)
			return rank + gagg_lowest(left);
	}
	return GAGG_CLOCK_RANKS;
}

/* all members, in ascending order */
#define gagg_for_each_worker(k, rank) \
	for (rank = gagg_clocks_next(k, 0); rank < GAGG_CLOCK_RANKS; \
	     rank = gagg_clocks_next(k, rank + 1))

/* place of a member among the members, from 0; and the member in a place below n */
u32 gagg_clocks_place(const struct gagg_clocks *k, u32 rank);
u32 gagg_clocks_at(const struct gagg_clocks *k, u32 place);

/*
 * What members seed choices with that they all make alike (gagg_peer.h). If all are of
 * the first word it is that word, as trainers have it.
 */
u64 gagg_clocks_seed(const struct gagg_clocks *k);

#endif
