// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "op.h"

static const char *const kinds[] = {
	[BENCH_ALL_REDUCE]	= "all_reduce",
	[BENCH_REDUCE_SCATTER]	= "reduce_scatter",
	[BENCH_ALL_GATHER]	= "all_gather",
	[BENCH_BROADCAST]	= "broadcast",
	[BENCH_OVERLAP]		= "overlap",
};

static const char *const dtypes[] = {
	[BENCH_FLOAT32]		= "float32",
	[BENCH_FLOAT16]		= "float16",
	[BENCH_BFLOAT16]	= "bfloat16",
	[BENCH_INT32]		= "int32",
	[BENCH_INT64]		= "int64",
};

static const char *const redops[] = {
	[BENCH_SUM]	= "sum",
	[BENCH_MEAN]	= "mean",
	[BENCH_MIN]	= "min",
	[BENCH_MAX]	= "max",
};

/* words of nccl-tests */
static const struct {
	const char *word;
	const char *ours;
} others[] = {
	{ "float", "float32" },
	{ "half", "float16" },
	{ "avg", "mean" },
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static bool op_find(const char *const *words, size_t n, const char *text, int *out)
{
	for (size_t i = 0; i < COUNT(others); i++)
		if (!strcmp(others[i].word, text))
			text = others[i].ours;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(words[i], text)) {
			*out = (int)i;
			return true;
		}
	return false;
}

const char *bench_kind_name(enum bench_kind kind)
{
	return kinds[kind];
}

const char *bench_dtype_name(enum bench_dtype dtype)
{
	return dtypes[dtype];
}

const char *bench_redop_name(enum bench_redop redop)
{
	return redops[redop];
}

bool bench_kind_parse(const char *text, enum bench_kind *out)
{
	int i;

	if (!op_find(kinds, COUNT(kinds), text, &i))
		return false;
	*out = i;
	return true;
}

bool bench_dtype_parse(const char *text, enum bench_dtype *out)
{
	int i;

	if (!op_find(dtypes, COUNT(dtypes), text, &i))
		return false;
	*out = i;
	return true;
}

bool bench_redop_parse(const char *text, enum bench_redop *out)
{
	int i;

	if (!op_find(redops, COUNT(redops), text, &i))
		return false;
	*out = i;
	return true;
}

size_t bench_dtype_size(enum bench_dtype dtype)
{
	switch (dtype) {
	case BENCH_FLOAT32:
	case BENCH_INT32:
		return 4;
	case BENCH_INT64:
		return 8;
	case BENCH_FLOAT16:
	case BENCH_BFLOAT16:
		break;
	}
	return 2;
}

bool bench_dtype_float(enum bench_dtype dtype)
{
	return dtype != BENCH_INT32 && dtype != BENCH_INT64;
}

bool bench_reduces(enum bench_kind kind)
{
	return kind != BENCH_ALL_GATHER && kind != BENCH_BROADCAST;
}

static bool op_has_parts(enum bench_kind kind)
{
	return kind == BENCH_ALL_GATHER || kind == BENCH_REDUCE_SCATTER;
}

size_t bench_count(enum bench_kind kind, enum bench_dtype dtype, int n, size_t bytes)
{
	size_t count = bytes / bench_dtype_size(dtype);

	if (op_has_parts(kind))
		count /= (size_t)n;
	return count ? count : 1;
}

size_t bench_send_count(const struct bench_op *op, int n)
{
	return op->kind == BENCH_REDUCE_SCATTER ? op->count * (size_t)n : op->count;
}

size_t bench_recv_count(const struct bench_op *op, int n)
{
	return op->kind == BENCH_ALL_GATHER ? op->count * (size_t)n : op->count;
}

size_t bench_bytes(const struct bench_op *op, int n)
{
	size_t count = op_has_parts(op->kind) ? op->count * (size_t)n : op->count;

	return count * bench_dtype_size(op->dtype);
}

double bench_bus_factor(enum bench_kind kind, int n)
{
	switch (kind) {
	case BENCH_ALL_REDUCE:
	case BENCH_OVERLAP:
		return 2.0 * (n - 1) / n;
	case BENCH_REDUCE_SCATTER:
	case BENCH_ALL_GATHER:
		return (double)(n - 1) / n;
	case BENCH_BROADCAST:
		break;
	}
	return 1;
}
