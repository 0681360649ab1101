// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "curve.h"

struct point {
	double ms;
	int steps;
	float loss;
	struct model m;
};

struct curve {
	double begun;
	int n, max;
	struct point point[];
};

static double curve_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct curve *curve_new(int points)
{
	struct curve *c = calloc(1, sizeof(*c) + (size_t)points * sizeof(c->point[0]));

	if (c) {
		c->max = points;
		c->begun = curve_now_ms();
	}
	return c;
}

void curve_add(struct curve *c, const struct model *m, int steps, float loss)
{
	struct point *p = &c->point[c->n];

	if (c->n == c->max)
		return;
	c->n++;
	p->ms = curve_now_ms() - c->begun;
	p->steps = steps;
	p->loss = loss;
	p->m = *m;
}

void curve_print(const struct curve *c, const struct data *d)
{
	int i;

	for (i = 0; i < c->n; i++)
		printf("curve %d %.1f %.4f %.2f\n", c->point[i].steps, c->point[i].ms,
		       (double)c->point[i].loss, accuracy(&c->point[i].m, d));
}

void curve_free(struct curve *c)
{
	free(c);
}
