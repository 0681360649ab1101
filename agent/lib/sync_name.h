/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/* The sync mode of a configuration's digest as text, for libgagg and for who administrates. */
#ifndef GAGG_LIB_SYNC_NAME_H
#define GAGG_LIB_SYNC_NAME_H

#include <stdint.h>
#include <stdio.h>
#include <linux/gagg_wire.h>

#define SYNC_NAME_MAX	64	/* a name and three parameters, with the final zero */

/* as a user writes it; parameters that were hashed are '#' and the hash */
static inline const char *sync_name(uint32_t digest, char text[SYNC_NAME_MAX])
{
	static const char *const names[] = { GAGG_SYNC_NAMES };
	uint32_t mode = GAGG_DG_SYNC_MODE(digest), n = GAGG_DG_SYNC_ARGS(digest);
	uint32_t bits = GAGG_DG_SYNC_BITS(n);
	int at;

	if (mode < sizeof(names) / sizeof(names[0]))
		at = snprintf(text, SYNC_NAME_MAX, "%s", names[mode]);
	else
		at = snprintf(text, SYNC_NAME_MAX, "mode %u", mode);
	if (digest & GAGG_DG_SYNC_HASHED) {
		snprintf(text + at, SYNC_NAME_MAX - (size_t)at, ":#%x",
			 digest & (GAGG_DG_SYNC_HASHED - 1));
		return text;
	}
	while (n--)
		at += snprintf(text + at, SYNC_NAME_MAX - (size_t)at, ":%u",
			       digest >> n * bits & ((1U << bits) - 1));
	return text;
}

#endif
