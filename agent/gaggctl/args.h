/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line, word by word. An error is kept as a sentence; functions that find one return
 * false.
 */
#ifndef GAGGCTL_ARGS_H
#define GAGGCTL_ARGS_H

#include "../conf/ring.h"
#include "../nl/nl.h"

struct args {
	char **next;		/* words left, NULL-terminated */
	bool help;		/* --help was among the words */
	bool json;		/* -j was among the words */
	const char *twin;	/* value of --twin; NULL: it was not there */
	char error[256];
};

bool args_fail(struct args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Takes the next word; @what: what is expected, for the error. */
bool args_take(struct args *a, const char *what, const char **out);

/* Checks that no word is left. */
bool args_end(struct args *a);

/*
 * Index of @word in @words (ends with NULL): the same word, or the only one that begins with it.
 * -1: there is none, or @word is empty; the error lists the choice.
 */
int args_match(struct args *a, const char *what, const char *word,
	       const char *const *words);

/* Values. @what is the keyword, for the error. */
bool args_number(struct args *a, const char *what, const char *text,
		 uint64_t max, uint64_t *out);
bool args_octal(struct args *a, const char *what, const char *text,
		uint32_t *out);
bool args_ip(struct args *a, const char *what, const char *text,
	     struct nl_ip *out);
bool args_uid(struct args *a, const char *text, uint32_t *out);
bool args_gid(struct args *a, const char *text, uint32_t *out);
/* one of the words of @p */
bool args_word(struct args *a, const struct gagg_param *p, const char *text,
	       uint32_t *out);
/* "auto", which is 0, or a number */
bool args_auto(struct args *a, const struct gagg_param *p, const char *text,
	       uint32_t *out);
bool args_multicast(struct args *a, const char *text, struct nl_ip *out);
bool args_sync(struct args *a, const char *text, struct gagg_sync_param *out);

/* Copy a word where @size bytes are, the final zero included. */
bool args_copy(struct args *a, const char *what, const char *text, char *out,
	       size_t size);

/* Take the name of a group. */
bool args_group(struct args *a, char name[GAGG_NAME_MAX]);

/* RANK=ADDR[,ROLE] */
bool args_member(struct args *a, const char *text, struct nl_member *out);

bool args_ring(struct args *a, const char *text, struct ring_size *out);

#endif
