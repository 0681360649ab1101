// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include "carry.h"
#include "quant.h"
#include "vector.h"

static __always_inline void carry_add_all(const float *restrict x, const float *restrict carry,
					  unsigned int n, float *restrict sum)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		sum[i] = x[i] + carry[i];
}

static LOOP_AVX2 void carry_add_avx2(const float *x, const float *carry, unsigned int n, float *sum)
{
	carry_add_all(x, carry, n, sum);
}

static void carry_add_scalar(const float *x, const float *carry, unsigned int n, float *sum)
{
	carry_add_all(x, carry, n, sum);
}

void carry_add(const float *x, const float *carry, unsigned int n, float *sum)
{
	if (quant_form() != QUANT_SCALAR)
		carry_add_avx2(x, carry, n, sum);
	else
		carry_add_scalar(x, carry, n, sum);
}

static __always_inline void carry_rest_all(const float *restrict x, const int32_t *restrict sent,
					   double unit, unsigned int n, float *restrict carry)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		carry[i] = (float)((double)x[i] + carry[i] - sent[i] * unit);
}

static LOOP_AVX2 void carry_rest_avx2(const float *x, const int32_t *sent, double unit,
				      unsigned int n, float *carry)
{
	carry_rest_all(x, sent, unit, n, carry);
}

static void carry_rest_scalar(const float *x, const int32_t *sent, double unit, unsigned int n,
			      float *carry)
{
	carry_rest_all(x, sent, unit, n, carry);
}

void carry_rest(const float *x, const int32_t *sent, double unit, unsigned int n,
		float *carry)
{
	if (quant_form() != QUANT_SCALAR)
		carry_rest_avx2(x, sent, unit, n, carry);
	else
		carry_rest_scalar(x, sent, unit, n, carry);
}
