/* SPDX-License-Identifier: GPL-2.0 */
/* Handwritten digits of 8x8 pixels, and the order in which they are learned from. */
#ifndef EXAMPLES_SAMPLES_H
#define EXAMPLES_SAMPLES_H

#include <stdbool.h>
#include <stdint.h>

#define PIXELS		64
#define CLASSES		10
#define SAMPLES_MAX	2000

struct sample {
	float pixel[PIXELS];	/* 0 to 1 */
	int class;
};

struct data {
	struct sample sample[SAMPLES_MAX];
	int order[SAMPLES_MAX];	/* the first @train are learned from */
	int samples;
	int train;
};

/* Where all begins that is drawn at random: weights, split, order. */
void random_seed(uint64_t seed);
uint32_t random32(void);

/* the same from a state of its own, which is not 0 */
uint32_t random_of(uint64_t *state);

void shuffle(int *order, int n);

/* A fifth of the samples will be held out. false: there are fewer than @least to learn from. */
bool load(struct data *d, const char *path, int least);

/* hold out samples that are drawn at random */
void split(struct data *d);

#endif
