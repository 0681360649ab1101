// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel refuses values out of range, with a sentence of its own. This file checks only what
 * could not be sent: text that is no number, numbers that would lose digits, and sync modes, which
 * the kernel has as numbers and only programs know by their names and forms.
 */
#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../conf/sync_text.h"
#include "args.h"

bool args_fail(struct args *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(a->error, sizeof(a->error), fmt, ap);
	va_end(ap);
	return false;
}

bool args_take(struct args *a, const char *what, const char **out)
{
	if (!*a->next)
		return args_fail(a, "%s is missing", what);
	*out = *a->next++;
	return true;
}

bool args_end(struct args *a)
{
	return !*a->next || args_fail(a, "'%s' is too much", *a->next);
}

static void arg_list_words(const char *const *words, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = 0;
	for (; *words && used < size; words++)
		used += snprintf(buf + used, size - used, "%s%s",
				 used ? ", " : "", *words);
}

int args_match(struct args *a, const char *what, const char *word,
	       const char *const *words)
{
	const char *found[8] = { NULL };
	size_t len = strlen(word), n = 0;
	char choice[160];
	int at = -1;

	for (int i = 0; words[i]; i++) {
		if (!strcmp(words[i], word))
			return i;
		if (!len || strncmp(words[i], word, len))
			continue;
		at = i;
		if (n < 7)
			found[n++] = words[i];
	}
	if (n == 1)
		return at;
	arg_list_words(n ? found : words, choice, sizeof(choice));
	if (!len)
		args_fail(a, "%s is missing; there are: %s", what, choice);
	else if (n)
		args_fail(a, "%s '%s' could be any of: %s", what, word, choice);
	else
		args_fail(a, "'%s' is no %s; there are: %s", word, what, choice);
	return -1;
}

/* strtoull() itself accepts blanks, signs and, with base 0, octal. */
static bool arg_digits(const char *text, int base, uint64_t max, uint64_t *out)
{
	char *end;

	if (base == 10 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		text += 2;
		base = 16;
	}
	if (!isxdigit((unsigned char)*text) || (base == 16 && text[1] == 'x'))
		return false;
	errno = 0;
	*out = strtoull(text, &end, base);
	return !errno && !*end && *out <= max;
}

bool args_number(struct args *a, const char *what, const char *text,
		 uint64_t max, uint64_t *out)
{
	return arg_digits(text, 10, max, out) ||
	       args_fail(a, "%s: expected a number from 0 to %llu, not '%s'",
			 what, (unsigned long long)max, text);
}

bool args_octal(struct args *a, const char *what, const char *text,
		uint32_t *out)
{
	uint64_t v;

	if (!arg_digits(text, 8, UINT32_MAX, &v))
		return args_fail(a, "%s: expected octal digits, as in 0660, not '%s'",
				 what, text);
	*out = v;
	return true;
}

bool args_ip(struct args *a, const char *what, const char *text,
	     struct nl_ip *out)
{
	return nl_ip_parse(text, out) ||
	       args_fail(a, "%s: expected an IPv4 or IPv6 address, not '%s'",
			 what, text);
}

bool args_multicast(struct args *a, const char *text, struct nl_ip *out)
{
	return nl_multicast_parse(text, out) ||
	       args_fail(a, "multicast: expected a multicast address, as 239.1.2.3 or ff15::1:2, or none, not '%s'",
			 text);
}

bool args_sync(struct args *a, const char *text, struct gagg_sync_param *out)
{
	char wrong[128];

	return sync_text_parse(text, out, wrong, sizeof(wrong)) ||
	       args_fail(a, "sync: %s", wrong);
}

bool args_uid(struct args *a, const char *text, uint32_t *out)
{
	struct passwd *pw;
	uint64_t v;

	if (arg_digits(text, 10, UINT32_MAX, &v)) {
		*out = v;
		return true;
	}
	pw = getpwnam(text);
	if (!pw)
		return args_fail(a, "uid: '%s' is no number and no user of this host",
				 text);
	*out = pw->pw_uid;
	return true;
}

bool args_gid(struct args *a, const char *text, uint32_t *out)
{
	struct group *gr;
	uint64_t v;

	if (arg_digits(text, 10, UINT32_MAX, &v)) {
		*out = v;
		return true;
	}
	gr = getgrnam(text);
	if (!gr)
		return args_fail(a, "gid: '%s' is no number and no group of this host",
				 text);
	*out = gr->gr_gid;
	return true;
}

bool args_word(struct args *a, const struct gagg_param *p, const char *text,
	       uint32_t *out)
{
	int i = args_match(a, p->noun, text, p->words);

	if (i >= 0)
		*out = p->min + i;
	return i >= 0;
}

bool args_auto(struct args *a, const struct gagg_param *p, const char *text,
	       uint32_t *out)
{
	uint64_t n;

	if (nl_field_word_parse(p, text, out))
		return true;
	if (!arg_digits(text, 10, UINT16_MAX, &n) || !n)
		return args_fail(a, "%s: expected auto, or a number from %u to %u, not '%s'",
				 p->name, p->min, p->max, text);
	*out = (uint32_t)n;
	return true;
}

bool args_copy(struct args *a, const char *what, const char *text, char *out,
	       size_t size)
{
	size_t len = strlen(text);

	if (len >= size)
		return args_fail(a, "%s: at most %zu characters, not '%.64s'",
				 what, size - 1, text);
	memcpy(out, text, len + 1);
	return true;
}

bool args_group(struct args *a, char name[GAGG_NAME_MAX])
{
	const char *text = "";

	return args_take(a, "the name of a group", &text) &&
	       args_copy(a, "name", text, name, GAGG_NAME_MAX);
}

static bool arg_member_role(struct args *a, const char *text, struct nl_member *m)
{
	if (m->set & NL_SET(GAGG_MA_ROLES))
		return args_fail(a, "member %u: two roles; one that works and aggregates is 'both'",
				 m->rank);
	m->set |= NL_SET(GAGG_MA_ROLES);
	return args_word(a, &nl_role, text, &m->roles);
}

bool args_member(struct args *a, const char *text, struct nl_member *out)
{
	char buf[128], *rest = buf, *word;
	uint64_t rank;

	memset(out, 0, sizeof(*out));
	if (!args_copy(a, "member", text, buf, sizeof(buf)))
		return false;
	word = strsep(&rest, "=");
	if (!rest)
		return args_fail(a, "member: expected RANK=ADDRESS, not '%s'",
				 text);
	if (!args_number(a, "rank", word, UINT32_MAX, &rank))
		return false;
	out->rank = rank;
	if (!args_ip(a, "member", strsep(&rest, ","), &out->addr))
		return false;
	out->set = NL_SET(GAGG_MA_RANK) | NL_SET(GAGG_MA_ADDRESS);
	while ((word = strsep(&rest, ",")))
		if (!arg_member_role(a, word, out))
			return false;
	return true;
}

bool args_ring(struct args *a, const char *text, struct ring_size *out)
{
	return ring_parse(text, out) ||
	       args_fail(a, "ring: expected a number of chunks, or bytes as in 64M, not '%s'",
			 text);
}
