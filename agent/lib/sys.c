// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys.h"

int sys_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

void *sys_map(int fd, uint64_t offset, size_t length, bool write)
{
	void *addr = mmap(NULL, length, write ? PROT_READ | PROT_WRITE : PROT_READ,
			  MAP_SHARED, fd, (off_t)offset);

	return addr == MAP_FAILED ? NULL : addr;
}

void sys_unmap(void *addr, size_t length)
{
	munmap(addr, length);
}

void sys_close(int fd)
{
	close(fd);
}
