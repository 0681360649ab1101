/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/* A value: an element of a table in a program's buffer, which has the table's type. */
#ifndef GAGG_VALUE_H
#define GAGG_VALUE_H

#include "element.h"
#include "steps.h"
#include "store.h"

/* of floats */
static inline double value_double(const struct gagg_table *t, const void *values, size_t i)
{
	return t->dtype == GAGG_FLOAT64 ? element_double(values, i) : element_float(values, i);
}

static inline void value_put_double(const struct gagg_table *t, void *values, size_t i, double x)
{
	if (t->dtype == GAGG_FLOAT64)
		element_put_double(values, i, x);
	else
		element_put_float(values, i, (float)x);
}

/* of floats, in steps, with the part of a step that rounding leaves */
static inline double value_real(const struct gagg_table *t, const void *values, size_t i)
{
	return value_double(t, values, i) / t->step;
}

/* of integers */
static inline int64_t value_whole(const struct gagg_table *t, const void *values, size_t i)
{
	return t->dtype == GAGG_INT32 ? element_int32(values, i) : element_int64(values, i);
}

/* of any type, in whole steps; floats are below 2^53 of them in magnitude */
static inline int64_t value_steps(const struct gagg_table *t, const void *values, size_t i)
{
	return t->log ? steps_nearest(value_real(t, values, i)) : value_whole(t, values, i);
}

/* so many steps, as far as the type can tell them: int32 wraps */
static inline int64_t value_wrap(const struct gagg_table *t, int64_t steps)
{
	return t->dtype == GAGG_INT32 ? (int32_t)(uint32_t)steps : steps;
}

static inline void value_put(const struct gagg_table *t, void *values, size_t i, int64_t steps)
{
	if (t->log)
		value_put_double(t, values, i, (double)steps * t->step);
	else if (t->dtype == GAGG_INT32)
		element_put_int32(values, i, (int32_t)(uint32_t)steps);
	else
		element_put_int64(values, i, steps);
}

/* takes so many steps from it; what a float has between two steps stays */
static inline void value_take(const struct gagg_table *t, void *values, size_t i, int32_t steps)
{
	if (t->log)
		value_put_double(t, values, i, value_double(t, values, i) - steps * t->step);
	else
		value_put(t, values, i, steps_sub(value_whole(t, values, i), steps));
}

#endif
