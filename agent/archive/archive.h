/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The archive: a directory of groups, each a directory of checkpoints. Only its owner may read it,
 * and passes no descriptor with which one of its files could be written.
 *
 * Functions return 0 (or a descriptor) or -errno, with a sentence in @msg. name_kept() must accept
 * names.
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
 * @text: the sentence
 */
struct archive_error {
	char text[200];
};

/**
 * struct archive_entry - a checkpoint
 * @group: its group
 * @name: its name; empty: @problem says why the checkpoints of @group cannot be listed
 * @bytes: size of the file
 * @tables: number of tables in it, according to its header
 * @problem: NULL, or why @tables is 0: the file does not begin like a checkpoint, or cannot be read
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

/* returns not 0 to stop */
typedef int (*archive_cb)(const struct archive_entry *e, void *arg);

/*
 * Opens the directory @path; creates it if it does not exist and @make is set. -ENOENT: it does not
 * exist.
 */
int archive_open(const char *path, bool make, struct archive_error *err);

/* Opens the directory of a group, as above. */
int archive_group(int top, const char *group, bool make, struct archive_error *err);

/*
 * Calls @cb for the checkpoints of a group by name; entries of its directory that are no files are
 * skipped.
 */
int archive_each(int dir, const char *group, archive_cb cb, void *arg);

/* Creates a file without a name, for writing; archive_place() gives it one. */
int archive_new(int dir, struct archive_error *err);

/*
 * Gives a file of archive_new() a name, and replaces an older file of that name. It is durable when
 * the file and @dir are synced.
 */
int archive_place(int dir, int fd, const char *name, struct archive_error *err);

/*
 * Opens the file of a checkpoint for reading; if it does not exist, the sentence names those that
 * do.
 */
int archive_load(const char *path, const char *group, const char *name,
		 struct archive_error *err);

/*
 * Calls @cb for all checkpoints, or for those of @group; a group without any is skipped. -ENOENT:
 * @path does not exist.
 */
int archive_list(const char *path, const char *group, archive_cb cb, void *arg,
		 struct archive_error *err);

/*
 * Removes a checkpoint, and with the last one the group's directory; if it does not exist, the
 * sentence names those that do.
 */
int archive_delete(const char *path, const char *group, const char *name,
		   struct archive_error *err);

#endif
