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
 */
struct memory {
	int fd;
	void *addr;
	size_t length;
};

struct twin;

/*
 * Zeroed memory; 0 or -errno. @theirs: trainers may write it. All others is
 * touched now, so that no page is missing later, piece by piece: @t says HELLO in between.
 */
int memory_new(struct twin *t, struct memory *m, const char *name, size_t bytes, bool theirs);
/* also of one that was never made, if it is all zero */
void memory_free(struct memory *m);

#endif
