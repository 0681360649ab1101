// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#define _GNU_SOURCE 1
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checkpoint_file.h"
#include "gagg.h"

#define FNV_PRIME	0x100000001b3ULL

uint64_t ckp_digest(uint64_t digest, uint64_t word)
{
	unsigned char b[sizeof(word)];
	size_t i;

	memcpy(b, &word, sizeof(b));
	for (i = 0; i < sizeof(b); i++)
		digest = (digest ^ b[i]) * FNV_PRIME;
	return digest;
}

void ckp_begin(struct ckp_scan *s)
{
	*s = (struct ckp_scan){ .next = CKP_W_MAGIC, .digest = CKP_DIGEST };
}

static bool checkpoint_file_is_dtype(uint64_t v)
{
	return v == GAGG_FLOAT32 || v == GAGG_FLOAT64 || v == GAGG_INT32 || v == GAGG_INT64;
}

static enum ckp_word checkpoint_file_next_table(const struct ckp_scan *s)
{
	return s->tables ? CKP_W_DTYPE : CKP_W_DIGEST;
}

const char *ckp_take(struct ckp_scan *s, uint64_t word)
{
	uint64_t v = le64toh(word), before = s->digest;

	s->digest = ckp_digest(before, word);
	switch (s->next) {
	case CKP_W_MAGIC:
		if (memcmp(&word, CKP_MAGIC, sizeof(word)))
			return "is no checkpoint";
		s->next = CKP_W_TABLES;
		return NULL;
	case CKP_W_TABLES:
		s->tables = v;
		s->next = checkpoint_file_next_table(s);
		return NULL;
	case CKP_W_DTYPE:
		if (!checkpoint_file_is_dtype(v))
			return "is damaged: a table has elements of no type";
		s->tables--;
		s->next = CKP_W_STEP;
		return NULL;
	case CKP_W_STEP:
		s->next = CKP_W_COUNT;
		return NULL;
	case CKP_W_COUNT:
		s->elements = v;
		s->next = v ? CKP_W_ELEMENT : checkpoint_file_next_table(s);
		return NULL;
	case CKP_W_ELEMENT:
		if (!--s->elements)
			s->next = checkpoint_file_next_table(s);
		return NULL;
	case CKP_W_DIGEST:
		if (v != before)
			return "is damaged: its checksum is wrong";
		s->next = CKP_W_NONE;
		return NULL;
	case CKP_W_NONE:
		break;
	}
	return "is damaged: it goes on after its end";
}

int ckp_link(int fd, int dir, const char *name)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, self, dir, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int ckp_sync_parent(const char *path)
{
	char *copy = strdup(path);
	int fd, err = 0;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if ((fd < 0 && errno != EACCES) || (fd >= 0 && fsync(fd) && errno != EINVAL))
		err = -errno;
	if (fd >= 0)
		close(fd);
	free(copy);
	return err;
}
