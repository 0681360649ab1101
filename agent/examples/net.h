/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A network of two layers for 8x8 images of digits: 64 inputs, HIDDEN
 * rectified units, 10 classes, cross-entropy, stochastic gradient descent with
 * momentum. Plain float32, deterministic: the same calls give the same bits.
 */
#ifndef EXAMPLES_NET_H
#define EXAMPLES_NET_H

#include <stddef.h>
#include <stdint.h>

#define PIXELS	64
#define HIDDEN	64
#define CLASSES	10
#define PARAMS	(PIXELS * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES)

struct sample {
	float pixel[PIXELS];	/* 0 to 1 */
	int digit;
};

struct net {
	float w[PARAMS];
	float velocity[PARAMS];
};

/* small random weights from a fixed seed */
void net_init(struct net *net, uint64_t seed);

/*
 * net_gradient() - mean gradient over @n samples, named by @index
 * @grad: receives PARAMS floats
 * Return: mean loss.
 */
float net_gradient(const struct net *net, const struct sample *set, const uint32_t *index,
		   size_t n, float *grad);

/* one step of descent */
void net_step(struct net *net, const float *grad, float rate, float momentum);

/* share of @n samples that are recognised */
float net_accuracy(const struct net *net, const struct sample *set, size_t n);

#endif
