/* SPDX-License-Identifier: GPL-2.0 */
/* Names of groups, and of checkpoints. */
#ifndef ARCHIVE_NAME_H
#define ARCHIVE_NAME_H

#include <stdbool.h>
#include <string.h>

/*
 * What the kernel takes as the name of a group, but for its length. No slash; and no
 * control characters, which would be in the log.
 */
static inline bool name_valid(const char *name)
{
	return *name &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
		       strlen(name);
}

/*
 * What a file of the archive, or a directory of it, is named: neither ".", nor "..",
 * nor what the archive itself names; nor what a command line takes for an option.
 */
static inline bool name_kept(const char *name)
{
	return name_valid(name) && *name != '.' && *name != '-';
}

#endif
