/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Datagrams that have been seen, changed by a forger that knows the format.
 */
#ifndef MUTATE_H
#define MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dice.h"

#define MUTANT_MAX	20000

struct mutant {
	size_t length;
	uint8_t payload[MUTANT_MAX];
};

/* what is done to one; the names are in mutations[] */
enum mutation {
	MUTATE_FIELD,		/* a header field gets an odd value */
	MUTATE_BODY,		/* a field of the body does */
	MUTATE_FLAG,		/* a flag turns; at times what follows fits it */
	MUTATE_LANES,		/* other lanes, and the length that they take */
	MUTATE_TYPE,		/* another type, with a body of its length */
	MUTATE_BITS,		/* bits anywhere turn */
	MUTATE_CUT,
	MUTATE_LONGER,
	MUTATE_SPLICE,		/* goes on as another one */
	MUTATIONS,
};

extern const char *const mutations[];

/* length of the datagram that begins here, by its header; 0: it has none */
size_t datagram_length(const uint8_t *payload, size_t most);

/* @other: one of the same group, to take from */
void mutate(struct dice *d, enum mutation how, struct mutant *m,
	    const struct mutant *other);

/* the same with a field that is looked at last, when all others are right */
void mutate_late(struct dice *d, struct mutant *m, const struct mutant *other);

#define SECRETS		4096

/* cookies and instance ids of a group, the newest of them */
struct secrets {
	uint64_t known[SECRETS];
	unsigned int n;
};

void learn_secrets(struct secrets *s, const uint8_t *payload, size_t length);
/* an outsider does not know them: @m gets others */
void forget_secrets(struct dice *d, struct mutant *m, const struct secrets *s);

#endif
