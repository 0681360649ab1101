// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggd/refuse.c agent/gaggd/request.c agent/gaggd/session.c agent/gaggd/save.c agent/gaggd/load.c agent/gaggd/broker.c agent/gaggd/daemon.c agent/gaggd/kernel.c agent/gaggd/watch.c agent/gaggd/limits.c agent/gaggd/loop.c agent/gaggd/log.c agent/gaggd/outlet.c agent/gaggd/notify.c agent/conf/ports.c agent/conf/reconcile.c agent/conf/diff.c agent/conf/describe.c agent/conf/host.c agent/conf/applied.c agent/conf/config.c agent/conf/parse.c agent/conf/roster.c agent/conf/ring.c agent/conf/value.c agent/archive/archive.c agent/archive/list.c agent/lib/checkpoint_file.c agent/nl/names.c kmod/core/geom.c kmod/core/group/param.c kmod/core/group/roster.c kmod/core/group/fit.c sync agent/lib/broker.c agent/lib/message.c agent/lib/call.c agent/lib/error.c; libs: libconfuse liburing libsystemd */
/*
 * Checkpoints that a whole gaggd keeps, by way of libgagg's requests.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include <cmocka.h>

#include "full.h"
#include "gaggd_fixture.h"
#include "../../agent/archive/archive.h"
#include "../../agent/lib/broker.h"
#include "../../agent/lib/checkpoint_file.h"
#include "../../agent/lib/deadline.h"
#include "../../agent/lib/error.h"

#define GROUP	"test-broker.a"
#define WORDS	(CKP_WORDS + 2 * CKP_TABLE_WORDS + 5)
#define FIRST	(2 + CKP_TABLE_WORDS)	/* what fill() has there */
#define BYTES	(WORDS * sizeof(uint64_t))
/* more than gaggd reads at a time, and no multiple of it */
#define MANY	100001

static uint64_t file[WORDS];
static struct archive_error last;
static ino_t synced;

/* The one that was synced last; gaggd's go through its ring. */
int fsync(int fd)
{
	struct stat st;

	if (!fstat(fd, &st))
		synced = st.st_ino;
	return (int)syscall(SYS_fsync, fd);
}

/* two tables, of @first and so on */
static void fill(uint64_t first)
{
	static const unsigned int counts[] = { 2, 3 };
	uint64_t digest = CKP_DIGEST;
	int n = 0;

	memcpy(&file[n++], CKP_MAGIC, sizeof(file[0]));
	file[n++] = htole64(2);
	for (int t = 0; t < 2; t++) {
		file[n++] = htole64(t ? GAGG_FLOAT64 : GAGG_INT32);
		file[n++] = htole64(0x3ff0000000000000);
		file[n++] = htole64(counts[t]);
		for (unsigned int i = 0; i < counts[t]; i++)
			file[n++] = htole64(first + i);
	}
	for (int i = 0; i < n; i++)
		digest = ckp_digest(digest, file[i]);
	file[n++] = htole64(digest);
	assert_int_equal(n, WORDS);
}

static void write_all(int fd, const void *data, size_t size)
{
	assert_int_equal(send(fd, data, size, MSG_NOSIGNAL), size);
	close(fd);
}

static int begin_save(const char *name, uint64_t bytes, int timeout_ms, int *connection)
{
	return broker_save(&(struct broker_checkpoint){ path, GROUP, name, bytes }, timeout_ms,
			   connection);
}

static int commit_bytes(int connection, const char *name, uint64_t bytes)
{
	return broker_commit(connection, &(struct broker_checkpoint){ path, GROUP, name, bytes });
}

static int commit(int connection, const char *name)
{
	return commit_bytes(connection, name, BYTES);
}

/* 0, or an error with a sentence */
static int save_bytes(const char *name, const void *data, size_t size, size_t announced)
{
	int connection, fd = begin_save(name, announced, 0, &connection);

	if (fd < 0)
		return fd;
	write_all(fd, data, size);
	return commit_bytes(connection, name, announced);
}

static int save(const char *name)
{
	return save_bytes(name, file, BYTES, BYTES);
}

static void loads(const char *name, uint64_t first)
{
	uint64_t got[WORDS + 1];
	int fd = broker_load(path, GROUP, name, 0);

	fill(first);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got)), BYTES);
	assert_memory_equal(got, file, BYTES);
	/* what nobody asked for changes nothing */
	send(fd, got, 1, MSG_NOSIGNAL);
	close(fd);
}

static void refused(int err, const char *why)
{
	assert_int_equal(err, GAGG_ERR_BROKER);
	if (!strstr(error_thread(), why))
		fail_msg("not \"%s\": %s", why, error_thread());
}

/* entries of the group's directory, whatever they are named; -1: it is not there */
static int entries(void)
{
	char name[128];
	struct dirent *d;
	int n = 0;
	DIR *group;

	snprintf(name, sizeof(name), "%s/" GROUP, state_dir);
	group = opendir(name);
	if (!group) {
		assert_int_equal(errno, ENOENT);
		return -1;
	}
	while ((d = readdir(group)))
		n += strcmp(d->d_name, ".") && strcmp(d->d_name, "..");
	closedir(group);
	return n;
}

/* the directory goes with what was not kept, soon */
static void nothing_is_left(void)
{
	for (int i = 0; i < 6000 && entries() >= 0; i++)
		usleep(10000);
	assert_int_equal(entries(), -1);
}

/* descriptors of gaggd */
static int descriptors(void)
{
	char name[64];
	int n = 0;
	DIR *fds;

	snprintf(name, sizeof(name), "/proc/%d/fd", (int)daemon_pid);
	fds = opendir(name);
	assert_non_null(fds);
	while (readdir(fds))
		n++;
	closedir(fds);
	return n;
}

/* gaggd has as many again: files without a name are gone with their descriptors */
static void closes_all_but(int n)
{
	for (int i = 0; i < 6000 && descriptors() != n; i++)
		usleep(10000);
	assert_int_equal(descriptors(), n);
}

/* Write what is at @at there in gaggd, too. */
static void tell_gaggd(void *at, size_t size)
{
	struct iovec iov = { at, size };

	assert_int_equal(process_vm_writev(daemon_pid, &iov, 1, &iov, 1, 0), size);
}

/* gaggd waits for as long from now on; not for what it has begun to wait for */
static void tell_idle_ms(unsigned int ms)
{
	save_idle_ms = ms;
	tell_gaggd(&save_idle_ms, sizeof(save_idle_ms));
}

static void tell_patience_ms(unsigned int ms)
{
	broker_patience_ms = ms;
	tell_gaggd(&broker_patience_ms, sizeof(broker_patience_ms));
	tell_idle_ms(ms);
}

static int make_dir(const char *name)
{
	char at[160];

	snprintf(at, sizeof(at), "%s/%s", state_dir, name);
	return mkdir(at, 0700);
}

static int make_file(const char *name, const void *data, size_t size, mode_t mode)
{
	char at[160];
	int fd;

	snprintf(at, sizeof(at), "%s/%s", state_dir, name);
	fd = open(at, O_CREAT | O_RDWR | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	assert_int_equal(fchmod(fd, mode), 0);
	return fd;
}

static void start_for_us(void)
{
	fake.groups[0].uid = getuid();
	fake.groups[0].mode = 0600;
	fill(1);
	start();
}

static void saved__is_there_again(void **state)
{
	char name[128];
	struct stat st;

	(void)state;
	start_for_us();
	assert_int_equal(save("first"), 0);
	assert_true(logged("checkpoint \"first\" saved, "));
	fill(70);
	assert_int_equal(save("other.2"), 0);
	loads("first", 1);
	loads("other.2", 70);
	/* in place of the old one */
	fill(500);
	assert_int_equal(save("first"), 0);
	loads("first", 500);
	assert_int_equal(entries(), 2);
	snprintf(name, sizeof(name), "%s/" GROUP "/first", state_dir);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	*strrchr(name, '/') = 0;
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(state_dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	/* by another gaggd, after the end of this one */
	finish(SIGKILL);
	start();
	loads("first", 500);
	assert_int_equal(finish(SIGTERM), 0);
}

/* one in many pieces, to be freed: more than a socket has room for */
static uint64_t *large(size_t *size)
{
	size_t n = 0, words = MANY + CKP_WORDS + CKP_TABLE_WORDS;
	uint64_t digest = CKP_DIGEST, *w = calloc(words, sizeof(*w));

	assert_non_null(w);
	memcpy(&w[n++], CKP_MAGIC, sizeof(*w));
	w[n++] = htole64(1);
	w[n++] = htole64(GAGG_INT64);
	w[n++] = htole64(0x3ff0000000000000);
	w[n++] = htole64(MANY);
	for (uint64_t i = 0; i < MANY; i++)
		w[n++] = htole64(i * i);
	for (size_t i = 0; i < n; i++)
		digest = ckp_digest(digest, w[i]);
	w[n] = htole64(digest);
	*size = words * sizeof(*w);
	return w;
}

/* as many bytes of @fd as there are, up to @size */
static size_t read_all(int fd, void *data, size_t size)
{
	size_t at = 0;
	ssize_t n;

	while (at < size && (n = read(fd, (char *)data + at, size - at)) > 0)
		at += (size_t)n;
	return at;
}

static void saved__in_many_pieces(void **state)
{
	size_t size;
	uint64_t *words = large(&size), *got = calloc(1, size + 1);
	int fd;

	(void)state;
	start_for_us();
	assert_int_equal(save_bytes("large", words, size, size), 0);
	fd = broker_load(path, GROUP, "large", 0);
	assert_true(fd >= 0);
	assert_int_equal(read_all(fd, got, size + 1), size);
	assert_memory_equal(got, words, size);
	close(fd);
	words[size / sizeof(*words) - 2] ^= 1;
	refused(save_bytes("large", words, size, size), "checksum is wrong; it is not kept");
	free(words);
	free(got);
	assert_int_equal(finish(SIGTERM), 0);
}

static void damaged__is_not_kept(void **state)
{
	uint64_t longer[WORDS + 1] = { 0 };

	(void)state;
	start_for_us();
	assert_int_equal(save("x"), 0);
	for (int i = 0; i < WORDS; i++) {
		fill(9);
		file[i] ^= htole64(1ULL << (i % 64));
		refused(save("x"), "checkpoint \"x\" is ");
	}
	fill(9);
	refused(save_bytes("x", file, BYTES - 8, BYTES), "where 112 were announced");
	refused(save_bytes("x", file, BYTES - 8, BYTES - 8), "is cut off; it is not kept");
	refused(save_bytes("x", file, 0, BYTES), "has 0 bytes");
	memcpy(longer, file, BYTES);
	refused(save_bytes("x", longer, sizeof(longer), sizeof(longer)), "after its end");
	refused(save_bytes("x", longer, sizeof(longer), BYTES),
		"has more than the 112 bytes that were announced");
	assert_int_equal(entries(), 1);
	loads("x", 1);
	assert_int_equal(finish(SIGTERM), 0);
}

static void a_client__that_dies(void **state)
{
	int connection, fd, pipes[2], status, open_files;
	char byte, who[64];
	pid_t pid;

	(void)state;
	start_for_us();
	open_files = descriptors();
	fd = begin_save("x", BYTES, 0, &connection);
	assert_true(fd >= 0);
	/* one at a time */
	snprintf(who, sizeof(who), "pid %d has been saving checkpoint \"x\" for ", (int)getpid());
	refused(save("y"), who);
	refused(save("y"), " s, and may for 600 s: one at a time");
	write_all(fd, file, BYTES);
	close(connection);
	assert_true(logged("checkpoint \"x\" was not finished; nothing of it is left"));
	nothing_is_left();
	closes_all_but(open_files);

	assert_int_equal(pipe(pipes), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		fd = begin_save("killed", BYTES, 0, &connection);
		if (fd < 0 || write(fd, file, BYTES) != (ssize_t)BYTES ||
		    write(pipes[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipes[0], &byte, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(logged("checkpoint \"killed\" was not finished"));
	nothing_is_left();
	closes_all_but(open_files);
	refused(broker_load(path, GROUP, "killed", 0), "has no checkpoint on this host");
	assert_int_equal(save("x"), 0);
	loads("x", 1);

	/* gaggd that ends meanwhile */
	fd = begin_save("x", BYTES, 0, &connection);
	assert_true(fd >= 0);
	write_all(fd, file, 8);
	assert_int_equal(finish(SIGTERM), 0);
	refused(commit(connection, "x"),
		"has given the save up, or has ended: it waits 10 minutes for a checkpoint of this size");
	assert_int_equal(entries(), 1);
	start();
	loads("x", 1);
}

/* A client that announces much, and sends nothing, keeps others out for a while only. */
static void an_idle_one__is_given_up(void **state)
{
	int connection, fd, open_files, i;

	(void)state;
	start_for_us();
	open_files = descriptors();
	fd = begin_save("x", (uint64_t)1 << 30, 0, &connection);
	assert_true(fd >= 0);
	/* for what comes after these bytes, which are in time on a busy machine, too */
	tell_idle_ms(200);
	assert_int_equal(send(fd, file, 8, MSG_NOSIGNAL), 8);
	for (i = 0; i < 6000 && send(fd, "", 0, MSG_NOSIGNAL) == 0; i++)
		usleep(10000);
	assert_int_equal(send(fd, "", 0, MSG_NOSIGNAL), -1);
	assert_int_equal(errno, EPIPE);
	tell_idle_ms(120000);
	assert_int_equal(save("y"), 0);
	refused(commit_bytes(connection, "x", (uint64_t)1 << 30),
		"no byte of it came for 200 ms: it is given up");
	close(fd);
	closes_all_but(open_files);
	assert_int_equal(finish(SIGTERM), 0);
}

/* of the checkpoint that is there */
static uint64_t first_of(const char *name)
{
	uint64_t got[WORDS];
	int fd = broker_load(path, GROUP, name, 0);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got)), BYTES);
	close(fd);
	return le64toh(got[FIRST]);
}

/* exit status: whether it was acknowledged; no assertion, which would go on in the child */
static int saves_in_child(const char *name)
{
	int connection, fd = begin_save(name, BYTES, 0, &connection);

	if (fd < 0 || send(fd, file, BYTES, MSG_NOSIGNAL) != BYTES)
		return 1;
	close(fd);
	return !!commit(connection, name);
}

/* What was acknowledged is there, and whole; what was not is the old one or the new one. */
static void killed__at_any_step(void **state)
{
	unsigned int acknowledged = 0, delay = 500;	/* us */
	unsigned int kills = full_or(40, 16);
	uint64_t i, is = 1, was;
	int status;
	pid_t pid;

	(void)state;
	start_for_us();
	assert_int_equal(save("x"), 0);
	for (i = 2; i < 2 + kills; i++) {
		fill(i);
		fflush(NULL);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid)
			_exit(saves_in_child("x"));
		usleep(delay);
		finish(SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		start();
		was = is;
		is = first_of("x");
		assert_true(is == i || (status && is == was));
		acknowledged += !status;
		/* to and fro about the time that a save takes */
		delay = status ? delay * 3 / 2 : delay * 2 / 3;
		loads("x", is);
	}
	print_message("# %u of %u were acknowledged\n", acknowledged, kills);
	assert_in_range(acknowledged, 1, kills - 1);
	assert_int_equal(finish(SIGTERM), 0);
}

/* Also the file that is replaced, and one that is not kept. */
static void all_files__are_closed(void **state)
{
	int open_files;

	(void)state;
	start_for_us();
	open_files = descriptors();
	assert_int_equal(save("x"), 0);
	assert_int_equal(save("x"), 0);
	file[1]++;
	refused(save("x"), "checkpoint \"x\" is ");
	closes_all_but(open_files);
	assert_int_equal(finish(SIGTERM), 0);
}

/* The file has no name that it could not get, and its directory is there again. */
static void no_place(void **state)
{
	struct archive_error err;
	int connection, fd;

	(void)state;
	start_for_us();
	assert_int_equal(save("x"), 0);
	assert_int_equal(make_dir(GROUP "/dir"), 0);
	refused(save("dir"), "into the archive: Is a directory");
	assert_int_equal(entries(), 2);
	/* of a gaggd that was killed */
	close(make_file(GROUP "/.new", "x", 1, 0600));
	fd = begin_save("y", BYTES, 0, &connection);
	assert_true(fd >= 0);
	assert_int_equal(entries(), 2);
	write_all(fd, file, BYTES);
	assert_int_equal(commit(connection, "y"), 0);
	assert_int_equal(archive_delete(state_dir, GROUP, "y", &err), 0);
	finish(SIGTERM);
	nftw(state_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	start();
	assert_int_equal(save("x"), 0);
	fd = begin_save("y", BYTES, 0, &connection);
	assert_true(fd >= 0);
	assert_int_equal(archive_delete(state_dir, GROUP, "x", &err), 0);
	nothing_is_left();
	write_all(fd, file, BYTES);
	assert_int_equal(commit(connection, "y"), 0);
	loads("y", 1);
	assert_int_equal(finish(SIGTERM), 0);
}

/* A client that keeps what was passed has a socket: nothing is on the disk because of it. */
static void a_socket__that_is_kept(void **state)
{
	static char zeros[1 << 20];
	int connection, fds[10], open_files;
	struct stat st;

	(void)state;
	start_for_us();
	open_files = descriptors();
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = begin_save("x", sizeof(zeros), 0, &connection);
		assert_true(fds[i] >= 0);
		assert_int_equal(fstat(fds[i], &st), 0);
		assert_true(S_ISSOCK(st.st_mode));
		/* gaggd looks at it as it comes */
		while (send(fds[i], zeros, sizeof(zeros), MSG_NOSIGNAL) > 0)
			;
		refused(commit_bytes(connection, "x", sizeof(zeros)), "is no checkpoint");
		closes_all_but(open_files);
	}
	nothing_is_left();
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
	assert_int_equal(finish(SIGTERM), 0);
}

/* Between SAVE and COMMIT. */
static void a_group__of_others_meanwhile(void **state)
{
	static const char *const why[] = { "another now", "another now", "another now",
					   "there is no group" };
	struct nl_group *g = &fake.groups[0];
	struct nl_group was;

	(void)state;
	start_for_us();
	was = *g;
	for (size_t i = 0; i < ARRAY_SIZE(why); i++) {
		int connection, fd = begin_save("x", BYTES, 0, &connection);

		assert_true(fd >= 0);
		write_all(fd, file, BYTES);
		g->uid += i == 0;
		g->gid += i == 1;
		g->id += i == 2;
		fake.n -= i == 3;
		/* root may, whosever it is; others are told that they may not */
		if (!getuid() || i) {
			tell_gaggd(&fake, sizeof(fake));
			refused(commit(connection, "x"), why[i]);
		} else {
			close(connection);
		}
		nothing_is_left();
		*g = was;
		fake.n = 1;
		tell_gaggd(&fake, sizeof(fake));
	}
	assert_int_equal(save("x"), 0);
	assert_int_equal(finish(SIGTERM), 0);
}

/* What was looked at is what is kept: a child of the trainer cannot add to it. */
static void a_writer__that_is_left(void **state)
{
	int connection, fd, other;

	(void)state;
	start_for_us();
	fd = begin_save("x", BYTES, 0, &connection);
	assert_true(fd >= 0);
	other = dup(fd);
	write_all(fd, file, BYTES);
	assert_int_equal(commit(connection, "x"), 0);
	assert_int_equal(send(other, file, 8, MSG_NOSIGNAL), -1);
	assert_int_equal(errno, EPIPE);
	loads("x", 1);
	/* nor does it keep anybody waiting */
	fd = begin_save("x", BYTES, 0, &connection);
	assert_true(fd >= 0);
	close(other);
	other = dup(fd);
	write_all(fd, file, BYTES - 8);
	refused(commit(connection, "x"), "has 104 bytes, where 112 were announced");
	close(other);
	loads("x", 1);
	assert_int_equal(finish(SIGTERM), 0);
}

static void limits(void **state)
{
	(void)state;
	most_names = 2;
	most_bytes = 2 * BYTES + 8;
	start_for_us();
	assert_int_equal(save("a"), 0);
	assert_int_equal(save("b"), 0);
	refused(save("c"), "has 2 checkpoints, as many as it may");
	assert_int_equal(save("a"), 0);
	refused(save_bytes("a", file, BYTES, BYTES + 16),
		"have 112 of 232 bytes, and this one 128");
	assert_int_equal(finish(SIGTERM), 0);
	assert_int_equal(archive_delete(state_dir, GROUP, "b", &(struct archive_error){ "" }), 0);
	start();
	assert_int_equal(save("c"), 0);
	refused(broker_load(path, GROUP, "b", 0),
		"has no checkpoint \"b\" on this host; there are: a, c");
}

/* what is being sent is on the disk until it is, whatever has the name */
static void replaced__and_being_sent(void **state)
{
	size_t size;
	uint64_t *words = large(&size);
	int held[2], open_files;
	char both[64], one[64];

	(void)state;
	snprintf(both, sizeof(both), "2 that were replaced, of %zu bytes, are still", 2 * size);
	snprintf(one, sizeof(one), "1 that were replaced, of %zu bytes", size);
	most_names = 3;
	most_bytes = 3 * size;
	start_for_us();
	open_files = descriptors();
	assert_int_equal(save_bytes("a", words, size, size), 0);
	held[0] = broker_load(path, GROUP, "a", 0);
	assert_true(held[0] >= 0);
	assert_int_equal(save_bytes("a", words, size, size), 0);
	held[1] = broker_load(path, GROUP, "a", 0);
	assert_true(held[1] >= 0);
	assert_int_equal(save_bytes("a", words, size, size), 0);
	assert_int_equal(save_bytes("a", words, size, size), 0);
	refused(save("b"), both);
	close(held[0]);
	/* the other one's connection, socket and file */
	closes_all_but(open_files + 3);
	assert_int_equal(save("b"), 0);
	refused(save("c"), one);
	/* which is the old one still, and whole */
	assert_int_equal(read_all(held[1], words, size), size);
	close(held[1]);
	closes_all_but(open_files);
	assert_int_equal(save("c"), 0);
	free(words);
	assert_int_equal(finish(SIGTERM), 0);
}

/* A client that loads, and does not read, keeps none out, and is dropped. */
static void a_loader__that_stops(void **state)
{
	size_t size;
	uint64_t *words = large(&size);
	int fd, open_files;
	struct stat st;

	(void)state;
	start_for_us();
	open_files = descriptors();
	assert_int_equal(save_bytes("large", words, size, size), 0);
	assert_int_equal(save_bytes("a", words, size, size), 0);
	fd = broker_load(path, GROUP, "a", 0);
	assert_true(fd >= 0);
	/* nobody but gaggd has the file, and its locks */
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(save("a"), 0);
	loads("a", 1);
	close(fd);
	closes_all_but(open_files);
	assert_int_equal(finish(SIGTERM), 0);
	/* of another gaggd: the saves may pause for longer on a busy machine */
	idle_ms = 300;
	start();
	open_files = descriptors();
	fd = broker_load(path, GROUP, "large", 0);
	assert_true(fd >= 0);
	/* it can read still */
	shutdown(fd, SHUT_WR);
	assert_true(logged("is not sent to its end: nobody has read of it for too long"));
	closes_all_but(open_files);
	assert_true(read_all(fd, words, size) < size);
	close(fd);
	free(words);
	assert_int_equal(finish(SIGTERM), 0);
}

static struct broker_request about(uint32_t op, const char *name)
{
	struct broker_request r = good();

	r.op = op;
	r.rank = 0;
	r.bytes = op == BROKER_OP_SAVE ? BYTES : 0;
	strcpy(r.name, name);
	return r;
}

/* a connection that has asked, and has not read the answer, which is there */
static int leaves_unread(const struct broker_request *r)
{
	struct pollfd p = { .fd = try_connect(), .events = POLLIN };

	assert_true(p.fd >= 0);
	assert_int_equal(send(p.fd, r, sizeof(*r), 0), sizeof(*r));
	assert_int_equal(poll(&p, 1, 60000), 1);
	return p.fd;
}

/* a client that is refused for want of a place may be so before it has asked */
static int answer_to(const struct broker_request *r)
{
	struct broker_reply reply;
	int fd = try_connect();

	assert_true(fd >= 0);
	(void)!send(fd, r, sizeof(*r), MSG_NOSIGNAL);
	receive(fd, &reply);
	close(fd);
	return reply.error;
}

static void a_place_is_free(const struct broker_request *r)
{
	int err = EAGAIN;

	for (int i = 0; i < 6000 && err == EAGAIN; i++) {
		usleep(10000);
		err = answer_to(r);
	}
	assert_int_equal(err, 0);
}

/* Descriptors that nobody reads count against gaggd's user: they are few, for each uid. */
static void unread__keeps_its_place(void **state)
{
	struct broker_request load = about(BROKER_OP_LOAD, "a"), save_x;
	int fds[BROKER_CLIENTS], limit, open_files;
	struct broker_reply reply;

	(void)state;
	limit = getuid() ? BROKER_CLIENTS / 2 : BROKER_CLIENTS;
	start_for_us();
	open_files = descriptors();
	assert_int_equal(save("a"), 0);
	/* whose place is free a moment later */
	closes_all_but(open_files);
	/* also one whose save comes to nothing */
	save_x = about(BROKER_OP_SAVE, "x");
	fds[0] = leaves_unread(&save_x);
	assert_int_equal(send(fds[0], &load, sizeof(load), 0), sizeof(load));
	assert_true(logged("only its COMMIT can come"));
	for (int i = 1; i < limit; i++)
		fds[i] = leaves_unread(&load);
	assert_int_equal(answer_to(&load), EAGAIN);
	receive(fds[0], &reply);
	receive(fds[0], &reply);
	a_place_is_free(&load);
	close(fds[1]);
	a_place_is_free(&load);
	close(fds[0]);
	for (int i = 2; i < limit; i++)
		close(fds[i]);
	assert_int_equal(finish(SIGTERM), 0);
}

#define NOFILE	64

/* root may have any number of descriptors in flight */
static void nobody(void)
{
	const struct rlimit limit = { NOFILE, NOFILE };

	if (setrlimit(RLIMIT_NOFILE, &limit) ||
	    (!getuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534))))
		_exit(98);
}

/* a process of that user whose descriptors nobody reads, until it is killed */
static pid_t somebody_sends(void)
{
	struct iovec iov = { "x", 1 };
	union {
		char buf[CMSG_SPACE(NOFILE / 2 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int pair[2], ready[2], i;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid) {
		close(ready[1]);
		assert_int_equal(read(ready[0], &byte, 1), 1);
		close(ready[0]);
		return pid;
	}
	if (!getuid() && setuid(65534))
		_exit(98);
	/* which setuid() has undone */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		_exit(97);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(NOFILE / 2 * sizeof(int));
	for (i = 0; i < NOFILE / 2; i++)
		memcpy(CMSG_DATA(c) + (size_t)i * sizeof(int), &pair[0], sizeof(int));
	for (i = 0; i < 4; i++)
		if (sendmsg(pair[1], &msg, MSG_DONTWAIT) < 0)
			_exit(96);
	if (write(ready[1], "x", 1) != 1)
		_exit(95);
	pause();
	_exit(0);
}

/* others of its user have too many in flight: the client is told, it is not silence */
static void descriptors__of_others(void **state)
{
	struct broker_request load = about(BROKER_OP_LOAD, "x");
	pid_t pid;

	(void)state;
	become = nobody;
	if (!getuid())
		assert_int_equal(chown(dir, 65534, 65534), 0);
	start_for_us();
	assert_int_equal(save("x"), 0);
	pid = somebody_sends();
	assert_int_equal(answer_to(&load), ETOOMANYREFS);
	assert_true(logged("more are unread than RLIMIT_NOFILE allows this user"));
	refused(broker_load(path, GROUP, "x", 0), "the daemon cannot pass a descriptor: Too many");
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* the kernel may let go of them a moment later */
	for (int i = 0; i < 6000 && answer_to(&load) == ETOOMANYREFS; i++)
		usleep(10000);
	loads("x", 1);
	assert_int_equal(finish(SIGTERM), 0);
}

/* the time of @err's request was over before gaggd could be asked, as on a busy machine */
static bool came_too_late(int err)
{
	return err == GAGG_ERR_BROKER && strstr(error_thread(), "cannot ask gaggd at ") &&
	       strstr(error_thread(), "Connection timed out");
}

static int asks(uint32_t op)
{
	int connection;

	switch (op) {
	case BROKER_OP_OPEN:
		return broker_open(path, GROUP, 4, 100);
	case BROKER_OP_LOAD:
		return broker_load(path, GROUP, "x", 100);
	}
	return begin_save("x", BYTES, 100, &connection);
}

static void is_not_answered(uint32_t op)
{
	int i, err = asks(op);

	for (i = 0; i < 20 && came_too_late(err); i++)
		err = asks(op);
	refused(err, "does not answer: Connection timed out");
}

/* a client with a limit waits for as long, whatever is asked */
static void a_daemon__that_is_stopped(void **state)
{
	size_t size;
	uint64_t begin, *words = large(&size);
	int i, fd = -1;

	(void)state;
	start_for_us();
	assert_int_equal(save_bytes("large", words, size, size), 0);
	assert_int_equal(save("x"), 0);
	/* on a busy machine gaggd, too, needs longer */
	for (i = 0; i < 600 && fd < 0; i++)
		fd = broker_load(path, GROUP, "large", 100);
	assert_true(fd >= 0);
	kill(daemon_pid, SIGSTOP);
	begin = deadline_now();
	assert_true(read_all(fd, words, size) < size && errno == EAGAIN);
	close(fd);
	free(words);
	is_not_answered(BROKER_OP_OPEN);
	is_not_answered(BROKER_OP_LOAD);
	is_not_answered(BROKER_OP_SAVE);
	/* without the limit one alone waits for 30 s */
	assert_in_range((deadline_now() - begin) / 1000000, 399, 29000);
	kill(daemon_pid, SIGCONT);
	loads("x", 1);
	assert_int_equal(finish(SIGTERM), 0);
}

static uint64_t dice;

/* SplitMix64, as vm/dice.c */
static uint32_t below(uint32_t n)
{
	uint64_t z = dice += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (uint32_t)((z ^ (z >> 31)) % n);
}

/* after @before mostly what goes on with it */
static struct broker_request some_request(int connection, const struct broker_request *before)
{
	static const char *const names[] = { "x", "y", "", ".x", "-x", "../x", "x/y" };
	struct broker_request r = about(BROKER_OP_OPEN + below(5), names[below(below(3) ? 2 : 7)]);
	unsigned char *bytes = (unsigned char *)&r;
	size_t len = below(20) ? sizeof(r) : below(sizeof(r) + 1);

	if (before->op == BROKER_OP_SAVE && below(8))
		r = about(BROKER_OP_COMMIT, before->name);

	if (r.op == BROKER_OP_SAVE && !below(4))
		r.bytes = 8 * (uint64_t)below(~0U);
	for (int i = 0; !below(8) && i < 3; i++)
		bytes[below(sizeof(r))] = (unsigned char)below(256);
	send(connection, &r, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return r;
}

/* what came with an answer is given something, or nothing */
static void some_bytes(int fd)
{
	static uint64_t junk[2 * WORDS];

	fill(below(100));
	if (!below(4))
		file[below(WORDS)] ^= below(~0U);
	/* a file to read, perhaps: then it fails */
	if (below(3) && send(fd, file, below(8) ? BYTES : below(BYTES), MSG_NOSIGNAL) < 0)
		return;
	if (!below(8))
		send(fd, junk, below(sizeof(junk)), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void some_answer(int connection, int kept[8])
{
	struct broker_reply reply;
	struct iovec iov = { &reply, sizeof(reply) };
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c;
	int fd;

	if (recvmsg(connection, &msg, 0) <= 0)
		return;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	some_bytes(fd);
	if (below(4)) {
		close(fd);
		return;
	}
	kept += below(8);
	if (*kept >= 0)
		close(*kept);
	*kept = fd;
}

static int count_whole_and_not(const struct archive_entry *e, void *arg)
{
	int *n = arg;

	n[e->problem || !*e->name]++;
	return 0;
}

/* Whatever is asked, what is kept is whole, and gaggd serves others. */
static void requests_of_any_kind(void **state)
{
	int kept[8], open_files, n[2] = { 0 };

	(void)state;
	memset(kept, 0xff, sizeof(kept));
	dice = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0) : (uint64_t)getpid() << 20;
	print_message("# seed %llu\n", (unsigned long long)dice);
	patience_ms = 100;
	idle_ms = 100;
	start_for_us();
	open_files = descriptors();
	for (int i = 0; i < 500 || (i < 10000 && entries() < 1); i++) {
		struct broker_request r = { 0 };
		int connection;

		/* on a busy machine most were given up */
		if (i == 500)
			tell_patience_ms(2000);
		connection = try_connect();
		assert_true(connection >= 0);
		for (uint32_t left = 1 + below(4); left; left--) {
			r = some_request(connection, &r);
			if (below(8))
				some_answer(connection, kept);
		}
		close(connection);
	}
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (kept[i] >= 0)
			close(kept[i]);
	closes_all_but(open_files);
	tell_patience_ms(120000);
	fill(77);
	assert_int_equal(save("z"), 0);
	loads("z", 77);
	assert_int_equal(archive_list(state_dir, NULL, count_whole_and_not, n, &last), 0);
	assert_int_equal(n[1], 0);
	/* it came far enough to be worth it: z is there, and x or y */
	assert_true(n[0] >= 2);
	assert_int_equal(finish(SIGTERM), 0);
}

static void order_and_names(void **state)
{
	struct broker_request r = about(BROKER_OP_COMMIT, "x");
	char msg[BROKER_MESSAGE_MAX];
	struct broker_reply reply;
	int connection, fd;

	(void)state;
	start_for_us();
	assert_int_equal(ask(&r, msg), EINVAL);
	assert_non_null(strstr(msg, "SAVE comes before it"));
	for (int i = 0; i < 3; i++) {
		fd = begin_save("x", BYTES, 0, &connection);
		assert_true(fd >= 0);
		write_all(fd, file, BYTES);
		r = i == 0 ? about(BROKER_OP_COMMIT, "y") : i == 1 ? good() :
		    about(BROKER_OP_SAVE, "x");
		assert_int_equal(send(connection, &r, sizeof(r), 0), sizeof(r));
		receive(connection, &reply);
		assert_int_equal(reply.error, EINVAL);
		assert_non_null(strstr(reply.message, "only its COMMIT can come"));
		close(connection);
		nothing_is_left();
	}
	r = about(BROKER_OP_SAVE, "../x");
	assert_int_equal(ask(&r, msg), EINVAL);
	/* gaggctl could not delete it */
	r = about(BROKER_OP_SAVE, "-x");
	assert_int_equal(ask(&r, msg), EINVAL);
	assert_non_null(strstr(msg, "the first neither . nor -"));
	r = about(BROKER_OP_SAVE, "x");
	strcpy(r.group, "..");
	assert_int_equal(ask(&r, msg), EINVAL);
	r = about(BROKER_OP_LOAD, "x");
	strcpy(r.group, "test-broker.none");
	assert_int_equal(ask(&r, msg), ENOENT);
	assert_int_equal(begin_save("a-name-that-has-thirty-two-chars", BYTES, 0,
				    &connection), GAGG_ERR_INVALID);
	assert_int_equal(finish(SIGTERM), 0);
}

/* in a child of root: uid 9, which modes bind */
static void become_another(void)
{
	if (!getuid() && (setgroups(0, NULL) || setresgid(9, 9, 9) || setresuid(9, 9, 9)))
		_exit(1);
}

static void others__may_not(void **state)
{
	uint32_t ops[] = { BROKER_OP_SAVE, BROKER_OP_LOAD };
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	start_for_us();
	assert_int_equal(save("x"), 0);
	finish(SIGTERM);
	fake.groups[0].uid = getuid() + 1;
	fake.groups[0].gid = getgid() + 1;
	start();
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		struct broker_request r = about(ops[i], "x");
		int status;
		pid_t pid;

		fflush(NULL);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			become_another();
			_exit(ask(&r, msg) == EACCES && strstr(msg, "does not let uid") ?
			      0 : 2);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	assert_int_equal(entries(), 1);
}

/* A directory that others may write, or a link, is not gaggd's. */
static void a_directory__that_is_not_ours(void **state)
{
	char name[128], elsewhere[128];

	(void)state;
	assert_int_equal(mkdir(state_dir, 0755), 0);
	chmod(state_dir, 0755);
	start_for_us();
	assert_true(logged("no checkpoints can be kept: "));
	refused(save("x"), "has mode 0755: checkpoints are kept where only their owner may look");
	chmod(state_dir, 0700);
	snprintf(name, sizeof(name), "%s/" GROUP, state_dir);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", state_dir);
	assert_int_equal(mkdir(elsewhere, 0700), 0);
	assert_int_equal(symlink(elsewhere, name), 0);
	refused(save("x"), "is no directory, or a link to one: remove it, or gaggd --state DIR");
	unlink(name);
	assert_int_equal(save("x"), 0);
	/* nor is a link a checkpoint, nor a pipe to wait at */
	snprintf(name, sizeof(name), "%s/" GROUP "/link", state_dir);
	assert_int_equal(symlink("x", name), 0);
	refused(broker_load(path, GROUP, "link", 0), "Too many levels of symbolic links");
	snprintf(name, sizeof(name), "%s/" GROUP "/pipe", state_dir);
	assert_int_equal(mkfifo(name, 0600), 0);
	refused(broker_load(path, GROUP, "pipe", 0), "there are: x");
	assert_int_equal(finish(SIGTERM), 0);
}

static int collect(const struct archive_entry *e, void *arg)
{
	char *text = arg;

	assert_true(e->saved > 1000000000 || !*e->name);
	sprintf(text + strlen(text), "%s/%s %llu %llu%s%s\n", e->group, e->name,
		(unsigned long long)e->bytes, (unsigned long long)e->tables,
		e->problem ? " " : "", e->problem ?: "");
	return 0;
}

static void archive__lists_and_deletes(void **state)
{
	struct archive_error err = { "" };
	char name[128], text[512] = "";

	(void)state;
	assert_int_equal(archive_list(state_dir, NULL, collect, text, &err), -ENOENT);
	assert_int_equal(archive_delete(state_dir, GROUP, "b", &err), -ENOENT);
	start_for_us();
	assert_int_equal(save("b"), 0);
	assert_int_equal(save("a"), 0);
	finish(SIGTERM);
	close(make_file(GROUP "/c", "no checkpoint at all", 20, 0600));
	snprintf(name, sizeof(name), "%s/other", state_dir);
	assert_int_equal(mkdir(name, 0700), 0);
	assert_int_equal(archive_list(state_dir, NULL, collect, text, &err), 0);
	assert_string_equal(text, GROUP "/a 112 2\n" GROUP "/b 112 2\n" GROUP "/c 20 0 damaged\n");
	*text = 0;
	assert_int_equal(archive_list(state_dir, "other", collect, text, &err), 0);
	assert_int_equal(archive_list(state_dir, "none", collect, text, &err), 0);
	assert_string_equal(text, "");
	assert_int_equal(archive_delete(state_dir, GROUP, "d", &err), -ENOENT);
	assert_string_equal(err.text,
		"group \"" GROUP "\" has no checkpoint \"d\" on this host; there are: a, b, c");
	assert_int_equal(archive_delete(state_dir, GROUP, "a", &err), 0);
	assert_int_equal(archive_list(state_dir, GROUP, collect, text, &err), 0);
	assert_string_equal(text, GROUP "/b 112 2\n" GROUP "/c 20 0 damaged\n");
	assert_int_equal(archive_delete(state_dir, GROUP, "b", &err), 0);
	assert_int_equal(entries(), 1);
	assert_int_equal(archive_delete(state_dir, GROUP, "c", &err), 0);
	nothing_is_left();
}

static void make_strays(void)
{
	static const uint64_t magic_alone[] = { 0x31504b4347474147, -1, 0 };

	fill(1);
	assert_int_equal(make_dir("") | make_dir("a") | make_dir("z") | make_dir("z/dir"), 0);
	close(make_file("k", "stray", 5, 0600));
	close(make_file("z/locked", file, BYTES, 0));
	close(make_file("z/magic", magic_alone, sizeof(magic_alone), 0600));
	close(make_file("z/-x", file, BYTES, 0600));
}

static int give_away(const char *name, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return chown(name, 9, 9);
}

/* The list as a user gets it that modes bind: its own uid, or 9. */
static void list_as_another(char *text, size_t size)
{
	struct archive_error err;
	int pipes[2], status;
	ssize_t len;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		*text = 0;
		become_another();
		if (archive_list(state_dir, NULL, collect, text, &err))
			_exit(2);
		_exit(write(pipes[1], text, strlen(text) + 1) < 0 ? 3 : 0);
	}
	close(pipes[1]);
	len = read(pipes[0], text, size);
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(len > 0 && !text[len - 1]);
}

static void archive__strays(void **state)
{
	char text[1024], name[128];

	(void)state;
	make_strays();
	if (!getuid())
		assert_int_equal(nftw(state_dir, give_away, 16, FTW_PHYS), 0);
	list_as_another(text, sizeof(text));
	assert_memory_equal(text, "k/ 0 0 k is no directory, or a link to one: ", 44);
	assert_non_null(strstr(text, "z/locked 112 0 Permission denied\n"
			       "z/magic 24 0 damaged\n"));
	assert_null(strstr(text, "-x"));
	snprintf(name, sizeof(name), "%s/link", dir);
	assert_int_equal(symlink(state_dir, name), 0);
	assert_int_equal(archive_list(name, NULL, collect, NULL, &last), -ENOTDIR);
	unlink(name);
	assert_non_null(strstr(last.text, "/link is no directory, or a link to one: remove it"));
	if (getuid())
		return;
	/* of another uid: the client is told under which to come */
	assert_int_equal(archive_list(state_dir, NULL, collect, NULL, &last), -EPERM);
	assert_non_null(strstr(last.text, "is of uid 9 and this runs as uid 0"));
}

/* A new directory is there after a crash, too. */
static void archive__is_synced_where_it_is(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(stat(dir, &st), 0);
	fd = archive_open(state_dir, true, &last);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(synced, st.st_ino);
	synced = 0;
	fd = archive_open(state_dir, true, &last);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(synced, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(saved__is_there_again),
		TEST(saved__in_many_pieces),
		TEST(damaged__is_not_kept),
		TEST(a_client__that_dies),
		TEST(a_writer__that_is_left),
		TEST(an_idle_one__is_given_up),
		TEST(killed__at_any_step),
		TEST(all_files__are_closed),
		TEST(no_place),
		TEST(a_socket__that_is_kept),
		TEST(a_group__of_others_meanwhile),
		TEST(limits),
		TEST(replaced__and_being_sent),
		TEST(a_loader__that_stops),
		TEST(unread__keeps_its_place),
		TEST(descriptors__of_others),
		TEST(a_daemon__that_is_stopped),
		TEST(requests_of_any_kind),
		TEST(order_and_names),
		TEST(others__may_not),
		TEST(a_directory__that_is_not_ours),
		TEST(archive__lists_and_deletes),
		TEST(archive__strays),
		TEST(archive__is_synced_where_it_is),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
