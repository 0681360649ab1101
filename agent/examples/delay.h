/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For hosts that are alike to try what others do: samples that take longer, always or
 * now and then.
 */
#ifndef EXAMPLES_DELAY_H
#define EXAMPLES_DELAY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct delay - how long this rank takes
 * @slow:	us that a sample takes longer
 * @percent:	of batches, drawn at random, that take @times as long
 * @times:	as often as @slow
 * @scatter:	us after a whole second of the clock at which it begins, at most; -1: it
 *		begins at once
 * @state:	of what is drawn; not 0
 */
struct delay {
	unsigned int slow;
	unsigned int percent;
	unsigned int times;
	int scatter;
	uint64_t state;
};

/* PERCENT:TIMES, such as 5:4 */
bool delay_parse(struct delay *d, const char *text);

/* what is drawn follows from these alone */
void delay_seed(struct delay *d, uint64_t seed, int rank);

/* If it does not begin at once: until a whole second; and for what is drawn after one. */
void delay_second(const struct delay *d);
void delay_begin(struct delay *d);

/* what @n samples take longer */
void delay_wait(struct delay *d, unsigned int n);

#endif
