// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outlet.h"

/*
 * O_NONBLOCK belongs to the file description, which others may share and change. So a pipe is
 * opened once more, for a description of our own. A pipe of another user cannot be opened.
 */
void outlet_open(struct outlet *o, int fd)
{
	char path[32];
	struct stat st;
	int own;

	*o = (struct outlet){ .fd = fd };
	if (fstat(fd, &st))
		return;
	o->socket = S_ISSOCK(st.st_mode);
	if (!S_ISFIFO(st.st_mode))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (own < 0)
		return;
	o->fd = own;
	o->own = true;
}

void outlet_close(struct outlet *o, int fd)
{
	if (o->own)
		close(o->fd);
	*o = (struct outlet){ .fd = fd };
}

/*
 * A pipe or a terminal that poll() finds writable has room for PIPE_BUF, unless others write there,
 * too; a file is always writable.
 */
static bool outlet_has_room(const struct outlet *o)
{
	struct pollfd p = { .fd = o->fd, .events = POLLOUT };

	return o->own || o->socket || poll(&p, 1, 0);
}

int outlet_put(const struct outlet *o, const char *text, size_t len)
{
	ssize_t n;

	if (!outlet_has_room(o))
		return -EAGAIN;
	n = o->socket ? send(o->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL) :
			write(o->fd, text, len);
	return n < 0 ? -errno : 0;
}
