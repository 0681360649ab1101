/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Messages to a daemon and back, over a SOCK_SEQPACKET socket, until a deadline (deadline.h).
 * Signals that the calling thread handles do not matter. No message is empty: that would be the
 * end.
 */
#ifndef GAGG_MESSAGE_H
#define GAGG_MESSAGE_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define MESSAGE_FDS	3	/* most descriptors in a message */

/* 0 or a negative errno; -ETIMEDOUT: nobody accepts */
int message_connect(int fd, const struct sockaddr *addr, socklen_t len, uint64_t deadline);

/* as recvmsg(), without waiting, but 0 always means the end: no message was overlooked */
ssize_t message_try(int fd, struct msghdr *msg, int flags);

/*
 * Sends one message, with @n descriptors of @fds (at most MESSAGE_FDS; the caller still owns them),
 * without waiting. 0 or a negative errno, which errno has as well
 */
int message_pass(int fd, struct iovec *iov, size_t parts, const int *fds, unsigned int n);

/* as sendmsg(), but returns a negative errno */
ssize_t message_send(int fd, const struct msghdr *msg, uint64_t deadline);

/**
 * struct message_room - where a message goes, and the descriptors that come with it
 * @iov:	for the message
 * @parts:	of @iov
 * @fds:	for @most descriptors
 * @most:	at most MESSAGE_FDS
 */
struct message_room {
	struct iovec *iov;
	size_t parts;
	int *fds;
	unsigned int most;
};

/**
 * message_receive() - one message, and the descriptors that came with it
 * @fd:		socket
 * @room:	where they go. Descriptors (CLOEXEC) are the caller's from here on; -1 where
 *		none has come. More than there is room for are closed
 * @deadline:	when to give up
 *
 * Return: bytes; 0: the peer has hung up; or a negative errno.
 */
ssize_t message_receive(int fd, const struct message_room *room, uint64_t deadline);

#endif
