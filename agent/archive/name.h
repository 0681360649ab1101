/* SPDX-License-Identifier: GPL-2.0 */
/* Names of groups, and of checkpoints. */
#ifndef ARCHIVE_NAME_H
#define ARCHIVE_NAME_H

#include <stdbool.h>

#include "group/name.h"

/*
 * Does the kernel accept it as the name of a group, apart from its length? No slash; and no control
 * characters, which would be in the log.
 */
static inline bool name_valid(const char *name)
{
	return gagg_name_fits(name, UINT32_MAX);
}

/*
 * May a file or directory of the archive have that name? Not ".", "..", or names that the archive
 * itself uses; nor names that a command line takes for an option.
 */
static inline bool name_kept(const char *name)
{
	return name_valid(name) && *name != '.' && *name != '-';
}

#endif
