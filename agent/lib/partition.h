/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * How an operation is cut into chunks.
 *
 * An operation has parts of equal length: one, or one per rank where each
 * part has an owner. Every part begins at a chunk of its own, so that a chunk has
 * one owner; its last chunk may be short. On the wire only the last chunk of
 * the operation is: inside, the rest of a part's last chunk is padding.
 */
#ifndef GAGG_PARTITION_H
#define GAGG_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct partition - an operation's division into chunks
 * @length: lanes of a part, of 32 bits (an element of int64 is two)
 * @lanes: lanes of a full chunk
 * @tail: lanes of a part's last chunk
 * @per_part: chunks of a part
 * @chunks: chunks of the operation
 */
struct partition {
	uint64_t length;
	uint32_t lanes;
	uint32_t tail;
	uint64_t per_part;
	uint64_t chunks;
};

/**
 * struct piece - the part of an operation that a chunk has
 * @part: part it belongs to
 * @first: its first lane in that part
 * @n: lanes with data
 * @wire: lanes that are sent; from @n on they are padding
 */
struct piece {
	uint64_t part;
	uint64_t first;
	uint32_t n;
	uint32_t wire;
};

/* @parts, @length, @lanes > 0; false if there are more chunks than 2^56 */
static inline bool partition_init(struct partition *p, uint64_t parts,
				  uint64_t length, uint32_t lanes)
{
	p->length = length;
	p->lanes = lanes;
	p->per_part = (length - 1) / lanes + 1;
	p->tail = (uint32_t)(length - (p->per_part - 1) * lanes);
	return !__builtin_mul_overflow(p->per_part, parts, &p->chunks) &&
	       p->chunks >> 56 == 0;
}

/* the @i-th chunk of the operation */
static inline struct piece partition_piece(const struct partition *p, uint64_t i)
{
	/* most operations have one part */
	uint64_t part = i < p->per_part ? 0 : i / p->per_part;
	uint64_t k = i - part * p->per_part;
	struct piece c = {
		.part = part,
		.first = k * p->lanes,
		.n = k + 1 == p->per_part ? p->tail : p->lanes,
		.wire = i + 1 == p->chunks ? p->tail : p->lanes,
	};

	return c;
}

#endif
