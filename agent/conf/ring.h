/* SPDX-License-Identifier: GPL-2.0 */
/* The size of a ring, as it is written: in chunks, or in bytes of lanes. */
#ifndef GAGG_CONF_RING_H
#define GAGG_CONF_RING_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct ring_size - the value of "ring"
 * @bytes:	bytes of lanes, with K, M or G; 0: the value was in chunks
 * @chunks:	chunks, without such a suffix
 */
struct ring_size {
	uint64_t bytes;
	uint32_t chunks;
};

/* false: it is neither */
bool ring_parse(const char *text, struct ring_size *out);

/* Chunks that hold @bytes of lanes, rounded up to a multiple of @window; false: too many. */
bool ring_chunks(uint64_t bytes, uint32_t lanes, uint32_t window, uint32_t *out);

#endif
