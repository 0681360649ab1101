/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Asking gaggd for a session.
 */
#ifndef GAGG_BROKER_H
#define GAGG_BROKER_H

#include <stdint.h>

/*
 * @path: socket, or NULL for the default. @timeout_ms: as in struct
 * gagg_config. Returns a file of /dev/gagg bound to a rank, or a negative enum
 * gagg_error with a sentence for gagg_last_error(NULL).
 */
int broker_open(const char *path, const char *group, uint32_t rank,
		int timeout_ms);

#endif
