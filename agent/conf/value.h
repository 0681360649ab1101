/* SPDX-License-Identifier: GPL-2.0 */
/* One value of the configuration file: text to number, and what is allowed. */
#ifndef GAGG_CONF_VALUE_H
#define GAGG_CONF_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum value_type {
	VALUE_NUMBER,
	VALUE_LANES,	/* a number, or auto: 0 */
	VALUE_USER,	/* name or number */
	VALUE_GROUP,
	VALUE_MODE,	/* octal */
	VALUE_ROLES,
	VALUE_PLACEMENT,
	VALUE_LANE_TYPE,
	VALUE_WIRE,
	VALUE_SYNC,	/* a word; nothing to store as a number */
	VALUE_MULTICAST,	/* an address or none; likewise */
	VALUE_RING,	/* a number, or a size, which is stored as 0: see ring.h */
};

/**
 * struct value_rule - what an option takes
 * @name:	of the option
 * @type:	how it is written
 * @min:	VALUE_NUMBER, VALUE_RING, VALUE_LANES: lowest; so @max
 * @step:	VALUE_NUMBER, VALUE_LANES: 0, or it must be a multiple of this
 * @power:	VALUE_NUMBER: it must be a power of two
 * @fallback:	when the file does not say
 */
struct value_rule {
	const char *name;
	enum value_type type;
	uint32_t min, max, step;
	bool power;
	uint32_t fallback;
};

/* false: @text is not allowed, and @allowed says what is */
bool value_parse(const struct value_rule *rule, const char *text, uint32_t *out,
		 char *allowed, size_t size);

/* decimal, nothing around it; false also when it exceeds 32 bits */
bool value_number(const char *text, uint32_t *out);

/* @text for a message: shortened, without control characters */
const char *value_quote(const char *text, char buf[48]);

#endif
