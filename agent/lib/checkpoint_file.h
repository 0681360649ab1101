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
#define CKP_DIGEST	0xcbf29ce484222325ULL	/* FNV-1a of no bytes */

/* words of the file without tables; words of a table without elements */
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
 * @next: meaning of the next word
 * @tables: tables that still begin
 * @elements: elements of the table that still follow
 * @digest: of all words so far
 */
struct ckp_scan {
	enum ckp_word next;
	uint64_t tables;
	uint64_t elements;
	uint64_t digest;
};

/* the digest after @word, as it is in the file, follows bytes with @digest */
uint64_t ckp_digest(uint64_t digest, uint64_t word);

void ckp_begin(struct ckp_scan *s);

/**
 * ckp_take() - the next word of a file
 * @s:		the file
 * @word:	as it is in the file
 *
 * Return: NULL, or what is wrong with the file, as words to follow its name. A file is complete if
 * @next is CKP_W_NONE after its last word.
 */
const char *ckp_take(struct ckp_scan *s, uint64_t word);

/*
 * Gives a file of O_TMPFILE its first name in the open directory @dir. Fails if anything has that
 * name, even a symbolic link. 0 or a negative errno.
 */
int ckp_link(int fd, int dir, const char *name);

/*
 * Syncs the directory of @path, so that a new name there lasts. 0 or a negative errno; also 0 if
 * the file system cannot do it, or if the directory may be written but not read.
 */
int ckp_sync_parent(const char *path);

#endif
