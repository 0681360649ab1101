/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Objects that the program has got from the library and gives back: communicators, plans. One that
 * was freed before is found out without reading it.
 */
#ifndef GAGG_KNOWN_H
#define GAGG_KNOWN_H

#include <stdbool.h>

/* within the object */
struct known {
	struct known *next;
};

void known_add(struct known *k);
/* is there an object with this address? @k may point to one that was freed */
bool known_is(const struct known *k);
/* false: there was none. If two threads remove it, one of them gets true */
bool known_remove(struct known *k);

#endif
