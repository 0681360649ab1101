// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a group with a store: clock after clock it reads, checks, adds.
 *
 *	store GROUP RANK CLOCKS[+IDLE] BOUND [PAUSE_US [HITS]]
 *
 * Every update (rank, clock) has elements of its own, so a read shows which
 * updates are in it: each at most once, and whole; of this rank all; of others
 * those that BOUND (clocks; -1: none) promises; with BOUND 0 no others. IDLE clocks
 * more have no such elements. A second table is added to by everybody, and must be
 * the sum in the end. With HITS reads are cached, and so many of them, at least, must
 * have asked nobody. With the environment variable RANGES ranges are read and added to: with
 * and without a prefetch, and as old as BOUND or, if it is larger or there is none, one clock
 * at most (an update older than that must be there). See enter.h for GAGG_SOCKET.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enter.h"

#define SPREAD	500
#define COMMON	5000

static struct gagg_comm *comm;
static int rank, size;
static int clocks, bound;
static int told;	/* clocks whose updates have elements of their own */

static int die(const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, gagg_last_error(comm));
	exit(1);
}

static int32_t tag(int r, int c)
{
	return (int32_t)(0x40000000u + (uint32_t)(r * 4096 + c));
}

static int32_t term(int r, int c, int i)
{
	return (int32_t)(((uint32_t)r * 2654435761u) ^ ((uint32_t)c << 20) ^
			 ((uint32_t)i * 40503u));
}

/* 1: the update is in, 0: it is not; anything else ends the program */
static int shown(const int32_t *tags, int r, int c)
{
	const int32_t *t = tags + (size_t)(c * size + r) * SPREAD;
	int i, n = 0;

	for (i = 0; i < SPREAD; i++) {
		if (t[i] && t[i] != tag(r, c)) {
			fprintf(stderr, "rank %d: update %d of rank %d counts as %#x\n", rank, c,
				r, (unsigned int)t[i]);
			exit(1);
		}
		n += !!t[i];
	}
	/* of the chunks it lies in, some may have it and others not yet */
	return n == SPREAD;
}

static void check(const int32_t *tags, int clock, int lacks)
{
	int r, c;

	for (r = 0; r < size; r++) {
		for (c = 0; c < told; c++) {
			bool must = r == rank ? c < clock : lacks >= 0 && c < clock - lacks;
			int is = shown(tags, r, c);

			if ((must && !is) || (is && !bound && c >= clock && r != rank)) {
				fprintf(stderr, "rank %d at clock %d: update %d of rank %d is %s\n",
					rank, clock, c, r, is ? "there" : "not there");
				exit(1);
			}
		}
	}
}

/* reads the elements of a table in one of several ways; returns what they may lack, in clocks */
static int take(struct gagg_table *t, int32_t *tags, size_t count, int way)
{
	bool ranges = getenv("RANGES");
	uint32_t most = ranges && way % 3 == 2 && bound && bound != 1 ? 1 : GAGG_STALENESS_MODE;
	size_t half = count / 2;
	int err;

	if (!ranges) {
		err = gagg_get(t, tags);
	} else if (way % 3 == 1) {
		err = gagg_prefetch(t, half, count - half);
		if (!err)
			err = gagg_get_range(t, 0, half, most, tags);
		if (!err)
			err = gagg_get_range(t, half, count - half, most, tags + half);
	} else {
		err = gagg_get_range(t, 0, count, most, tags);
	}
	if (err)
		die("get");
	if (most == 1 && gagg_staleness(t) > 1) {
		fprintf(stderr, "rank %d: a read lacks %u clocks\n", rank, gagg_staleness(t));
		exit(1);
	}
	return most == 1 ? 1 : bound;
}

static bool complete(const int32_t *tags)
{
	int r, c;

	for (r = 0; r < size; r++)
		for (c = 0; c < told; c++)
			if (!shown(tags, r, c))
				return false;
	return true;
}

int main(int argc, char **argv)
{
	int32_t *tags, *add, *common, *terms;
	struct gagg_table *own, *all;
	useconds_t pause = 0;
	size_t count;
	char *idle;
	int c, i, lacks, r;

	if (argc < 5)
		return 2;
	rank = atoi(argv[2]);
	told = (int)strtol(argv[3], &idle, 10);
	clocks = told + atoi(idle);
	bound = atoi(argv[4]);
	if (argc > 5)
		pause = (useconds_t)atoi(argv[5]);
	comm = enter(argv[1], rank);
	size = gagg_size(comm);
	count = (size_t)told * (size_t)size * SPREAD;
	tags = calloc(count, sizeof(*tags));
	add = calloc(count, sizeof(*add));
	common = calloc(COMMON, sizeof(*common));
	terms = calloc(COMMON, sizeof(*terms));
	if (!tags || !add || !common || !terms)
		return 2;
	if (gagg_table_create(comm, count, GAGG_INT32, 1, &own) ||
	    gagg_table_create(comm, COMMON, GAGG_INT32, 1, &all))
		die("table");
	gagg_cache(own, argc > 6);
	for (c = 0; c < clocks; c++) {
		int32_t *mine = add + (size_t)((c < told ? c : 0) * size + rank) * SPREAD;

		lacks = take(own, tags, count, c);
		check(tags, c, lacks);
		for (i = 0; c < told && i < SPREAD; i++)
			mine[i] = tag(rank, c);
		for (i = 0; i < COMMON; i++)
			terms[i] = term(rank, c, i) / 4;
		if (!getenv("RANGES") ? gagg_inc(own, add) :
		    gagg_inc_range(own, (size_t)(mine - add), SPREAD, mine))
			die("inc");
		if (gagg_inc(all, terms))
			die("inc");
		for (i = 0; i < SPREAD; i++)
			mine[i] = 0;
		/* what is not pushed yet is seen, too */
		lacks = take(own, tags, count, c + 1);
		check(tags, c, lacks);
		if (c < told && !shown(tags, rank, c))
			die("own increments are not shown");
		if (gagg_clock(comm))
			die("clock");
		usleep(pause);
	}
	gagg_cache(own, 0);
	/* ako: until what was pushed has been sent to all */
	for (c = !strncmp(gagg_sync(comm), "ako:", 4) ? atoi(gagg_sync(comm) + 4) : 0; c; c--)
		if (gagg_clock(comm))
			die("clock");
	for (;;) {
		if (gagg_get(own, tags))
			die("last get");
		if (complete(tags))
			break;
		/* a read of a copy asks nobody: in virtual time, spinning holds the others up */
		usleep(1000);
	}
	printf("hits %llu\n", (unsigned long long)gagg_cache_hits(own));
	if (argc > 6 && gagg_cache_hits(own) < (uint64_t)atoi(argv[6])) {
		fprintf(stderr, "rank %d: of the reads only %llu were cached\n", rank,
			(unsigned long long)gagg_cache_hits(own));
		return 1;
	}
	/* of these all are in only when the last clock of all ranks is */
	if (gagg_snapshot(all, common))
		die("snapshot");
	for (i = 0; i < COMMON; i++) {
		uint32_t sum = 0;

		for (r = 0; r < size; r++)
			for (c = 0; c < clocks; c++)
				sum += (uint32_t)(term(r, c, i) / 4);
		if (sum != (uint32_t)common[i]) {
			fprintf(stderr, "rank %d: element %d is %#x, not %#x\n", rank, i,
				(unsigned int)common[i], sum);
			return 1;
		}
	}
	if (gagg_finalize(comm)) {
		fprintf(stderr, "rank %d: finalize: %s\n", rank, gagg_last_error(NULL));
		return 1;
	}
	free(tags);
	free(add);
	free(common);
	free(terms);
	return 0;
}
