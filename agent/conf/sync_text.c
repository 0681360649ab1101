// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sync_text.h"

#define ANY	"rounds-0x"	/* an algorithm by its number, in two hexadecimal digits */

struct gagg_sync_range sync_text_range(const struct sync_mode *mode, u32 i)
{
	if (!sync_is_algorithm(mode->number))
		return gagg_sync_get(mode->number)->arg[i];
	return (struct gagg_sync_range){ mode->arg[i].min, mode->arg[i].max };
}

/* the text behind @name if that is what @text begins with, else NULL */
static const char *sync_text_behind(const char *text, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(text, name, n) && (!text[n] || text[n] == ':') ? text + n : NULL;
}

/* behind decimal digits; NULL: there are none, or more than 32 bits */
static const char *sync_text_digits(const char *text, u32 *n)
{
	const char *at = text;
	u64 v = 0;

	for (; *at >= '0' && *at <= '9' && at - text < 10; at++)
		v = v * 10 + (u64)(*at - '0');
	*n = (u32)v;
	return at > text && v <= ~0U ? at : NULL;
}

/* behind a point and the decimals that follow; NULL: there are none, or more than can be held */
static const char *sync_text_decimals(const char *text, u32 *n)
{
	u32 place = GAGG_SYNC_DECIMALS;
	const char *at;

	*n = 0;
	for (at = text + 1; *at >= '0' && *at <= '9' && place > 1; at++) {
		place /= 10;
		*n += place * (u32)(*at - '0');
	}
	return at > text + 1 ? at : NULL;
}

/* a parameter, @n[0], up to ':' or the end, and @n[1] its decimals; NULL: it is none */
static const char *sync_text_number(const char *text, bool decimals, u32 *n)
{
	const char *at = sync_text_digits(text, n);

	if (at && decimals && *at == '.')
		at = sync_text_decimals(at, n + 1);
	return at && (!*at || *at == ':') ? at : NULL;
}

static void sync_text_say_usage(const struct sync_mode *m, char *wrong, size_t size)
{
	char form[SYNC_NAME_MAX];

	if (m->example)
		snprintf(wrong, size, "%s is written %s, as in %s", m->name,
			 sync_mode_form(m, form), m->example);
	else
		snprintf(wrong, size, "%s has no parameters", m->name);
}

static void sync_text_say_range(const struct sync_mode *m, u32 i, char *wrong, size_t size)
{
	struct gagg_sync_range range = sync_text_range(m, i);
	char form[SYNC_NAME_MAX];

	if (m->arg[i].decimals) {
		snprintf(wrong, size, "%s", m->together);
		return;
	}
	snprintf(wrong, size, "%s of %s must be from %u to %u%s%s", m->arg[i].name,
		 sync_mode_form(m, form), range.min, range.max, m->arg[i].unit ? " " : "",
		 m->arg[i].unit ? m->arg[i].unit : "");
}

static bool sync_text_take_args(const struct sync_mode *m, const char *at,
				struct gagg_sync_param *p, char *wrong, size_t size)
{
	u32 i;

	for (i = 0; i < sync_mode_args(m) && *at == ':'; i++) {
		struct gagg_sync_range range = sync_text_range(m, i);

		at = sync_text_number(at + 1, m->arg[i].decimals, &p->arg[i]);
		if (!at || p->arg[i] < range.min || p->arg[i] > range.max) {
			sync_text_say_range(m, i, wrong, size);
			return false;
		}
	}
	if (*at || i < sync_mode_args(m) - m->optional) {
		sync_text_say_usage(m, wrong, size);
		return false;
	}
	if (!gagg_sync_check(p))
		return true;
	/* its parameters are in their ranges: they do not fit each other */
	snprintf(wrong, size, "%s", m->together);
	return false;
}

/* an algorithm without a name: any parameters, behind its number */
static bool sync_text_take_any(const char *at, struct gagg_sync_param *p)
{
	u32 i;

	for (i = 0; i < GAGG_SYNC_ARGS && at && *at == ':'; i++)
		at = sync_text_number(at + 1, false, &p->arg[i]);
	return at && !*at;
}

static bool sync_text_parse_any(const char *text, struct gagg_sync_param *p, char *wrong,
				size_t size)
{
	const struct sync_mode *m;
	char *at;

	p->mode = (u32)strtoul(text, &at, 16);
	m = sync_mode_find(p->mode);
	if (at == text + 2 && strspn(text, "0123456789abcdef") >= 2 && (!*at || *at == ':') &&
	    sync_is_algorithm(p->mode)) {
		if (m)
			return sync_text_take_args(m, at, p, wrong, size);
		if (sync_text_take_any(at, p))
			return true;
	}
	snprintf(wrong, size,
		 "an algorithm over rounds is written rounds-0xNN, NN from 80 to ff, and up to %d numbers, as in rounds-0x85:3",
		 GAGG_SYNC_ARGS);
	return false;
}

bool sync_text_parse(const char *text, struct gagg_sync_param *p, char *wrong, size_t size)
{
	const struct sync_mode *m;

	memset(p, 0, sizeof(*p));
	if (!strncmp(text, ANY, strlen(ANY)))
		return sync_text_parse_any(text + strlen(ANY), p, wrong, size);
	for (m = sync_modes; m->name; m++) {
		const char *at = sync_text_behind(text, m->name);

		if (!at)
			continue;
		p->mode = m->number;
		return sync_text_take_args(m, at, p, wrong, size);
	}
	snprintf(wrong, size, "unknown sync mode; `gaggctl sync list` shows those there are");
	return false;
}
