/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The archive: a directory of groups, each a directory of checkpoints. Only its
 * owner may look into it, and passes no descriptor that could write a file of it.
 *
 * Functions return 0 (or a descriptor) or -errno, with a sentence in @msg. Names are
 * to be as name_kept() has them.
 */
#ifndef ARCHIVE_H
#define ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <sys/stat.h>
#include <linux/gagg.h>

#define ARCHIVE_DIR	"/var/lib/gagg"

/**
 * struct archive_error - a sentence for the user
 * @text: it
 */
struct archive_error {
	char text[200];
};

/**
 * struct archive_entry - a checkpoint
 * @group: whose
 * @name: its name; empty: @problem is a sentence, why those of @group cannot be listed
 * @bytes: size of the file
 * @tables: how many are in it, as it says
 * @problem: NULL, or why @tables is 0: it does not begin as a checkpoint does, or
 *	cannot be read
 * @saved: when it was written
 */
struct archive_entry {
	char group[GAGG_NAME_MAX];
	char name[GAGG_NAME_MAX];
	uint64_t bytes;
	uint64_t tables;
	const char *problem;
	time_t saved;
};

/* not 0: it has seen enough */
typedef int (*archive_cb)(const struct archive_entry *e, void *arg);

/* The directory @path, made if it is not there and @make. -ENOENT: it is not there. */
int archive_open(const char *path, bool make, struct archive_error *err);

/* The directory of a group, as above. */
int archive_group(int top, const char *group, bool make, struct archive_error *err);

/* Checkpoints of a group by name; what is no file in its directory is passed over. */
int archive_each(int dir, const char *group, archive_cb cb, void *arg);

/* A file without a name, to be written, and to be placed under one. */
int archive_new(int dir, struct archive_error *err);

/*
 * Give the file @fd, of archive_new(), a name, in place of an older one's. Lasts when
 * the file and @dir are synced.
 */
int archive_place(int dir, int fd, const char *name, struct archive_error *err);

/* The file of a checkpoint, to be read; the sentence says which there are. */
int archive_load(const char *path, const char *group, const char *name,
		 struct archive_error *err);

/*
 * All checkpoints, or those of @group; nothing of a group that has none. -ENOENT: @path
 * is not there.
 */
int archive_list(const char *path, const char *group, archive_cb cb, void *arg,
		 struct archive_error *err);

/* Remove one, and the group's directory with the last; the sentence says which there are. */
int archive_delete(const char *path, const char *group, const char *name,
		   struct archive_error *err);

#endif
