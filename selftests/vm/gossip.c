// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a group that gossips.
 *
 *	gossip GROUP RANK STEPS [PAUSE_US]
 *
 * All elements of a replica are the same whole number: the update of a step is of
 * its rank and number only. So a rank that sees a part of a replica, or adds a part, has
 * elements that differ. In the end the mean of all is what it has to be to the bit
 * (gossip-pair, push-sum), or within what updates could bring about. See enter.h
 * for GAGG_SOCKET.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enter.h"

#define COUNT	40000
#define BEGIN	1000

static struct gagg_comm *comm;
static int rank, size;

static int die(const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, gagg_last_error(comm));
	exit(1);
}

/* a multiple of 12: means of 2, 3, 4 and 6 are whole numbers, too */
static int update(int r, int t)
{
	uint32_t x = (uint32_t)r * 2654435761u ^ (uint32_t)t * 40503u;

	x ^= x >> 15;
	x *= 2246822519u;
	return 12 * ((int)(x >> 16) % 33 - 16);
}

static void is_one(const float *w, int t)
{
	int i;

	for (i = 1; i < COUNT; i++) {
		if (w[i] != w[0]) {
			fprintf(stderr, "rank %d, step %d: %g and %g are parts of two\n", rank,
				t, (double)w[0], (double)w[i]);
			exit(1);
		}
	}
}

static bool is_mean(float w, int steps)
{
	bool exact = !strncmp(gagg_sync(comm), "gossip-pair", 11) ||
		     !strncmp(gagg_sync(comm), "push-sum", 8);
	int sum = 0, low = BEGIN, high = BEGIN, r, t;

	for (t = 0; t < steps; t++) {
		int least = 0, most = 0;

		for (r = 0; r < size; r++) {
			int u = update(r, t);

			sum += u;
			least = u < least ? u : least;
			most = u > most ? u : most;
		}
		low += least;
		high += most;
	}
	printf("mean %g of %g\n", (double)w, BEGIN + (double)sum / size);
	return exact ? w == BEGIN + (float)(sum / size) : w >= (float)low && w <= (float)high;
}

int main(int argc, char **argv)
{
	struct gagg_replica *replica;
	useconds_t pause;
	float *w, *u;
	int i, t, steps;

	if (argc < 4)
		return 2;
	rank = atoi(argv[2]);
	steps = atoi(argv[3]);
	pause = argc > 4 ? (useconds_t)atoi(argv[4]) : 0;
	comm = enter(argv[1], rank);
	size = gagg_size(comm);
	w = calloc(COUNT, sizeof(*w));
	u = calloc(COUNT, sizeof(*u));
	if (!w || !u)
		return 2;
	for (i = 0; i < COUNT; i++)
		w[i] = rank ? 0 : BEGIN;
	if (gagg_replica_create(comm, w, COUNT, 1.0 / 16, &replica))
		die("create");
	for (t = 0; t < steps; t++) {
		for (i = 0; i < COUNT; i++)
			u[i] = (float)update(rank, t);
		if (gagg_replica_step(replica, w, u))
			die("step");
		is_one(w, t);
		usleep(pause);
	}
	if (gagg_replica_finish(replica, w))
		die("finish");
	is_one(w, steps);
	if (!is_mean(w[0], steps)) {
		fprintf(stderr, "rank %d: not the mean\n", rank);
		return 1;
	}
	gagg_replica_free(replica);
	if (gagg_finalize(comm)) {
		fprintf(stderr, "rank %d: finalize: %s\n", rank, gagg_last_error(NULL));
		return 1;
	}
	free(w);
	free(u);
	return 0;
}
