/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * What the program has been given and frees with us: communicators, plans. One that was
 * freed is known without being read.
 */
#ifndef GAGG_KNOWN_H
#define GAGG_KNOWN_H

#include <stdbool.h>

/* within the object */
struct known {
	struct known *next;
};

void known_add(struct known *k);
/* @k is the address within an object that is there, or was */
bool known_is(const struct known *k);
/* false: it was not there. Of two who remove it, one has removed it */
bool known_remove(struct known *k);

#endif
