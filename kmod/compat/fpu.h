/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_FPU_H
#define GAGG_COMPAT_FPU_H

#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#ifndef CONFIG_UML
#include <asm/fpu/types.h>
#endif

/*
 * Whether the kernel keeps registers of 32 bytes. One in user mode is a process:
 * its host says in /proc/cpuinfo what it keeps, across signals, too.
 */
static inline bool gagg_compat_fpu_has_ymm(void)
{
#ifdef CONFIG_UML
	return true;
#else
	return cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
#endif
}

#endif
