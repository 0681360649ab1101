// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "twin.h"

u64 now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * GAGG_SEC + (u64)ts.tv_nsec;
}

u64 random64(void)
{
	u64 v;

	while (getrandom(&v, sizeof(v), 0) != sizeof(v))
		;
	return v;
}

void twin_call(struct twin *t)
{
	static const u64 one = 1;

	if (write(t->call_fd, &one, sizeof(one)) < 0)
		return;
}
