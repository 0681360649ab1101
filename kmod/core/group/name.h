/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which names a group may have: they are words of a command line, of a log and of a directory.
 */
#ifndef GAGG_CORE_NAME_H
#define GAGG_CORE_NAME_H

#include "types.h"

static inline bool gagg_name_has(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

/* @size: bytes that it may have, with the final zero */
static inline bool gagg_name_fits(const char *name, u32 size)
{
	u32 n;

	for (n = 0; n < size && name[n]; n++)
		if (!gagg_name_has(name[n]))
			return false;
	return n && n < size;
}

#endif
