// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "epoch.h"
#include "memory.h"
#include "sweep.h"
#include "twin.h"
#include "core/layout.h"
#include "../gaggd/log.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE	0x0010
#endif

#define PIECE	(2UL << 20)	/* bytes; clearing them needs some milliseconds */

/*
 * Writes zeros, so that no page is missing later; piece by piece, with HELLO in between. If @used,
 * pages that exist were written before.
 */
static int memory_clear(struct twin *t, const struct memory *m, bool used)
{
	size_t at, left, n;

	for (at = 0; at < m->length; at += PIECE) {
		left = m->length - at;
		n = left < PIECE ? left : PIECE;
		if (used)
			memset((char *)m->addr + at, 0, n);
		else if (madvise((char *)m->addr + at, n, MADV_POPULATE_WRITE) &&
			 errno != EINVAL)
			return errno == EFAULT ? -ENOMEM : -errno;
		epoch_breathe(t);
	}
	return 0;
}

static int memory_map(struct memory *m, int seals)
{
	m->addr = mmap(NULL, m->length, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (m->addr == MAP_FAILED) {
		m->addr = NULL;
		return -errno;
	}
	return fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | seals) ?
	       -errno : 0;
}

static int memory_find_blocks(struct memory *m)
{
	size_t n = (m->length + GAGG_BLOCK - 1) / GAGG_BLOCK, i;

	m->block = calloc(n, sizeof(*m->block));
	if (!m->block)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		m->block[i] = (char *)m->addr + i * GAGG_BLOCK;
	return 0;
}

static int memory_make(struct memory *m, const char *name, size_t bytes, int seals)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int err;

	memset(m, 0, sizeof(*m));
	m->length = (bytes + page - 1) / page * page;
	m->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->fd < 0)
		err = -errno;
	else
		err = ftruncate(m->fd, (off_t)m->length) ? -errno : memory_map(m, seals);
	if (!err)
		err = memory_find_blocks(m);
	if (err)
		memory_free(m);
	return err;
}

int memory_theirs(struct memory *m, const char *name, size_t bytes)
{
	return memory_make(m, name, bytes, 0);
}

int memory_zeroed(struct twin *t, struct memory *m, const char *name, size_t bytes)
{
	bool used = m->addr;
	int err = 0;

	/* our mapping stays writable, and is the only writable one */
	if (!used)
		err = memory_make(m, name, bytes, F_SEAL_FUTURE_WRITE);
	if (err)
		return err;
	err = memory_clear(t, m, used);
	if (err)
		memory_free(m);
	return err;
}

void memory_wipe(struct twin *t, const struct memory *m)
{
	if (m->addr && !sweep_file(t->sweeper, m->fd))
		log_limited(LOG_OF_ANY, LOG_L_WARN, "a trainer's memory stays for as long as somebody holds it: %m");
}

void memory_free(struct memory *m)
{
	free(m->block);
	if (m->addr)
		munmap(m->addr, m->length);
	if (m->length && m->fd >= 0)
		close(m->fd);
	memset(m, 0, sizeof(*m));
}
