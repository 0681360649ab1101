/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which groups were made from which file: what reconcile() may delete. One
 * small text file for each network namespace in /run/gagg, which a boot
 * empties as it empties the kernel. A line is "NAME PATH".
 */
#ifndef GAGG_CONF_APPLIED_H
#define GAGG_CONF_APPLIED_H

#include <stdbool.h>
#include <stddef.h>

#define APPLIED_DIR	"/run/gagg"

struct applied {
	char *text;
	bool changed;
};

/*
 * Where: a namespace's cookie, unlike its inode, is never used again.
 * Returns 0 or -errno.
 */
int applied_path(char *buf, size_t size);

/* A file that is missing is an empty one. 0 or -errno; free in either case. */
int applied_load(struct applied *a, const char *path);
/* Does nothing when nothing changed; the file is replaced at once or not. */
int applied_save(struct applied *a, const char *path);
void applied_free(struct applied *a);

bool applied_has(const struct applied *a, const char *name, const char *config);
/* A group has been made from one file: the last. false: no memory */
bool applied_add(struct applied *a, const char *name, const char *config);
void applied_remove(struct applied *a, const char *name);

#endif
