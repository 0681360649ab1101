/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Which ranks exchange with each other when they gossip. Pure functions of the ranks of a channel
 * (a bit each) and of a number that ranks count up: the kernel and all trainers come to the same
 * answer without messages. The choice is pseudo-random, and no secret.
 */
#ifndef _UAPI_LINUX_GAGG_PEER_H
#define _UAPI_LINUX_GAGG_PEER_H

#include <linux/types.h>

static inline __u32 gagg_peer_count(__u64 members)
{
	__u32 n;

	for (n = 0; members; n++)
		members &= members - 1;
	return n;
}

/* place of a member among the members, from 0 */
static inline __u32 gagg_peer_index(__u64 members, __u32 rank)
{
	return gagg_peer_count(members & ((1ULL << rank) - 1));
}

/* the member in that place */
static inline __u32 gagg_peer_rank(__u64 members, __u32 index)
{
	__u32 rank;

	for (; index; index--)
		members &= members - 1;
	for (rank = 0; !(members >> rank & 1); rank++)
		;
	return rank;
}

/*
 * The following functions are about places. They hold for up to 65536 members: products of two
 * numbers of places fit 32 bits. All members have the same seed: their ranks, a bit each.
 */

/* splitmix64 (Steele, Lea, Flood 2014) */
static inline __u32 gagg_peer_random(__u64 seed, __u32 number, __u32 below)
{
	__u64 x = seed * 0x9e3779b97f4a7c15ULL + number;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (__u32)((x ^ (x >> 31)) >> 32) % below;
}

/*
 * distance from a rank to its peer at that clock, in places: so each place is the peer of exactly
 * one other
 */
static inline __u32 gagg_peer_distance(__u64 seed, __u32 n, __u32 clock)
{
	return 1 + gagg_peer_random(seed, clock, n - 1);
}

/* gagg_peer_to() of n members by their places */
static inline __u32 gagg_peer_place_to(__u64 seed, __u32 n, __u32 place, __u32 clock)
{
	return n < 2 ? place : (place + gagg_peer_distance(seed, n, clock)) % n;
}

/* gagg_peer_from() of n members by their places */
static inline __u32 gagg_peer_place_from(__u64 seed, __u32 n, __u32 place, __u32 clock)
{
	return n < 2 ? place : (place + n - gagg_peer_distance(seed, n, clock)) % n;
}

/*
 * gagg_peer_pair() of n members by their places: one of the rounds of a tournament in which all
 * meet. There are n rounds, or n - 1 if n is even. In round r those meet whose places add up to r.
 * A place that would meet itself meets the last one if n is even.
 */
static inline __u32 gagg_peer_place_pair(__u64 seed, __u32 n, __u32 i, __u32 round)
{
	__u32 rounds = n % 2 ? n : n - 1, r = gagg_peer_random(seed, round, rounds), k;

	if (i == rounds)
		k = r * ((rounds + 1) / 2) % rounds;
	else
		k = (r + rounds - i) % rounds;
	if (k == i && n % 2 == 0)
		k = rounds;
	return k;
}

/**
 * gagg_peer_to() - the rank that a rank reads from, or sends to, at a clock
 * @members:	ranks of the channel
 * @rank:	one of them
 * @clock:	clock of that rank
 * Return: another rank; @rank if it is alone.
 */
static inline __u32 gagg_peer_to(__u64 members, __u32 rank, __u32 clock)
{
	__u32 n = gagg_peer_count(members), place = gagg_peer_index(members, rank);

	if (n < 2)
		return rank;
	return gagg_peer_rank(members, gagg_peer_place_to(members, n, place, clock));
}

/**
 * gagg_peer_from() - the rank whose peer a rank is at a clock
 * @members:	ranks of the channel
 * @rank:	one of them
 * @clock:	clock of the rank that is returned
 * Return: another rank; @rank if it is alone.
 */
static inline __u32 gagg_peer_from(__u64 members, __u32 rank, __u32 clock)
{
	__u32 n = gagg_peer_count(members), place = gagg_peer_index(members, rank);

	if (n < 2)
		return rank;
	return gagg_peer_rank(members, gagg_peer_place_from(members, n, place, clock));
}

/**
 * gagg_peer_pair() - the rank that a rank is paired with in a round
 * @members:	ranks of the channel
 * @rank:	one of them
 * @round:	number
 * Return: a rank whose pair is @rank; @rank itself if it is left over: with an odd number of
 * members one is left over in each round.
 */
static inline __u32 gagg_peer_pair(__u64 members, __u32 rank, __u32 round)
{
	__u32 n = gagg_peer_count(members), place = gagg_peer_index(members, rank);

	if (n < 2)
		return rank;
	return gagg_peer_rank(members, gagg_peer_place_pair(members, n, place, round));
}

#endif /* _UAPI_LINUX_GAGG_PEER_H */
