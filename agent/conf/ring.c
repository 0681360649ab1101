// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ring.h"

bool ring_parse(const char *text, struct ring_size *out)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t v;
	char *end;
	int shift;

	memset(out, 0, sizeof(*out));
	/* strtoull() itself takes blanks and signs */
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno)
		return false;
	if (!*end) {
		out->chunks = (uint32_t)v;
		return v <= UINT32_MAX;
	}
	unit = strchr(units, *end);
	if (!unit || end[1])
		return false;
	shift = 10 * (int)(unit - units + 1);
	out->bytes = v << shift;
	return v && v <= UINT64_MAX >> shift;
}

bool ring_chunks(uint64_t bytes, uint32_t lanes, uint32_t window, uint32_t *out)
{
	uint64_t chunk = lanes ? (uint64_t)lanes * 4 : 1;
	uint64_t turn = window ? window : 1;
	uint64_t n = bytes / chunk + !!(bytes % chunk);

	n = (n / turn + !!(n % turn)) * turn;
	*out = (uint32_t)n;
	return n <= UINT32_MAX;
}
