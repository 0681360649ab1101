/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/* Lanes of a store, and of sums: int32, or int64 (wide), little-endian. They wrap. */
#ifndef GAGG_LANE_H
#define GAGG_LANE_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Lanes are little-endian; a no-op where integers are. */
static inline void lane_swap_le32(void *lanes, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	unsigned char *b = lanes;

	for (; n--; b += 4) {
		unsigned char t = b[0], u = b[1];

		b[0] = b[3];
		b[3] = t;
		b[1] = b[2];
		b[2] = u;
	}
#else
	(void)lanes;
	(void)n;
#endif
}

/* what a lane holds of a number */
static inline int64_t lane_wrap(int64_t v, bool wide)
{
	return wide ? v : (int32_t)(uint32_t)v;
}

static inline size_t lane_bytes(bool wide)
{
	return wide ? sizeof(int64_t) : sizeof(int32_t);
}

static inline int64_t lane_get(const void *lanes, size_t i, bool wide)
{
	const unsigned char *at = (const unsigned char *)lanes + i * lane_bytes(wide);
	uint64_t v64;
	uint32_t v32;

	if (wide) {
		memcpy(&v64, at, sizeof(v64));
		return (int64_t)le64toh(v64);
	}
	memcpy(&v32, at, sizeof(v32));
	return (int32_t)le32toh(v32);
}

static inline void lane_put(void *lanes, size_t i, bool wide, int64_t v)
{
	unsigned char *at = (unsigned char *)lanes + i * lane_bytes(wide);
	uint64_t v64 = htole64((uint64_t)v);
	uint32_t v32 = htole32((uint32_t)v);

	if (wide)
		memcpy(at, &v64, sizeof(v64));
	else
		memcpy(at, &v32, sizeof(v32));
}

#endif
