// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data.h"
#include "report.h"
#include "run.h"
#include "stat.h"

#define BATCH_BYTES	(4 << 20)	/* bytes of a batch, unless one operation has more */

/* what a rank sends to the others after a batch */
struct told {
	uint64_t wrong;
	struct usage usage;		/* 0 if another rank reports it */
	uint64_t counted;
	struct bench_counters c;
	double times[BENCH_BATCH];
};

double bench_bound_ieee(enum bench_dtype dtype, int n)
{
	int digits = dtype == BENCH_FLOAT32 ? 24 : dtype == BENCH_FLOAT16 ? 11 : 8;

	return (n - 1) * ldexp(n * BENCH_ABSMAX, -digits);
}

static int run_failed(const struct bench *b, const char *what)
{
	fprintf(stderr, "%s: rank %d: %s: %s\n", b->sys->name, b->sys->rank, what,
		b->sys->error(b->sys));
	return -1;
}

static int run_barrier(struct bench *b)
{
	return b->sys->barrier(b->sys) ? run_failed(b, "barrier") : 0;
}

static void *run_allocate(size_t bytes)
{
	void *p = malloc(bytes);

	if (!p) {
		fprintf(stderr, "no memory for %zu bytes\n", bytes);
		exit(BENCH_WRONG);
	}
	/* this also provides the pages */
	memset(p, 0xa5, bytes);
	return p;
}

static size_t run_send_bytes(const struct bench *b, const struct bench_op *op)
{
	return bench_send_count(op, b->sys->size) * bench_dtype_size(op->dtype);
}

static size_t run_recv_bytes(const struct bench *b, const struct bench_op *op)
{
	return bench_recv_count(op, b->sys->size) * bench_dtype_size(op->dtype);
}

int bench_batch_max(const struct bench *b, const struct bench_op *op)
{
	size_t m = BATCH_BYTES / bench_bytes(op, b->sys->size);

	return m < 1 ? 1 : m > BENCH_BATCH ? BENCH_BATCH : (int)m;
}

static void run_data_of(const struct bench *b, const struct bench_op *op, int i,
			struct bench_data *d)
{
	bench_data_init(d, op->dtype, b->sys->size, b->args->seed, b->number + (uint64_t)i);
}

void *bench_input(const struct bench *b, const struct bench_op *op)
{
	bool in_place = op->kind == BENCH_BROADCAST ||
		(b->sys->in_place && op->kind != BENCH_ALL_GATHER);

	return in_place ? b->recv : b->send;
}

/* on ranks other than the root of a broadcast the data is overwritten */
static void run_fill(const struct bench *b, const struct bench_op *op, int m)
{
	char *to = bench_input(b, op);
	struct bench_data d;

	for (int i = 0; i < m; i++) {
		run_data_of(b, op, i, &d);
		bench_data_fill(&d, b->sys->rank, 0, bench_send_count(op, b->sys->size),
				to + (size_t)i * run_send_bytes(b, op));
	}
}

static size_t run_check(const struct bench *b, const struct bench_op *op, int m)
{
	struct bench_data d;
	size_t wrong = 0;

	for (int i = 0; i < m; i++) {
		run_data_of(b, op, i, &d);
		wrong += bench_data_wrong(&d, op, b->sys->rank, b->sys->bound,
					  b->recv + (size_t)i * run_recv_bytes(b, op));
	}
	return wrong;
}

static void run_counters(const struct bench *b, struct told *told, int sign)
{
	struct bench_system *sys = b->sys;
	struct bench_counters c;
	struct usage u;

	usage_own(&u);
	told->usage.own += sign * u.own;
	if (!sys->counters || !sys->counters(sys, &c))
		return;
	told->counted = 1;
	if (!b->net)
		return;
	told->c.datagrams += sign * c.datagrams;
	told->c.resent += sign * c.resent;
}

static void run_machine(const struct bench *b, struct told *told, int sign)
{
	struct usage u;

	if (!b->machine)
		return;
	usage_machine(&u);
	told->usage.busy += sign * u.busy;
	told->usage.switches += sign * u.switches;
}

/* what a trainer computes meanwhile; it costs no time of a processor */
static void run_pause(int ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&left, &left))
		;
}

static int run_timed(struct bench *b, const struct bench_op *op, int m, struct told *told)
{
	size_t in = run_send_bytes(b, op), out = run_recv_bytes(b, op);
	struct bench_system *sys = b->sys;
	int64_t before, after;

	before = usage_clock();
	for (int i = 0; i < m; i++) {
		if (b->args->pause) {
			run_pause(b->args->pause);
			before = usage_clock();
		}
		if (sys->run(sys, op, b->send + (size_t)i * in, b->recv + (size_t)i * out))
			return run_failed(b, bench_kind_name(op->kind));
		after = usage_clock();
		told->times[i] = (double)(after - before) / 1e3;
		before = after;
	}
	return 0;
}

static int run_collect(struct bench *b, int m, const struct told *told, struct bench_total *t)
{
	int n = b->sys->size;
	struct told *all = run_allocate((size_t)n * sizeof(*all));

	if (b->sys->gather(b->sys, told, sizeof(*told), all)) {
		free(all);
		return run_failed(b, "gather");
	}
	for (int i = 0; i < m; i++) {
		double sum = 0;

		for (int r = 0; r < n; r++)
			sum += all[r].times[i];
		t->times[t->n++] = sum / n;
	}
	t->counted = true;
	for (int r = 0; r < n; r++) {
		t->wrong += all[r].wrong;
		t->busy += all[r].usage.busy;
		t->switches += all[r].usage.switches;
		t->own += all[r].usage.own;
		t->counted = t->counted && all[r].counted;
		t->c.datagrams += all[r].c.datagrams;
		t->c.resent += all[r].c.resent;
	}
	free(all);
	return 0;
}

static int run_load(struct bench *b, const struct bench_op *op, int m)
{
	struct bench_system *sys = b->sys;

	if (!sys->load)
		return 0;
	return sys->load(sys, b->send, (size_t)m * run_send_bytes(b, op), b->recv,
			 (size_t)m * run_recv_bytes(b, op)) ? run_failed(b, "load") : 0;
}

static int run_fetch(struct bench *b)
{
	return b->sys->fetch && b->sys->fetch(b->sys) ? run_failed(b, "fetch") : 0;
}

/*
 * What a rank does before and after the operations - filling, reading counters,
 * checking - must not run beside those of another: hence barriers on both sides
 * of each step. The machine's usage includes two of them.
 */
int bench_batch(struct bench *b, const struct bench_op *op, int m, struct bench_total *t)
{
	struct told told = { 0 };

	run_fill(b, op, m);
	if (run_load(b, op, m) || run_barrier(b))
		return -1;
	run_counters(b, &told, -1);
	if (run_barrier(b))
		return -1;
	run_machine(b, &told, -1);
	if (run_barrier(b) || run_timed(b, op, m, &told) || run_barrier(b))
		return -1;
	run_machine(b, &told, 1);
	if (run_barrier(b))
		return -1;
	run_counters(b, &told, 1);
	if (run_barrier(b) || run_fetch(b))
		return -1;
	told.wrong = run_check(b, op, m);
	b->number += (uint64_t)m;
	return run_collect(b, m, &told, t);
}

/* all ranks come to the same result, since they have the same totals */
static bool run_spent(const struct bench *b, const struct bench_total *t)
{
	return b->args->budget > 0 &&
	       stat_mean(t->times, t->n) * (double)t->n >= b->args->budget * 1e6;
}

/*
 * Some systems keep state for each buffer. So no buffer is timed at its first use, unless that is
 * so long that it makes no difference. An algorithm that is slow with the first buffer is not tried
 * with more.
 */
static int run_try_algorithm(struct bench *b, const struct bench_op *op, double best, double *us)
{
	int m = bench_batch_max(b, op) < 4 ? bench_batch_max(b, op) : 4;
	double times[1 + 4 + 4];
	struct bench_total t = { .times = times };

	if (bench_batch(b, op, 1, &t))
		return -1;
	*us = times[0];
	if (run_spent(b, &t) || (best && times[0] > 4 * best))
		return 0;
	if ((m > 1 && bench_batch(b, op, m, &t)) || bench_batch(b, op, m, &t))
		return -1;
	*us = stat_mean(times + t.n - m, (size_t)m);
	return 0;
}

int bench_choose(struct bench *b, const struct bench_op *op, const char **name)
{
	struct bench_system *sys = b->sys;
	const char *const *names = sys->algorithms;
	double best = 0, us;
	int i, chosen = 0;

	*name = NULL;
	if (!names || op->kind == BENCH_BROADCAST || op->kind == BENCH_ALL_GATHER ||
	    op->kind == BENCH_REDUCE_SCATTER)
		return 0;
	for (i = 0; names[i]; i++) {
		if (!bench_args_algorithm(b->args, names[i]))
			continue;
		if (sys->select(sys, i))
			return run_failed(b, names[i]);
		if (run_try_algorithm(b, op, best, &us))
			return -1;
		if (!best || us < best) {
			best = us;
			chosen = i;
		}
	}
	*name = names[chosen];
	return sys->select(sys, chosen) ? run_failed(b, *name) : 0;
}

/* @n operations, fewer when the budget is spent */
static int run_repeat(struct bench *b, const struct bench_op *op, int n, struct bench_total *t)
{
	int most = bench_batch_max(b, op);

	for (int left = n, m; left; left -= m) {
		m = left < most ? left : most;
		if (bench_batch(b, op, m, t))
			return -1;
		if (run_spent(b, t))
			break;
	}
	return 0;
}

static int run_collectives(struct bench *b, const struct bench_op *op, struct bench_row *row)
{
	int err, warmup = b->args->warmup;
	struct bench_total t = { 0 };
	size_t wrong;

	if (bench_choose(b, op, &row->algorithm))
		return -1;
	/* the warm-up uses every buffer; if there is only one, trials have used it */
	if (warmup && warmup < bench_batch_max(b, op))
		warmup = bench_batch_max(b, op);
	else if (warmup && row->algorithm && bench_batch_max(b, op) == 1)
		warmup--;
	t.times = run_allocate(sizeof(double) * (size_t)(b->args->iters + warmup));
	err = run_repeat(b, op, warmup, &t);
	wrong = t.wrong;
	t = (struct bench_total){ .times = t.times };
	if (!err)
		err = run_repeat(b, op, b->args->iters, &t);
	t.wrong += wrong;
	if (!err)
		row_fill(row, &t, b->sys->size);
	free(t.times);
	return err;
}

static int run_one_size(struct bench *b, size_t size, struct bench_row *row)
{
	struct bench_system *sys = b->sys;
	struct bench_op op = {
		.kind = b->args->kind, .dtype = b->args->dtype, .redop = b->args->redop,
		.root = b->args->root,
		.count = bench_count(b->args->kind, b->args->dtype, sys->size, size),
	};
	int m, err;

	m = bench_batch_max(b, &op);
	b->send = run_allocate((size_t)m * run_send_bytes(b, &op));
	b->recv = run_allocate((size_t)m * run_recv_bytes(b, &op));
	*row = (struct bench_row){ .op = op, .bytes = bench_bytes(&op, sys->size) };
	err = sys->begin ? sys->begin(sys, &op) : 0;
	if (err)
		run_failed(b, "begin");
	else if (op.kind == BENCH_OVERLAP)
		err = bench_overlap(b, &op, row);
	else
		err = run_collectives(b, &op, row);
	if (sys->end)
		sys->end(sys);
	free(b->send);
	free(b->recv);
	return err;
}

/* the lowest rank of a machine, and of a network namespace, reports for it */
static int run_who_tells(struct bench *b)
{
	struct usage_where mine, all[BENCH_RANKS];

	usage_where(&mine);
	if (b->sys->gather(b->sys, &mine, sizeof(mine), all))
		return run_failed(b, "gather");
	b->machine = true;
	b->net = true;
	for (int r = 0; r < b->sys->rank; r++) {
		b->machine = b->machine && all[r].machine != mine.machine;
		b->net = b->net && all[r].net != mine.net;
	}
	return 0;
}

enum bench_exit bench_run(const struct bench_args *args, struct bench_system *sys)
{
	struct bench b = { .args = args, .sys = sys, .number = 1 };
	struct bench_row row;
	size_t size, wrong = 0;

	if (args->root >= sys->size) {
		fprintf(stderr, "there is no rank %d\n", args->root);
		return BENCH_USAGE;
	}
	if (args->kind == BENCH_OVERLAP && !sys->start) {
		fprintf(stderr, "%s has no non-blocking all-reduce\n", sys->name);
		return BENCH_USAGE;
	}
	if (run_who_tells(&b))
		return BENCH_WRONG;
	report_begin(args, sys);
	for (size = bench_args_next(args, 0); size; size = bench_args_next(args, size)) {
		if (run_one_size(&b, size, &row)) {
			report_end(args, sys);
			return BENCH_WRONG;
		}
		report_row(args, sys, &row);
		wrong += row.wrong;
	}
	report_end(args, sys);
	return wrong ? BENCH_WRONG : BENCH_OK;
}
