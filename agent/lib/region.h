/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A channel's memory, and the places of virtual chunks in it.
 *
 * Virtual chunk v of the channel's endless sequence lies in slot v % ring, in
 * round v / ring + 1. A slot's contribution and result are reused round by
 * round; filling v says that the result of v - ring has been read.
 */
#ifndef GAGG_REGION_H
#define GAGG_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/gagg.h>

/**
 * struct region - a mapped channel
 * @geo: its shape, checked by region_check()
 * @epoch: epoch that results must be of; set when it has started
 * @push, @cdesc, @contrib: written by this rank
 * @done, @rdesc, @result: written by the kernel
 * @addr: the mappings, by enum gagg_region_id
 */
struct region {
	struct gagg_geometry geo;
	uint64_t epoch;
	struct gagg_push *push;
	struct gagg_cdesc *cdesc;
	unsigned char *contrib;
	const struct gagg_done *done;
	const struct gagg_rdesc *rdesc;
	const unsigned char *result;
	void *addr[GAGG_REG_COUNT];
};

/* true if every chunk lies within the lengths in the geometry */
bool region_check(const struct gagg_geometry *geo);

/* Map all of @geo. 0 or a negative errno; -EPROTO: region_check() failed. */
int region_map(struct region *r, int fd, const struct gagg_geometry *geo);

/* Unmaps. May be called twice, and on a region that is all zero. */
void region_unmap(struct region *r);

/* Forgets the mappings: in this process there are none. */
void region_lose(struct region *r);

static inline uint32_t region_slot(const struct region *r, uint64_t v)
{
	return (uint32_t)(v % r->geo.ring);
}

static inline uint32_t region_round(const struct region *r, uint64_t v)
{
	return (uint32_t)(v / r->geo.ring + 1);
}

/* is there a round for each chunk below v? Later chunks would be taken for earlier ones */
static inline bool region_has(const struct region *r, uint64_t v)
{
	return v <= (uint64_t)r->geo.ring * (UINT32_MAX - 1);
}

static inline size_t region_offset(const struct gagg_geometry *geo, uint32_t slot)
{
	return (size_t)(slot / geo->per_block) * geo->block +
	       (size_t)(slot % geo->per_block) * geo->stride;
}

/* up to @n slots from @slot on, each of which begins a stride after the one before */
static inline uint32_t region_row(const struct region *r, uint32_t slot, uint64_t n)
{
	uint32_t ring = r->geo.ring - slot;
	uint32_t block = r->geo.per_block - slot % r->geo.per_block;
	uint32_t row = ring < block ? ring : block;

	return n < row ? (uint32_t)n : row;
}

static inline void *region_contrib(const struct region *r, uint32_t slot)
{
	return r->contrib + region_offset(&r->geo, slot);
}

static inline const void *region_result(const struct region *r, uint32_t slot)
{
	return r->result + region_offset(&r->geo, slot);
}

/* least clock of all ranks when a chunk of a store was read */
static inline uint32_t region_fresh(const struct region *r, uint32_t chunk)
{
	return ((const uint32_t *)(r->result + r->geo.fresh))[chunk];
}

/* when this word is at least region_after(), the result of v is there */
static inline const __u64 *region_published_at(const struct region *r, uint64_t v)
{
	return &r->rdesc[region_slot(r, v)].published;
}

static inline uint64_t region_after(const struct region *r, uint64_t v)
{
	return r->epoch << 32 | region_round(r, v);
}

/* is the result of v there? Pairs with the kernel's store-release */
static inline bool region_published(const struct region *r, uint64_t v)
{
	return __atomic_load_n(region_published_at(r, v), __ATOMIC_ACQUIRE) >=
	       region_after(r, v);
}

/* all virtual chunks below v are in the ring and described */
static inline void region_set_filled(struct region *r, uint64_t v)
{
	__atomic_store_n(&r->push->filled, v, __ATOMIC_RELEASE);
}

/* enum gagg_reason; 0 while the epoch lasts */
static inline uint32_t region_failed(const struct region *r)
{
	return __atomic_load_n(&r->done->failed, __ATOMIC_ACQUIRE);
}

#endif
