/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * What libgagg and gaggd say to each other over a SOCK_SEQPACKET UNIX socket: one
 * request and one answer, or, to save a checkpoint, two. gaggd checks the peer's
 * credentials (SO_PEERCRED) against uid, gid and mode of the group. What it opens
 * is passed with SCM_RIGHTS:
 *
 *	OPEN	a /dev/gagg file that is bound to the rank (GAGG_IOC_OPEN)
 *	LOAD	a stream socket. gaggd sends all bytes of a checkpoint that it keeps, and
 *		closes it; the client is never idle for a minute.
 *	SAVE	a stream socket. The client sends all bytes of a checkpoint, never idle for
 *		a minute, closes it, and asks on the same connection to
 *	COMMIT	them: gaggd gives them the name when they are a whole checkpoint and on
 *		the disk. Without COMMIT nothing is left of them.
 */
#ifndef GAGG_BROKER_PROTO_H
#define GAGG_BROKER_PROTO_H

#include <stdint.h>
#include <linux/gagg.h>

#define BROKER_SOCKET		"/run/gagg/gaggd.sock"
#define BROKER_SOCKET_ENV	"GAGG_SOCKET"
#define BROKER_VERSION		3
#define BROKER_RANK_ANY		UINT32_MAX	/* lowest free local worker */
#define BROKER_MESSAGE_MAX	200

enum broker_op {
	BROKER_OP_OPEN	= 1,
	BROKER_OP_SAVE,
	BROKER_OP_COMMIT,
	BROKER_OP_LOAD,
};

/**
 * broker_save_seconds() - how long a save may take
 * @bytes:	of the checkpoint
 *
 * Return: seconds from SAVE to COMMIT, and from there to the answer: ten minutes, one
 * more for each GiB, and at most a week.
 */
static inline uint64_t broker_save_seconds(uint64_t bytes)
{
	uint64_t seconds = 600 + 60 * (bytes >> 30);

	return seconds < 7 * 86400 ? seconds : 7 * 86400;
}

/**
 * struct broker_request - what the client wants
 * @size:	size of this struct
 * @version:	BROKER_VERSION
 * @op:		enum broker_op
 * @rank:	OPEN: rank, or BROKER_RANK_ANY; else zero
 * @bytes:	SAVE: of the checkpoint; else zero
 * @group:	name, zero-terminated
 * @name:	of the checkpoint, zero-terminated; OPEN: empty
 */
struct broker_request {
	uint32_t size;
	uint32_t version;
	uint32_t op;
	uint32_t rank;
	uint64_t bytes;
	char group[GAGG_NAME_MAX];
	char name[GAGG_NAME_MAX];
};

/**
 * struct broker_reply - the answer
 * @size:	size of this struct
 * @error:	0 (one file descriptor comes with it, but with that of COMMIT) or a
 *		positive errno
 * @rank:	OPEN: rank that was bound
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
