// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <stdio.h>
#include <string.h>
#include <linux/gagg_wire.h>

#include "call.h"
#include "gagg.h"

static const char *call_dtype_name(unsigned int dtype)
{
	switch (dtype) {
	case GAGG_FLOAT32:	return "float32";
	case GAGG_FLOAT16:	return "float16";
	case GAGG_BFLOAT16:	return "bfloat16";
	case GAGG_INT32:	return "int32";
	case GAGG_INT64:	return "int64";
	case GAGG_BYTE:		return "bytes";
	}
	return "unknown elements";
}

#define COUNT_BITS	26	/* of gagg_call() */
#define HIGH_MAX	256	/* values of the bits above COUNT_BITS */

#define SIG_KIND(sig)	((sig) >> 28)
#define SIG_DTYPE(sig)	((sig) >> 24 & 15)

void call_name(char *buf, size_t size, uint32_t sig)
{
	const char *of = call_dtype_name(SIG_DTYPE(sig));

	switch (SIG_KIND(sig)) {
	case GAGG_K_ALLREDUCE:
		snprintf(buf, size, "all-reduce of %s", of);
		break;
	case GAGG_K_REDUCE_SCATTER:
		snprintf(buf, size, "reduce-scatter of %s", of);
		break;
	case GAGG_K_ALLGATHER:
		snprintf(buf, size, "all-gather");
		break;
	case GAGG_K_BROADCAST:
		snprintf(buf, size, "broadcast");
		break;
	case GAGG_K_BARRIER:
		snprintf(buf, size, "barrier");
		break;
	case GAGG_K_EXPONENTS:
		/* the first op of a blocking reduction without a plan */
		snprintf(buf, size, "a blocking reduction of %s without a plan", of);
		break;
	default:
		snprintf(buf, size, "unknown operation %u", SIG_KIND(sig));
	}
}

static uint64_t call_scatter(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

uint32_t call_sig(const struct gagg_ioc_submit *op)
{
	uint64_t digest = call_scatter(op->count + 0x9e3779b97f4a7c15ULL);

	digest = call_scatter(digest + ((uint64_t)op->laneop << 32 | op->root));
	return (uint32_t)(op->kind & 15) << 28 | (uint32_t)(op->dtype & 15) << 24 |
	       (uint32_t)(digest >> 40);
}

/* lane type and operator are not told, but are part of the digest: they are found by trying */
static bool call_has_sig(struct gagg_ioc_submit *op, uint32_t sig)
{
	unsigned int lane, redop;

	for (lane = GAGG_LANE_S32; lane <= GAGG_LANE_S8; lane++) {
		for (redop = GAGG_OP_ADD; redop <= GAGG_OP_MAX; redop++) {
			op->laneop = (uint8_t)GAGG_LANEOP(lane, redop);
			if (call_sig(op) == sig)
				return true;
		}
	}
	return false;
}

bool call_find(struct gagg_ioc_submit *op, uint32_t sig, uint32_t call)
{
	uint64_t high;

	memset(op, 0, sizeof(*op));
	op->kind = (uint8_t)SIG_KIND(sig);
	op->dtype = (uint8_t)SIG_DTYPE(sig);
	op->root = call >> COUNT_BITS;
	if (op->kind == GAGG_K_EXPONENTS)
		op->root = (op->root & 15) | op->root >> 4 << 8;
	/*
	 * the least count that fits: with a digest of 24 bits another one fits once in a million
	 * times
	 */
	for (high = 0; high < HIGH_MAX; high++) {
		op->count = high << COUNT_BITS | (call & ((1U << COUNT_BITS) - 1));
		if (call_has_sig(op, sig))
			return true;
	}
	return false;
}

static const char *call_operator_name(unsigned int op)
{
	switch (op) {
	case GAGG_SUM:	return "sum";
	case GAGG_MEAN:	return "mean";
	case GAGG_MIN:	return "minimum";
	case GAGG_MAX:	return "maximum";
	}
	return "unknown operator";
}

/* see op_agree() */
static const char *call_announced(const struct gagg_ioc_submit *op)
{
	if (op->kind != GAGG_K_EXPONENTS)
		return "";
	return op->root >> 8 == GAGG_K_ALLREDUCE ? ", all-reduce" : ", reduce-scatter";
}

void call_values(char *buf, size_t size, const struct gagg_ioc_submit *op)
{
	const char *s = op->count == 1 ? "" : "s";

	switch (op->kind) {
	case GAGG_K_ALLGATHER:
		snprintf(buf, size, "%llu byte%s", op->count, s);
		break;
	case GAGG_K_BROADCAST:
		snprintf(buf, size, "%llu byte%s from rank %u", op->count, s, op->root);
		break;
	case GAGG_K_BARRIER:
		*buf = 0;
		break;
	default:
		snprintf(buf, size, "%llu element%s, %s%s", op->count, s,
			 call_operator_name(op->root & 0xff), call_announced(op));
	}
}

void call_flight(char *buf, size_t size, const struct gagg_ioc_submit *op, uint64_t done)
{
	char name[CALL_MAX], values[CALL_MAX], number[36] = "";

	call_name(name, sizeof(name), call_sig(op));
	call_values(values, sizeof(values), op);
	/* 0: the op waits for a place in the kernel's queue */
	if (op->op)
		snprintf(number, sizeof(number), "operation %llu, ", op->op);
	snprintf(buf, size, "%s (%s%s%s%llu of %llu chunks are done)", name, values,
		 *values ? "; " : "", number, (unsigned long long)done, op->chunks);
}
