// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * The tables of a store as a file, of this program or of gaggd.
 */
#define _GNU_SOURCE 1
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "broker.h"
#include "checkpoint_file.h"
#include "deadline.h"
#include "store.h"

#define AGENT	"agent:"

/* the name of a checkpoint that gaggd keeps; NULL: @path is a file */
static const char *checkpoint_name_at_agent(const char *path)
{
	return strncmp(path, AGENT, strlen(AGENT)) ? NULL : path + strlen(AGENT);
}

/* a file that is read or written, and the digest of the bytes so far */
struct stream {
	FILE *f;
	uint64_t digest;
};

static bool checkpoint_put(struct stream *s, uint64_t word)
{
	s->digest = ckp_digest(s->digest, word);
	return fwrite(&word, sizeof(word), 1, s->f) == 1;
}

static bool checkpoint_put_u64(struct stream *s, uint64_t v)
{
	return checkpoint_put(s, htole64(v));
}

static uint64_t checkpoint_bits_of(double x)
{
	uint64_t v;

	memcpy(&v, &x, sizeof(v));
	return v;
}

static uint64_t checkpoint_count_tables(const struct gagg_comm *c)
{
	const struct gagg_table *t;
	uint64_t n = 0;

	for (t = c->tables; t; t = t->next)
		n++;
	return n;
}

static uint64_t checkpoint_file_bytes(const struct gagg_comm *c)
{
	const struct gagg_table *t;
	uint64_t words = CKP_WORDS;

	for (t = c->tables; t; t = t->next)
		words += CKP_TABLE_WORDS + t->count;
	return words * sizeof(uint64_t);
}

static bool checkpoint_put_all(const struct gagg_comm *c, struct stream *s)
{
	const struct gagg_table *t;
	uint64_t magic;
	size_t i;
	bool ok;

	memcpy(&magic, CKP_MAGIC, sizeof(magic));
	ok = checkpoint_put(s, magic) && checkpoint_put_u64(s, checkpoint_count_tables(c));
	for (t = c->tables; t && ok; t = t->next) {
		ok = checkpoint_put_u64(s, t->dtype) &&
		     checkpoint_put_u64(s, checkpoint_bits_of(t->step)) &&
		     checkpoint_put_u64(s, t->count);
		for (i = 0; ok && i < t->count; i++)
			ok = checkpoint_put_u64(s, (uint64_t)store_pushed(t, i));
	}
	return ok && checkpoint_put_u64(s, s->digest);
}

/* 0 or a negative errno */
static int checkpoint_write_stream(const struct gagg_comm *c, FILE *f)
{
	struct stream s = { .f = f, .digest = CKP_DIGEST };

	return checkpoint_put_all(c, &s) && !fflush(f) ? 0 : -errno;
}

/* closes @f; returns @err, or the error of closing */
static int checkpoint_close_stream(FILE *f, int err)
{
	return fclose(f) && !err ? -errno : err;
}

/* fdopen() that does not leave @fd behind */
static FILE *checkpoint_stream_of(int fd, const char *mode)
{
	FILE *f = fd >= 0 ? fdopen(fd, mode) : NULL;
	int err = errno;

	if (!f && fd >= 0)
		close(fd);
	errno = err;
	return f;
}

/*
 * Opens a file without a name, so that none is left behind. If the file system has no such files,
 * or there is no /proc to give it a name, opens @new. In both cases no existing file is opened, and
 * no link is followed.
 */
static int checkpoint_open_new(const char *path, const char *new, bool *named)
{
	char *copy = strdup(path);
	int fd = -1;

	*named = access("/proc/self/fd", X_OK);
	if (copy && !*named) {
		fd = open(dirname(copy), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
		*named = fd < 0 && errno == EOPNOTSUPP;
	}
	if (*named)
		fd = open(new, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
	free(copy);
	return fd;
}

/* 0 or a negative errno; after an error @new is unchanged, or removed */
static int checkpoint_write_new(const struct gagg_comm *c, const char *path, const char *new)
{
	bool named;
	FILE *f;
	int err;

	/* left by a trainer that was killed */
	unlink(new);
	f = checkpoint_stream_of(checkpoint_open_new(path, new, &named), "w");
	if (!f)
		return -errno;
	err = checkpoint_write_stream(c, f);
	if (!err && fsync(fileno(f)))
		err = -errno;
	if (!err && !named) {
		err = ckp_link(fileno(f), AT_FDCWD, new);
		named = !err;
	}
	err = checkpoint_close_stream(f, err);
	if (err && named)
		unlink(new);
	return err;
}

/* at any time @path is the old file or the new one */
static int checkpoint_write_file(struct gagg_comm *c, const char *path)
{
	char *new;
	int err;

	if (asprintf(&new, "%s.new", path) < 0)
		return comm_error(c, GAGG_ERR_NOMEM, "no memory to write a checkpoint");
	err = checkpoint_write_new(c, path, new);
	if (!err && rename(new, path)) {
		err = -errno;
		unlink(new);
	}
	free(new);
	if (!err)
		err = ckp_sync_parent(path);
	return err ? comm_error(c, GAGG_ERR_SYSTEM, "%s: %s", path, strerror(-err)) : GAGG_OK;
}

static int checkpoint_check_agent(struct gagg_comm *c)
{
	return *c->session->group ? GAGG_OK :
		comm_error(c, GAGG_ERR_INVALID,
			   "gaggd keeps checkpoints by group, and only a communicator of gagg_init() knows its group's name");
}

/* write() to a socket, without SIGPIPE if its other end has gone */
static ssize_t checkpoint_socket_write(void *cookie, const char *buf, size_t size)
{
	size_t done;
	ssize_t n;

	for (done = 0; done < size; done += (size_t)n) {
		n = send((int)(intptr_t)cookie, buf + done, size - done, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			break;
	}
	return (ssize_t)done;
}

/*
 * read() from a socket with SO_RCVTIMEO. Any signal ends recv(): it is repeated, for a limited time
 */
static ssize_t checkpoint_socket_read(void *cookie, char *buf, size_t size)
{
	uint64_t deadline = deadline_in(BROKER_IDLE_MS);
	ssize_t n;

	do {
		n = recv((int)(intptr_t)cookie, buf, size, 0);
	} while (n < 0 && errno == EINTR && deadline_left(deadline));
	if (n < 0 && errno == EINTR)
		errno = EAGAIN;
	return n;
}

static int checkpoint_socket_close(void *cookie)
{
	return close((int)(intptr_t)cookie);
}

static FILE *checkpoint_socket_stream(int fd, const char *mode)
{
	static const cookie_io_functions_t how = {
		.read = checkpoint_socket_read, .write = checkpoint_socket_write,
		.close = checkpoint_socket_close,
	};
	FILE *f = fopencookie((void *)(intptr_t)fd, mode, how);

	if (!f)
		close(fd);
	return f;
}

static int checkpoint_save_at_agent(struct gagg_comm *c, const char *name)
{
	const struct session *s = c->session;
	const struct broker_checkpoint k = {
		.path = s->socket,
		.group = s->group,
		.name = name,
		.bytes = checkpoint_file_bytes(c),
	};
	int connection, fd, err = checkpoint_check_agent(c);
	FILE *f;

	if (err)
		return err;
	fd = broker_save(&k, s->timeout_ms, &connection);
	if (fd < 0)
		return comm_error_take(c, fd);
	f = checkpoint_socket_stream(fd, "w");
	err = f ? checkpoint_close_stream(f, checkpoint_write_stream(c, f)) : -ENOMEM;
	/* on these two errors gaggd has found something wrong, and COMMIT returns its reason */
	if (err && err != -EPIPE && err != -ECONNRESET) {
		close(connection);
		return comm_error(c, GAGG_ERR_SYSTEM, "checkpoint \"%s\", to gaggd: %s", name,
				  strerror(-err));
	}
	err = broker_commit(connection, &k);
	return err ? comm_error_take(c, err) : GAGG_OK;
}

/* compares the words of a file with the tables: position, and where words are read to */
struct reader {
	struct ckp_scan scan;
	struct gagg_table *t;
	size_t i;
};

static const char *checkpoint_take_word(const struct gagg_comm *c, struct reader *r, uint64_t word)
{
	enum ckp_word is = r->scan.next;
	uint64_t v = le64toh(word);
	const char *wrong = ckp_take(&r->scan, word);
	bool same = true;

	if (wrong)
		return wrong;
	switch (is) {
	case CKP_W_TABLES:
		if (v != checkpoint_count_tables(c))
			return "has another number of tables";
		break;
	case CKP_W_DTYPE:
		r->t = r->t ? r->t->next : c->tables;
		r->i = 0;
		same = v == r->t->dtype;
		break;
	case CKP_W_STEP:
		same = v == checkpoint_bits_of(r->t->step);
		break;
	case CKP_W_COUNT:
		same = v == r->t->count;
		break;
	case CKP_W_ELEMENT:
		r->t->load[r->i++] = (int64_t)v;
		break;
	default:
		break;
	}
	return same ? NULL : "has other tables";
}

static const char *checkpoint_get_all(const struct gagg_comm *c, FILE *f)
{
	struct reader r = { .t = NULL };
	const char *wrong = NULL;
	uint64_t word;
	size_t n;

	ckp_begin(&r.scan);
	while (!wrong && (n = fread(&word, 1, sizeof(word), f)) == sizeof(word))
		wrong = checkpoint_take_word(c, &r, word);
	if (!wrong && (n || r.scan.next != CKP_W_NONE))
		wrong = "is cut off, or has more than it should";
	return wrong;
}

static void checkpoint_loads_free(struct gagg_comm *c)
{
	struct gagg_table *t;

	for (t = c->tables; t; t = t->next) {
		free(t->load);
		t->load = NULL;
	}
}

/* Closes @f. */
static int checkpoint_read_stream(struct gagg_comm *c, FILE *f, const char *path)
{
	struct gagg_table *t;
	const char *wrong;
	int err;

	for (t = c->tables; t; t = t->next) {
		t->load = calloc(t->count, sizeof(*t->load));
		if (!t->load) {
			fclose(f);
			return comm_error(c, GAGG_ERR_NOMEM, "no memory to restore a table");
		}
	}
	wrong = checkpoint_get_all(c, f);
	err = ferror(f) ? errno : 0;
	fclose(f);
	if (err)
		return comm_error(c, GAGG_ERR_SYSTEM, "%s: %s", path, err == EAGAIN ?
				  "gaggd sends no more of it, and has not ended" :
				  strerror(err));
	return wrong ? comm_error(c, GAGG_ERR_INVALID, "%s %s", path, wrong) : GAGG_OK;
}

static int checkpoint_load(struct gagg_comm *c, const char *path)
{
	const char *name = checkpoint_name_at_agent(path);
	int fd, err = name ? checkpoint_check_agent(c) : GAGG_OK;
	FILE *f;

	if (err)
		return err;
	if (name) {
		fd = broker_load(c->session->socket, c->session->group, name,
				 c->session->timeout_ms);
		if (fd < 0)
			return comm_error_take(c, fd);
		f = checkpoint_socket_stream(fd, "r");
	} else {
		f = fopen(path, "re");
	}
	return f ? checkpoint_read_stream(c, f, path) :
		comm_error(c, GAGG_ERR_SYSTEM, "%s: %s", path, strerror(errno));
}

static int checkpoint_check_root(struct gagg_comm *c, int root)
{
	if (comm_check(c))
		return c->failed;
	if (root < 0 || root >= gagg_size(c))
		return comm_error(c, GAGG_ERR_INVALID, "there is no rank %d", root);
	return GAGG_OK;
}

static int checkpoint_save(struct gagg_comm *c, const char *path, int root)
{
	const char *name = checkpoint_name_at_agent(path);
	struct gagg_table *t;
	int err = checkpoint_check_root(c, root);

	for (t = c->tables; t && !err; t = t->next)
		err = store_snapshot(t);
	if (err || gagg_rank(c) != root)
		return err;
	return name ? checkpoint_save_at_agent(c, name) : checkpoint_write_file(c, path);
}

int gagg_checkpoint(struct gagg_comm *c, const char *path, int root)
{
	int err = comm_enter(c);

	if (err)
		return err;
	err = checkpoint_save(c, path, root);
	comm_exit(c);
	return err;
}

static int checkpoint_restore(struct gagg_comm *c, const char *path, int root)
{
	struct gagg_table *t;
	int err = checkpoint_check_root(c, root);

	if (!err && gagg_rank(c) == root)
		err = checkpoint_load(c, path);
	for (t = c->tables; t && !err; t = t->next)
		err = store_put(t, t->load);
	checkpoint_loads_free(c);
	return err;
}

int gagg_restore(struct gagg_comm *c, const char *path, int root)
{
	int err = comm_enter(c);

	if (err)
		return err;
	err = checkpoint_restore(c, path, root);
	comm_exit(c);
	return err;
}
