// SPDX-License-Identifier: GPL-2.0
/*
 * Handwritten digits, learned by several hosts at once.
 *
 * A network of two layers, 64 pixels - 32 - 10 classes, trained by gradient
 * descent with momentum. Every worker computes the gradient of its share of a
 * batch; gagg makes the mean of them; every worker takes the same step. With
 * --single, one process takes whole batches and adds in float32. Other sync modes
 * than bsp have other steps: learn.c.
 *
 * Weights, split and order of samples come from one seed, so that replicas start
 * alike, and stay bit-identical because the mean is.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <gagg.h>

#include "curve.h"
#include "learn.h"
#include "net.h"
#include "options.h"
#include "samples.h"

static struct options me;
static struct data data;
static struct model model;
static struct learner learner;

/* as if the program had just been started with the seed @i */
static void digit_begin(int i)
{
	if (me.seeds > 1)
		printf("seed %llu\n", (unsigned long long)me.seed[i]);
	random_seed(me.seed[i]);
	split(&data);
	init(&model);
	memset(&learner, 0, sizeof(learner));
	learner.how = &me;
	learner.d = &data;
	learner.m = &model;
	learner.delay = me.delay;
}

static void digit_begin_curve(void)
{
	if (!me.curve)
		return;
	learner.curve = curve_new(me.epochs * (data.train / BATCH));
	if (!learner.curve)
		fprintf(stderr, "digits: no memory for a curve\n");
}

static void digit_end_curve(void)
{
	if (learner.curve)
		curve_print(learner.curve, &data);
	curve_free(learner.curve);
}

static void digit_result(void)
{
	printf("accuracy %.2f digest %016llx\n", accuracy(&model, &data),
	       (unsigned long long)digest(&model));
	fflush(stdout);
}

/* has rank 0 enough? */
static bool digit_is_over(const struct gagg_comm *comm, int err)
{
	struct gagg_failure why;

	if (me.until <= 0 || err != GAGG_ERR_PEER)
		return false;
	gagg_failure(comm, &why);
	return !why.rank;
}

/* @err: of learn(). Returns an exit status */
static int digit_leave(struct gagg_comm *comm, int err)
{
	bool over = err == ENOUGH || digit_is_over(comm, err);
	int rank = gagg_rank(comm);

	if (err && !over)
		fprintf(stderr, "digits: rank %d: %s\n", rank, gagg_last_error(comm));
	if (err) {
		gagg_plan_free(learner.plan);
		gagg_abort(comm);
		if (!over)
			return 1;
	}
	digit_end_curve();
	printf("rank %d: ", rank);
	digit_result();
	if (err)
		return 0;
	gagg_plan_free(learner.plan);
	if (gagg_finalize(comm)) {
		fprintf(stderr, "digits: %s\n", gagg_last_error(NULL));
		return 1;
	}
	return 0;
}

static int digit_work(int seed)
{
	struct gagg_config cfg = {
		.size = sizeof(cfg),
		.group = me.group,
		.rank = me.rank < 0 ? GAGG_RANK_ANY : (uint32_t)me.rank,
		.timeout_ms = 60000,
	};
	static float residual[GRADIENT];
	struct gagg_comm *comm;
	int err;

	/* so all are there, and all look forward to the same second */
	delay_second(&learner.delay);
	if (gagg_init(&comm, &cfg)) {
		fprintf(stderr, "digits: %s\n", gagg_last_error(NULL));
		return 1;
	}
	learner.comm = comm;
	/* each rank has odd batches of its own */
	delay_seed(&learner.delay, me.seed[seed], gagg_rank(comm));
	memset(residual, 0, sizeof(residual));
	err = gagg_plan_create(comm, GRADIENT, GAGG_FLOAT32, &learner.plan);
	if (!err && me.feedback)
		err = gagg_plan_feedback(comm, learner.plan, residual);
	delay_second(&learner.delay);
	if (!gagg_rank(comm))
		digit_begin_curve();
	delay_begin(&learner.delay);
	if (!err)
		err = learn(&learner);
	return digit_leave(comm, err);
}

static int digit_alone(int seed)
{
	delay_seed(&learner.delay, me.seed[seed], 0);
	digit_begin_curve();
	learn(&learner);
	digit_end_curve();
	printf("single: ");
	digit_result();
	return 0;
}

int main(int argc, char **argv)
{
	int i, status = 0;

	if (!options_parse(&me, argc, argv)) {
		options_say();
		return 2;
	}
	if (!load(&data, me.path, BATCH)) {
		fprintf(stderr, "digits: %s: no such data\n", me.path);
		return 1;
	}
	for (i = 0; !status && i < me.seeds; i++) {
		digit_begin(i);
		status = me.group ? digit_work(i) : digit_alone(i);
	}
	return status;
}
