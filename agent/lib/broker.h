/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Asking gaggd for a session, and for checkpoints.
 *
 * @path: socket; NULL or empty: the default. @timeout_ms: for the answer; at most half a minute;
 * not positive: half a minute. Errors are negative enum gagg_error, with a sentence for
 * gagg_last_error(NULL).
 */
#ifndef GAGG_BROKER_H
#define GAGG_BROKER_H

#include <stdint.h>

#define BROKER_IDLE_MS	60000	/* a checkpoint comes from a disk, which may be slow */

/**
 * struct broker_checkpoint - a checkpoint that gaggd is to keep
 * @path:	socket, as above
 * @group:	its group
 * @name:	its name
 * @bytes:	its size
 */
struct broker_checkpoint {
	const char *path;
	const char *group;
	const char *name;
	uint64_t bytes;
};

/* a file of /dev/gagg bound to a rank, or an error */
int broker_open(const char *path, const char *group, uint32_t rank,
		int timeout_ms);

/*
 * A stream socket that takes @k->bytes, to be closed before broker_commit() of @connection,
 * which is to be closed instead to give it up; or an error. Sending fails when gaggd has
 * found something wrong, and broker_commit() says what.
 */
int broker_save(const struct broker_checkpoint *k, int timeout_ms, int *connection);

/* Keep the bytes that were sent. Closes @connection. 0 or an error. */
int broker_commit(int connection, const struct broker_checkpoint *k);

/*
 * Returns a stream socket into which gaggd sends a checkpoint, or an error. Reading fails with
 * EAGAIN when nothing has come for a minute, or for @timeout_ms.
 */
int broker_load(const char *path, const char *group, const char *name, int timeout_ms);

#endif
