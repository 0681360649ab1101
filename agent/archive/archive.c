// SPDX-License-Identifier: GPL-2.0
/*
 * Directories of the archive, and files that are written into it.
 *
 * Every name is looked up in an open directory and never through a symbolic link. No checkpoint has
 * a name that begins with a dot. A file is linked as PLACED before it is renamed, since a link
 * replaces no existing file. One file of a group is placed at a time. So if PLACED exists when the
 * next begins, a gaggd was killed between link and rename.
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
#include "../lib/checkpoint_file.h"

#define PLACED	".new"

int archive_say(struct archive_error *err, int error, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -error;
}

/* Is it a directory of ours that no other user may read? */
static int archive_check_dir(int fd, const char *name, struct archive_error *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return archive_say(err, errno, "%s: %s", name, strerror(errno));
	if (st.st_uid != geteuid())
		return archive_say(err, EPERM,
				   "%s is of uid %u and this runs as uid %u: gaggd owns its directories, and gaggctl runs under gaggd's uid",
				   name, st.st_uid, geteuid());
	if (st.st_mode & 077)
		return archive_say(err, EPERM,
				   "%s has mode %04o: checkpoints are kept where only their owner may look: chmod 0700",
				   name, st.st_mode & 07777);
	return 0;
}

static int archive_open_dir(int at, const char *name, bool make, struct archive_error *err)
{
	int fd, ret;

	if (make && mkdirat(at, name, 0700) && errno != EEXIST)
		return archive_say(err, errno, "cannot make %s: %s", name, strerror(errno));
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOTDIR)
		return archive_say(err, ENOTDIR,
				   "%s is no directory, or a link to one: remove it, or gaggd --state DIR names another",
				   name);
	if (fd < 0)
		return archive_say(err, errno, "%s: %s", name, strerror(errno));
	ret = archive_check_dir(fd, name, err);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

int archive_open(const char *path, bool make, struct archive_error *err)
{
	int ret = make && !mkdir(path, 0700) ? ckp_sync_parent(path) : 0;

	if (ret)
		return archive_say(err, -ret, "%s, onto the disk: %s", path, strerror(-ret));
	return archive_open_dir(AT_FDCWD, path, make, err);
}

int archive_group(int top, const char *group, bool make, struct archive_error *err)
{
	return archive_open_dir(top, group, make, err);
}

int archive_new(int dir, struct archive_error *err)
{
	int fd;

	unlinkat(dir, PLACED, 0);
	fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if (errno == EOPNOTSUPP)
		return archive_say(err, EOPNOTSUPP,
				   "the file system of the archive has no O_TMPFILE: gaggd --state DIR names another");
	return archive_say(err, errno, "a new file in the archive: %s", strerror(errno));
}

int archive_place(int dir, int fd, const char *name, struct archive_error *err)
{
	int ret = ckp_link(fd, dir, PLACED);

	if (!ret && renameat(dir, PLACED, dir, name))
		ret = -errno;
	if (!ret)
		return 0;
	archive_say(err, -ret, "\"%s\" into the archive: %s", name, strerror(-ret));
	unlinkat(dir, PLACED, 0);
	return ret;
}
