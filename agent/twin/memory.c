// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"
#include "twin.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE	0x0010
#endif

#define PIECE	(16UL << 20)	/* takes some ten milliseconds */

static int touch(struct twin *t, const struct memory *m)
{
	size_t at, left;

	for (at = 0; at < m->length; at += PIECE) {
		left = m->length - at;
		if (madvise((char *)m->addr + at, left < PIECE ? left : PIECE,
			    MADV_POPULATE_WRITE) && errno != EINVAL)
			return errno == EFAULT ? -ENOMEM : -errno;
		epoch_breathe(t);
	}
	return 0;
}

static int map(struct twin *t, struct memory *m, bool theirs)
{
	int err;

	int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	m->addr = mmap(NULL, m->length, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (m->addr == MAP_FAILED) {
		m->addr = NULL;
		return -errno;
	}
	if (!theirs) {
		/* our mapping stays writable, and is the only one */
		seals |= F_SEAL_FUTURE_WRITE;
		err = touch(t, m);
		if (err)
			return err;
	}
	return fcntl(m->fd, F_ADD_SEALS, seals) ? -errno : 0;
}

int memory_new(struct twin *t, struct memory *m, const char *name, size_t bytes, bool theirs)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int err;

	memset(m, 0, sizeof(*m));
	m->length = (bytes + page - 1) / page * page;
	m->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->fd < 0)
		err = -errno;
	else
		err = ftruncate(m->fd, (off_t)m->length) ? -errno : map(t, m, theirs);
	if (err)
		memory_free(m);
	return err;
}

void memory_free(struct memory *m)
{
	if (m->addr)
		munmap(m->addr, m->length);
	if (m->length && m->fd >= 0)
		close(m->fd);
	memset(m, 0, sizeof(*m));
}
