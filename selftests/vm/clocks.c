// SPDX-License-Identifier: GPL-2.0
/*
 * One rank that adds up numbers, clock by clock: in a store or, where the sync mode has
 * none, by all-reduces.
 *
 *	clocks GROUP RANK CLOCKS [PAUSE_US [COUNT]]
 *
 * COUNT is of elements (3000). Prints, after each clock, a digest of the elements as this rank knows them. Ranks that
 * know the same print the same, whatever the group's sync mode.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "enter.h"
#include "reference.h"

static int count = 3000;
static struct gagg_comm *comm;
static struct gagg_table *table;
static int rank;

static int die(const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, gagg_last_error(comm));
	exit(1);
}

/* below 2^28 in magnitude: those of seven ranks move a lane by less than 2^31 */
static int32_t number(int clock, int i)
{
	uint32_t h = (uint32_t)(rank * 1000003 + clock * 8191 + i) * 2654435761U;

	h ^= h >> 15;
	h *= 2246822519U;
	return (int32_t)((h ^ h >> 13) >> 3) - (1 << 28);
}

/* the elements at the end of a clock into @x, which holds those of the last */
static void tick(int32_t *x, int32_t *d, int clock)
{
	int i;

	for (i = 0; i < count; i++)
		d[i] = number(clock, i);
	if (table) {
		if (gagg_inc(table, d) || gagg_clock(comm) || gagg_get(table, x))
			die("clock");
		return;
	}
	if (gagg_allreduce(d, d, (size_t)count, GAGG_INT32, GAGG_SUM, comm, NULL))
		die("allreduce");
	for (i = 0; i < count; i++)
		x[i] = (int32_t)((uint32_t)x[i] + (uint32_t)d[i]);
}

int main(int argc, char **argv)
{
	int32_t *x, *d;
	int c;

	if (argc < 4)
		return 2;
	if (argc > 5)
		count = atoi(argv[5]);
	x = calloc((size_t)count, sizeof(*x));
	d = calloc((size_t)count, sizeof(*d));
	if (!x || !d)
		return 1;
	rank = atoi(argv[2]);
	comm = enter(argv[1], rank);
	if (gagg_has_store(comm) && gagg_table_create(comm, (size_t)count, GAGG_INT32, 1, &table))
		die("table");
	for (c = 0; c < atoi(argv[3]); c++) {
		tick(x, d, c);
		usleep(argc > 4 ? (useconds_t)atoi(argv[4]) : 0);
		printf("clock %d: %016" PRIx64 "\n", c, digest(x, (size_t)count * sizeof(*x)));
	}
	if (gagg_finalize(comm)) {
		fprintf(stderr, "rank %d: finalize: %s\n", rank, gagg_last_error(NULL));
		return 1;
	}
	free(d);
	free(x);
	return 0;
}
