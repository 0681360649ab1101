// SPDX-License-Identifier: GPL-2.0
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "memory.h"

#define PAGES_PER_BLOCK	(GAGG_BLOCK / PAGE_SIZE)

/* @n: pages; pages that the order allocates beyond @n are freed at once */
static struct page *memory_block_alloc(unsigned int n)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	unsigned int order = get_order(n * PAGE_SIZE), i;
	struct page *page;

	page = alloc_pages(gfp | __GFP_NORETRY, order);
	if (!page)
		page = alloc_pages(gfp | __GFP_RETRY_MAYFAIL, order);
	if (!page)
		return NULL;
	/* single pages with a count each, since mappings refer to each page */
	split_page(page, order);
	for (i = n; i < 1U << order; i++)
		__free_page(page + i);
	return page;
}

int gagg_mem_alloc(struct gagg_mem *mem, u64 bytes)
{
	unsigned long npages, at = 0;
	int err = -ENOMEM;

	BUILD_BUG_ON(PAGE_SIZE > GAGG_BLOCK);
	memset(mem, 0, sizeof(*mem));
	if (!bytes || bytes > (u64)INT_MAX * PAGE_SIZE)
		return -EINVAL;
	npages = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
	mem->page = kvcalloc(npages, sizeof(*mem->page), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	mem->block = kvcalloc(DIV_ROUND_UP(npages, PAGES_PER_BLOCK), sizeof(*mem->block),
			      GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!mem->page || !mem->block)
		goto out;
	while (at < npages) {
		unsigned int n = min_t(unsigned long, PAGES_PER_BLOCK, npages - at), i;
		struct page *page;

		if (fatal_signal_pending(current)) {
			err = -EINTR;
			goto out;
		}
		page = memory_block_alloc(n);
		if (!page)
			goto out;
		mem->block[mem->nblocks++] = page_address(page);
		for (i = 0; i < n; i++)
			mem->page[at + i] = page + i;
		at += n;
		mem->npages = at;
		cond_resched();
	}
	return 0;
out:
	gagg_mem_free(mem);
	return err;
}

void gagg_mem_free(struct gagg_mem *mem)
{
	unsigned long i;

	for (i = 0; i < mem->npages; i++) {
		__free_page(mem->page[i]);
		if (!(i % PAGES_PER_BLOCK))
			cond_resched();
	}
	kvfree(mem->page);
	kvfree(mem->block);
	memset(mem, 0, sizeof(*mem));
}

int gagg_mem_map(struct gagg_mem *mem, struct vm_area_struct *vma)
{
	unsigned long at = 0;

	while (at < mem->npages) {
		unsigned long n = min_t(unsigned long, 512, mem->npages - at), left = n;
		int err;

		if (fatal_signal_pending(current))
			return -EINTR;
		err = vm_insert_pages(vma, vma->vm_start + at * PAGE_SIZE, mem->page + at,
				      &left);
		if (err)
			return err;
		at += n;
		cond_resched();
	}
	return 0;
}
