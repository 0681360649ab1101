// SPDX-License-Identifier: GPL-2.0
/*
 * An all-reduce beside computing, in three measurements: 1. The all-reduce, blocking and alone. 2.
 * The computing alone, made as long as the all-reduce, on all ranks together. 3. The computing
 * between start and end of a non-blocking all-reduce, without a call between. Ideally the third is
 * as long as the longer of the first two.
 */
#include <stdio.h>

#include "data.h"
#include "report.h"
#include "run.h"
#include "stat.h"

enum part { COMM, COMPUTE, BOTH, PARTS };

#define ITERS_MAX	1000

struct told {
	double us;
	uint64_t wrong;
};

/**
 * struct turn - one of them
 * @part:	what is done
 * @steps:	of computing, if that is done
 * @us:		receives how long it has taken, the mean of the ranks
 * @wrong:	elements that were wrong are added to it
 */
struct turn {
	enum part part;
	uint64_t steps;
	double us;
	size_t wrong;
};

/* no memory to speak of, nothing that a compiler can leave out */
static void overlap_compute(uint64_t steps)
{
	double x = 1;

	while (steps--) {
		x = x * 1.000001 + 1e-9;
		__asm__ volatile("" : "+x"(x));
	}
}

static int overlap_carry_out(struct bench *b, const struct bench_op *op, const struct turn *t)
{
	struct bench_system *sys = b->sys;

	switch (t->part) {
	case COMM:
		return sys->run(sys, op, b->send, b->recv);
	case COMPUTE:
		overlap_compute(t->steps);
		return 0;
	default:
		if (sys->start(sys, op, b->send, b->recv))
			return -1;
		overlap_compute(t->steps);
		return sys->wait(sys);
	}
}

static int overlap_turn(struct bench *b, const struct bench_op *op, struct turn *t)
{
	struct bench_system *sys = b->sys;
	struct told mine = { 0 }, all[BENCH_RANKS];
	struct bench_data d;
	int64_t begun;

	bench_data_init(&d, op->dtype, sys->size, b->args->seed, b->number++);
	bench_data_fill(&d, sys->rank, 0, op->count,
			bench_input(b, op));
	if (sys->barrier(sys))
		return -1;
	begun = usage_clock();
	if (overlap_carry_out(b, op, t))
		return -1;
	mine.us = (double)(usage_clock() - begun) / 1e3;
	/* no rank checks while another one still computes */
	if (sys->barrier(sys))
		return -1;
	if (t->part != COMPUTE)
		mine.wrong = bench_data_wrong(&d, op, sys->rank, sys->bound, b->recv);
	if (sys->gather(sys, &mine, sizeof(mine), all))
		return -1;
	t->us = 0;
	for (int r = 0; r < sys->size; r++) {
		t->us += all[r].us / sys->size;
		t->wrong += all[r].wrong;
	}
	return 0;
}

/* steps that take @us when all ranks compute */
static int overlap_calibrate(struct bench *b, const struct bench_op *op, double us, uint64_t *steps)
{
	struct turn t = { .part = COMPUTE, .steps = 1000000 };

	for (int i = 0; i < 4; i++) {
		if (overlap_turn(b, op, &t))
			return -1;
		t.steps = (uint64_t)((double)t.steps * us / (t.us > 1 ? t.us : 1)) + 1;
	}
	*steps = t.steps;
	return 0;
}

static int overlap_all_parts(struct bench *b, const struct bench_op *op, struct bench_row *row)
{
	int iters = b->args->iters < ITERS_MAX ? b->args->iters : ITERS_MAX;
	double us[PARTS][ITERS_MAX], spent = 0;
	struct turn t = { .part = COMM };
	int i, part;

	if (bench_choose(b, op, &row->algorithm))
		return -1;
	for (i = 0; i < 1 + b->args->warmup; i++)
		if (overlap_turn(b, op, &t))
			return -1;
	if (overlap_calibrate(b, op, t.us, &t.steps))
		return -1;
	for (i = 0; i < iters && (!i || !(b->args->budget > 0) ||
				  spent < b->args->budget * 1e6); i++)
		for (part = COMM; part < PARTS; part++) {
			t.part = part;
			if (overlap_turn(b, op, &t))
				return -1;
			us[part][i] = t.us;
			spent += t.us;
		}
	for (part = COMM; part < PARTS; part++)
		stat_sort(us[part], (size_t)i);
	row->wrong += t.wrong;
	row->ops = (size_t)i;
	row->comm_us = stat_percentile(us[COMM], (size_t)i, 50);
	row->compute_us = stat_percentile(us[COMPUTE], (size_t)i, 50);
	row->p50_us = stat_percentile(us[BOTH], (size_t)i, 50);
	row->p99_us = stat_percentile(us[BOTH], (size_t)i, 99);
	row->max_us = us[BOTH][i - 1];
	row->time_us = stat_mean(us[BOTH], (size_t)i);
	return 0;
}

int bench_overlap(struct bench *b, const struct bench_op *op, struct bench_row *row)
{
	int err = overlap_all_parts(b, op, row);

	if (err)
		fprintf(stderr, "%s: rank %d: %s\n", b->sys->name, b->sys->rank,
			b->sys->error(b->sys));
	return err;
}
