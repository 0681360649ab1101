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

/* most bytes that each of the following needs */
#define CALL_MAX	96

/* the part of a signature that call_name() tells */
#define CALL_NAME(sig)	((sig) >> 24)

/* the name of a signature: "all-reduce of float32" */
void call_name(char *buf, size_t size, uint32_t sig);

/* the arguments of a call: "100 elements, sum", "64 bytes from rank 2"; "" for a barrier */
void call_values(char *buf, size_t size, const struct gagg_ioc_submit *op);

/*
 * Describes an op in flight with @done chunks that have results: "all-reduce of float32 (1000
 * elements, sum; operation 5, 2 of 9 chunks are done)". @buf has 2 * CALL_MAX bytes.
 */
void call_flight(char *buf, size_t size, const struct gagg_ioc_submit *op, uint64_t done);

/* the signature that ranks compare: gagg_sig() of the kernel */
uint32_t call_sig(const struct gagg_ioc_submit *op);

/*
 * Finds kind, dtype, root and count of another rank's call from @sig and @call (gagg_call()), which
 * its kernel has sent. False: the two do not fit, or the call has more than 2^34 elements.
 */
bool call_find(struct gagg_ioc_submit *op, uint32_t sig, uint32_t call);

#endif
