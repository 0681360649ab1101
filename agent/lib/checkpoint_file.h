/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The file of a checkpoint: words of 64 bits, little-endian.
 *
 *	"GAGGCKP1"
 *	tables
 *	for each table
 *		element type (enum gagg_dtype)
 *		step (f64)
 *		elements
 *		the elements (s64), in steps
 *	FNV-1a of all before it
 */
#ifndef GAGG_CHECKPOINT_FILE_H
#define GAGG_CHECKPOINT_FILE_H

#include <stdint.h>

#define CKP_MAGIC	"GAGGCKP1"
#define CKP_DIGEST	0xcbf29ce484222325ULL	/* of nothing */

/* words beside the elements: of the file; of a table */
#define CKP_WORDS	3
#define CKP_TABLE_WORDS	3

enum ckp_word {
	CKP_W_MAGIC,
	CKP_W_TABLES,
	CKP_W_DTYPE,
	CKP_W_STEP,
	CKP_W_COUNT,
	CKP_W_ELEMENT,
	CKP_W_DIGEST,
	CKP_W_NONE,	/* the file is at its end */
};

/**
 * struct ckp_scan - a file that is read word by word
 * @next: what the next word is
 * @tables: how many more begin
 * @elements: how many more the table has
 * @digest: of all words so far
 */
struct ckp_scan {
	enum ckp_word next;
	uint64_t tables;
	uint64_t elements;
	uint64_t digest;
};

/* the digest of what has @digest and then @word, as it is in the file */
uint64_t ckp_digest(uint64_t digest, uint64_t word);

void ckp_begin(struct ckp_scan *s);

/**
 * ckp_take() - the next word of a file
 * @s:		the file
 * @word:	as it is in the file
 *
 * Return: NULL, or what is wrong with the file, to follow its name. A file is whole
 * when @next is CKP_W_NONE after its last word.
 */
const char *ckp_take(struct ckp_scan *s, uint64_t word);

/*
 * Give a file of O_TMPFILE its first name, in the open directory @dir: one that nothing
 * has, not even a symbolic link. 0 or a negative errno.
 */
int ckp_link(int fd, int dir, const char *name);

/*
 * Sync the directory that @path is in, so that its new name lasts. 0 or a negative errno;
 * 0 as well where the file system cannot, and where it may be written and not read.
 */
int ckp_sync_parent(const char *path);

#endif
