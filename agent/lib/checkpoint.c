// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * The tables of a store as a file. Little-endian:
 *
 *	8 bytes	"GAGGCKP1"
 *	u64	tables
 *	for each table
 *		u64	element type (enum gagg_dtype)
 *		f64	step
 *		u64	elements
 *		s64[]	elements, in steps
 *	u64	FNV-1a of all before it
 */
#define _GNU_SOURCE 1
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store.h"

static const char magic[8] = "GAGGCKP1";

#define FNV_BASIS	0xcbf29ce484222325ULL
#define FNV_PRIME	0x100000001b3ULL

/* a file on its way, and the digest of what has passed */
struct stream {
	FILE *f;
	uint64_t digest;
};

static void digest(struct stream *s, const void *data, size_t size)
{
	const unsigned char *b = data;
	size_t i;

	for (i = 0; i < size; i++)
		s->digest = (s->digest ^ b[i]) * FNV_PRIME;
}

static bool put(struct stream *s, const void *data, size_t size)
{
	digest(s, data, size);
	return fwrite(data, 1, size, s->f) == size;
}

static bool put_u64(struct stream *s, uint64_t v)
{
	v = htole64(v);
	return put(s, &v, sizeof(v));
}

static bool get(struct stream *s, void *data, size_t size)
{
	if (fread(data, 1, size, s->f) != size)
		return false;
	digest(s, data, size);
	return true;
}

static bool get_u64(struct stream *s, uint64_t *v)
{
	if (!get(s, v, sizeof(*v)))
		return false;
	*v = le64toh(*v);
	return true;
}

static uint64_t bits_of(double x)
{
	uint64_t v;

	memcpy(&v, &x, sizeof(v));
	return v;
}

static uint64_t count_tables(const struct gagg_comm *c)
{
	const struct gagg_table *t;
	uint64_t n = 0;

	for (t = c->tables; t; t = t->next)
		n++;
	return n;
}

static bool put_all(const struct gagg_comm *c, struct stream *s)
{
	bool ok = put(s, magic, sizeof(magic)) && put_u64(s, count_tables(c));
	const struct gagg_table *t;
	size_t i;

	for (t = c->tables; t && ok; t = t->next) {
		ok = put_u64(s, t->dtype) && put_u64(s, bits_of(t->step)) &&
		     put_u64(s, t->count);
		for (i = 0; ok && i < t->count; i++)
			ok = put_u64(s, (uint64_t)store_pushed(t, i));
	}
	return ok && put_u64(s, s->digest);
}

/* 0 or a negative errno; who looks at @path finds the old file or the new one */
static int write_file(const struct gagg_comm *c, const char *path)
{
	struct stream s = { .digest = FNV_BASIS };
	char *new;
	bool ok;
	int err;

	if (asprintf(&new, "%s.new", path) < 0)
		return -ENOMEM;
	s.f = fopen(new, "we");
	ok = s.f && put_all(c, &s) && !fflush(s.f) && !fsync(fileno(s.f));
	err = errno;
	if (s.f && fclose(s.f) && ok) {
		ok = false;
		err = errno;
	}
	if (ok && rename(new, path)) {
		ok = false;
		err = errno;
	}
	if (!ok && s.f)
		unlink(new);
	free(new);
	return ok ? 0 : -err;
}

/* values of a table, into its spare; false: they are not of this table */
static bool get_table(struct stream *s, struct gagg_table *t)
{
	uint64_t dtype, step, count, v;
	size_t i;

	if (!get_u64(s, &dtype) || !get_u64(s, &step) || !get_u64(s, &count) ||
	    dtype != t->dtype || step != bits_of(t->step) || count != t->count)
		return false;
	for (i = 0; i < t->count; i++) {
		if (!get_u64(s, &v))
			return false;
		t->load[i] = (int64_t)v;
	}
	return true;
}

static const char *get_all(const struct gagg_comm *c, struct stream *s)
{
	char head[sizeof(magic)];
	uint64_t tables, want, is;
	struct gagg_table *t;

	if (!get(s, head, sizeof(head)) || memcmp(head, magic, sizeof(magic)) ||
	    !get_u64(s, &tables))
		return "is no checkpoint";
	if (tables != count_tables(c))
		return "has another number of tables";
	for (t = c->tables; t; t = t->next)
		if (!get_table(s, t))
			return "has other tables, or is cut off";
	want = s->digest;
	if (!get_u64(s, &is) || is != want || fgetc(s->f) != EOF)
		return "is damaged: its checksum is wrong";
	return NULL;
}

static void loads_free(struct gagg_comm *c)
{
	struct gagg_table *t;

	for (t = c->tables; t; t = t->next) {
		free(t->load);
		t->load = NULL;
	}
}

static int read_file(struct gagg_comm *c, const char *path)
{
	struct stream s = { .f = fopen(path, "re"), .digest = FNV_BASIS };
	struct gagg_table *t;
	const char *wrong;

	if (!s.f)
		return comm_error(c, GAGG_ERR_SYSTEM, "%s: %s", path, strerror(errno));
	for (t = c->tables; t; t = t->next) {
		t->load = calloc(t->count, sizeof(*t->load));
		if (!t->load) {
			fclose(s.f);
			return comm_error(c, GAGG_ERR_NOMEM, "no memory to restore a table");
		}
	}
	wrong = get_all(c, &s);
	fclose(s.f);
	return wrong ? comm_error(c, GAGG_ERR_INVALID, "%s %s", path, wrong) : GAGG_OK;
}

static int check_root(struct gagg_comm *c, int root)
{
	if (c->failed)
		return c->failed;
	if (root < 0 || root >= gagg_size(c))
		return comm_error(c, GAGG_ERR_INVALID, "there is no rank %d", root);
	return GAGG_OK;
}

int gagg_checkpoint(struct gagg_comm *c, const char *path, int root)
{
	struct gagg_table *t;
	int err = check_root(c, root);

	for (t = c->tables; t && !err; t = t->next)
		err = store_snapshot(t);
	if (err || gagg_rank(c) != root)
		return err;
	err = write_file(c, path);
	return err ? comm_error(c, GAGG_ERR_SYSTEM, "%s: %s", path, strerror(-err)) : GAGG_OK;
}

int gagg_restore(struct gagg_comm *c, const char *path, int root)
{
	struct gagg_table *t;
	int err = check_root(c, root);

	if (!err && gagg_rank(c) == root)
		err = read_file(c, path);
	for (t = c->tables; t && !err; t = t->next)
		err = store_put(t, t->load);
	loads_free(c);
	return err;
}
