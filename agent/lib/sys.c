// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/gagg.h>

#include "sys.h"
#include "twin.h"

/* gagg-twin answers at once; this ends the wait for one that is stopped */
#define PATIENCE_MS	30000

int sys_ioctl(int fd, unsigned long request, void *arg)
{
	struct twin_link *twin = twin_find(fd);

	if (twin)
		return twin_ioctl(twin, request, arg);
	return ioctl(fd, request, arg) ? -errno : 0;
}

int sys_look(int fd, unsigned long request, void *arg)
{
	struct twin_link *twin = twin_find(fd);

	return twin ? twin_look(twin, request, arg, SYS_LOOK_MS) : sys_command(fd, request, arg);
}

int sys_begin(int fd, int timeout_ms)
{
	struct stat st;

	if (twin_find(fd) || fstat(fd, &st) || !S_ISSOCK(st.st_mode))
		return 0;
	return twin_open(fd, timeout_ms > 0 ? timeout_ms : PATIENCE_MS);
}

void sys_leave(int fd)
{
	struct gagg_ioc_detach arg = { .size = sizeof(arg) };
	struct twin_link *twin = twin_find(fd);

	if (twin)
		twin_leave(twin);
	else
		sys_command(fd, GAGG_IOC_DETACH, &arg);
}

void sys_watch_forks(void)
{
	twin_watch_forks();
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
