/* SPDX-License-Identifier: GPL-2.0 */
/* Sentences of the archive. */
#ifndef ARCHIVE_ERROR_H
#define ARCHIVE_ERROR_H

#include "archive.h"

/* -@error, a positive errno */
int archive_say(struct archive_error *err, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
