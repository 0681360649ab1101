// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <string.h>

#include "net.h"

void init(struct model *m)
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

/*
 * Units by fours: each adds up in the order of its inputs, so its bits are those of one that is
 * alone, but a sum need not wait for the last addition of another one.
 */
static void net_hide(const struct model *m, const float *x, float *h)
{
	int i, j, k;

	for (i = 0; i < HIDDEN; i += 4) {
		float s0 = m->b1[i], s1 = m->b1[i + 1], s2 = m->b1[i + 2], s3 = m->b1[i + 3];

		for (k = 0; k < PIXELS; k++) {
			s0 += m->w1[i][k] * x[k];
			s1 += m->w1[i + 1][k] * x[k];
			s2 += m->w1[i + 2][k] * x[k];
			s3 += m->w1[i + 3][k] * x[k];
		}
		h[i] = s0;
		h[i + 1] = s1;
		h[i + 2] = s2;
		h[i + 3] = s3;
		for (j = i; j < i + 4; j++)
			h[j] = h[j] > 0 ? h[j] : 0;
	}
}

static void net_forward(const struct model *m, const float *x, float *h, float *y)
{
	int i, k;

	net_hide(m, x, h);
	for (i = 0; i < CLASSES; i++) {
		float s = m->b2[i];

		for (k = 0; k < HIDDEN; k++)
			s += m->w2[i][k] * h[k];
		y[i] = s;
	}
}

/* softmax in place; returns the cross-entropy of @class */
static float net_softmax(float *y, int class)
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

void backward(const struct model *m, const struct sample *s, float scale, struct gradient *g)
{
	float h[HIDDEN], y[CLASSES], dh[HIDDEN] = { 0 };
	int i, k;

	net_forward(m, s->pixel, h, y);
	g->loss += scale * net_softmax(y, s->class);
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

double accuracy(const struct model *m, const struct data *d)
{
	float h[HIDDEN], y[CLASSES];
	int i, k, right = 0;

	for (i = d->train; i < d->samples; i++) {
		const struct sample *s = &d->sample[d->order[i]];
		int best = 0;

		net_forward(m, s->pixel, h, y);
		for (k = 1; k < CLASSES; k++)
			best = y[k] > y[best] ? k : best;
		right += best == s->class;
	}
	return 100.0 * right / (d->samples - d->train);
}

uint64_t digest(const struct model *m)
{
	const unsigned char *b = (const unsigned char *)m;
	uint64_t h = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < sizeof(*m); i++)
		h = (h ^ b[i]) * 0x100000001b3ULL;
	return h;
}

void hasten(struct model *v, const struct model *d, float momentum, float rate)
{
	const float *slope = &d->w1[0][0];
	float *speed = &v->w1[0][0];
	size_t i;

	for (i = 0; i < WEIGHTS; i++)
		speed[i] = momentum * speed[i] - rate * slope[i];
}

void move(struct model *m, const struct model *from, const struct model *by)
{
	const float *a = &from->w1[0][0], *b = &by->w1[0][0];
	float *w = &m->w1[0][0];
	size_t i;

	for (i = 0; i < WEIGHTS; i++)
		w[i] = a[i] + b[i];
}
