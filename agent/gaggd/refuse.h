/* SPDX-License-Identifier: GPL-2.0 */
/* Answers of a daemon that refuses: gaggd, gagg-twin. */
#ifndef GAGGD_REFUSE_H
#define GAGGD_REFUSE_H

#include "../lib/broker_proto.h"

/* returns -1 (no descriptor); @error is a positive errno */
int refuse(struct broker_reply *reply, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
