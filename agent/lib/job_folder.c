// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * A rank writes its bytes to a file of another name, which it renames: a file that is there is
 * whole. Round and rank make the name.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "deadline.h"
#include "gagg_job.h"
#include "session.h"

static int job_folder_write(const struct gagg_job_folder *f, const void *mine, size_t bytes)
{
	char name[PATH_MAX], part[PATH_MAX + 8];
	ssize_t written;
	int fd;
	int n = snprintf(name, sizeof(name), "%s/%u.%u", f->path, f->round, f->rank);

	if (n >= (int)sizeof(name))
		return -ENAMETOOLONG;
	snprintf(part, sizeof(part), "%s.part", name);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	written = write(fd, mine, bytes);
	if (close(fd) || written < 0)
		return -errno;
	if ((size_t)written != bytes)
		return -EIO;
	return rename(part, name) ? -errno : 0;
}

/* -ENOENT: not yet */
static int job_folder_read(const struct gagg_job_folder *f, uint32_t rank, char *to, size_t bytes)
{
	char name[PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%s/%u.%u", f->path, f->round, rank);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, to, bytes);
	close(fd);
	if (n < 0)
		return -errno;
	return (size_t)n == bytes ? 0 : -EIO;
}

int gagg_job_folder(void *of, const void *mine, void *all, size_t bytes)
{
	static const struct timespec pause = { .tv_nsec = 2000000 };
	struct gagg_job_folder *f = of;
	uint64_t end = deadline_in(session_timeout(f->timeout_ms));
	int err = job_folder_write(f, mine, bytes);
	uint32_t rank;

	for (rank = 0; !err && rank < f->ranks;) {
		err = job_folder_read(f, rank, (char *)all + rank * bytes, bytes);
		if (!err) {
			rank++;
		} else if (err == -ENOENT && deadline_left(end)) {
			err = 0;
			nanosleep(&pause, NULL);
		}
	}
	f->round++;
	return err == -ENOENT ? -ETIMEDOUT : err;
}
