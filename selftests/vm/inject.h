/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations of this process, or of the module's works, that fail.
 *
 *	INJECT_NTH	the n-th allocation of the process, or copy from or to its
 *			memory: /proc/self/fail-nth
 *	INJECT_WORKS	the same of the module's works: work-fail-nth in
 *			/sys/kernel/debug/gagg
 *	INJECT_SLAB	all slab allocations of the process from some byte on
 *	INJECT_PAGES	all page allocations of the process from some page on
 *
 * What may sleep fails as well as what may not, and what kmemleak and the like
 * allocate for themselves. Not affected are softirqs, other processes, and the
 * user's own pages.
 */
#ifndef INJECT_H
#define INJECT_H

#include <stdbool.h>

enum inject_mode {
	INJECT_NTH,
	INJECT_WORKS,
	INJECT_SLAB,
	INJECT_PAGES,
};

/* to be armed with, in order to see how many there are */
#define INJECT_NEVER	1000000000U

/* before all others, and for another mode again; ends the program when the kernel
 * has no fault injection
 */
void inject_open(enum inject_mode mode);
/* INJECT_NTH, _WORKS: the @n-th fails; _SLAB, _PAGES: all after @n bytes or pages */
void inject_arm(unsigned int n);
/* how many have failed since; @left, of @n, is what was not used up */
unsigned int inject_disarm(unsigned int *left);
/* by kind, since inject_open(): "slab 3 page 2 copy 1" */
const char *inject_kinds(void);

#endif
