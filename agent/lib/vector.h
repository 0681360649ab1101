/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Loops in plain C that compilers turn into vectors. Each is a function that is always
 * inlined, in a file that lib.mk has optimised for that, and is called by two: one for
 * any processor and one, with LOOP_AVX2, for where quant_form() is not QUANT_SCALAR.
 */
#ifndef GAGG_VECTOR_H
#define GAGG_VECTOR_H

#if defined(__x86_64__)
#define LOOP_AVX2	__attribute__((target("avx2"), noinline))
#else
#define LOOP_AVX2
#endif

#endif
