// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a group with a store that gives tables values, adds to them, saves
 * and restores them.
 *
 *	checkpoint GROUP RANK save PATH		and adds more afterwards
 *	checkpoint GROUP RANK stay PATH		the same, and goes on until it is killed
 *	checkpoint GROUP RANK load PATH
 *	checkpoint GROUP RANK take NAME		asks gaggd for the file, and no more
 *
 * Rank 1 sets and saves, rank 0 restores, or rank 1 where gaggd has the tables. Both
 * print "digest", of the tables as they were saved, or are restored; it is checked that
 * they are those.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "broker.h"
#include "enter.h"

#define FLOATS	1000
#define INTS	700
#define DOUBLES	500
#define STEP	(1.0 / 1024)
#define CLOCKS	3

static struct gagg_comm *comm;
static struct gagg_table *floats, *ints, *doubles;
static float f[FLOATS];
static int32_t n[INTS];
static double d[DOUBLES];
static int rank, size;

static int die(const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, gagg_last_error(comm));
	gagg_abort(comm);
	exit(1);
}

/* far beyond 32 bits of steps, both signs */
static float first(int i)
{
	return (float)ldexp(i % 2 ? -i : i, i % 30);
}

/* as many steps as doubles can tell apart, both signs */
static double first_double(int i)
{
	return (i % 2 ? i - 0x1p52 : 0x1p52 - i) * STEP;
}

static float more(int r, int c, int i)
{
	return (float)((r + 1) * (c + 2) * (i % 7)) / 4;
}

static void add_some(int c)
{
	int i;

	for (i = 0; i < FLOATS; i++)
		f[i] = more(rank, c, i);
	for (i = 0; i < INTS; i++)
		n[i] = rank * 1000 + c * i;
	for (i = 0; i < DOUBLES; i++)
		d[i] = more(rank, c, i) + (rank + 1) * STEP;
	if (gagg_inc(floats, f) || gagg_inc(ints, n) || gagg_inc(doubles, d) || gagg_clock(comm))
		die("add");
}

/* what is in the tables after CLOCKS */
static void check(void)
{
	int i, r, c;

	for (i = 0; i < FLOATS; i++) {
		double sum = first(i);

		for (r = 0; r < size; r++)
			for (c = 0; c < CLOCKS; c++)
				sum += more(r, c, i);
		if (f[i] != (float)sum) {
			fprintf(stderr, "rank %d: element %d is %g, not %g\n", rank, i,
				(double)f[i], sum);
			exit(1);
		}
	}
	for (i = 0; i < INTS; i++) {
		uint32_t sum = 0x7fffff00u + (uint32_t)i;

		for (r = 0; r < size; r++)
			for (c = 0; c < CLOCKS; c++)
				sum += (uint32_t)(r * 1000 + c * i);
		if ((uint32_t)n[i] != sum) {
			fprintf(stderr, "rank %d: integer %d is %#x, not %#x\n", rank, i,
				(unsigned int)n[i], (unsigned int)sum);
			exit(1);
		}
	}
}

static void check_doubles(void)
{
	int i, r, c;

	for (i = 0; i < DOUBLES; i++) {
		double sum = first_double(i);

		for (r = 0; r < size; r++)
			for (c = 0; c < CLOCKS; c++)
				sum += more(r, c, i) + (r + 1) * STEP;
		if (d[i] != sum) {
			fprintf(stderr, "rank %d: double %d is %a, not %a\n", rank, i, d[i], sum);
			exit(1);
		}
	}
}

static uint64_t digest = 0xcbf29ce484222325ULL;

static void mix(const void *data, size_t bytes)
{
	const unsigned char *p = data;

	while (bytes--)
		digest = (digest ^ *p++) * 0x100000001b3ULL;
}

static void print_digest(void)
{
	if (gagg_snapshot(floats, f) || gagg_snapshot(ints, n) || gagg_snapshot(doubles, d))
		die("snapshot");
	check();
	check_doubles();
	mix(f, sizeof(f));
	mix(n, sizeof(n));
	mix(d, sizeof(d));
	printf("digest %016llx\n", (unsigned long long)digest);
}

static void save(const char *path, bool stay)
{
	int i, c;

	/* what has not been pushed is gone */
	for (i = 0; i < FLOATS; i++)
		f[i] = 100;
	if (gagg_inc(floats, f))
		die("inc");
	for (i = 0; i < FLOATS; i++)
		f[i] = first(i);
	for (i = 0; i < INTS; i++)
		n[i] = (int32_t)(0x7fffff00u + (uint32_t)i);
	for (i = 0; i < DOUBLES; i++)
		d[i] = first_double(i);
	if (gagg_set(floats, rank == 1 ? f : NULL, 1) || gagg_set(ints, rank == 1 ? n : NULL, 1) ||
	    gagg_set(doubles, rank == 1 ? d : NULL, 1))
		die("set");
	for (c = 0; c < CLOCKS; c++)
		add_some(c);
	if (gagg_checkpoint(comm, path, 1))
		die("checkpoint");
	print_digest();
	fflush(stdout);
	for (c = CLOCKS; c == CLOCKS || stay; c++)
		add_some(c);
	if (gagg_checkpoint(comm, "/no/such/dir/file", 1) != (rank == 1 ? GAGG_ERR_SYSTEM : 0))
		die("checkpoint into nowhere");
}

static int take(const char *group, const char *name)
{
	int fd = broker_load(NULL, group, name, 0);

	if (fd < 0)
		fprintf(stderr, "take: %s\n", gagg_last_error(NULL));
	else
		close(fd);
	return fd < 0;
}

int main(int argc, char **argv)
{
	bool agent;

	if (argc != 5)
		return 2;
	rank = atoi(argv[2]);
	agent = !strncmp(argv[4], "agent:", 6);
	if (!strcmp(argv[3], "take"))
		return take(argv[1], argv[4]);
	comm = enter(argv[1], rank);
	size = gagg_size(comm);
	if (gagg_table_create(comm, FLOATS, GAGG_FLOAT32, STEP, &floats) ||
	    gagg_table_create(comm, INTS, GAGG_INT32, 1, &ints) ||
	    gagg_table_create(comm, DOUBLES, GAGG_FLOAT64, STEP, &doubles))
		die("table");
	if (strcmp(argv[3], "load")) {
		save(argv[4], !strcmp(argv[3], "stay"));
	} else {
		if (gagg_restore(comm, argv[4], agent))
			die("restore");
		print_digest();
	}
	if (gagg_finalize(comm)) {
		fprintf(stderr, "rank %d: finalize: %s\n", rank, gagg_last_error(NULL));
		return 1;
	}
	return 0;
}
