/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a host of a test was asked to do: words in a row. To be included after cmocka.h and its
 * headers.
 */
#ifndef SAID_H
#define SAID_H

#include <stdio.h>

static char said[512];

__attribute__((format(printf, 1, 2)))
static void say(const char *fmt, ...)
{
	size_t len = strlen(said);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said + len, sizeof(said) - len, fmt, ap);
	va_end(ap);
}

static void expect(const char *words)
{
	assert_string_equal(said, words);
	said[0] = 0;
}

#endif
