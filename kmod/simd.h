/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lanes in vector registers, where the processor has them and they are free.
 *
 * The registers belong to the interrupted task: gagg_simd_begin() saves them, once until that task
 * runs again, however often it is called. Preemption is off between begin and end. So no lock may
 * be taken there, since it may sleep (PREEMPT_RT), and no more than one skb is worked through.
 *
 * Loops are assembly. The compiler does not use the registers (Kbuild), so no clobbers are
 * declared. The core adds the lanes that are left over at the end.
 */
#ifndef GAGG_SIMD_H
#define GAGG_SIMD_H

#include "core/core.h"

/* finds out what the processor has; call it before all others */
void gagg_simd_init(void);

/* false: there are no registers, or the interrupted kernel code uses them */
bool gagg_simd_begin(void);
void gagg_simd_end(void);

/*
 * Loops that include begin and end, and use the core's loops where there are no registers: for
 * single calls.
 */
extern const struct gagg_loops gagg_simd_loops;

#endif
