// SPDX-License-Identifier: GPL-2.0
/*
 * Listening to netlink multicast.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "watch.h"

static void watch_readable(struct loop_event *ev, int res)
{
	struct watch *w = loop_container(ev, struct watch, event);
	/* larger than the one page a notification is allocated with */
	static _Alignas(struct nlmsghdr) char buf[32768];
	struct sockaddr_nl from;

	if (res == -ECANCELED)
		return;
	for (;;) {
		socklen_t fromlen = sizeof(from);
		ssize_t len = recvfrom(w->fd, buf, sizeof(buf),
				       MSG_DONTWAIT | MSG_TRUNC,
				       (struct sockaddr *)&from, &fromlen);
		const struct nlmsghdr *msg = (const void *)buf;

		if (len < 0 && errno == EINTR)
			continue;
		if (len < 0 && errno == ENOBUFS) {
			w->heard(w, NULL);
			continue;
		}
		if (len < 0)
			break;
		if ((size_t)len > sizeof(buf)) {
			w->heard(w, NULL);
			continue;
		}
		/* Only the kernel has port 0; others may send to us too. */
		if (from.nl_pid)
			continue;
		for (; NLMSG_OK(msg, (size_t)len); msg = NLMSG_NEXT(msg, len))
			w->heard(w, msg);
	}
	if (errno != EAGAIN) {
		log_err("netlink: %m");
		return;
	}
	loop_readable(w->loop, &w->event, w->fd);
}

int watch_open(struct watch *w, struct loop *loop, int protocol,
	       const unsigned int *groups,
	       void (*heard)(struct watch *w, const struct nlmsghdr *msg))
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	int ret;

	w->loop = loop;
	w->heard = heard;
	w->event.fire = watch_readable;
	w->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
		       protocol);
	if (w->fd < 0)
		return -errno;
	if (bind(w->fd, (struct sockaddr *)&addr, sizeof(addr)))
		goto error;
	for (; *groups; groups++)
		if (setsockopt(w->fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
			       groups, sizeof(*groups)))
			goto error;
	loop_readable(loop, &w->event, w->fd);
	return 0;
error:
	ret = -errno;
	watch_close(w);
	return ret;
}

void watch_close(struct watch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}
