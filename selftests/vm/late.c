// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a group with a store that reads late: elements have moved by more than
 * 2^31 when it does, which lanes of int32 do not tell.
 *
 *	late GROUP RANK CLOCKS [PAUSE_US]
 *
 * Prints what an element is, and what it should be; they are the same or the status
 * is 1. Other elements differ by their index.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "enter.h"

#define COUNT	2000

static struct gagg_comm *comm;
static int rank;

static int die(const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, gagg_last_error(comm));
	exit(1);
}

int main(int argc, char **argv)
{
	static int64_t x[COUNT];
	struct gagg_table *table;
	int64_t sum;
	int c, i, clocks;

	if (argc < 4)
		return 2;
	rank = atoi(argv[2]);
	clocks = atoi(argv[3]);
	comm = enter(argv[1], rank);
	if (gagg_table_create(comm, COUNT, GAGG_INT64, 1, &table))
		die("table");
	for (i = 0; i < COUNT; i++)
		x[i] = (1LL << 30) + i;
	for (c = 0; c < clocks; c++) {
		if (gagg_inc(table, x) || gagg_clock(comm))
			die("clock");
		usleep(argc > 4 ? (useconds_t)atoi(argv[4]) : 0);
	}
	if (gagg_snapshot(table, x))
		die("snapshot");
	sum = (int64_t)clocks * gagg_size(comm) << 30;
	printf("%" PRId64 " of %" PRId64 "\n", x[0], sum);
	for (i = 1; i < COUNT; i++) {
		if (x[i] != x[0] + (int64_t)clocks * gagg_size(comm) * i) {
			fprintf(stderr, "rank %d: element %d is %" PRId64 "\n", rank, i, x[i]);
			return 1;
		}
	}
	if (gagg_finalize(comm)) {
		fprintf(stderr, "rank %d: finalize: %s\n", rank, gagg_last_error(NULL));
		return 1;
	}
	return x[0] != sum;
}
