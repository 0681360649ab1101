/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/* Elements of a program's buffers, in any alignment. */
#ifndef GAGG_ELEMENT_H
#define GAGG_ELEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ELEMENT_OF(name, type)								\
static inline type element_##name(const void *values, size_t i)			\
{											\
	type x;										\
											\
	memcpy(&x, (const unsigned char *)values + i * sizeof(x), sizeof(x));		\
	return x;									\
}											\
											\
static inline void element_put_##name(void *values, size_t i, type x)			\
{											\
	memcpy((unsigned char *)values + i * sizeof(x), &x, sizeof(x));			\
}

ELEMENT_OF(float, float)
ELEMENT_OF(double, double)
ELEMENT_OF(int32, int32_t)
ELEMENT_OF(int64, int64_t)

#undef ELEMENT_OF

#endif
