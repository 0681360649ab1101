// SPDX-License-Identifier: GPL-2.0
/*
 * Lists the archive.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive.h"
#include "error.h"
#include "name.h"
#include "../lib/checkpoint_file.h"

static int list_is_kept(const struct dirent *d)
{
	return name_kept(d->d_name) && strlen(d->d_name) < GAGG_NAME_MAX;
}

/* names of checkpoints or groups in a directory, in order; if not negative: list_free_names() */
static int list_read_names(int dir, struct dirent ***names)
{
	int n = scandirat(dir, ".", names, list_is_kept, alphasort);

	return n < 0 ? -errno : n;
}

static void list_free_names(struct dirent **names, int n)
{
	while (n--)
		free(names[n]);
	free(names);
}

/* opens a file, but no pipe that would have to be waited for */
static int list_open_file(int dir, const char *name, struct stat *st)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return -errno;
	ret = fstat(fd, st) ? -errno : S_ISREG(st->st_mode) ? 0 : -ENOENT;
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* the most tables that a file of @size has: without elements */
static uint64_t list_most_tables(off_t size)
{
	uint64_t words = (uint64_t)size / sizeof(uint64_t);

	return words < CKP_WORDS ? 0 : (words - CKP_WORDS) / CKP_TABLE_WORDS;
}

static const char *list_read_head(int dir, const char *name, uint64_t *tables)
{
	struct stat st;
	int fd = list_open_file(dir, name, &st);
	uint64_t head[2];
	ssize_t n;

	if (fd < 0)
		return strerror(-fd);
	n = pread(fd, head, sizeof(head), 0);
	close(fd);
	if (n < 0)
		return strerror(errno);
	if (n < (ssize_t)sizeof(head) || memcmp(head, CKP_MAGIC, sizeof(head[0])) ||
	    le64toh(head[1]) > list_most_tables(st.st_size))
		return "damaged";
	*tables = le64toh(head[1]);
	return NULL;
}

/* zeros follow both names: list_is_kept() */
static void list_name_entry(struct archive_entry *e, const char *group, const char *name)
{
	memset(e, 0, sizeof(*e));
	memcpy(e->group, group, strlen(group));
	memcpy(e->name, name, strlen(name));
}

/* A file that cannot be opened is listed all the same. */
static bool list_read_entry(int dir, const char *group, const char *name, struct archive_entry *e)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return false;
	list_name_entry(e, group, name);
	e->bytes = (uint64_t)st.st_size;
	e->saved = st.st_mtime;
	e->problem = list_read_head(dir, name, &e->tables);
	return true;
}

int archive_each(int dir, const char *group, archive_cb cb, void *arg)
{
	struct archive_entry e;
	struct dirent **names;
	int n = list_read_names(dir, &names), i, ret = 0;

	if (n < 0)
		return n;
	for (i = 0; i < n && !ret; i++)
		if (list_read_entry(dir, group, names[i]->d_name, &e))
			ret = cb(&e, arg);
	list_free_names(names, n);
	return ret;
}

static int list_group(int top, const char *group, archive_cb cb, void *arg,
		      struct archive_error *err)
{
	int dir = archive_group(top, group, false, err), ret;

	if (dir < 0)
		return dir == -ENOENT ? 0 : dir;
	ret = archive_each(dir, group, cb, arg);
	close(dir);
	/* -ENOENT: removed meanwhile */
	if (ret >= 0 || ret == -ENOENT)
		return ret > 0 ? ret : 0;
	return archive_say(err, -ret, "%s: %s", group, strerror(-ret));
}

/* an error of one directory does not hide the other groups */
static int list_tell_problem(const char *group, const struct archive_error *err, archive_cb cb,
			     void *arg)
{
	struct archive_entry e;

	list_name_entry(&e, group, "");
	e.problem = err->text;
	return cb(&e, arg);
}

static int list_groups(int top, archive_cb cb, void *arg, struct archive_error *err)
{
	struct dirent **names;
	int n = list_read_names(top, &names), i, ret = 0;

	if (n < 0)
		return archive_say(err, -n, "the archive: %s", strerror(-n));
	for (i = 0; i < n && !ret; i++) {
		ret = list_group(top, names[i]->d_name, cb, arg, err);
		if (ret < 0)
			ret = list_tell_problem(names[i]->d_name, err, cb, arg);
	}
	list_free_names(names, n);
	return ret;
}

int archive_list(const char *path, const char *group, archive_cb cb, void *arg,
		 struct archive_error *err)
{
	int top = archive_open(path, false, err), ret;

	if (top < 0)
		return top;
	ret = group ? list_group(top, group, cb, arg, err) : list_groups(top, cb, arg, err);
	close(top);
	return ret;
}

/* "a, b, c" as far as there is room */
static int list_add_name(const struct archive_entry *e, void *arg)
{
	struct archive_error *err = arg;
	size_t used = strlen(err->text);
	int n = snprintf(err->text + used, sizeof(err->text) - used, "%s%s",
			 err->text[used - 1] == ':' ? " " : ", ", e->name);

	return n < 0 || (size_t)n >= sizeof(err->text) - used;
}

static int list_say_none(int dir, const char *group, const char *name, struct archive_error *err)
{
	size_t used;

	archive_say(err, ENOENT, "group \"%s\" has no checkpoint \"%s\" on this host; there are:",
		    group, name);
	used = strlen(err->text);
	if (dir >= 0)
		archive_each(dir, group, list_add_name, err);
	if (!err->text[used])
		archive_say(err, ENOENT, "group \"%s\" has no checkpoint on this host", group);
	return -ENOENT;
}

/*
 * opens the directory of a group with checkpoints, and that of the archive; the caller closes both
 */
static int list_find_group(const char *path, const char *group, const char *name, int *top,
			   struct archive_error *err)
{
	int dir;

	*top = archive_open(path, false, err);
	if (*top == -ENOENT)
		return list_say_none(-1, group, name, err);
	if (*top < 0)
		return *top;
	dir = archive_group(*top, group, false, err);
	if (dir >= 0)
		return dir;
	close(*top);
	return dir == -ENOENT ? list_say_none(-1, group, name, err) : dir;
}

int archive_load(const char *path, const char *group, const char *name,
		 struct archive_error *err)
{
	int top, dir = list_find_group(path, group, name, &top, err), fd;
	struct stat st;

	if (dir < 0)
		return dir;
	fd = list_open_file(dir, name, &st);
	if (fd == -ENOENT)
		list_say_none(dir, group, name, err);
	else if (fd < 0)
		archive_say(err, -fd, "checkpoint \"%s\" of group \"%s\": %s", name, group,
			    strerror(-fd));
	close(dir);
	close(top);
	return fd;
}

int archive_delete(const char *path, const char *group, const char *name,
		   struct archive_error *err)
{
	int top, dir = list_find_group(path, group, name, &top, err), ret = 0;

	if (dir < 0)
		return dir;
	if (unlinkat(dir, name, 0))
		ret = errno == ENOENT ? list_say_none(dir, group, name, err) :
		      archive_say(err, errno, "checkpoint \"%s\" of group \"%s\": %s", name,
				  group, strerror(errno));
	else
		/* the directory stays while another checkpoint is in it */
		unlinkat(top, group, AT_REMOVEDIR);
	close(dir);
	close(top);
	return ret;
}
