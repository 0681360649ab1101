// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Which implementation of quantising is the fastest here. On a processor that is to
 * multiply and convert. An emulator converts number by number in software, and shifts
 * vectors: there integer instructions take half of the time.
 */
#include <string.h>
#include <time.h>

#include "quant.h"

#define ELEMENTS	1024
#define TURNS		8

enum quant_form quant_form_found;

typedef void lanes_fn(enum quant_type t, const void *src, unsigned int n, int k,
		      int32_t *lanes);

static int64_t quant_form_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* ns, or @best if that is less: somebody else may have had the processor */
static int64_t quant_form_least(lanes_fn *quantise, const float *elements, int64_t best)
{
	int32_t lanes[ELEMENTS];
	int64_t took = quant_form_now();

	quantise(QUANT_F32, elements, ELEMENTS, 30, lanes);
	took = quant_form_now() - took;
	return took < best ? took : best;
}

static bool quant_form_shifts_are_faster(void)
{
	int64_t floats = INT64_MAX, shifts = INT64_MAX;
	float elements[ELEMENTS];
	int i;

	/*
	 * Below 1, and bits get lost, as they do of gradients. No arithmetic: it would be
	 * the caller's floating-point environment.
	 */
	for (i = 0; i < ELEMENTS; i++) {
		uint32_t bits = 0x3e000000 + (uint32_t)i * 0x1235;

		memcpy(&elements[i], &bits, sizeof(bits));
	}
	for (i = 0; i < TURNS; i++) {
		floats = quant_form_least(quant_lanes_avx2, elements, floats);
		shifts = quant_form_least(quant_lanes_shift, elements, shifts);
	}
	return shifts < floats - floats / 5;
}

enum quant_form quant_form_find(void)
{
	enum quant_form form = QUANT_SCALAR;

	if (quant_avx2_usable())
		form = quant_form_shifts_are_faster() ? QUANT_SHIFT : QUANT_AVX2;
	__atomic_store_n(&quant_form_found, form, __ATOMIC_RELAXED);
	return form;
}
