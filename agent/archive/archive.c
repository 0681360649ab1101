// SPDX-License-Identifier: GPL-2.0
/*
 * Directories of the archive, and files on their way into it.
 *
 * Every name is looked up in an open directory and never through a symbolic link. A
 * name that begins with a dot is no checkpoint's: PLACED is where a file is linked
 * before it is renamed, since a link takes no other's place.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "error.h"

#define PLACED	".new"

int archive_say(struct archive_error *err, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -error;
}

/* Closes @fd unless it is a directory of ours that nobody else may look into. */
static int check_dir(int fd, const char *name, struct archive_error *err)
{
	struct stat st;
	int ret;

	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 077))
		return fd;
	ret = archive_say(err, EPERM,
			  "%s is of uid %u, mode %04o: checkpoints are kept where only uid %u may look: chown, chmod 0700",
			  name, st.st_uid, st.st_mode & 07777, geteuid());
	close(fd);
	return ret;
}

static int open_dir(int at, const char *name, bool make, struct archive_error *err)
{
	int fd;

	if (make && mkdirat(at, name, 0700) && errno != EEXIST)
		return archive_say(err, errno, "cannot make %s: %s", name, strerror(errno));
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return archive_say(err, errno, "%s: %s", name, strerror(errno));
	return check_dir(fd, name, err);
}

int archive_open(const char *path, bool make, struct archive_error *err)
{
	return open_dir(AT_FDCWD, path, make, err);
}

int archive_group(int top, const char *group, bool make, struct archive_error *err)
{
	return open_dir(top, group, make, err);
}

int archive_new(int dir, struct archive_error *err)
{
	int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (errno == EOPNOTSUPP)
		return archive_say(err, EOPNOTSUPP,
				   "the file system of the archive has no O_TMPFILE: gaggd --state DIR takes another");
	return archive_say(err, errno, "a new file in the archive: %s", strerror(errno));
}

int archive_place(int dir, int fd, const char *name, struct archive_error *err)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	/* of a gaggd that was killed between the two */
	unlinkat(dir, PLACED, 0);
	if (linkat(AT_FDCWD, self, dir, PLACED, AT_SYMLINK_FOLLOW) ||
	    renameat(dir, PLACED, dir, name))
		return archive_say(err, errno, "\"%s\" into the archive: %s", name,
				   strerror(errno));
	return 0;
}
