/* SPDX-License-Identifier: GPL-2.0 */
/* Opening a session or a checkpoint for a client: the checks in order, then the file. */
#ifndef GAGGD_SESSION_H
#define GAGGD_SESSION_H

#include "broker.h"
#include "kernel.h"
#include "load.h"
#include "save.h"

extern const char *session_device;	/* tests have another */

/* users whom some group admits, as the kernel has reported, and how long that is valid */
struct owners {
	struct owner *all;
	size_t n;
	uint64_t until;	/* deadline.h; 0: the kernel was not asked */
};

/* sources of sessions and checkpoints: the argument of session_ops */
struct sessions {
	struct kernel *kernel;
	struct owners owners;
	struct loads loads;
	struct saves saves;
};

extern const struct broker_ops session_ops;

void sessions_exit(struct sessions *s);

#endif
