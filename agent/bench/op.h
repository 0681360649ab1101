/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is measured: a collective, its element type, its size.
 */
#ifndef BENCH_OP_H
#define BENCH_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_RANKS	64

enum bench_kind {
	BENCH_ALL_REDUCE,
	BENCH_REDUCE_SCATTER,
	BENCH_ALL_GATHER,
	BENCH_BROADCAST,
	BENCH_OVERLAP,		/* non-blocking all-reduce beside computing */
};

enum bench_dtype {
	BENCH_FLOAT32,
	BENCH_FLOAT16,
	BENCH_BFLOAT16,
	BENCH_INT32,
	BENCH_INT64,
};

enum bench_redop {
	BENCH_SUM,
	BENCH_MEAN,
	BENCH_MIN,
	BENCH_MAX,
};

/**
 * struct bench_op - a collective
 * @kind:	kind of the collective
 * @dtype:	type of the elements
 * @redop:	operator, if it reduces
 * @root:	root of a broadcast
 * @count:	elements that a rank gives (all-gather), gets (reduce-scatter),
 *		or both
 */
struct bench_op {
	enum bench_kind kind;
	enum bench_dtype dtype;
	enum bench_redop redop;
	int root;
	size_t count;
};

/* Words for numbers, as on the command line. */
const char *bench_kind_name(enum bench_kind kind);
const char *bench_dtype_name(enum bench_dtype dtype);
const char *bench_redop_name(enum bench_redop redop);

/* The inverse; false if @text is no such word. */
bool bench_kind_parse(const char *text, enum bench_kind *out);
bool bench_dtype_parse(const char *text, enum bench_dtype *out);
bool bench_redop_parse(const char *text, enum bench_redop *out);

size_t bench_dtype_size(enum bench_dtype dtype);
bool bench_dtype_float(enum bench_dtype dtype);
bool bench_reduces(enum bench_kind kind);

/* @count for @n ranks if the larger of the two buffers has @bytes; at least 1 */
size_t bench_count(enum bench_kind kind, enum bench_dtype dtype, int n, size_t bytes);

/* elements of the buffers of one rank of @n */
size_t bench_send_count(const struct bench_op *op, int n);
size_t bench_recv_count(const struct bench_op *op, int n);

/* bytes of the larger one: the "size" in bandwidths */
size_t bench_bytes(const struct bench_op *op, int n);

/*
 * Bytes that a link must carry in each direction, per byte of size, in any algorithm: the factor
 * from algorithm bandwidth to bus bandwidth.
 */
double bench_bus_factor(enum bench_kind kind, int n);

#endif
