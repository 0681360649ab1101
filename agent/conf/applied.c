// SPDX-License-Identifier: GPL-2.0
/*
 * The groups that were made from a file.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "applied.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

#define TEXT_MAX	(1 << 20)

int applied_path(char *buf, size_t size)
{
	uint64_t cookie;
	socklen_t len = sizeof(cookie);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return -errno;
	ret = getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len);
	ret = ret ? -errno : 0;
	close(fd);
	if (!ret)
		snprintf(buf, size, APPLIED_DIR "/applied-%llu",
			 (unsigned long long)cookie);
	return ret;
}

int applied_load(struct applied *a, const char *path)
{
	FILE *f = fopen(path, "re");
	size_t len = 0;
	int ret = 0;

	*a = (struct applied){ 0 };
	a->text = calloc(1, f ? TEXT_MAX + 1 : 1);
	if (!a->text)
		ret = -ENOMEM;
	else if (!f)
		ret = errno == ENOENT ? 0 : -errno;
	else
		len = fread(a->text, 1, TEXT_MAX + 1, f);
	if (f && ferror(f))
		ret = -EIO;
	if (len > TEXT_MAX)
		ret = -EFBIG;
	if (f)
		fclose(f);
	if (ret && a->text)
		*a->text = 0;
	return ret;
}

int applied_save(struct applied *a, const char *path)
{
	char *tmp;
	FILE *f;
	int ret = 0;

	if (!a->changed)
		return 0;
	if (!strncmp(path, APPLIED_DIR "/", sizeof(APPLIED_DIR)) &&
	    mkdir(APPLIED_DIR, 0755) && errno != EEXIST)
		return -errno;
	if (asprintf(&tmp, "%s.%d", path, (int)getpid()) < 0)
		return -ENOMEM;
	f = fopen(tmp, "we");
	if (!f) {
		ret = -errno;
	} else {
		errno = 0;
		if (fputs(a->text, f) < 0)
			ret = errno ? -errno : -EIO;
		if (fclose(f) && !ret)
			ret = -errno;
		if (!ret && rename(tmp, path))
			ret = -errno;
		if (ret)
			unlink(tmp);
	}
	free(tmp);
	if (!ret)
		a->changed = false;
	return ret;
}

void applied_free(struct applied *a)
{
	free(a->text);
	*a = (struct applied){ 0 };
}

/* The line of @name, or NULL; names hold no blanks. */
static char *applied_find(const struct applied *a, const char *name)
{
	size_t len = strlen(name);
	char *line = a->text;

	while (*line) {
		if (!strncmp(line, name, len) && line[len] == ' ')
			return line;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return NULL;
}

bool applied_has(const struct applied *a, const char *name, const char *config)
{
	const char *line = applied_find(a, name);
	size_t len = strlen(config);

	if (!line)
		return false;
	line += strlen(name) + 1;
	return strcspn(line, "\n") == len && !strncmp(line, config, len);
}

void applied_remove(struct applied *a, const char *name)
{
	char *line = applied_find(a, name);
	char *next;

	if (!line)
		return;
	next = line + strcspn(line, "\n");
	next += *next == '\n';
	memmove(line, next, strlen(next) + 1);
	a->changed = true;
}

bool applied_add(struct applied *a, const char *name, const char *config)
{
	char *text;

	if (applied_has(a, name, config))
		return true;
	applied_remove(a, name);
	if (asprintf(&text, "%s%s %s\n", a->text, name, config) < 0)
		return false;
	free(a->text);
	a->text = text;
	a->changed = true;
	return true;
}
