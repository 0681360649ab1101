/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * How calls are named in sentences.
 */
#ifndef GAGG_CALL_H
#define GAGG_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/gagg.h>

/* bytes that each of the following needs at most */
#define CALL_MAX	96

/* the part of a signature that call_name() tells */
#define CALL_NAME(sig)	((sig) >> 24)

/* of a signature: "all-reduce of float32" */
void call_name(char *buf, size_t size, uint32_t sig);

/* what call_name() does not tell: "100 elements, sum", "64 bytes from rank 2"; "" of a barrier */
void call_values(char *buf, size_t size, const struct gagg_ioc_submit *op);

/*
 * Of one in flight, @done chunks of which have results: "all-reduce of float32 (1000
 * elements, sum; operation 5, 2 of 9 chunks are done)". Twice as many bytes.
 */
void call_flight(char *buf, size_t size, const struct gagg_ioc_submit *op, uint64_t done);

/* what ranks compare: gagg_sig() of the kernel */
uint32_t call_sig(const struct gagg_ioc_submit *op);

/*
 * Of another rank, whose kernel has told gagg_call() with the signature: its kind, dtype, root
 * and count. False: they do not belong together, or it has more than 2^34 elements.
 */
bool call_find(struct gagg_ioc_submit *op, uint32_t sig, uint32_t call);

#endif
