/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests that can do more than each commit has time for: more seeds, larger worlds. With
 * "--full" they do all of it, as in selftests/model/full.sh and the mutation suites.
 */
#ifndef FULL_H
#define FULL_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool full;

static inline unsigned int full_or(unsigned int all, unsigned int some)
{
	return full ? all : some;
}

/* the only argument that there can be */
static inline bool full_asked(int argc, char **argv)
{
	if (argc == 1)
		return false;
	if (argc == 2 && !strcmp(argv[1], "--full"))
		return true;
	fprintf(stderr, "%s: \"%s\" is not --full, and nothing else can be given\n", argv[0],
		argv[1]);
	exit(2);
}

#endif
