/* SPDX-License-Identifier: GPL-2.0 */
/* Opening a session for somebody: the checks in order, then the file. */
#ifndef GAGGD_SESSION_H
#define GAGGD_SESSION_H

#include "kernel.h"
#include "request.h"

extern const char *session_device;	/* tests have another */

/*
 * Answer @req of @peer: @reply is filled. Returns a descriptor bound to
 * @reply->rank, or -1 with error and message in @reply.
 */
int session_open(struct kernel *k, const struct broker_request *req,
		 const struct peer *peer, struct broker_reply *reply);

#endif
