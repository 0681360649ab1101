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
 * @state:	of what is drawn; not 0
 */
struct delay {
	unsigned int slow;
	unsigned int percent;
	unsigned int times;
	uint64_t state;
};

/* PERCENT:TIMES, such as 5:4 */
bool delay_parse(struct delay *d, const char *text);

/* what @n samples take longer */
void delay_wait(struct delay *d, unsigned int n);

#endif
