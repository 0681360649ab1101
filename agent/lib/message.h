/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Messages to a daemon and back, over a SOCK_SEQPACKET socket: until a deadline
 * (deadline.h), and whatever signals the calling thread takes meanwhile.
 */
#ifndef GAGG_MESSAGE_H
#define GAGG_MESSAGE_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* 0 or a negative errno; -ETIMEDOUT: nobody accepts */
int message_connect(int fd, const struct sockaddr *addr, socklen_t len, uint64_t deadline);

/* as sendmsg() and recvmsg(), with a negative errno; descriptors that come are CLOEXEC */
ssize_t message_send(int fd, const struct msghdr *msg, uint64_t deadline);
ssize_t message_receive(int fd, struct msghdr *msg, uint64_t deadline);

#endif
