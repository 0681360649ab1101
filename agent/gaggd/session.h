/* SPDX-License-Identifier: GPL-2.0 */
/* Opening a session or a checkpoint for somebody: the checks in order, then the file. */
#ifndef GAGGD_SESSION_H
#define GAGGD_SESSION_H

#include "broker.h"
#include "kernel.h"
#include "load.h"
#include "save.h"

extern const char *session_device;	/* tests have another */

/* what sessions and checkpoints come from: the argument of session_ops */
struct sessions {
	struct kernel *kernel;
	struct loads loads;
	struct saves saves;
};

extern const struct broker_ops session_ops;

#endif
