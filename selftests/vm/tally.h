/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a fuzzing program has done: by kind, and with which errors. In memory that
 * processes share, counted by all threads. On a slow machine it may go on for
 * TALLY_PATIENCE times as long as it is told to, until it has done all kinds.
 */
#ifndef TALLY_H
#define TALLY_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TALLY_KINDS	32
#define TALLY_ERRNOS	256
#define TALLY_PATIENCE	8

struct tally {
	unsigned long taken[TALLY_KINDS];
	unsigned long refused[TALLY_KINDS];
	unsigned long error[TALLY_ERRNOS];
};

static inline struct tally *tally_new(void)
{
	void *p = mmap(NULL, sizeof(struct tally), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	return p;
}

/* @err: an errno, or 0 */
static inline void tally_add(struct tally *t, unsigned int kind, int err)
{
	unsigned long *n = err ? &t->refused[kind] : &t->taken[kind];

	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
	if (err)
		__atomic_fetch_add(&t->error[err % TALLY_ERRNOS], 1, __ATOMIC_RELAXED);
}

/* was nothing done, or taken, of kind @i, which is called @name? */
static inline bool tally_idle(const struct tally *t, unsigned int i, const char *name)
{
	if (!name[0])
		return false;
	return !t->taken[i] && (name[0] == '+' || !t->refused[i]);
}

/* has something of each kind been done by now? */
static inline bool tally_complete(const struct tally *t, const char *const *names)
{
	unsigned int i;

	for (i = 0; names[i]; i++)
		if (tally_idle(t, i, names[i]))
			return false;
	return true;
}

/*
 * Says what was done. @names: of the kinds, up to a NULL, empty if there is none; of
 * one that begins with '+' something has to be taken. False: nothing was done, or
 * taken, of a kind.
 */
static inline bool tally_report(const struct tally *t, const char *who,
				const char *const *names)
{
	bool good = true;
	unsigned int i;

	for (i = 0; names[i]; i++) {
		bool must = names[i][0] == '+', idle = tally_idle(t, i, names[i]);

		if (!names[i][0])
			continue;
		printf("# %s: %-14s %8lu taken %8lu refused%s\n", who, names[i] + must,
		       t->taken[i], t->refused[i], idle ? "   <-- too little" : "");
		good &= !idle;
	}
	printf("# %s: errors:", who);
	for (i = 0; i < TALLY_ERRNOS; i++)
		if (t->error[i])
			printf(" %s %lu", strerrorname_np(i) ?: "?", t->error[i]);
	printf("\n");
	return good;
}

#endif
