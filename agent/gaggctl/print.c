// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>

#include "print.h"

#define DEPTH_MAX	6
#define KEY_MAX		32

static bool json;
static int depth;
static struct json_object *stack[DEPTH_MAX];

void print_mode(bool on)
{
	json = on;
}

/* Adds @o to the open object or array. A program error, or lack of memory, ends the program. */
static void print_add(const char *key, struct json_object *o)
{
	struct json_object *parent = depth ? stack[depth - 1] : NULL;
	char name[KEY_MAX];
	size_t i;

	if (!o)
		abort();
	if (!parent)
		return;
	if (json_object_is_type(parent, json_type_array)) {
		if (json_object_array_add(parent, o))
			abort();
		return;
	}
	for (i = 0; i < sizeof(name) - 1 && key[i]; i++)
		name[i] = key[i] == '-' ? '_' : key[i];
	name[i] = 0;
	if (json_object_object_add(parent, name, o))
		abort();
}

static void print_push(const char *key, struct json_object *o)
{
	if (depth == DEPTH_MAX)
		abort();
	print_add(key, o);
	stack[depth++] = o;
}

void print_object(const char *key)
{
	if (json)
		print_push(key, json_object_new_object());
}

void print_array(const char *key)
{
	if (json)
		print_push(key, json_object_new_array());
}

void print_close(void)
{
	if (!json || --depth)
		return;
	puts(json_object_to_json_string_ext(stack[0],
					    JSON_C_TO_STRING_PLAIN |
					    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(stack[0]);
}

void print_str(const char *key, const char *before, const char *value,
	       const char *after)
{
	if (json)
		print_add(key, json_object_new_string(value));
	else
		printf("%s%s%s", before, value, after);
}

void print_u64(const char *key, const char *before, uint64_t value,
	       const char *after)
{
	if (json)
		print_add(key, json_object_new_uint64(value));
	else
		printf("%s%" PRIu64 "%s", before, value, after);
}

void print_octal(const char *key, const char *before, uint32_t value,
		 const char *after)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%04" PRIo32, value);
	print_str(key, before, digits, after);
}

void print_flag(const char *key, const char *word, bool value)
{
	if (json)
		print_add(key, json_object_new_boolean(value));
	else if (value)
		fputs(word, stdout);
}

void print_text(const char *text)
{
	if (!json)
		fputs(text, stdout);
}
