// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a group whose rounds need not wait for all.
 *
 *	quorum GROUP RANK ELEMENTS CALLS SLOW US
 *
 * Every rank makes CALLS all-reduces of whole numbers with a plan, rank SLOW US
 * microseconds late to every fourth. With CARRY a reduce-scatter, which needs all,
 * brings in what was late to the last of them; then the results together are all that
 * was sent. Else (then ELEMENTS must fit in a chunk) they are all but what was late.
 * All ranks have the same results, of as many contributors. ELEMENTS: a multiple of
 * the number of ranks. See enter.h for GAGG_SOCKET.
 *
 * Prints "digest ... of C calls, least L", which is the same everywhere, then
 * "late N".
 */
#include <string.h>
#include <unistd.h>

#include "comm.h"
#include "enter.h"
#include "plan.h"

static struct gagg_comm *comm;
static struct gagg_plan *plan;
static int rank, size, slow;
static useconds_t late;
static size_t count;
static float *x, *y;
static int32_t *total, *sent, *dropped;
static uint64_t digest = 0xcbf29ce484222325ULL, lates;
static uint32_t least;

static int die(const char *what)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, gagg_last_error(comm));
	if (comm)
		gagg_abort(comm);
	exit(1);
}

static void wrong(const char *what)
{
	fprintf(stderr, "rank %d: %s\n", rank, what);
	gagg_abort(comm);
	exit(1);
}

static int32_t part_of(int r, int call, size_t i)
{
	return (int32_t)(((size_t)r * 31 + (size_t)call * 17 + i * 7) % 41) - 20;
}

static void mix(const void *data, size_t n)
{
	const unsigned char *p = data;

	while (n--)
		digest = (digest ^ *p++) * 0x100000001b3ULL;
}

/* a result of all ranks */
static void take(void)
{
	size_t i;

	mix(y, count * sizeof(*y));
	for (i = 0; i < count; i++) {
		total[i] += (int32_t)y[i];
		if ((float)(int32_t)y[i] != y[i])
			wrong("a sum is not exact");
	}
}

static void add(void)
{
	struct gagg_result res;
	size_t i;

	if (gagg_allreduce(x, y, count, GAGG_FLOAT32, GAGG_SUM, comm, plan))
		die("allreduce");
	gagg_last_result(comm, &res);
	take();
	mix(&res.contributors, sizeof(res.contributors));
	if (!least || res.contributors < least)
		least = res.contributors;
	lates += res.late;
	for (i = 0; i < count && !plan->carry && res.late; i++)
		dropped[i] += (int32_t)x[i];
}

/* with all ranks */
static void add_the_rest(void)
{
	size_t part = count / (size_t)size;

	memset(x, 0, count * sizeof(*x));
	if (gagg_reduce_scatter(x, x, part, GAGG_FLOAT32, GAGG_SUM, comm, plan) ||
	    gagg_allgather(x, part * sizeof(*x), y, comm))
		die("reduce_scatter");
	take();
}

/* integers are everybody's: the most of all ranks */
static int32_t most(int32_t n)
{
	if (gagg_allreduce(&n, &n, 1, GAGG_INT32, GAGG_MAX, comm, NULL))
		die("most");
	return n;
}

static void calls(int n)
{
	size_t i;
	int c, r;

	for (c = 0; c < n; c++) {
		for (i = 0; i < count; i++) {
			x[i] = (float)part_of(rank, c, i);
			for (r = 0; r < size; r++)
				sent[i] += part_of(r, c, i);
		}
		if (rank == slow && c % 4 == 3)
			usleep(late);
		add();
	}
}

int main(int argc, char **argv)
{
	size_t i;
	int n;

	if (argc != 7)
		return 2;
	rank = atoi(argv[2]);
	count = strtoul(argv[3], NULL, 10);
	n = atoi(argv[4]);
	slow = atoi(argv[5]);
	late = (useconds_t)atoi(argv[6]);
	comm = enter(argv[1], rank);
	size = gagg_size(comm);
	x = calloc(count, sizeof(*x));
	y = calloc(count, sizeof(*y));
	total = calloc(count, sizeof(*total));
	sent = calloc(count, sizeof(*sent));
	dropped = calloc(count, sizeof(*dropped));
	if (!x || !y || !total || !sent || !dropped)
		return 1;
	if (gagg_plan_create(comm, count, GAGG_FLOAT32, &plan))
		die("plan");
	calls(n);
	if (plan->carry)
		add_the_rest();
	else if (gagg_allreduce(dropped, dropped, count, GAGG_INT32, GAGG_SUM, comm, NULL))
		die("dropped");
	for (i = 0; i < count; i++)
		if (total[i] + dropped[i] != sent[i])
			wrong("what was sent has not counted once");
	if (most((int32_t)(digest & 0x7fffffff)) != (int32_t)(digest & 0x7fffffff))
		wrong("another rank has other results");
	gagg_plan_free(plan);
	if (gagg_finalize(comm))
		die("finalize");
	printf("digest %016llx of %d calls, least %u\nlate %llu\n", (unsigned long long)digest, n,
	       least, (unsigned long long)lates);
	return 0;
}
