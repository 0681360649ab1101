// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of asynchronous elastic averaging (gagg_elastic), in a group with asp.
 *
 *	elastic GROUP RANK STEPS [PAUSE_US]
 *
 * In each step it learns something and exchanges, with a centre of each type. In the
 * end each centre and all replicas of it together are, to the bit, what replicas began
 * with and what ranks have learned. Another table has the sum of the replicas.
 * See enter.h for GAGG_SOCKET.
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "enter.h"

#define COUNT	5000
#define STEP	(1.0 / 16)	/* of floats; float32: replicas are less than 2^24 of them */
#define BEGIN	100000		/* steps; centres begin at 0 */
#define FAR	(1 << 29)	/* steps that float32 cannot tell apart */

static struct centre {
	enum gagg_dtype dtype;
	const char *name;
	int begin;
	struct gagg_table *table;
	struct gagg_table *sum;
	union {
		int32_t n[COUNT];
		int64_t wide[COUNT];
		float f[COUNT];
		double d[COUNT];
	} x;
} centres[] = {
	{ .dtype = GAGG_INT32, .name = "int32", .begin = BEGIN },
	{ .dtype = GAGG_INT64, .name = "int64", .begin = BEGIN },
	{ .dtype = GAGG_FLOAT32, .name = "float32", .begin = BEGIN },
	{ .dtype = GAGG_FLOAT64, .name = "float64", .begin = FAR },
};

#define CENTRES	(sizeof(centres) / sizeof(centres[0]))

static struct gagg_comm *comm;
static int rank, size, steps;

static int die(const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, gagg_last_error(comm));
	exit(1);
}

static bool is_float(const struct centre *c)
{
	return c->dtype == GAGG_FLOAT32 || c->dtype == GAGG_FLOAT64;
}

/* in steps */
static int64_t get(const struct centre *c, int i)
{
	double f;

	if (c->dtype == GAGG_INT32)
		return c->x.n[i];
	if (c->dtype == GAGG_INT64)
		return c->x.wide[i];
	f = (c->dtype == GAGG_FLOAT32 ? c->x.f[i] : c->x.d[i]) / STEP;
	if (f != (double)(int64_t)f) {
		fprintf(stderr, "rank %d: element %d is %g steps\n", rank, i, f);
		exit(1);
	}
	return (int64_t)f;
}

static void put(struct centre *c, int i, int64_t n)
{
	if (c->dtype == GAGG_INT32)
		c->x.n[i] = (int32_t)n;
	else if (c->dtype == GAGG_INT64)
		c->x.wide[i] = n;
	else if (c->dtype == GAGG_FLOAT32)
		c->x.f[i] = (float)(n * STEP);
	else
		c->x.d[i] = n * STEP;
}

/* what rank @r learns in step @t */
static int update(int r, int t, int i)
{
	uint32_t x = (uint32_t)r * 2654435761u ^ (uint32_t)t * 40503u ^ (uint32_t)i * 69069u;

	x ^= x >> 15;
	x *= 2246822519u;
	return (int)(x >> 16) % 2001 - 1000;
}

static void step(struct centre *c, int t)
{
	int i;

	for (i = 0; i < COUNT; i++)
		put(c, i, get(c, i) + update(rank, t, i));
	if (gagg_elastic(c->table, &c->x, 0.9 / size))
		die("elastic");
}

static int64_t learned(const struct centre *c, int i)
{
	int64_t sum = (int64_t)c->begin * size;
	int r, t;

	for (r = 0; r < size; r++)
		for (t = 0; t < steps; t++)
			sum += update(r, t, i);
	return sum;
}

/* after the replicas were added up */
static void check(struct centre *c)
{
	static int64_t replicas[COUNT];
	int i, moved = 0;

	if (gagg_snapshot(c->sum, replicas) || gagg_snapshot(c->table, &c->x))
		die("snapshot");
	for (i = 0; i < COUNT; i++) {
		moved += !!get(c, i);
		if (get(c, i) + replicas[i] == learned(c, i))
			continue;
		fprintf(stderr, "rank %d: %s: element %d: %lld and %lld are not %lld\n", rank,
			c->name, i, (long long)get(c, i), (long long)replicas[i],
			(long long)learned(c, i));
		exit(1);
	}
	/* by chance one may have come back */
	if (moved < COUNT / 2) {
		fprintf(stderr, "rank %d: %s: the centre stays where it was\n", rank, c->name);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static int64_t mine[COUNT];
	struct centre *c;
	int t, i;

	if (argc < 4)
		return 2;
	rank = atoi(argv[2]);
	steps = atoi(argv[3]);
	comm = enter(argv[1], rank);
	size = gagg_size(comm);
	for (c = centres; c < centres + CENTRES; c++) {
		if (gagg_table_create(comm, COUNT, c->dtype,
				      is_float(c) ? STEP : 1, &c->table) ||
		    gagg_table_create(comm, COUNT, GAGG_INT64, 1, &c->sum))
			die("table");
		for (i = 0; i < COUNT; i++)
			put(c, i, c->begin);
	}
	for (t = 0; t < steps; t++) {
		for (c = centres; c < centres + CENTRES; c++)
			step(c, t);
		usleep(argc > 4 ? (useconds_t)atoi(argv[4]) : 0);
	}
	for (c = centres; c < centres + CENTRES; c++) {
		for (i = 0; i < COUNT; i++)
			mine[i] = get(c, i);
		if (gagg_inc(c->sum, mine))
			die("inc");
	}
	if (gagg_clock(comm))
		die("clock");
	for (c = centres; c < centres + CENTRES; c++)
		check(c);
	if (gagg_finalize(comm)) {
		fprintf(stderr, "rank %d: finalize: %s\n", rank, gagg_last_error(NULL));
		return 1;
	}
	return 0;
}
