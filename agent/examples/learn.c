// SPDX-License-Identifier: GPL-2.0
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "learn.h"

#define RATE		0.1f
#define MOMENTUM	0.9f
#define PERIOD		5	/* batches between two divisions by speed */

/* steps of 2^-20: an element may be anywhere within +-2048 of where it was */
#define STEP		(1.0 / (1 << 20))

static const struct gagg_batch_config learn_parts = {
	.size = sizeof(learn_parts),
	.total = BATCH,
	.period = PERIOD,
};

/* @n samples of @order, every @step-th, each counted @scale times */
struct choice {
	const int *order;
	int n;
	int step;
	float scale;
};

/* a step with the batch at @order: 0, ENOUGH or an error */
typedef int (*learn_step)(struct learner *l, const int *order);

static int learn_rank(const struct learner *l)
{
	return l->comm ? gagg_rank(l->comm) : 0;
}

static void learn_add_up(struct learner *l, const struct choice *c)
{
	int i;

	memset(&l->g, 0, sizeof(l->g));
	for (i = 0; i < c->n; i++)
		backward(l->m, &l->d->sample[c->order[i * c->step]], c->scale, &l->g);
	delay_wait(&l->delay, (unsigned int)c->n);
}

/* the samples that this rank has of the batch at @order: r, r + n, ... */
static struct choice learn_equal_part(const struct learner *l, const int *order)
{
	int rank = learn_rank(l), size = l->comm ? gagg_size(l->comm) : 1;

	return (struct choice){
		.order = order + rank,
		.n = (BATCH - rank + size - 1) / size,
		.step = size,
		.scale = (float)size / BATCH,
	};
}

/* @late: updates come back a round later: without momentum, as its authors have it */
static void learn_hasten(struct learner *l, bool late)
{
	const struct options *how = l->how;

	hasten(&l->speed, &l->g.d, how->momentum >= 0 ? how->momentum : late ? 0 : MOMENTUM,
	       how->rate > 0 ? how->rate : late ? 2 * RATE : RATE);
}

static void learn_descend(struct learner *l)
{
	learn_hasten(l, false);
	move(l->m, l->m, &l->speed);
}

/* the weights that are looked at: of elastic averaging the centre, as its authors do */
static int learn_weights(struct learner *l, const struct model **m)
{
	*m = l->m;
	if (!l->replica || strncmp(gagg_sync(l->comm), "easgd", 5))
		return 0;
	*m = &l->centre;
	return gagg_replica_centre(l->replica, &l->centre.w1[0][0]);
}

/* after a step; @loss: of its batch, as far as this rank knows */
static int learn_point(struct learner *l, float loss)
{
	bool asked = l->how->until > 0 && !learn_rank(l);
	const struct model *m = NULL;
	int err = asked || l->curve ? learn_weights(l, &m) : 0;

	if (err)
		return err;
	l->steps++;
	l->loss += loss;
	if (l->curve)
		curve_add(l->curve, m, l->steps, loss);
	return asked && accuracy(m, l->d) >= l->how->until ? ENOUGH : 0;
}

static void learn_progress(struct learner *l, int epoch)
{
	float loss = l->loss / (float)(l->d->train / BATCH);

	l->loss = 0;
	if (learn_rank(l) || l->curve || (epoch % 5 && epoch != l->how->epochs))
		return;
	printf("epoch %3d  loss %.4f  test accuracy %.2f %%\n", epoch, (double)loss,
	       accuracy(l->m, l->d));
	fflush(stdout);
}

/* What is left over of the data after whole batches waits for another order. */
static int learn_epochs(struct learner *l, learn_step step)
{
	int epoch, first, err = 0;

	for (epoch = 1; !err && epoch <= l->how->epochs; epoch++) {
		shuffle(l->d->order, l->d->train);
		for (first = 0; !err && first + BATCH <= l->d->train; first += BATCH)
			err = step(l, l->d->order + first);
		if (!err)
			learn_progress(l, epoch);
	}
	return err;
}

/* how batches are divided in the end, where they follow speeds; @err: of before */
static int learn_end_parts(struct learner *l, int err)
{
	struct gagg_batch_rank info;

	if (!err && l->batch) {
		err = gagg_batch_info(l->batch, learn_rank(l), &info);
		if (!err)
			printf("rank %d: share %u of %d\n", learn_rank(l), info.share, BATCH);
	}
	gagg_batch_free(l->batch);
	return err;
}

/*
 * A step by the mean gradient of the batch. Each rank has its equal part, or, if batches follow
 * speeds, as many samples in a row as its speed lets it: then it contributes their sum.
 */
static int learn_mean_step(struct learner *l, const int *order)
{
	struct gradient *g = &l->g;
	uint32_t first, count;
	struct choice c;
	int err = 0;

	if (l->batch) {
		err = gagg_batch_next(l->batch, &first, &count);
		if (err)
			return err;
		c = (struct choice){ order + first, (int)count, 1, 1 };
		learn_add_up(l, &c);
		err = gagg_batch_mean(l->batch, g, g, GRADIENT, GAGG_FLOAT32, count, l->plan);
	} else {
		c = learn_equal_part(l, order);
		learn_add_up(l, &c);
		if (l->comm)
			err = gagg_allreduce(g, g, GRADIENT, GAGG_FLOAT32, GAGG_MEAN, l->comm,
					     l->plan);
	}
	if (err)
		return err;
	learn_descend(l);
	return learn_point(l, g->loss);
}

static int learn_by_means(struct learner *l)
{
	int err = 0;

	if (l->comm && l->how->balance)
		err = gagg_batch_create(l->comm, &learn_parts, &l->batch);
	if (!err)
		err = learn_epochs(l, learn_mean_step);
	return learn_end_parts(l, err);
}

/*
 * What this rank adds for the batch at @order: the gradient of its equal part, @n samples; or, if
 * batches follow speeds, of as many of its own as it has time for. Each counts as one of a whole
 * batch, so a larger part makes a larger step.
 */
static int learn_own_part(struct learner *l, const int *order, int *n)
{
	int rank = gagg_rank(l->comm), size = gagg_size(l->comm), own[BATCH], i, err;
	struct choice c = learn_equal_part(l, order);
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
	learn_add_up(l, &c);
	*n = c.n;
	return 0;
}

/* does this rank read while it learns? With a cache: if what it has is too old for this clock */
static bool learn_reads_ahead(const struct learner *l)
{
	const char *bound = strrchr(gagg_sync(l->comm), ':');

	if (!l->how->prefetch || !l->how->cache || !bound)
		return l->how->prefetch;
	return gagg_staleness(l->table) >= strtoul(bound + 1, NULL, 10);
}

/*
 * A step of this rank's own, from what it reads. It reads before it learns; or, with --prefetch,
 * while it does: then it learns from what it has read during the step before, with its own step,
 * and others' updates are a clock older than the mode has them.
 */
static int learn_table_step(struct learner *l, const int *order)
{
	bool ahead = learn_reads_ahead(l);
	int n, err;

	err = ahead ? gagg_prefetch(l->table, 0, WEIGHTS) :
		      gagg_get(l->table, &l->moved);
	if (err)
		return err;
	move(l->m, &l->begin, &l->moved);
	err = learn_own_part(l, order, &n);
	if (err)
		return err;
	learn_descend(l);
	err = learn_point(l, l->g.loss * BATCH / (float)n);
	if (!err)
		err = gagg_inc(l->table, &l->speed);
	if (!err && l->how->prefetch)
		err = gagg_get(l->table, &l->moved);
	return err ? err : gagg_clock(l->comm);
}

static void learn_say_hits(const struct learner *l)
{
	printf("rank %d: %llu reads used what was read before\n", learn_rank(l),
	       (unsigned long long)gagg_cache_hits(l->table));
}

static int learn_say_partitions(struct gagg_comm *comm)
{
	struct gagg_ako found;
	int err = gagg_ako_measure(comm, &found);

	if (!err)
		printf("rank %d: %.3g clocks/s, %.3g bytes/s of %.3g bytes: %d partitions\n",
		       gagg_rank(comm), found.rate, found.bandwidth, found.bytes,
		       found.partitions);
	return err;
}

/*
 * By a store, of what the weights differ from the first ones: every worker adds its steps to what
 * it reads. Each takes its share of the batch, so that together they make the steps of one, and
 * none waits but as the sync mode says.
 */
static int learn_by_table(struct learner *l)
{
	int err;

	l->begin = *l->m;
	err = gagg_table_create(l->comm, WEIGHTS, GAGG_FLOAT32, STEP, &l->table);
	if (!err && l->how->balance)
		err = gagg_batch_create(l->comm, &learn_parts, &l->batch);
	if (!err) {
		gagg_cache(l->table, l->how->cache);
		err = learn_epochs(l, learn_table_step);
	}
	if (!err && l->how->cache)
		learn_say_hits(l);
	/* the steps of all, the last ones, too */
	if (!err)
		err = gagg_snapshot(l->table, &l->moved);
	if (!err)
		move(l->m, &l->begin, &l->moved);
	err = learn_end_parts(l, err);
	return !err && l->how->measure ? learn_say_partitions(l->comm) : err;
}

/* a step of this rank's replica, from its part of the batch */
static int learn_replica_step(struct learner *l, const int *order)
{
	bool late = !strncmp(gagg_sync(l->comm), "hpsgd", 5);
	struct choice c = learn_equal_part(l, order);
	uint32_t first, count;
	int err;

	if (l->batch) {
		err = gagg_batch_next(l->batch, &first, &count);
		if (!err)
			err = gagg_replica_samples(l->replica, count);
		if (err)
			return err;
		c = (struct choice){ order + first, (int)count, 1, 1.0f / (float)count };
	}
	learn_add_up(l, &c);
	learn_hasten(l, late);
	err = gagg_replica_step(l->replica, &l->m->w1[0][0], &l->speed.w1[0][0]);
	return err ? err : learn_point(l, l->g.loss);
}

/*
 * By replicas: every worker makes steps of its own, from its share of each batch, and the library
 * brings the replicas together as the sync mode says.
 */
static int learn_by_replica(struct learner *l)
{
	float *w = &l->m->w1[0][0];
	int err;

	err = gagg_replica_create(l->comm, w, WEIGHTS, STEP, &l->replica);
	/* parts follow speeds, and so replicas and momentum count by samples */
	if (!err && l->how->balance) {
		err = gagg_batch_create(l->comm, &learn_parts, &l->batch);
		if (!err)
			err = gagg_replica_state(l->replica, &l->speed.w1[0][0], WEIGHTS);
	}
	if (!err)
		err = learn_epochs(l, learn_replica_step);
	if (!err)
		err = gagg_replica_finish(l->replica, w);
	err = learn_end_parts(l, err);
	gagg_replica_free(l->replica);
	return err;
}

/* tables and collectives have a step of all; else each rank has steps of its own */
static bool learn_has_replicas(const struct gagg_comm *comm)
{
	const char *sync = gagg_sync(comm);

	return gagg_has_store(comm) ? !strncmp(sync, "easgd:", 6) : strncmp(sync, "bsp", 3) != 0;
}

int learn(struct learner *l)
{
	if (!l->comm)
		return learn_by_means(l);
	if (learn_has_replicas(l->comm))
		return learn_by_replica(l);
	return gagg_has_store(l->comm) ? learn_by_table(l) : learn_by_means(l);
}
