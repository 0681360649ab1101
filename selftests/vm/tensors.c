// SPDX-License-Identifier: GPL-2.0
/*
 * One rank that sums up several tensors at once.
 *
 *	tensors GROUP RANK STEPS one|own ELEMENTS...
 *
 * All in one communicator, or each in its own, made in the order in which they are given. In a step the sums of all of
 * them are under way, the last one first, as gradients come; the next step begins when all are
 * there. Prints "us U", the time of all steps but the first, and fails if a sum is wrong.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "enter.h"

#define TENSORS	63

static struct tensor {
	struct gagg_comm *comm;
	struct gagg_request *req;
	size_t count;
	int32_t *x;
} tensor[TENSORS];

static struct gagg_comm *world;
static int rank, size, tensors;

static int die(struct gagg_comm *comm, const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, gagg_last_error(comm));
	gagg_abort(world);
	exit(1);
}

static int32_t part(int r, int step, size_t i)
{
	return (int32_t)((size_t)r * 31 + (size_t)step * 17 + i * 7);
}

static void check(const struct tensor *t, int step)
{
	size_t i;
	int r;

	for (i = 0; i < t->count; i++) {
		int32_t sum = 0;

		for (r = 0; r < size; r++)
			sum += part(r, step, i);
		if (t->x[i] != sum) {
			fprintf(stderr, "rank %d: step %d: element %zu of %zu is %" PRId32 ", not %" PRId32 "\n",
				rank, step, i, t->count, t->x[i], sum);
			exit(1);
		}
	}
}

static void make(char **words, bool own)
{
	struct tensor *t;

	for (t = tensor; t < tensor + tensors; t++) {
		t->count = strtoul(*words++, NULL, 0);
		t->x = calloc(t->count, sizeof(*t->x));
		t->comm = world;
		if (!t->x ||
		    (own && gagg_comm_tensor(world, t->count * sizeof(*t->x), &t->comm)))
			die(world, "tensor");
	}
}

static void sum_up(int step)
{
	struct tensor *t;
	size_t i;

	for (t = tensor + tensors; t-- > tensor;) {
		for (i = 0; i < t->count; i++)
			t->x[i] = part(rank, step, i);
		if (gagg_iallreduce(t->x, t->x, t->count, GAGG_INT32, GAGG_SUM, t->comm, NULL,
				    &t->req))
			die(t->comm, "iallreduce");
	}
	for (t = tensor + tensors; t-- > tensor;) {
		if (gagg_wait(&t->req, GAGG_FOREVER))
			die(t->comm, "wait");
		check(t, step);
	}
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	uint64_t begin = 0;
	int step, steps;

	if (argc < 6 || argc - 5 > TENSORS) {
		fprintf(stderr, "usage: tensors GROUP RANK STEPS one|own ELEMENTS...\n");
		return 2;
	}
	rank = atoi(argv[2]);
	steps = atoi(argv[3]);
	world = enter(argv[1], rank);
	size = gagg_size(world);
	tensors = argc - 5;
	make(argv + 5, !strcmp(argv[4], "own"));
	for (step = 0; step < steps; step++) {
		if (step == 1)
			begin = now_us();
		sum_up(step);
	}
	printf("us %" PRIu64 "\n", now_us() - begin);
	return gagg_finalize(world) ? die(world, "finalize") : 0;
}
