/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For hosts that are alike to try what others do: samples that take longer, always or
 * now and then.
 */
#ifndef EXAMPLES_PACE_H
#define EXAMPLES_PACE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct pace - how long this rank takes
 * @slow:	us that a sample takes longer
 * @percent:	of batches, drawn at random, that take @times as long
 * @times:	as often as @slow
 * @state:	of what is drawn; not 0
 */
struct pace {
	unsigned int slow;
	unsigned int percent;
	unsigned int times;
	uint64_t state;
};

/* PERCENT:TIMES, such as 5:4 */
bool pace_parse(struct pace *p, const char *text);

/* what @n samples take longer */
void pace_wait(struct pace *p, unsigned int n);

#endif
