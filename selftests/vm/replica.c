// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a group with replicas (localsgd, easgd-sync, hpsgd; gossip.c has the
 * others), against what the sync mode conserves.
 *
 *	replica GROUP RANK STEPS [PAUSE_US]
 *
 * An update of an element is a power of two that no other has, times the number of
 * ranks. So of whole numbers below 2^24 each bit is an update that is in the mean, and
 *
 *	localsgd	after each step a replica is the mean of all that ranks have
 *			learned up to the last exchange, and what this one has since
 *	hpsgd		is a mean of all up to some step, the same on all ranks and less
 *			than two rounds ago, and what this one has learned since a later
 *			one; what lies between the two is under way
 *	easgd-sync	after each exchange all replicas and the centre have the sum that
 *			they began with, and what was added, in 2^-22 of a step
 *
 * In the end all have the same bits; with localsgd and hpsgd all updates are in them,
 * once. See enter.h for GAGG_SOCKET.
 */
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "comm.h"
#include "enter.h"
#include "replica.h"

#define BITS	20	/* of updates that share elements */
#define PART	3000	/* elements that share them */
#define BEGIN	1000
#define GRID	16	/* steps in 1 */

static struct gagg_comm *comm;
static struct gagg_replica *replica;
static int rank, size, steps;
static int span;	/* steps whose updates share elements */
static int count;
static float *w, *u;
static int64_t *added;	/* what this rank has, in 2^-22 steps, as floats could hold it */
static uint32_t digest = 2166136261u;

static int die(const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, gagg_last_error(comm));
	exit(1);
}

static void wrong(int t, const char *what)
{
	fprintf(stderr, "rank %d, step %d: %s\n", rank, t, what);
	exit(1);
}

/* what rank @r learns of element @i in step @t, by the number of ranks */
static int term(int r, int t, int i)
{
	if (t / span != i / PART)
		return 0;
	return 1 << ((t % span * size + r + i) % (span * size));
}

/* the mean of all updates of steps below @to */
static int mean(int to, int i)
{
	int t = i / PART * span, sum = 0, r;

	for (; t < to && t / span == i / PART; t++)
		for (r = 0; r < size; r++)
			sum += term(r, t, i);
	return sum;
}

/* this rank's updates of steps from @from on and below @to */
static int own(int from, int to, int i)
{
	int t = i / PART * span, sum = 0;

	for (t = t > from ? t : from; t < to && t / span == i / PART; t++)
		sum += size * term(rank, t, i);
	return sum;
}

/* the replica is the mean up to step @m, and what was learned from @since to @now */
static bool shows(int m, int since, int now)
{
	int i;

	for (i = 0; i < count; i++)
		if (w[i] != (float)(BEGIN + mean(m, i) + own(since, now, i)))
			return false;
	return true;
}

static void mix(const void *data, size_t n)
{
	const unsigned char *p = data;

	while (n--)
		digest = (digest ^ *p++) * 16777619u;
}

static void check_localsgd(int now)
{
	int last = now - now % (int)replica->arg[0];

	if (!shows(last, last, now))
		wrong(now, "not the mean, and what was learned since");
}

static void check_hpsgd(int now)
{
	int oldest = now - 2 * (int)replica->arg[0], m, since;

	for (m = oldest > 0 ? oldest : 0; m <= now; m++) {
		for (since = m; since <= now; since++) {
			if (!shows(m, since, now))
				continue;
			mix(&m, sizeof(m));
			return;
		}
	}
	wrong(now, "not what was learned up to any step");
}

static int64_t fine(double grids)
{
	double x = grids * REPLICA_FINE;

	if (x != (double)(int64_t)x)
		wrong(-1, "a replica lies between two places that it can have");
	return (int64_t)x;
}

static void check_easgd(int now)
{
	int64_t *d = calloc((size_t)count, sizeof(*d));
	int i;

	if (!d)
		exit(2);
	for (i = 0; i < count; i++)
		d[i] = fine(replica_at(replica, w, (size_t)i)) - fine(BEGIN * GRID) - added[i];
	if (gagg_allreduce(d, d, (size_t)count, GAGG_INT64, GAGG_SUM, comm, NULL))
		die("allreduce");
	for (i = 0; i < count; i++)
		if (d[i] + (int64_t)(replica->center[i] - BEGIN * GRID) * REPLICA_FINE)
			wrong(now, "replicas and centre have not kept their sum");
	free(d);
}

static void check_end(bool exact)
{
	int32_t most;
	int i;

	if (exact && !shows(steps, steps, steps))
		wrong(steps, "in the end not every update is there once");
	for (i = 0; !exact && i < count; i++) {
		if ((double)w[i] * GRID != replica->center[i])
			wrong(steps, "in the end not the centre");
		if (w[i] == BEGIN)
			wrong(steps, "the centre stays where it was");
	}
	mix(w, (size_t)count * sizeof(*w));
	digest &= 0x7fffffff;
	most = (int32_t)digest;
	if (gagg_allreduce(&most, &most, 1, GAGG_INT32, GAGG_MAX, comm, NULL))
		die("most");
	if (most != (int32_t)digest)
		wrong(steps, "another rank has other weights, or took them at other steps");
}

static void step(int t)
{
	int i;

	for (i = 0; i < count; i++) {
		u[i] = (float)(size * term(rank, t, i));
		added[i] += fine(((double)(float)(w[i] + u[i]) - w[i]) * GRID);
	}
	if (gagg_replica_step(replica, w, u))
		die("step");
}

int main(int argc, char **argv)
{
	void (*check)(int now);
	const char *sync;
	int i, t;

	if (argc < 4)
		return 2;
	rank = atoi(argv[2]);
	steps = atoi(argv[3]);
	comm = enter(argv[1], rank, 60000);
	size = gagg_size(comm);
	span = BITS / size;
	if (!span)
		wrong(0, "at most 20 ranks");
	count = (steps + span - 1) / span * PART;
	w = calloc((size_t)count, sizeof(*w));
	u = calloc((size_t)count, sizeof(*u));
	added = calloc((size_t)count, sizeof(*added));
	if (!w || !u || !added)
		return 2;
	sync = gagg_sync(comm);
	check = !strncmp(sync, "localsgd:", 9) ? check_localsgd :
		!strncmp(sync, "hpsgd:", 6) ? check_hpsgd : check_easgd;
	for (i = 0; i < count; i++)
		w[i] = rank ? 0 : BEGIN;
	if (gagg_replica_create(comm, w, (size_t)count, 1.0 / GRID, &replica))
		die("create");
	for (t = 0; t < steps; t++) {
		step(t);
		if (check != check_easgd || !((t + 1) % (int)replica->arg[0]))
			check(t + 1);
		usleep(argc > 4 ? (useconds_t)atoi(argv[4]) : 0);
	}
	if (gagg_replica_finish(replica, w))
		die("finish");
	check_end(check != check_easgd);
	gagg_replica_free(replica);
	if (gagg_finalize(comm)) {
		fprintf(stderr, "rank %d: finalize: %s\n", rank, gagg_last_error(NULL));
		return 1;
	}
	free(w);
	free(u);
	free(added);
	return 0;
}
