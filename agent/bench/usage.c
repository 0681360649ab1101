// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "usage.h"

#define NSEC	1000000000LL

static const int64_t *spun;	/* value in the idle file */
static int meter = -1;		/* the idle file, if it answers */
static long cpus;
static long ticks;			/* per second */

int usage_init(const char *idle_file)
{
	struct stat st;
	void *p;
	int fd;

	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ticks = sysconf(_SC_CLK_TCK);
	if (!idle_file)
		return 0;
	if (stat(idle_file, &st))
		return -errno;
	fd = open(idle_file, (S_ISCHR(st.st_mode) ? O_RDWR : O_RDONLY) | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (S_ISCHR(st.st_mode)) {
		meter = fd;
		return 0;
	}
	p = mmap(NULL, sizeof(*spun), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return -errno;
	spun = p;
	return 0;
}

int64_t usage_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC + t.tv_nsec;
}

/* FNV-1a */
static uint64_t usage_hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3;
	return h;
}

/* the beginning of a file, as a string; "" if it cannot be read */
static void usage_slurp(const char *path, char *buf, size_t size)
{
	size_t n = 0;
	ssize_t got;
	int fd;

	fd = open(path, O_RDONLY);
	if (fd >= 0) {
		while (n < size - 1 && (got = read(fd, buf + n, size - 1 - n)) > 0)
			n += (size_t)got;
		close(fd);
	}
	buf[n] = 0;
}

void usage_where(struct usage_where *w)
{
	struct stat st = { 0 };
	char id[64];

	usage_slurp("/proc/sys/kernel/random/boot_id", id, sizeof(id));
	w->machine = usage_hash(id);
	stat("/proc/self/ns/net", &st);
	w->net = w->machine ^ (uint64_t)st.st_ino;
}

/* reads what one read() returns of it; the line of all CPUs is the first */
static void usage_read_stat(int64_t *idle_ticks, int64_t *switches)
{
	unsigned long long idle = 0, iowait = 0;
	static char text[1 << 16];
	const char *line;

	usage_slurp("/proc/stat", text, sizeof(text));
	if (sscanf(text, "cpu %*u %*u %*u %llu %llu", &idle, &iowait) != 2)
		idle = 0;
	*idle_ticks = (int64_t)(idle + iowait);
	line = strstr(text, "\nctxt ");
	*switches = line ? atoll(line + strlen("\nctxt ")) : 0;
}

/* the question is an empty line, the answer a number and the end of the line */
static int64_t usage_ask_meter(void)
{
	char answer[32];
	size_t n = 0;

	if (write(meter, "\n", 1) != 1)
		return 0;
	while (n < sizeof(answer) - 1 && read(meter, answer + n, 1) == 1 && answer[n] != '\n')
		n++;
	answer[n] = 0;
	return atoll(answer);
}

void usage_machine(struct usage *u)
{
	int64_t idle;

	if (meter >= 0) {
		u->busy = usage_ask_meter();
		u->switches = 0;
		return;
	}
	if (spun) {
		u->busy = usage_clock() - __atomic_load_n(spun, __ATOMIC_RELAXED);
		u->switches = 0;
		return;
	}
	usage_read_stat(&idle, &u->switches);
	u->busy = usage_clock() * cpus - idle * (NSEC / ticks);
}

void usage_own(struct usage *u)
{
	struct rusage r = { 0 };

	getrusage(RUSAGE_SELF, &r);
	u->own = r.ru_nvcsw + r.ru_nivcsw;
}
