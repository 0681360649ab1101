// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions per element that libgagg takes to make lanes of float32, and
 * elements of lanes; in a guest whose clock counts instructions. Lines of a figure and
 * what it is of.
 */
#include <stdint.h>
#include <stdio.h>

#include "agent/bench/data.h"
#include "agent/bench/usage.h"
#include "carry.h"
#include "narrow.h"
#include "quant.h"

#define CHUNKS	64
#define LANES	344
#define TIMES	9
#define RANKS	4
#define HEADROOM 2

static float elements[CHUNKS * LANES];
static float result[CHUNKS * LANES];
static float carry[CHUNKS * LANES];
static int32_t lanes[CHUNKS * LANES];
static struct quant_head heads[CHUNKS];

static struct quant_elements chunk_at(int i)
{
	return (struct quant_elements){ QUANT_F32, LANES, elements + i * LANES };
}

static struct quant_sum sum_at(int i, uint8_t bits, uint8_t shift)
{
	return (struct quant_sum){
		.divisor = 1, .bits = bits, .exp = heads[i].exp, .flags = heads[i].flags,
		.shift = shift,
	};
}

static void quantise(void)
{
	for (int i = 0; i < CHUNKS; i++) {
		const struct quant_elements x = chunk_at(i);

		quant_chunk(&x, HEADROOM, 127, lanes + i * LANES, &heads[i]);
	}
}

static void dequantise(void)
{
	for (int i = 0; i < CHUNKS; i++) {
		const struct quant_sum sum = sum_at(i, 31 - HEADROOM, 0);

		dequant_chunk(QUANT_F32, lanes + i * LANES, LANES, &sum, result + i * LANES);
	}
}

static void quantise_int8(void)
{
	for (int i = 0; i < CHUNKS; i++) {
		const struct quant_elements x = chunk_at(i);

		quant_scan(&x, 127, &heads[i]);
		narrow_lanes(&x, 8, heads[i].exp, (int8_t *)lanes + i * LANES);
	}
}

static void dequantise_int8(void)
{
	for (int i = 0; i < CHUNKS; i++) {
		const struct quant_sum sum = sum_at(i, 8, 2);

		narrow_dequant(QUANT_F32, (int8_t *)lanes + i * LANES, LANES, &sum,
			       result + i * LANES);
	}
}

static void add_carry(void)
{
	for (int i = 0; i < CHUNKS; i++)
		carry_add(elements + i * LANES, carry + i * LANES, LANES, result + i * LANES);
}

static void keep_rest(void)
{
	for (int i = 0; i < CHUNKS; i++) {
		int32_t q[LANES];

		narrow_widen((int8_t *)lanes + i * LANES, LANES, 8, 1, q);
		carry_rest(elements + i * LANES, q, quant_unit(8, heads[i].exp), LANES,
			   carry + i * LANES);
	}
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

/* each reads what those before it have written */
static const struct {
	const char *name;
	void (*f)(void);
} rows[] = {
	{ "quantise", quantise },
	{ "dequantise", dequantise },
	{ "quantise, int8", quantise_int8 },
	{ "dequantise, int8", dequantise_int8 },
	{ "add what was left, int8", add_carry },
	{ "keep what is left, int8", keep_rest },
};

int main(void)
{
	struct bench_data d;

	bench_data_init(&d, BENCH_FLOAT32, RANKS, 1, 1);
	bench_data_fill(&d, 0, 0, CHUNKS * LANES, elements);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		printf("%.4f %s\n", least(rows[i].f), rows[i].name);
	return 0;
}
