/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a training went. What takes time, to try the weights with the samples held out,
 * is done when it is over.
 */
#ifndef EXAMPLES_CURVE_H
#define EXAMPLES_CURVE_H

#include <stdbool.h>

#include "net.h"

struct curve;

/* for at most @points; its clock starts. NULL: no memory */
struct curve *curve_new(int points);

/* the weights after so many @steps, and the mean loss since the last point */
void curve_add(struct curve *c, const struct model *m, int steps, float loss);

/* a line "curve STEPS MS LOSS ACCURACY" for each point */
void curve_print(const struct curve *c, const struct data *d);

void curve_free(struct curve *c);

#endif
