// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "deadline.h"
#include "process.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK	18
#endif

/* in memory that the kernel clears for a forked child; NULL: there is no such memory */
static uint64_t *number;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void process_map_number(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *addr = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED)
		return;
	if (madvise(addr, page, MADV_WIPEONFORK))
		munmap(addr, page);
	else
		number = addr;
}

uint64_t process_id(void)
{
	uint64_t none = 0, id;

	pthread_once(&once, process_map_number);
	if (!number)
		return (uint64_t)getpid();
	id = __atomic_load_n(number, __ATOMIC_RELAXED);
	if (id)
		return id;
	/* pids are used again, even by a child in a namespace of its own; times are not */
	id = deadline_now();
	if (__atomic_compare_exchange_n(number, &none, id, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		return id;
	return none;
}
