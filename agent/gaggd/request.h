/* SPDX-License-Identifier: GPL-2.0 */
/* Requests of clients to the broker: whether they are valid, and allowed. Pure functions. */
#ifndef GAGGD_REQUEST_H
#define GAGGD_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../lib/broker_proto.h"
#include "../nl/nl.h"

/* The process that asks: SO_PEERCRED and SO_PEERGROUPS. */
struct peer {
	pid_t pid;
	uid_t uid;
	gid_t gid;
	const gid_t *groups;
	size_t ngroups;
};

/**
 * request_check() - is this message a valid request?
 * @buf: the message
 * @have: bytes in @buf
 * @len: its length on the wire; more than @have when it was cut
 * @out: the request, with a terminated name
 * @msg: a sentence, on error
 *
 * Return: 0 or a positive errno.
 */
int request_check(const void *buf, size_t have, size_t len,
		  struct broker_request *out, char msg[BROKER_MESSAGE_MAX]);

/**
 * access_allowed() - as for a file that is opened for reading and writing
 * @p: process that asks
 * @uid: owner of the group
 * @gid: its group
 * @mode: its permission bits
 *
 * The first class that fits decides (owner, group, others), so an owner without bits is refused
 * even if others are not. Root is always allowed.
 */
bool access_allowed(const struct peer *p, uid_t uid, gid_t gid,
		    unsigned int mode);

/**
 * rank_candidates() - ranks that a request may be bound to, in the order to try
 * @g: the group with its members
 * @rank: asked for, or BROKER_RANK_ANY
 * @out: room for GAGG_RANKS_MAX ranks
 * @n: number of @out, at least 1 on success
 * @msg: a sentence, on error
 *
 * Return: 0 or a positive errno.
 */
int rank_candidates(const struct nl_group *g, uint32_t rank, uint32_t *out,
		    unsigned int *n, char msg[BROKER_MESSAGE_MAX]);

#endif
