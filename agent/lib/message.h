/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Messages to a daemon and back, over a SOCK_SEQPACKET socket: until a deadline
 * (deadline.h), and whatever signals the calling thread takes meanwhile. No message is
 * empty: that is the end.
 */
#ifndef GAGG_MESSAGE_H
#define GAGG_MESSAGE_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#define MESSAGE_FDS	3	/* most that come with a message */

/* 0 or a negative errno; -ETIMEDOUT: nobody accepts */
int message_connect(int fd, const struct sockaddr *addr, socklen_t len, uint64_t deadline);

/* as recvmsg(), without waiting, but 0 is the end indeed: no message was overlooked */
ssize_t message_try(int fd, struct msghdr *msg, int flags);

/*
 * One message, with @n of @fds (at most MESSAGE_FDS, which stay the caller's) beside it,
 * without waiting: 0 or a negative errno, which errno is, too
 */
int message_pass(int fd, struct iovec *iov, size_t parts, const int *fds, unsigned int n);

/* as sendmsg(), with a negative errno */
ssize_t message_send(int fd, const struct msghdr *msg, uint64_t deadline);

/**
 * message_receive() - one message, and the descriptors that came with it
 * @fd:		socket
 * @iov:	where it goes
 * @parts:	of @iov
 * @fds:	receives @most descriptors (CLOEXEC), the caller's from here on; -1 where
 *		none has come. More than that are closed
 * @most:	at most MESSAGE_FDS
 * @deadline:	when to give up
 *
 * Return: bytes; 0: the peer has hung up; or a negative errno.
 */
ssize_t message_receive(int fd, struct iovec *iov, size_t parts, int *fds, unsigned int most,
			uint64_t deadline);

#endif
