/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One call prints one thing, as text or as JSON, so both have the same contents. Text is written at
 * once, between @before and @after; JSON is written when the outermost print_close() completes it,
 * on one line. @key is NULL inside an array; a '-' in it becomes '_'.
 */
#ifndef GAGGCTL_PRINT_H
#define GAGGCTL_PRINT_H

#include <stdbool.h>
#include <stdint.h>

void print_mode(bool json);

void print_object(const char *key);
void print_array(const char *key);
void print_close(void);

void print_str(const char *key, const char *before, const char *value,
	       const char *after);
void print_u64(const char *key, const char *before, uint64_t value,
	       const char *after);
/* text: four octal digits; JSON: the same as a string */
void print_octal(const char *key, const char *before, uint32_t value,
		 const char *after);
/* text: @word when it is true, else nothing */
void print_flag(const char *key, const char *word, bool value);
/* layout; nothing in JSON */
void print_text(const char *text);

#endif
