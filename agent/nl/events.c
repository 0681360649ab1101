// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <sys/socket.h>

#include "socket.h"

#define EVENTS_RCVBUF	(1 << 20)

static int event_join(struct nl *nl, unsigned int mcgrp)
{
	return setsockopt(nl_socket_get_fd(nl->events), SOL_NETLINK,
			  NETLINK_ADD_MEMBERSHIP, &mcgrp, sizeof(mcgrp)) ?
	       -errno : 0;
}

/* The controller's own events (group GENL_ID_CTRL) tell of a module reload. */
int nl_subscribe(struct nl *nl)
{
	int err;

	if (nl_twin(nl))
		return nl_fail(nl, -EOPNOTSUPP, "gagg-twin tells none: its log does",
			       "cannot listen to events");
	if (nl->events)
		return 0;
	errno = 0;
	nl->events = nl_open_socket();
	if (!nl->events)
		return nl_fail(nl, errno ? -errno : -ENOMEM, NULL,
			    "cannot listen to events");
	nl_socket_set_buffer_size(nl->events, EVENTS_RCVBUF, 0);
	nl_socket_set_nonblocking(nl->events);
	err = nl->mcgrp ? event_join(nl, nl->mcgrp) : -ENODATA;
	if (!err)
		err = event_join(nl, GENL_ID_CTRL);
	if (err) {
		nl_socket_free(nl->events);
		nl->events = NULL;
	}
	return nl_fail(nl, err, NULL, "cannot listen to events");
}

int nl_fd(const struct nl *nl)
{
	return nl->events ? nl_socket_get_fd(nl->events) : -1;
}

/* 1: there is one at nl->next, 0: none, -errno */
static int fill_events(struct nl *nl)
{
	ssize_t n;

	while (!nl->next || !nlmsg_ok(nl->next, nl->left)) {
		n = recv(nl_fd(nl), nl->event_buf, sizeof(nl->event_buf),
			 MSG_TRUNC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if ((size_t)n > sizeof(nl->event_buf))
			return -ENOBUFS;
		nl->next = (struct nlmsghdr *)nl->event_buf;
		nl->left = n;
	}
	return 1;
}

int nl_event_next(struct nl *nl, struct nl_event *out)
{
	struct nlmsghdr *hdr;
	int err;

	while ((err = fill_events(nl)) == 1) {
		hdr = nl->next;
		nl->next = nlmsg_next(hdr, &nl->left);
		if (hdr->nlmsg_type == GENL_ID_CTRL && nl_learn_family(nl, hdr)) {
			err = nl->mcgrp ? event_join(nl, nl->mcgrp) : 0;
			if (!err)
				err = -ENOBUFS;
			break;
		}
		if (!nl->family || hdr->nlmsg_type != nl->family)
			continue;
		err = nl_parse_event(hdr, out);
		if (!err)
			return 1;
		break;
	}
	return nl_fail(nl, err, NULL, "cannot read events");
}
