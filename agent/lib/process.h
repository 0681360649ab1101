/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Identifies the process: a forked child has its parent's communicators in its memory, but is no
 * rank.
 */
#ifndef GAGG_PROCESS_H
#define GAGG_PROCESS_H

#include <stdint.h>

/*
 * A number that a process keeps, and none of its children has. Makes no system call
 * but the first time.
 */
uint64_t process_id(void);

#endif
