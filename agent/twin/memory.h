/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that is shared with trainers: files of their own, by memfd_create(2). */
#ifndef GAGG_TWIN_MEMORY_H
#define GAGG_TWIN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct memory - one region
 * @fd: its file, sealed: nobody can change its length, which would end a process
 *	that touches what is cut off
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
 * Memory that trainers may write; 0 or -errno. It has no pages: whoever touches one first
 * pays for it, which is the trainer that writes it before it is read.
 */
int memory_theirs(struct memory *m, const char *name, size_t bytes);
/*
 * Memory that trainers may only read, zeroed and all there; 0 or -errno. @m was freed, or
 * was made by this with as many bytes and is to be used again. @t says HELLO meanwhile.
 */
int memory_zeroed(struct twin *t, struct memory *m, const char *name, size_t bytes);
/* of memory_theirs(): the pages go soon, whoever holds the file (sweep.h); nobody needs them */
void memory_wipe(struct twin *t, const struct memory *m);
/* also of one that was never made, if it is all zero */
void memory_free(struct memory *m);

#endif
