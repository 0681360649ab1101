/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lanes in vector registers, where the processor has them and they are free.
 *
 * The registers are the interrupted task's: gagg_simd_begin() has them saved,
 * once, however often it is called before that task runs again. Between begin
 * and end preemption is off: no lock may be taken there, since it may be one
 * that sleeps (PREEMPT_RT), and no more than an skb is worked through.
 *
 * Loops are of assembly: the compiler does not use the registers (Kbuild), and so needs not
 * be told which of them are overwritten. What is left over in the end the core does.
 */
#ifndef GAGG_SIMD_H
#define GAGG_SIMD_H

#include "core/core.h"

/* find out what the processor has; before all that follow */
void gagg_simd_init(void);

/* false: there are none, or a user of them in the kernel was interrupted */
bool gagg_simd_begin(void);
void gagg_simd_end(void);

/*
 * Begin and end included, and the core's loops where there are no registers: for calls
 * that most often are alone.
 */
extern const struct gagg_loops gagg_simd_loops;

#endif
