/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that is shared with trainers: files of their own, by memfd_create(2). */
#ifndef GAGG_TWIN_MEMORY_H
#define GAGG_TWIN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct memory - one region
 * @fd: its file, sealed: nobody can change its length. Otherwise a process that accesses bytes that
 *      were cut off would be killed
 * @addr: mapped here, for reading and writing
 * @length: bytes, whole pages
 * @block: addresses of its blocks, as the core has them (core/site.h)
 */
struct memory {
	int fd;
	void *addr;
	size_t length;
	void **block;
};

struct twin;

/*
 * Memory that trainers may write; 0 or -errno. It has no pages at first. The first access to a page
 * is charged for it: that is the trainer's, which writes a page before the twin reads it.
 */
int memory_theirs(struct memory *m, const char *name, size_t bytes);
/*
 * Memory that trainers may only read, zeroed, with all pages; 0 or -errno. @m was freed, or was
 * made by this function with as many bytes and is to be used again. @t sends HELLO meanwhile.
 */
int memory_zeroed(struct twin *t, struct memory *m, const char *name, size_t bytes);
/* frees the pages of memory_theirs() soon, even if others hold the file (sweep.h) */
void memory_wipe(struct twin *t, const struct memory *m);
/* @m may also be all zero */
void memory_free(struct memory *m);

#endif
