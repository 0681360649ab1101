/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A network of two layers, 64 pixels - 32 rectified units - 10 classes, with
 * cross-entropy. Plain float32: the same calls give the same bits.
 */
#ifndef EXAMPLES_NET_H
#define EXAMPLES_NET_H

#include <stddef.h>
#include <stdint.h>

#include "samples.h"

#define HIDDEN		32

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

/* Uniform within the bounds of He et al. 2015. */
void init(struct model *m);

/* add @scale times the gradient of one sample */
void backward(const struct model *m, const struct sample *s, float scale, struct gradient *g);

/* percent of the samples held out that are recognised */
double accuracy(const struct model *m, const struct data *d);

/* FNV-1a, 64 bits */
uint64_t digest(const struct model *m);

/* velocity @v by the slope @d */
void hasten(struct model *v, const struct model *d, float momentum, float rate);

/* m = from + by */
void move(struct model *m, const struct model *from, const struct model *by);

#endif
