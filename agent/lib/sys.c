// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/gagg.h>

#include "sys.h"
#include "twin.h"

int sys_ioctl(int fd, unsigned long request, void *arg)
{
	struct twin_link *twin = twin_find(fd);

	if (twin)
		return twin_ioctl(twin, request, arg);
	if (!ioctl(fd, request, arg))
		return 0;
	/* every session begins with it */
	if (errno == ENOTTY && request == GAGG_IOC_ATTACH) {
		twin = twin_open(fd);
		return twin ? twin_ioctl(twin, request, arg) : -ENOTTY;
	}
	return -errno;
}

void *sys_map(int fd, uint64_t offset, size_t length, bool write)
{
	struct twin_link *twin = twin_find(fd);
	void *addr;

	if (twin)
		return twin_map(twin, offset, length, write);
	addr = mmap(NULL, length, write ? PROT_READ | PROT_WRITE : PROT_READ,
		    MAP_SHARED, fd, (off_t)offset);
	return addr == MAP_FAILED ? NULL : addr;
}

void sys_unmap(void *addr, size_t length)
{
	munmap(addr, length);
}

void sys_close(int fd)
{
	struct twin_link *twin = twin_find(fd);

	if (twin)
		twin_close(twin);
	close(fd);
}

int sys_event_fd(int fd)
{
	struct twin_link *twin = twin_find(fd);

	return twin ? twin_event_fd(twin) : fd;
}

bool sys_in_kernel(int fd)
{
	return !twin_find(fd);
}
