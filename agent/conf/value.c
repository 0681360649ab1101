// SPDX-License-Identifier: GPL-2.0
/*
 * Values of the configuration file.
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../nl/nl.h"
#include "ring.h"
#include "sync_text.h"
#include "value.h"

static bool value_digits(const char *text, int base, unsigned long max, uint32_t *out)
{
	unsigned long v;
	char *end;

	/* strtoul() itself takes blanks, signs and prefixes. */
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	v = strtoul(text, &end, base);
	if (errno || *end || v > max)
		return false;
	*out = v;
	return true;
}

bool value_number(const char *text, uint32_t *out)
{
	return value_digits(text, 10, UINT32_MAX, out);
}

static bool value_parse_number(const struct gagg_param *p, const char *text,
			       uint32_t *out, char *allowed, size_t size)
{
	uint32_t v;

	if (value_number(text, &v) && v >= p->min && gagg_param_fits(p, v)) {
		*out = v;
		return true;
	}
	if (p->power)
		snprintf(allowed, size, "a power of two from %u to %u", p->min,
			 p->max);
	else if (p->step)
		snprintf(allowed, size, "a multiple of %u from %u to %u",
			 p->step, p->min, p->max);
	else
		snprintf(allowed, size, "a number from %u to %u", p->min,
			 p->max);
	return false;
}

static bool value_parse_auto(const struct gagg_param *p, const char *text,
			     uint32_t *out, char *allowed, size_t size)
{
	size_t n;

	if (nl_field_word_parse(p, text, out) || value_parse_number(p, text, out, allowed, size))
		return true;
	n = strlen(allowed);
	snprintf(allowed + n, size - n, ", or auto");
	return false;
}

static bool value_parse_bits(const struct gagg_param *p, const char *text,
			     uint32_t *out, char *allowed, size_t size)
{
	if (value_digits(text, 8, p->max, out) && gagg_param_fits(p, *out))
		return true;
	snprintf(allowed, size, "read and write bits in octal, \"0000\" to \"%04o\"", p->max);
	return false;
}

/* "a, b or c" */
static bool value_parse_word(const struct gagg_param *p, const char *text,
			     uint32_t *out, char *allowed, size_t size)
{
	size_t used = 0;

	if (nl_field_word_parse(p, text, out))
		return true;
	for (uint32_t i = 0; p->words[i] && used < size; i++)
		used += snprintf(allowed + used, size - used, "%s%s",
				 !i ? "" : p->words[i + 1] ? ", " : " or ", p->words[i]);
	return false;
}

/* ~0 is "no id" to the kernel: it names nobody */
static bool value_parse_user(const char *text, uint32_t *out, char *allowed,
			     size_t size)
{
	struct passwd *pw;

	if (value_digits(text, 10, UINT32_MAX - 1, out))
		return true;
	pw = getpwnam(text);
	if (pw) {
		*out = pw->pw_uid;
		return true;
	}
	snprintf(allowed, size, "a number, or the name of a user of this host");
	return false;
}

static bool value_parse_group(const char *text, uint32_t *out, char *allowed,
			      size_t size)
{
	struct group *gr;

	if (value_digits(text, 10, UINT32_MAX - 1, out))
		return true;
	gr = getgrnam(text);
	if (gr) {
		*out = gr->gr_gid;
		return true;
	}
	snprintf(allowed, size, "a number, or the name of a group of this host");
	return false;
}

static bool value_parse_sync(const char *text, char *allowed, size_t size)
{
	struct gagg_sync_param p;
	char wrong[112];

	if (sync_text_parse(text, &p, wrong, sizeof(wrong)))
		return true;
	snprintf(allowed, size, "a sync mode (%s)", wrong);
	return false;
}

static bool value_parse_multicast(const char *text, char *allowed, size_t size)
{
	struct nl_ip ip;

	if (nl_multicast_parse(text, &ip))
		return true;
	snprintf(allowed, size,
		 "none, or a multicast address: 224.0.0.0 to 239.255.255.255, or ff02:: and others with a scope above 1");
	return false;
}

static bool value_parse_size(const struct gagg_param *p, const char *text, uint32_t *out,
			     char *allowed, size_t size)
{
	struct ring_size ring;

	if (ring_parse(text, &ring) && (ring.bytes || gagg_param_fits(p, ring.chunks))) {
		*out = ring.chunks;
		return true;
	}
	snprintf(allowed, size, "a number of chunks from %u to %u, or bytes as in 64M", p->min,
		 p->max);
	return false;
}

bool value_parse(const struct gagg_param *p, const char *text, uint32_t *out,
		 char *allowed, size_t size)
{
	switch ((enum gagg_param_kind)p->kind) {
	case GAGG_PARAM_NUMBER:
		return value_parse_number(p, text, out, allowed, size);
	case GAGG_PARAM_AUTO:
		return value_parse_auto(p, text, out, allowed, size);
	case GAGG_PARAM_SIZE:
		return value_parse_size(p, text, out, allowed, size);
	case GAGG_PARAM_BITS:
		return value_parse_bits(p, text, out, allowed, size);
	case GAGG_PARAM_WORD:
		return value_parse_word(p, text, out, allowed, size);
	case GAGG_PARAM_USER:
		return value_parse_user(text, out, allowed, size);
	case GAGG_PARAM_GROUP:
		return value_parse_group(text, out, allowed, size);
	case GAGG_PARAM_SYNC:
		return value_parse_sync(text, allowed, size);
	case GAGG_PARAM_MULTICAST:
		return value_parse_multicast(text, allowed, size);
	}
	return false;
}

const char *value_quote(const char *text, char buf[48])
{
	size_t i;

	for (i = 0; i < 44 && text[i]; i++)
		buf[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ?
				 '?' : text[i];
	strcpy(buf + i, text[i] ? "..." : "");
	return buf;
}
