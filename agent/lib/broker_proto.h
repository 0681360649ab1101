/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * What libgagg and gaggd say to each other: one request and one answer over a
 * SOCK_SEQPACKET UNIX socket. gaggd checks the peer's credentials
 * (SO_PEERCRED) against uid, gid and mode of the group, binds a /dev/gagg file
 * to the rank (GAGG_IOC_OPEN) and passes it with SCM_RIGHTS.
 */
#ifndef GAGG_BROKER_PROTO_H
#define GAGG_BROKER_PROTO_H

#include <stdint.h>
#include <linux/gagg.h>

#define BROKER_SOCKET		"/run/gagg/gaggd.sock"
#define BROKER_SOCKET_ENV	"GAGG_SOCKET"
#define BROKER_VERSION		1
#define BROKER_RANK_ANY		UINT32_MAX	/* lowest free local worker */
#define BROKER_MESSAGE_MAX	200

/**
 * struct broker_request - open a session
 * @size:	size of this struct
 * @version:	BROKER_VERSION
 * @group:	name, zero-terminated
 * @rank:	rank, or BROKER_RANK_ANY
 * @reserved:	zero
 */
struct broker_request {
	uint32_t size;
	uint32_t version;
	char group[GAGG_NAME_MAX];
	uint32_t rank;
	uint32_t reserved;
};

/**
 * struct broker_reply - the answer
 * @size:	size of this struct
 * @error:	0 (one file descriptor comes with it) or a positive errno
 * @rank:	rank that was bound
 * @reserved:	zero
 * @message:	a sentence for the user when @error is set
 */
struct broker_reply {
	uint32_t size;
	int32_t error;
	uint32_t rank;
	uint32_t reserved;
	char message[BROKER_MESSAGE_MAX];
};

#endif
