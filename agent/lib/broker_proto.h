/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The protocol of libgagg and gaggd over a SOCK_SEQPACKET UNIX socket: one request and one answer,
 * or two of each to save a checkpoint. gaggd checks the peer's credentials (SO_PEERCRED) against
 * uid, gid and mode of the group. It passes what it opens with SCM_RIGHTS:
 *
 *	OPEN	a /dev/gagg file that is bound to the rank (GAGG_IOC_OPEN)
 *	LOAD	a stream socket. gaggd sends all bytes of a checkpoint that it keeps, and
 *		closes it; the client is never idle for a minute.
 *	SAVE	a stream socket. The client sends all bytes of a checkpoint, never idle for
 *		a minute, closes it, and asks on the same connection to
 *	COMMIT	them: gaggd gives them the name when they are a whole checkpoint and on
 *		the disk. Without COMMIT nothing is left of them.
 *
 * gagg-twin has no netlink family, so gaggctl asks for its groups here. This requires no privilege,
 * as the family's dumps require none. Nothing is passed. Behind struct broker_reply, in the same
 * message, follows
 *
 *	TWIN	struct broker_twin
 *	GROUP	the family's answer to GROUP_GET, with GAGG_MA_TIMES
 *	STATS	the family's answer to STATS_GET
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
	BROKER_OP_TWIN,
	BROKER_OP_GROUP,
	BROKER_OP_STATS,
};

#define BROKER_ANSWER_MAX	32768	/* bytes of an answer, with what follows */

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
 * @rank:	OPEN: rank, or BROKER_RANK_ANY. GROUP without a name: position of the group,
 *		from zero. Else zero
 * @bytes:	SAVE: size of the checkpoint; else zero
 * @group:	name, zero-terminated; TWIN: BROKER_NO_GROUP
 * @name:	name of the checkpoint, zero-terminated; empty for other operations
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
 * @error:	0 (OPEN, SAVE, LOAD: one file descriptor comes with it) or a positive errno
 * @rank:	OPEN: rank that was bound. GROUP: number of groups
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

/* a valid name: daemons that do not know TWIN check it first */
#define BROKER_NO_GROUP	"-"

/**
 * struct broker_twin - about gagg-twin
 * @size:	size of this struct
 * @wire_min:	lowest version of datagrams that it speaks
 * @wire_max:	highest
 * @reserved:	zero
 * @version:	version of the program, zero-terminated
 * @config:	configuration file that it has read, zero-terminated
 */
struct broker_twin {
	uint32_t size;
	uint32_t wire_min;
	uint32_t wire_max;
	uint32_t reserved;
	char version[16];
	char config[240];
};

#endif
