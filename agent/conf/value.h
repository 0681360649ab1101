/* SPDX-License-Identifier: GPL-2.0 */
/* One value of the configuration file: text to number, and what is allowed. */
#ifndef GAGG_CONF_VALUE_H
#define GAGG_CONF_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "group/param.h"

/*
 * Parses the text of @p in the file. A sync mode and an address are only checked: @out does not
 * change; for bytes in place of chunks it is 0, see ring.h. false: @text is not allowed, and
 * @allowed names what is
 */
bool value_parse(const struct gagg_param *p, const char *text, uint32_t *out,
		 char *allowed, size_t size);

/* decimal, nothing around it; false also when it exceeds 32 bits */
bool value_number(const char *text, uint32_t *out);

/* @text for a message: shortened, without control characters */
const char *value_quote(const char *text, char buf[48]);

#endif
