// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a group with replicas (localsgd, easgd, easgd-sync, hpsgd; gossip.c has
 * the others), against what the sync mode conserves.
 *
 *	replica GROUP RANK STEPS[+IDLE] [PAUSE_US]
 *
 * IDLE steps more have no elements of their own.
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
 *	easgd		the same, when all have met, after every sixth step and the last:
 *			between these nobody waits for another
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
#include "store.h"

#define BITS	20	/* of updates that share elements */
#define PART	3000	/* elements that share them */
#define BEGIN	1000
#define GRID	16	/* steps in 1 */
#define MEET	6	/* steps of easgd until all meet */

static struct gagg_comm *comm;
static struct gagg_replica *replica;
static struct gagg_table *sums;	/* of a group with a store, which has no all-reduce */
static int rank, size, steps;
static int span;	/* steps whose updates share elements */
static int count;
static float *w, *u;
static int64_t *added;	/* what this rank has, in 2^-22 steps, as floats could hold it */
static int64_t *mine;	/* what this rank has in @sums */
static uint32_t digest = 2166136261u;
static void (*check)(int now);
static bool exact;	/* in the end all updates are in the weights, each once */

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

static void *alloc(size_t n, size_t bytes)
{
	void *p = calloc(n, bytes);

	if (!p)
		exit(2);
	return p;
}

/*
 * Make a table of the sums of all ranks' @d: this rank's part in it changes to @d. In
 * two halves, since an increment has to fit a lane of 32 bits.
 */
static void sum_in_store(int64_t *d)
{
	size_t n = (size_t)count, i;
	int64_t *halves = alloc(n, 2 * sizeof(*halves));

	for (i = 0; i < 2 * n; i++) {
		int64_t half = i < n ? d[i] >> 22 : d[i - n] & (REPLICA_FINE - 1);

		halves[i] = half - mine[i];
		mine[i] = half;
	}
	if (gagg_inc(sums, halves) || gagg_clock(comm) || gagg_snapshot(sums, halves))
		die("sums");
	for (i = 0; i < n; i++)
		d[i] = halves[i] * REPLICA_FINE + halves[n + i];
	free(halves);
}

/* @d of all ranks, which are at the same step */
static void sum(int64_t *d)
{
	if (sums)
		sum_in_store(d);
	else if (gagg_allreduce(d, d, (size_t)count, GAGG_INT64, GAGG_SUM, comm, NULL))
		die("allreduce");
}

/* in steps, as it is when all have exchanged, or met */
static int64_t center(int i)
{
	return sums ? store_pushed(replica->table, (size_t)i) : replica->center[i];
}

static void check_sum(int now)
{
	int64_t *d = alloc((size_t)count, sizeof(*d));
	int i;

	for (i = 0; i < count; i++)
		d[i] = fine(replica_at(replica, w, (size_t)i)) - fine(BEGIN * GRID) - added[i];
	sum(d);
	if (sums && store_snapshot(replica->table))
		die("centre");
	for (i = 0; i < count; i++)
		if (d[i] + (center(i) - BEGIN * GRID) * REPLICA_FINE)
			wrong(now, "replicas and centre have not kept their sum");
	free(d);
}

/* what a program is shown of it, when all have exchanged, or met */
static void check_shown(int now)
{
	float *shown = alloc((size_t)count, sizeof(*shown));
	int i;

	if (gagg_replica_centre(replica, shown))
		die("centre");
	for (i = 0; i < count; i++)
		if (shown[i] != (float)((double)center(i) / GRID))
			wrong(now, "another centre is shown");
	free(shown);
}

/* if the sum of all is this rank's times their number, for each, then they are equal */
static void check_digest(void)
{
	int64_t *d = alloc((size_t)count, sizeof(*d)), own;

	mix(w, (size_t)count * sizeof(*w));
	own = digest;
	d[0] = own;
	sum(d);
	if (d[0] != own * size)
		wrong(steps, "another rank has other weights, or took them at other steps");
	free(d);
}

static void check_easgd_sync(int now)
{
	if (now % (int)replica->arg[0])
		return;
	check_sum(now);
	check_shown(now);
}

static void check_easgd(int now)
{
	if (now % MEET && now != steps)
		return;
	check_sum(now);
	check_shown(now);
}

static void check_end(void)
{
	int i;

	if (exact && gagg_replica_centre(replica, u) != GAGG_ERR_UNSUPPORTED)
		wrong(steps, "a centre is shown, and there is none");
	if (exact && !shows(steps, steps, steps))
		wrong(steps, "in the end not every update is there once");
	for (i = 0; !exact && i < count; i++) {
		if (w[i] != (float)((double)center(i) / GRID))
			wrong(steps, "in the end not the centre");
		if (w[i] == BEGIN)
			wrong(steps, "the centre stays where it was");
	}
	check_digest();
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

static void choose_check(const char *sync)
{
	exact = strncmp(sync, "easgd", 5) != 0;
	if (!strncmp(sync, "localsgd:", 9))
		check = check_localsgd;
	else if (!strncmp(sync, "hpsgd:", 6))
		check = check_hpsgd;
	else
		check = sums ? check_easgd : check_easgd_sync;
}

static void begin(void)
{
	size_t n;
	int i;

	span = BITS / size;
	if (!span)
		wrong(0, "at most 20 ranks");
	count = (steps + span - 1) / span * PART;
	n = (size_t)count;
	w = alloc(n, sizeof(*w));
	u = alloc(n, sizeof(*u));
	added = alloc(n, sizeof(*added));
	mine = alloc(n, 2 * sizeof(*mine));
	for (i = 0; i < count; i++)
		w[i] = rank ? 0 : BEGIN;
	if (gagg_replica_create(comm, w, n, 1.0 / GRID, &replica))
		die("create");
	if (gagg_has_store(comm) && gagg_table_create(comm, 2 * n, GAGG_INT64, 1, &sums))
		die("table");
	choose_check(gagg_sync(comm));
}

static void end(void)
{
	gagg_replica_free(replica);
	if (gagg_finalize(comm)) {
		fprintf(stderr, "rank %d: finalize: %s\n", rank, gagg_last_error(NULL));
		exit(1);
	}
	free(w);
	free(u);
	free(added);
	free(mine);
}

int main(int argc, char **argv)
{
	char *idle;
	int t;

	if (argc < 4)
		return 2;
	rank = atoi(argv[2]);
	steps = (int)strtol(argv[3], &idle, 10);
	comm = enter(argv[1], rank);
	size = gagg_size(comm);
	begin();
	steps += atoi(idle);
	for (t = 0; t < steps; t++) {
		step(t);
		check(t + 1);
		usleep(argc > 4 ? (useconds_t)atoi(argv[4]) : 0);
	}
	if (gagg_replica_finish(replica, w))
		die("finish");
	check_end();
	end();
	return 0;
}
