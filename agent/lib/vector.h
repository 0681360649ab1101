/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Loops in plain C that compilers turn into vector instructions. Each is an always-inline function,
 * in a file that lib.mk optimises for that. Two functions call it: one for any processor, and one,
 * with LOOP_AVX2, that is used where quant_form() is not QUANT_SCALAR.
 */
#ifndef GAGG_VECTOR_H
#define GAGG_VECTOR_H

#if defined(__x86_64__)
#define LOOP_AVX2	__attribute__((target("avx2"), noinline))
#else
#define LOOP_AVX2
#endif

#endif
