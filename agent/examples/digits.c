// SPDX-License-Identifier: GPL-2.0
/*
 * Handwritten digits, learned by several hosts at once.
 *
 * A network of two layers, 64 pixels - 32 - 10 classes, trained by gradient
 * descent with momentum. Every worker computes the gradient of its share of a
 * batch; gagg makes the mean of them; every worker takes the same step. With
 * --single, one process takes whole batches and adds in float32.
 *
 * Weights, split and order of samples come from one seed, so that replicas start
 * alike, and stay bit-identical because the mean is.
 */
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gagg.h>

#include "curve.h"
#include "delay.h"
#include "net.h"
#include "samples.h"

#define BATCH		128
#define RATE		0.1f
#define MOMENTUM	0.9f
#define PERIOD		5	/* batches between two divisions by speed */
#define SEED		0x9e3779b97f4a7c15ULL

static struct {
	const char *path;
	const char *group;	/* NULL: alone */
	long rank;		/* -1: any that is free */
	int epochs;
	uint64_t seed;
	bool balance;		/* batches follow the speeds of ranks */
	bool curve;
	bool feedback;		/* error feedback */
	bool measure;		/* how many partitions ako should have */
	float rate;		/* of descent; 0: the mode's */
	float momentum;		/* below 0: the mode's */
} me = {
	.momentum = -1,
	.path = "agent/examples/data/digits.csv.gz",
	.rank = -1,
	.epochs = 30,
	.seed = SEED,
};

static struct delay delay;
static struct curve *curve;	/* NULL: none is wanted, or not of this rank */

/**
 * struct learner - what a worker learns from, what it learns, and with whom
 * @d: samples
 * @m: weights
 * @comm: NULL: alone
 * @plan: of gradients; NULL: alone, or there are no sums of them
 * @batch: NULL: batches do not follow the speeds of ranks
 */
struct learner {
	struct data *d;
	struct model *m;
	struct gagg_comm *comm;
	struct gagg_plan *plan;
	struct gagg_batch *batch;
};

/* @n samples of @order, every @step-th, each counted @scale times */
struct choice {
	const int *order;
	int n;
	int step;
	float scale;
};

static void digit_add_up(const struct data *d, const struct model *m, const struct choice *c,
			 struct gradient *g)
{
	int i;

	memset(g, 0, sizeof(*g));
	for (i = 0; i < c->n; i++)
		backward(m, &d->sample[c->order[i * c->step]], c->scale, g);
	delay_wait(&delay, (unsigned int)c->n);
}

/* the samples that rank @rank of @size has of the batch at @order */
static struct choice digit_equal_part(const int *order, int rank, int size)
{
	return (struct choice){
		.order = order + rank,
		.n = (BATCH - rank + size - 1) / size,
		.step = size,
		.scale = (float)size / BATCH,
	};
}

/* @late: updates come back a round later: without momentum, as its authors have it */
static void digit_hasten(struct model *v, const struct model *d, bool late)
{
	hasten(v, d, me.momentum >= 0 ? me.momentum : late ? 0 : MOMENTUM,
	       me.rate > 0 ? me.rate : late ? 2 * RATE : RATE);
}

static void digit_descend(struct model *m, struct model *v, const struct model *d)
{
	digit_hasten(v, d, false);
	move(m, m, v);
}

/* after a step with the batch at @first; @loss: its, as far as this worker knows */
static void digit_point(const struct model *m, const struct data *d, int epoch, int first,
			float loss)
{
	if (curve)
		curve_add(curve, m, (epoch - 1) * (d->train / BATCH) + first / BATCH + 1, loss);
}

/* @loss: sum over the batches of an epoch, as far as this worker knows */
static void digit_progress(const struct model *m, const struct data *d, int epoch, int epochs,
			   float loss)
{
	loss /= (float)(d->train / BATCH);
	if (curve || (epoch % 5 && epoch != epochs))
		return;
	printf("epoch %3d  loss %.4f  test accuracy %.2f %%\n", epoch, (double)loss,
	       accuracy(m, d));
	fflush(stdout);
}

/*
 * The mean gradient of the batch at @order. Rank r of n takes samples r, r + n, ... of it, or,
 * if batches follow speeds, as many in a row as its speed lets it: then it contributes their
 * sum.
 */
static int digit_mean_of(const struct learner *l, const int *order, struct gradient *g)
{
	struct gagg_comm *comm = l->comm;
	uint32_t first, count;
	struct choice c;
	int err;

	if (l->batch) {
		err = gagg_batch_next(l->batch, &first, &count);
		if (err)
			return err;
		c = (struct choice){ order + first, (int)count, 1, 1 };
		digit_add_up(l->d, l->m, &c, g);
		return gagg_batch_mean(l->batch, g, g, GRADIENT, GAGG_FLOAT32, count, l->plan);
	}
	c = digit_equal_part(order, comm ? gagg_rank(comm) : 0, comm ? gagg_size(comm) : 1);
	digit_add_up(l->d, l->m, &c, g);
	return comm ? gagg_allreduce(g, g, GRADIENT, GAGG_FLOAT32, GAGG_MEAN, comm, l->plan) : 0;
}

static int digit_say_share(const struct gagg_batch *batch, int rank)
{
	struct gagg_batch_rank info;
	int err = gagg_batch_info(batch, rank, &info);

	if (!err)
		printf("rank %d: share %u of %d\n", rank, info.share, BATCH);
	return err;
}

/*
 * Learn for @epochs; @comm NULL: alone. What is left over of the data after whole
 * batches waits for another order.
 */
static int digit_learn(struct data *d, struct model *m, struct gagg_comm *comm,
		       struct gagg_plan *plan, int epochs)
{
	struct gagg_batch_config cfg = { .size = sizeof(cfg), .total = BATCH, .period = PERIOD };
	struct learner l = { .d = d, .m = m, .comm = comm, .plan = plan };
	static struct model speed;
	static struct gradient g;
	int epoch, first, err = 0;

	if (comm && me.balance)
		err = gagg_batch_create(comm, &cfg, &l.batch);
	for (epoch = 1; !err && epoch <= epochs; epoch++) {
		float loss = 0;

		shuffle(d->order, d->train);
		for (first = 0; !err && first + BATCH <= d->train; first += BATCH) {
			err = digit_mean_of(&l, d->order + first, &g);
			if (err)
				break;
			digit_descend(m, &speed, &g.d);
			digit_point(m, d, epoch, first, g.loss);
			loss += g.loss;
		}
		if (!err && (!comm || !gagg_rank(comm)))
			digit_progress(m, d, epoch, epochs, loss);
	}
	if (!err && l.batch)
		err = digit_say_share(l.batch, gagg_rank(comm));
	gagg_batch_free(l.batch);
	return err;
}

/*
 * What this rank adds for the batch at @first: the gradient of its equal part, @n
 * samples; or, if batches follow speeds, of as many of its own as it has time for. Each
 * counts as one of a whole batch, so a larger part makes a larger step.
 */
static int digit_own_part(const struct learner *l, int first, struct gradient *g, int *n)
{
	int rank = gagg_rank(l->comm), size = gagg_size(l->comm), own[BATCH], i, err;
	struct choice c = digit_equal_part(l->d->order + first, rank, size);
	uint32_t at, count;

	if (l->batch) {
		err = gagg_batch_next(l->batch, &at, &count);
		if (err)
			return err;
		c = (struct choice){ .order = own, .n = (int)count, .step = 1 };
		for (i = 0; i < c.n; i++)
			own[i] = l->d->order[(rank + ((uint64_t)at + i) * size) % l->d->train];
	}
	c.scale = 1.0f / BATCH;
	digit_add_up(l->d, l->m, &c, g);
	*n = c.n;
	return 0;
}

static int digit_say_partitions(struct gagg_comm *comm)
{
	struct gagg_ako found;
	int err = gagg_ako_measure(comm, &found);

	if (!err)
		printf("rank %d: %.3g clocks/s, %.3g bytes/s of %.3g bytes: %d partitions\n",
		       gagg_rank(comm), found.rate, found.bandwidth, found.bytes,
		       found.partitions);
	return err;
}

/* steps of 2^-20: an element may be anywhere within +-2048 of where it was */
#define STEP	(1.0 / (1 << 20))

/*
 * The same by a store, of what the weights differ from the first ones: every
 * worker adds its steps to what it reads. Each takes its share of the batch, so
 * that together they make the steps of one, and none waits but as the sync mode
 * says.
 */
static int digit_learn_store(struct data *d, struct model *m, struct gagg_comm *comm, int epochs)
{
	struct gagg_batch_config cfg = { .size = sizeof(cfg), .total = BATCH, .period = PERIOD };
	struct learner l = { .d = d, .m = m, .comm = comm };
	static struct model speed, begin, moved;
	static struct gradient g;
	struct gagg_table *table;
	int epoch, first, n, err;

	begin = *m;
	err = gagg_table_create(comm, WEIGHTS, GAGG_FLOAT32, STEP, &table);
	if (!err && me.balance)
		err = gagg_batch_create(comm, &cfg, &l.batch);
	for (epoch = 1; !err && epoch <= epochs; epoch++) {
		float loss = 0;

		shuffle(d->order, d->train);
		for (first = 0; !err && first + BATCH <= d->train; first += BATCH) {
			err = gagg_get(table, &moved);
			if (err)
				break;
			move(m, &begin, &moved);
			err = digit_own_part(&l, first, &g, &n);
			if (err)
				break;
			loss += g.loss * BATCH / (float)n;
			digit_descend(m, &speed, &g.d);
			digit_point(m, d, epoch, first, g.loss * BATCH / (float)n);
			err = gagg_inc(table, &speed);
			if (!err)
				err = gagg_clock(comm);
		}
		if (!err && !gagg_rank(comm))
			digit_progress(m, d, epoch, epochs, loss);
	}
	/* the steps of all, the last ones, too */
	if (!err)
		err = gagg_snapshot(table, &moved);
	if (!err)
		move(m, &begin, &moved);
	if (!err && l.batch)
		err = digit_say_share(l.batch, gagg_rank(comm));
	if (!err && me.measure)
		err = digit_say_partitions(comm);
	gagg_batch_free(l.batch);
	return err;
}

/* parts of batches follow the speeds of ranks, and so replicas and momentum count by samples */
static int digit_balance_replica(struct learner *l, struct gagg_replica *replica,
				 struct model *speed, const struct gagg_batch_config *cfg)
{
	int err = gagg_batch_create(l->comm, cfg, &l->batch);

	return err ? err : gagg_replica_state(replica, &speed->w1[0][0], WEIGHTS);
}

/* the gradient of this rank's part of the batch at @order */
static int digit_replica_part(const struct learner *l, struct gagg_replica *replica,
			      const int *order, struct gradient *g)
{
	struct choice c = digit_equal_part(order, gagg_rank(l->comm), gagg_size(l->comm));
	uint32_t first, count;
	int err = 0;

	if (l->batch) {
		err = gagg_batch_next(l->batch, &first, &count);
		if (!err)
			err = gagg_replica_samples(replica, count);
		if (err)
			return err;
		c = (struct choice){ order + first, (int)count, 1, 1.0f / (float)count };
	}
	digit_add_up(l->d, l->m, &c, g);
	return 0;
}

/*
 * The same by replicas: every worker makes steps of its own, from its share of
 * each batch, and the library brings the replicas together as the sync mode says.
 */
static int digit_learn_replica(struct data *d, struct model *m, struct gagg_comm *comm, int epochs)
{
	struct gagg_batch_config cfg = { .size = sizeof(cfg), .total = BATCH, .period = PERIOD };
	struct learner l = { .d = d, .m = m, .comm = comm };
	struct gagg_replica *replica;
	static struct model speed;
	static struct gradient g;
	bool late = !strncmp(gagg_sync(comm), "hpsgd", 5);
	float *w = &m->w1[0][0];
	int epoch, first, err;

	err = gagg_replica_create(comm, w, WEIGHTS, STEP, &replica);
	if (!err && me.balance)
		err = digit_balance_replica(&l, replica, &speed, &cfg);
	for (epoch = 1; !err && epoch <= epochs; epoch++) {
		float loss = 0;

		shuffle(d->order, d->train);
		for (first = 0; !err && first + BATCH <= d->train; first += BATCH) {
			err = digit_replica_part(&l, replica, d->order + first, &g);
			if (err)
				break;
			loss += g.loss;
			digit_hasten(&speed, &g.d, late);
			err = gagg_replica_step(replica, w, &speed.w1[0][0]);
			digit_point(m, d, epoch, first, g.loss);
		}
		if (!err && !gagg_rank(comm))
			digit_progress(m, d, epoch, epochs, loss);
	}
	if (!err)
		err = gagg_replica_finish(replica, w);
	if (!err && l.batch)
		err = digit_say_share(l.batch, gagg_rank(comm));
	gagg_batch_free(l.batch);
	gagg_replica_free(replica);
	return err;
}

/* tables and collectives have a step of all; else each rank has steps of its own */
static bool digit_has_replicas(const struct gagg_comm *comm)
{
	const char *sync = gagg_sync(comm);

	return gagg_has_store(comm) ? !strncmp(sync, "easgd:", 6) : strncmp(sync, "bsp", 3) != 0;
}

static int digit_learn_with(struct data *d, struct model *m, struct gagg_comm *comm,
			    struct gagg_plan *plan)
{
	if (digit_has_replicas(comm))
		return digit_learn_replica(d, m, comm, me.epochs);
	return gagg_has_store(comm) ? digit_learn_store(d, m, comm, me.epochs) :
				      digit_learn(d, m, comm, plan, me.epochs);
}

static void digit_begin_curve(const struct data *d)
{
	if (!me.curve)
		return;
	curve = curve_new(me.epochs * (d->train / BATCH));
	if (!curve)
		fprintf(stderr, "digits: no memory for a curve\n");
}

static void digit_end_curve(const struct data *d)
{
	if (curve)
		curve_print(curve, d);
	curve_free(curve);
}

static int digit_work(struct data *d, struct model *m)
{
	struct gagg_config cfg = {
		.size = sizeof(cfg),
		.group = me.group,
		.rank = me.rank < 0 ? GAGG_RANK_ANY : (uint32_t)me.rank,
		.timeout_ms = 60000,
	};
	static float residual[GRADIENT];
	struct gagg_comm *comm;
	struct gagg_plan *plan;
	int err;

	if (gagg_init(&comm, &cfg)) {
		fprintf(stderr, "digits: %s\n", gagg_last_error(NULL));
		return 1;
	}
	if (!gagg_rank(comm))
		digit_begin_curve(d);
	/* each rank has odd batches of its own */
	delay.state = me.seed + (uint64_t)gagg_rank(comm) + 1;
	err = gagg_plan_create(comm, GRADIENT, GAGG_FLOAT32, &plan);
	if (!err && me.feedback)
		err = gagg_plan_feedback(comm, plan, residual);
	if (!err)
		err = digit_learn_with(d, m, comm, plan);
	if (err) {
		fprintf(stderr, "digits: rank %d: %s\n", gagg_rank(comm), gagg_last_error(comm));
		gagg_abort(comm);
		return 1;
	}
	digit_end_curve(d);
	printf("rank %d: accuracy %.2f digest %016llx\n", gagg_rank(comm), accuracy(m, d),
	       (unsigned long long)digest(m));
	gagg_plan_free(plan);
	if (gagg_finalize(comm)) {
		fprintf(stderr, "digits: %s\n", gagg_last_error(NULL));
		return 1;
	}
	return 0;
}

static int digit_alone(struct data *d, struct model *m)
{
	delay.state = me.seed;
	digit_begin_curve(d);
	digit_learn(d, m, NULL, NULL, me.epochs);
	digit_end_curve(d);
	printf("single: accuracy %.2f digest %016llx\n", accuracy(m, d),
	       (unsigned long long)digest(m));
	return 0;
}

static int digit_usage(void)
{
	fprintf(stderr,
		"Usage: digits --single [OPTION]...\n"
		"       digits --group NAME [--rank R] [OPTION]...\n"
		"\n"
		"  --epochs N        30\n"
		"  --data FILE\n"
		"  --seed N          of weights, split and order of samples; the same on all ranks\n"
		"  --balance         batches follow the speeds of ranks, in a group with sync bsp,\n"
		"                    localsgd or r2sp\n"
		"  --feedback        what a group with wire int16 or int8 leaves out of a gradient\n"
		"                    is added to the next\n"
		"  --measure         prints how many partitions a group with sync ako should have\n"
		"  --slow US         every sample takes so many microseconds longer here\n"
		"  --transient P:F   P percent of the batches take F times that long\n"
		"  --curve           prints, of rank 0, \"curve STEPS MS LOSS ACCURACY\" for each step\n"
		"  --rate R          of descent (0.1; hpsgd: 0.2)\n"
		"  --momentum M      (0.9; hpsgd: 0)\n");
	return 2;
}

/* from 0 to 10 */
static bool digit_parse_fraction(const char *text, float *out)
{
	char *end;

	*out = strtof(text, &end);
	return end != text && !*end && *out >= 0 && *out <= 10;
}

static bool digit_parse_options(int argc, char **argv)
{
	static const struct option options[] = {
		{ "single", no_argument, NULL, 's' },
		{ "group", required_argument, NULL, 'g' },
		{ "rank", required_argument, NULL, 'r' },
		{ "epochs", required_argument, NULL, 'e' },
		{ "data", required_argument, NULL, 'd' },
		{ "seed", required_argument, NULL, 'i' },
		{ "balance", no_argument, NULL, 'b' },
		{ "feedback", no_argument, NULL, 'f' },
		{ "measure", no_argument, NULL, 'm' },
		{ "slow", required_argument, NULL, 'w' },
		{ "transient", required_argument, NULL, 't' },
		{ "curve", no_argument, NULL, 'c' },
		{ "rate", required_argument, NULL, 'a' },
		{ "momentum", required_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	bool single = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			single = true;
			break;
		case 'g':
			me.group = optarg;
			break;
		case 'r':
			me.rank = atol(optarg);
			break;
		case 'e':
			me.epochs = atoi(optarg);
			break;
		case 'i':
			me.seed = strtoull(optarg, NULL, 0);
			break;
		case 'b':
			me.balance = true;
			break;
		case 'f':
			me.feedback = true;
			break;
		case 'm':
			me.measure = true;
			break;
		case 'w':
			delay.slow = (unsigned int)atoi(optarg);
			break;
		case 't':
			if (!delay_parse(&delay, optarg))
				return false;
			break;
		case 'c':
			me.curve = true;
			break;
		case 'd':
			me.path = optarg;
			break;
		case 'a':
			if (!digit_parse_fraction(optarg, &me.rate) || me.rate <= 0)
				return false;
			break;
		case 'o':
			if (!digit_parse_fraction(optarg, &me.momentum))
				return false;
			break;
		default:
			return false;
		}
	}
	/* xorshift stays at 0 for ever */
	return optind == argc && single != !!me.group && me.epochs >= 0 && me.seed;
}

int main(int argc, char **argv)
{
	static struct model model;
	static struct data data;

	if (!digit_parse_options(argc, argv))
		return digit_usage();
	random_seed(me.seed);
	if (!load(&data, me.path, BATCH)) {
		fprintf(stderr, "digits: %s: no such data\n", me.path);
		return 1;
	}
	init(&model);
	return me.group ? digit_work(&data, &model) : digit_alone(&data, &model);
}
