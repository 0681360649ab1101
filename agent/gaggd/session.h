/* SPDX-License-Identifier: GPL-2.0 */
/* Opening a session for somebody: the checks in order, then the file. */
#ifndef GAGGD_SESSION_H
#define GAGGD_SESSION_H

#include "kernel.h"
#include "request.h"

extern const char *session_device;	/* tests have another */

/* broker_open_fn; @kernel: struct kernel */
int session_open(void *kernel, const struct broker_request *req,
		 const struct peer *peer, struct broker_reply *reply);

#endif
