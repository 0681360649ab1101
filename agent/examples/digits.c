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
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <gagg.h>

#define PIXELS		64
#define HIDDEN		32
#define CLASSES		10
#define SAMPLES_MAX	2000
#define BATCH		128
#define RATE		0.1f
#define MOMENTUM	0.9f
#define PERIOD		5	/* batches between two divisions by speed */
#define SEED		0x9e3779b97f4a7c15ULL

/* All that is learned, as one vector: what is exchanged has no structure. */
struct model {
	float w1[HIDDEN][PIXELS];
	float b1[HIDDEN];
	float w2[CLASSES][HIDDEN];
	float b2[CLASSES];
};

#define WEIGHTS	(sizeof(struct model) / sizeof(float))

/* The loss travels with the gradient: one element more. */
struct gradient {
	struct model d;
	float loss;
};

#define GRADIENT (sizeof(struct gradient) / sizeof(float))

struct sample {
	float pixel[PIXELS];
	int class;
};

struct data {
	struct sample sample[SAMPLES_MAX];
	int order[SAMPLES_MAX];	/* the first @train are learned from */
	int samples;
	int train;
};

static uint64_t random_state = SEED;

/* xorshift64* (Vigna 2016) */
static uint32_t random32(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)(random_state * 0x2545f4914f6cdd1dULL >> 32);
}

static void shuffle(int *order, int n)
{
	int i;

	for (i = n - 1; i > 0; i--) {
		int k = (int)(random32() % (uint32_t)(i + 1)), t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
}

static bool parse(const char *line, struct sample *s)
{
	int i, n;

	for (i = 0; i <= PIXELS; i++) {
		int v;

		if (sscanf(line, "%d%n", &v, &n) != 1)
			return false;
		line += n;
		line += *line == ',';
		if (i < PIXELS)
			s->pixel[i] = (float)v / 16;
		else
			s->class = v;
	}
	return s->class >= 0 && s->class < CLASSES;
}

/* A fifth of the samples is held out. */
static bool load(struct data *d, const char *path)
{
	gzFile f = gzopen(path, "rb");
	char line[512];
	int i;

	if (!f)
		return false;
	while (d->samples < SAMPLES_MAX && gzgets(f, line, sizeof(line)))
		if (parse(line, &d->sample[d->samples]))
			d->samples++;
	gzclose(f);
	for (i = 0; i < d->samples; i++)
		d->order[i] = i;
	shuffle(d->order, d->samples);
	d->train = d->samples - d->samples / 5;
	return d->train >= BATCH;
}

/* Uniform within the bounds of He et al. 2015. */
static void init(struct model *m)
{
	float *layer[] = { &m->w1[0][0], &m->w2[0][0] };
	int size[] = { HIDDEN * PIXELS, CLASSES * HIDDEN }, inputs[] = { PIXELS, HIDDEN };
	int l, i;

	memset(m, 0, sizeof(*m));
	for (l = 0; l < 2; l++)
		for (i = 0; i < size[l]; i++)
			layer[l][i] = ((float)random32() / 2147483648.0f - 1) *
				      sqrtf(6.0f / (float)inputs[l]);
}

static void forward(const struct model *m, const float *x, float *h, float *y)
{
	int i, k;

	for (i = 0; i < HIDDEN; i++) {
		float s = m->b1[i];

		for (k = 0; k < PIXELS; k++)
			s += m->w1[i][k] * x[k];
		h[i] = s > 0 ? s : 0;
	}
	for (i = 0; i < CLASSES; i++) {
		float s = m->b2[i];

		for (k = 0; k < HIDDEN; k++)
			s += m->w2[i][k] * h[k];
		y[i] = s;
	}
}

/* softmax in place; returns the cross-entropy of @class */
static float softmax(float *y, int class)
{
	float max = y[0], sum = 0;
	int i;

	for (i = 1; i < CLASSES; i++)
		max = y[i] > max ? y[i] : max;
	for (i = 0; i < CLASSES; i++)
		sum += y[i] = expf(y[i] - max);
	for (i = 0; i < CLASSES; i++)
		y[i] /= sum;
	return -logf(y[class] + 1e-30f);
}

/* add @scale times the gradient of one sample */
static void backward(const struct model *m, const struct sample *s, float scale,
		     struct gradient *g)
{
	float h[HIDDEN], y[CLASSES], dh[HIDDEN] = { 0 };
	int i, k;

	forward(m, s->pixel, h, y);
	g->loss += scale * softmax(y, s->class);
	y[s->class] -= 1;
	for (i = 0; i < CLASSES; i++) {
		float dy = scale * y[i];

		g->d.b2[i] += dy;
		for (k = 0; k < HIDDEN; k++) {
			g->d.w2[i][k] += dy * h[k];
			dh[k] += dy * m->w2[i][k];
		}
	}
	for (i = 0; i < HIDDEN; i++) {
		if (h[i] <= 0)
			continue;
		g->d.b1[i] += dh[i];
		for (k = 0; k < PIXELS; k++)
			g->d.w1[i][k] += dh[i] * s->pixel[k];
	}
}

static double accuracy(const struct model *m, const struct data *d)
{
	float h[HIDDEN], y[CLASSES];
	int i, k, right = 0;

	for (i = d->train; i < d->samples; i++) {
		const struct sample *s = &d->sample[d->order[i]];
		int best = 0;

		forward(m, s->pixel, h, y);
		for (k = 1; k < CLASSES; k++)
			best = y[k] > y[best] ? k : best;
		right += best == s->class;
	}
	return 100.0 * right / (d->samples - d->train);
}

/* FNV-1a, 64 bits */
static uint64_t digest(const struct model *m)
{
	const unsigned char *b = (const unsigned char *)m;
	uint64_t h = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < sizeof(*m); i++)
		h = (h ^ b[i]) * 0x100000001b3ULL;
	return h;
}

static void hasten(struct model *v, const struct model *d, float momentum, float rate)
{
	const float *slope = &d->w1[0][0];
	float *speed = &v->w1[0][0];
	size_t i;

	for (i = 0; i < WEIGHTS; i++)
		speed[i] = momentum * speed[i] - rate * slope[i];
}

static void move(struct model *m, const struct model *from, const struct model *by)
{
	const float *a = &from->w1[0][0], *b = &by->w1[0][0];
	float *w = &m->w1[0][0];
	size_t i;

	for (i = 0; i < WEIGHTS; i++)
		w[i] = a[i] + b[i];
}

static void descend(struct model *m, struct model *v, const struct model *d)
{
	hasten(v, d, MOMENTUM, RATE);
	move(m, m, v);
}

/* batches follow the speeds of ranks; us that a sample takes longer */
static bool balance;
static unsigned int slow;

/*
 * The gradient of @n samples of @order, every @step-th, each times @scale. @slow is
 * for hosts that are alike to try what others do.
 */
static void add_up(const struct data *d, const struct model *m, const int *order, int n,
		   int step, float scale, struct gradient *g)
{
	int i;

	memset(g, 0, sizeof(*g));
	for (i = 0; i < n; i++)
		backward(m, &d->sample[order[i * step]], scale, g);
	if (slow)
		usleep(slow * (unsigned int)n);
}

/* @loss: sum over the batches of an epoch, as far as this worker knows */
static void progress(const struct model *m, const struct data *d, int epoch, int epochs,
		     float loss)
{
	if (epoch % 5 && epoch != epochs)
		return;
	loss /= (float)(d->train / BATCH);
	printf("epoch %3d  loss %.4f  test accuracy %.2f %%\n", epoch, (double)loss,
	       accuracy(m, d));
	fflush(stdout);
}

/*
 * The mean gradient of a batch. Rank r of n takes samples r, r + n, ... of it, or,
 * with @batch, as many in a row as its speed lets it: then it contributes their
 * sum.
 */
static int mean_of(const struct data *d, const struct model *m, const int *order,
		   struct gagg_comm *comm, struct gagg_plan *plan, struct gagg_batch *batch,
		   struct gradient *g)
{
	int rank = comm ? gagg_rank(comm) : 0, size = comm ? gagg_size(comm) : 1, err;
	uint32_t first, count;

	if (batch) {
		err = gagg_batch_next(batch, &first, &count);
		if (err)
			return err;
		add_up(d, m, order + first, (int)count, 1, 1, g);
		return gagg_batch_mean(batch, g, g, GRADIENT, GAGG_FLOAT32, count, plan);
	}
	add_up(d, m, order + rank, (BATCH - rank + size - 1) / size, size, (float)size / BATCH, g);
	return comm ? gagg_allreduce(g, g, GRADIENT, GAGG_FLOAT32, GAGG_MEAN, comm, plan) : 0;
}

static int say_share(const struct gagg_batch *batch, int rank)
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
static int learn(struct data *d, struct model *m, struct gagg_comm *comm,
		 struct gagg_plan *plan, int epochs)
{
	struct gagg_batch_config cfg = { .size = sizeof(cfg), .total = BATCH, .period = PERIOD };
	struct gagg_batch *batch = NULL;
	static struct model speed;
	static struct gradient g;
	int epoch, first, err = 0;

	if (comm && balance)
		err = gagg_batch_create(comm, &cfg, &batch);
	for (epoch = 1; !err && epoch <= epochs; epoch++) {
		float loss = 0;

		shuffle(d->order, d->train);
		for (first = 0; !err && first + BATCH <= d->train; first += BATCH) {
			err = mean_of(d, m, d->order + first, comm, plan, batch, &g);
			if (err)
				break;
			descend(m, &speed, &g.d);
			loss += g.loss;
		}
		if (!err && (!comm || !gagg_rank(comm)))
			progress(m, d, epoch, epochs, loss);
	}
	if (!err && batch)
		err = say_share(batch, gagg_rank(comm));
	gagg_batch_free(batch);
	return err;
}

/*
 * What this rank adds for the batch at @first: the gradient of its equal part, @n
 * samples; or, with @batch, of as many of its own as it has time for. Each
 * counts as one of a whole batch, so a larger part makes a larger step.
 */
static int own_part(const struct data *d, const struct model *m, int first,
		    struct gagg_comm *comm, struct gagg_batch *batch, struct gradient *g, int *n)
{
	int rank = gagg_rank(comm), size = gagg_size(comm), own[BATCH], i, err;
	uint32_t at, count;

	if (!batch) {
		*n = (BATCH - rank + size - 1) / size;
		add_up(d, m, d->order + first + rank, *n, size, 1.0f / BATCH, g);
		return 0;
	}
	err = gagg_batch_next(batch, &at, &count);
	if (err)
		return err;
	*n = (int)count;
	for (i = 0; i < *n; i++)
		own[i] = d->order[(rank + ((uint64_t)at + i) * size) % d->train];
	add_up(d, m, own, *n, 1, 1.0f / BATCH, g);
	return 0;
}

/* steps of 2^-20: an element may be anywhere within +-2048 of where it was */
#define STEP	(1.0 / (1 << 20))

/*
 * The same by a store, of what the weights differ from the first ones: every
 * worker adds its steps to what it reads. Each takes its share of the batch, so
 * that together they make the steps of one, and none waits but as the sync mode
 * says.
 */
static int learn_store(struct data *d, struct model *m, struct gagg_comm *comm, int epochs)
{
	struct gagg_batch_config cfg = { .size = sizeof(cfg), .total = BATCH, .period = PERIOD };
	static struct model speed, begin, moved;
	struct gagg_batch *batch = NULL;
	static struct gradient g;
	struct gagg_table *table;
	int epoch, first, n, err;

	begin = *m;
	err = gagg_table_create(comm, WEIGHTS, GAGG_FLOAT32, STEP, &table);
	if (!err && balance)
		err = gagg_batch_create(comm, &cfg, &batch);
	for (epoch = 1; !err && epoch <= epochs; epoch++) {
		float loss = 0;

		shuffle(d->order, d->train);
		for (first = 0; !err && first + BATCH <= d->train; first += BATCH) {
			err = gagg_get(table, &moved);
			if (err)
				break;
			move(m, &begin, &moved);
			err = own_part(d, m, first, comm, batch, &g, &n);
			if (err)
				break;
			loss += g.loss * BATCH / (float)n;
			descend(m, &speed, &g.d);
			err = gagg_inc(table, &speed);
			if (!err)
				err = gagg_clock(comm);
		}
		if (!err && !gagg_rank(comm))
			progress(m, d, epoch, epochs, loss);
	}
	/* the steps of all, the last ones, too */
	if (!err)
		err = gagg_snapshot(table, &moved);
	if (!err)
		move(m, &begin, &moved);
	if (!err && batch)
		err = say_share(batch, gagg_rank(comm));
	gagg_batch_free(batch);
	return err;
}

/*
 * Elastic averaging: every worker trains a replica of its own with its share of
 * each batch, and every @period batches the replica and the common centre, which
 * is what counts in the end, draw each other closer.
 */
static int learn_elastic(struct data *d, struct model *m, struct gagg_comm *comm, int epochs,
			 int period)
{
	int rank = gagg_rank(comm), size = gagg_size(comm);
	static struct model speed, begin, moved;
	static struct gradient g;
	struct gagg_table *centre;
	int epoch, first, i, err, batch = 0;
	float *w = &m->w1[0][0], *by = &moved.w1[0][0], *from = &begin.w1[0][0];
	size_t k;

	begin = *m;
	err = gagg_table_create(comm, WEIGHTS, GAGG_FLOAT32, STEP, &centre);
	for (epoch = 1; !err && epoch <= epochs; epoch++) {
		float loss = 0;

		shuffle(d->order, d->train);
		for (first = 0; !err && first + BATCH <= d->train; first += BATCH) {
			memset(&g, 0, sizeof(g));
			for (i = first + rank; i < first + BATCH; i += size)
				backward(m, &d->sample[d->order[i]], (float)size / BATCH, &g);
			loss += g.loss;
			descend(m, &speed, &g.d);
			if (++batch % period)
				continue;
			for (k = 0; k < WEIGHTS; k++)
				by[k] = w[k] - from[k];
			err = gagg_elastic(centre, &moved, 0.9 / size);
			move(m, &begin, &moved);
		}
		if (!err && !rank)
			progress(m, d, epoch, epochs, loss);
	}
	if (!err)
		err = gagg_snapshot(centre, &moved);
	if (!err)
		move(m, &begin, &moved);
	return err;
}

/*
 * The same by replicas: every worker makes steps of its own, from its share of
 * each batch, and the library brings the replicas together as the sync mode says.
 */
static int learn_replica(struct data *d, struct model *m, struct gagg_comm *comm, int epochs)
{
	int rank = gagg_rank(comm), size = gagg_size(comm);
	struct gagg_replica *replica;
	static struct model speed;
	static struct gradient g;
	/* updates come back a round later: without momentum, as its authors have it */
	bool delayed = !strncmp(gagg_sync(comm), "hpsgd", 5);
	float momentum = delayed ? 0 : MOMENTUM;
	float rate = delayed ? 2 * RATE : RATE;
	float *w = &m->w1[0][0];
	int epoch, first, i, err;

	err = gagg_replica_create(comm, w, WEIGHTS, STEP, &replica);
	for (epoch = 1; !err && epoch <= epochs; epoch++) {
		float loss = 0;

		shuffle(d->order, d->train);
		for (first = 0; !err && first + BATCH <= d->train; first += BATCH) {
			memset(&g, 0, sizeof(g));
			for (i = first + rank; i < first + BATCH; i += size)
				backward(m, &d->sample[d->order[i]], (float)size / BATCH, &g);
			loss += g.loss;
			hasten(&speed, &g.d, momentum, rate);
			err = gagg_replica_step(replica, w, &speed.w1[0][0]);
		}
		if (!err && !rank)
			progress(m, d, epoch, epochs, loss);
	}
	if (!err)
		err = gagg_replica_finish(replica, w);
	gagg_replica_free(replica);
	return err;
}

static int learn_with(struct data *d, struct model *m, struct gagg_comm *comm,
		      struct gagg_plan *plan, int epochs, int period)
{
	/* with a mode in which batches do not follow speeds the library refuses to */
	if (balance && !gagg_has_store(comm))
		return learn(d, m, comm, plan, epochs);
	if (!gagg_has_store(comm))
		return !strncmp(gagg_sync(comm), "bsp", 3) ?
			       learn(d, m, comm, plan, epochs) :
			       learn_replica(d, m, comm, epochs);
	return period ? learn_elastic(d, m, comm, epochs, period) :
			learn_store(d, m, comm, epochs);
}

static int work(struct data *d, struct model *m, const char *group, long rank, int epochs,
		int period)
{
	struct gagg_config cfg = {
		.size = sizeof(cfg),
		.group = group,
		.rank = rank < 0 ? GAGG_RANK_ANY : (uint32_t)rank,
		.timeout_ms = 60000,
	};
	struct gagg_comm *comm;
	struct gagg_plan *plan;
	int err;

	if (gagg_init(&comm, &cfg)) {
		fprintf(stderr, "digits: %s\n", gagg_last_error(NULL));
		return 1;
	}
	err = gagg_plan_create(comm, GRADIENT, GAGG_FLOAT32, &plan);
	if (!err)
		err = learn_with(d, m, comm, plan, epochs, period);
	if (err) {
		fprintf(stderr, "digits: rank %d: %s\n", gagg_rank(comm), gagg_last_error(comm));
		gagg_abort(comm);
		return 1;
	}
	printf("rank %d: accuracy %.2f digest %016llx\n", gagg_rank(comm), accuracy(m, d),
	       (unsigned long long)digest(m));
	gagg_plan_free(plan);
	if (gagg_finalize(comm)) {
		fprintf(stderr, "digits: %s\n", gagg_last_error(NULL));
		return 1;
	}
	return 0;
}

static int usage(void)
{
	fprintf(stderr,
		"Usage: digits --single [--epochs N] [--data FILE]\n"
		"       digits --group NAME [--rank R] [--epochs N] [--data FILE] [--elastic N]\n"
		"              [--balance] [--slow US]\n"
		"\n"
		"--elastic: replicas that meet every N batches, in a group with sync asp\n"
		"--balance: batches follow the speeds of ranks, in a group with sync bsp or r2sp\n"
		"--slow: with sync bsp and stores, every sample takes so many microseconds longer here\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "single", no_argument, NULL, 's' },
		{ "group", required_argument, NULL, 'g' },
		{ "rank", required_argument, NULL, 'r' },
		{ "epochs", required_argument, NULL, 'e' },
		{ "data", required_argument, NULL, 'd' },
		{ "elastic", required_argument, NULL, 'l' },
		{ "balance", no_argument, NULL, 'b' },
		{ "slow", required_argument, NULL, 'w' },
		{ NULL, 0, NULL, 0 },
	};
	const char *path = "agent/examples/data/digits.csv.gz", *group = NULL;
	static struct model model;
	static struct data data;
	bool single = false;
	int epochs = 30, period = 0, c;
	long rank = -1;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			single = true;
			break;
		case 'g':
			group = optarg;
			break;
		case 'r':
			rank = atol(optarg);
			break;
		case 'e':
			epochs = atoi(optarg);
			break;
		case 'l':
			period = atoi(optarg);
			break;
		case 'b':
			balance = true;
			break;
		case 'w':
			slow = (unsigned int)atoi(optarg);
			break;
		case 'd':
			path = optarg;
			break;
		default:
			return usage();
		}
	}
	if (optind < argc || single == !!group)
		return usage();
	if (!load(&data, path)) {
		fprintf(stderr, "digits: %s: no such data\n", path);
		return 1;
	}
	init(&model);
	if (group)
		return work(&data, &model, group, rank, epochs, period);
	learn(&data, &model, NULL, NULL, epochs);
	printf("single: accuracy %.2f digest %016llx\n", accuracy(&model, &data),
	       (unsigned long long)digest(&model));
	return 0;
}
