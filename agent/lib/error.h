/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * What has gone wrong, as codes and as sentences.
 */
#ifndef GAGG_ERROR_H
#define GAGG_ERROR_H

#include <stddef.h>
#include <linux/gagg.h>
#include <linux/gagg_wire.h>
#include "gagg.h"

#define ERROR_MAX	576

/*
 * The sentence that gagg_last_error(NULL) returns, of the calling thread.
 * Returns @code.
 */
int error_set(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* the buffer of that sentence, ERROR_MAX bytes */
char *error_thread(void);

/* Clears that sentence: a call begins that may set it. */
void error_clear(void);

/*
 * Why an epoch has ended, as a sentence. Returns GAGG_ERR_DESYNC or
 * GAGG_ERR_PEER.
 */
int error_epoch(char *buf, size_t size, const struct gagg_ioc_status *st);

/* The epoch could not start: "config-mismatch: ..." */
void error_mismatch(char *buf, size_t size, const struct gagg_ioc_status *st);

/* The epoch could not start: chunks do not pass between hosts, or did not until now */
void error_blocked(char *buf, size_t size, const struct gagg_ioc_status *st);

/* The epoch has not started: "not joined yet: rank 2 (host not heard)", of @members */
void error_absent(char *buf, size_t size, const struct gagg_ioc_status *st,
		  uint64_t members);

/*
 * Names the ranks that hold up others: "rank 2 has not @what", "ranks 2, 5 have not @what"; "no
 * other rank has @what" if @ranks, which is not empty, is all of @others.
 */
void error_missing(char *buf, size_t size, uint64_t ranks, uint64_t others, const char *what);

#endif
