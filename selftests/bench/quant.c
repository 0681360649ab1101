// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions per element that libgagg takes to make lanes of float32, and
 * elements of lanes; in a guest whose clock counts instructions.
 */
#include <stdint.h>
#include <stdio.h>

#include "agent/bench/data.h"
#include "agent/bench/usage.h"
#include "quant.h"

#define CHUNKS	64
#define LANES	344
#define TIMES	9
#define RANKS	4
#define HEADROOM 2

static float elements[CHUNKS * LANES];
static float result[CHUNKS * LANES];
static int32_t lanes[CHUNKS * LANES];
static struct quant_head heads[CHUNKS];

static void quantise(void)
{
	for (int i = 0; i < CHUNKS; i++)
		quant_chunk(QUANT_F32, elements + i * LANES, LANES, HEADROOM, 127,
			    lanes + i * LANES, &heads[i]);
}

static void dequantise(void)
{
	for (int i = 0; i < CHUNKS; i++)
		dequant_chunk(QUANT_F32, lanes + i * LANES, LANES, HEADROOM, heads[i].exp,
			      heads[i].flags, 1, result + i * LANES);
}

/* the least of some: interrupts come in between */
static double least(void (*f)(void))
{
	int64_t best = INT64_MAX, begun, took;

	for (int i = 0; i < TIMES; i++) {
		begun = usage_clock();
		f();
		took = usage_clock() - begun;
		best = took < best ? took : best;
	}
	return (double)best / (CHUNKS * LANES);
}

int main(void)
{
	struct bench_data d;
	double q;

	bench_data_init(&d, BENCH_FLOAT32, RANKS, 1, 1);
	bench_data_fill(&d, 0, 0, CHUNKS * LANES, elements);
	/* first, for the other reads what it writes */
	q = least(quantise);
	printf("%.4f %.4f\n", q, least(dequantise));
	return 0;
}
