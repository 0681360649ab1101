/* SPDX-License-Identifier: GPL-2.0 */
/* A page that does not come: a task that reads it waits, in the kernel, too. */
#ifndef GAGG_MISSING_H
#define GAGG_MISSING_H

#include <fcntl.h>
#include <stdint.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MISSING_BYTES	4096

/*
 * -1 with errno; or a userfaultfd, which has a struct uffd_msg to read when somebody waits.
 * When it is closed the page is there, zeroed.
 */
static inline int missing_page(void **page)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	*page = mmap(NULL, MISSING_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	reg.range.start = (uintptr_t)*page;
	reg.range.len = MISSING_BYTES;
	if (fd < 0 || *page == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		return -1;
	return fd;
}

#endif
