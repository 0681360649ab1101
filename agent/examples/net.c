// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <string.h>
#include "net.h"

/* where each layer lies in the vector of parameters */
#define W1	0
#define B1	(W1 + PIXELS * HIDDEN)
#define W2	(B1 + HIDDEN)
#define B2	(W2 + HIDDEN * CLASSES)

/* splitmix64 (Steele et al. 2014), as a float from -1 to 1 */
static float uniform(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return (float)(int32_t)(z >> 32) / 2147483648.0f;
}

void net_init(struct net *net, uint64_t seed)
{
	const float scale1 = sqrtf(6.0f / (PIXELS + HIDDEN));
	const float scale2 = sqrtf(6.0f / (HIDDEN + CLASSES));
	size_t i;

	memset(net, 0, sizeof(*net));
	for (i = W1; i < B1; i++)
		net->w[i] = scale1 * uniform(&seed);
	for (i = W2; i < B2; i++)
		net->w[i] = scale2 * uniform(&seed);
}

static void forward(const float *w, const float *x, float *hidden, float *prob)
{
	float sum = 0, top;
	int i, j;

	memcpy(hidden, w + B1, HIDDEN * sizeof(*hidden));
	for (i = 0; i < PIXELS; i++)
		for (j = 0; j < HIDDEN; j++)
			hidden[j] += x[i] * w[W1 + i * HIDDEN + j];
	for (j = 0; j < HIDDEN; j++)
		hidden[j] = hidden[j] > 0 ? hidden[j] : 0;

	memcpy(prob, w + B2, CLASSES * sizeof(*prob));
	for (i = 0; i < HIDDEN; i++)
		for (j = 0; j < CLASSES; j++)
			prob[j] += hidden[i] * w[W2 + i * CLASSES + j];
	top = prob[0];
	for (j = 1; j < CLASSES; j++)
		top = prob[j] > top ? prob[j] : top;
	for (j = 0; j < CLASSES; j++)
		sum += prob[j] = expf(prob[j] - top);
	for (j = 0; j < CLASSES; j++)
		prob[j] /= sum;
}

/* adds one sample's gradient; returns its loss */
static float backward(const float *w, const struct sample *s, float *grad)
{
	float hidden[HIDDEN], prob[CLASSES], back;
	float loss;
	int i, j;

	forward(w, s->pixel, hidden, prob);
	loss = -logf(fmaxf(prob[s->digit], 1e-30f));
	prob[s->digit] -= 1;		/* d loss / d output */
	for (j = 0; j < CLASSES; j++)
		grad[B2 + j] += prob[j];
	for (i = 0; i < HIDDEN; i++) {
		if (hidden[i] <= 0)
			continue;
		back = 0;
		for (j = 0; j < CLASSES; j++) {
			grad[W2 + i * CLASSES + j] += hidden[i] * prob[j];
			back += w[W2 + i * CLASSES + j] * prob[j];
		}
		hidden[i] = back;	/* d loss / d unit */
		grad[B1 + i] += back;
		for (j = 0; j < PIXELS; j++)
			grad[W1 + j * HIDDEN + i] += s->pixel[j] * back;
	}
	return loss;
}

float net_gradient(const struct net *net, const struct sample *set, const uint32_t *index,
		   size_t n, float *grad)
{
	float loss = 0;
	size_t i;

	memset(grad, 0, PARAMS * sizeof(*grad));
	for (i = 0; i < n; i++)
		loss += backward(net->w, &set[index[i]], grad);
	for (i = 0; i < PARAMS; i++)
		grad[i] /= (float)n;
	return loss / (float)n;
}

void net_step(struct net *net, const float *grad, float rate, float momentum)
{
	size_t i;

	for (i = 0; i < PARAMS; i++) {
		net->velocity[i] = momentum * net->velocity[i] - rate * grad[i];
		net->w[i] += net->velocity[i];
	}
}

float net_accuracy(const struct net *net, const struct sample *set, size_t n)
{
	float hidden[HIDDEN], prob[CLASSES];
	size_t i, right = 0;
	int j, best;

	for (i = 0; i < n; i++) {
		forward(net->w, set[i].pixel, hidden, prob);
		for (best = 0, j = 1; j < CLASSES; j++)
			if (prob[j] > prob[best])
				best = j;
		right += best == set[i].digit;
	}
	return (float)right / (float)n;
}
