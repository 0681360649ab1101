/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Page blocks that the kernel writes through the direct map and trainers map.
 */
#ifndef GAGG_MEMORY_H
#define GAGG_MEMORY_H

#include <linux/mm.h>
#include "core/layout.h"

/**
 * struct gagg_mem - memory of one region
 * @npages:	pages
 * @nblocks:	blocks of GAGG_BLOCK bytes (the last one may be shorter)
 * @page:	every page, for mapping
 * @block:	direct-map address of every block
 *
 * Charged to the cgroup of the caller of gagg_mem_alloc(). The pages of a block are contiguous: if
 * no such block can be allocated, gagg_mem_alloc() returns ENOMEM and does not try smaller pieces.
 *
 * A mapping holds a reference to each page (vm_insert_pages() takes it), so
 * gagg_mem_free() drops only ours: a trainer that still has the region mapped
 * keeps the pages, and nobody else sees them again. No vm_ops are needed.
 */
struct gagg_mem {
	unsigned long npages;
	unsigned long nblocks;
	struct page **page;
	void **block;
};

/* zeroed; sleeps; killable (EINTR); @bytes is rounded up to pages */
int gagg_mem_alloc(struct gagg_mem *mem, u64 bytes);
void gagg_mem_free(struct gagg_mem *mem);
/* maps the whole region; the caller has checked flags and length */
int gagg_mem_map(struct gagg_mem *mem, struct vm_area_struct *vma);

#endif
