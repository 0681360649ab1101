/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/* The sync mode of a configuration's digest as text, for libgagg and for who administrates. */
#ifndef GAGG_LIB_SYNC_NAME_H
#define GAGG_LIB_SYNC_NAME_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <linux/gagg_wire.h>

#define SYNC_NAME_MAX	64	/* a name and three parameters, with the final zero */

static inline int sync_mode_name(uint32_t mode, char text[SYNC_NAME_MAX])
{
	const char *at = GAGG_SYNC_NAMES;

	for (uint32_t i = 0; at && i < mode; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return snprintf(text, SYNC_NAME_MAX, "mode %u", mode);
	return snprintf(text, SYNC_NAME_MAX, "%.*s", (int)strcspn(at, " "), at);
}

/* as a user writes it; parameters that were hashed are '#' and the hash */
static inline const char *sync_name(uint32_t digest, char text[SYNC_NAME_MAX])
{
	uint32_t n = GAGG_DG_SYNC_ARGS(digest), bits = GAGG_DG_SYNC_BITS(n);
	int at = sync_mode_name(GAGG_DG_SYNC_MODE(digest), text);

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
