// SPDX-License-Identifier: GPL-2.0
/*
 * Checkpoints on their way into the archive.
 *
 * COMMIT is a chain of events: piece after piece is read and looked at, then the file
 * is synced, gets its name, and the directories are synced. The loop serves others
 * between two of them. A piece takes about 0.1 ms to digest. Link and rename are done
 * by the loop itself: they change a directory, and may wait for the file system's journal
 * to have room. They end no file, which would take 0.2 s for a GiB: of the one that is
 * replaced there is a descriptor, and loop_close() closes the last ones.
 *
 * Nobody writes what is looked at: the file has never had a name, so descriptors are
 * those that come from the one that was passed, and gaggd's own, which is for reading by
 * then. A lease for reading is refused while there is one for writing, or a mapping
 * that holds one. From then on the file is opened anew only through gaggd's
 * descriptors in /proc, or its name, and both take the rights of its owner: gaggd's.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "refuse.h"
#include "save.h"
#include "../archive/archive.h"
#include "../lib/checkpoint_file.h"

#define PIECE	(64 << 10)

struct save {
	struct loop_event event;
	struct saves *all;
	struct save *next, **link;
	char group[GAGG_NAME_MAX], name[GAGG_NAME_MAX];
	uint64_t bytes;		/* announced by SAVE */
	pid_t pid;		/* who saves, */
	time_t since;		/* since when, */
	uint32_t id, uid, gid;	/* in which group */
	int top, dir, fd;
	int old;		/* the file whose name it takes */
	struct ckp_scan scan;
	uint64_t at;		/* read so far */
	struct broker_reply reply;
	void (*done)(void *arg, const struct broker_reply *reply);
	void *arg;
	uint64_t piece[PIECE / sizeof(uint64_t)];
};

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void close_all(const struct save *s)
{
	if (s->fd >= 0)
		loop_close(s->all->loop, s->fd);
	if (s->old >= 0)
		loop_close(s->all->loop, s->old);
	if (s->dir >= 0)
		close(s->dir);
	if (s->top < 0)
		return;
	/* it stays while a checkpoint is in it */
	unlinkat(s->top, s->group, AT_REMOVEDIR);
	close(s->top);
}

void save_drop(struct save *s)
{
	close_all(s);
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	free(s);
}

/* --- SAVE --------------------------------------------------------------- */

/* what a group has beside the checkpoint that is replaced */
struct usage {
	const char *name;
	uint64_t names;
	uint64_t bytes;
};

static int count(const struct archive_entry *e, void *arg)
{
	struct usage *u = arg;

	if (strcmp(e->name, u->name)) {
		u->names++;
		u->bytes += e->bytes;
	}
	return 0;
}

/* Nothing is deleted to make room: gaggd does not know what is needed no more. */
static int check_room(const struct save *s, struct broker_reply *reply)
{
	struct usage u = { .name = s->name };
	int err = archive_each(s->dir, s->group, count, &u);

	if (err)
		return refuse(reply, -err, "checkpoints of group \"%s\": %s", s->group,
			      strerror(-err));
	if (u.names >= s->all->names)
		return refuse(reply, EDQUOT,
			      "group \"%s\" has %llu checkpoints, as many as it may: gaggctl checkpoint delete, or gaggd --checkpoints N",
			      s->group, (unsigned long long)u.names);
	if (u.bytes > s->all->bytes || s->bytes > s->all->bytes - u.bytes)
		return refuse(reply, EDQUOT,
			      "checkpoints of group \"%s\" have %llu of %llu bytes, and this one %llu: gaggctl checkpoint delete, or gaggd --checkpoint-bytes N",
			      s->group, (unsigned long long)u.bytes,
			      (unsigned long long)s->all->bytes, (unsigned long long)s->bytes);
	return 0;
}

static const struct save *under_way(const struct saves *all, const char *group)
{
	const struct save *s;

	for (s = all->first; s; s = s->next)
		if (!strcmp(s->group, group))
			break;
	return s;
}

static int refuse_second(const struct save *s, struct broker_reply *reply)
{
	return refuse(reply, EBUSY,
		      "group \"%s\": pid %d has been saving checkpoint \"%s\" for %lld s, and may for %llu s: one at a time",
		      s->group, (int)s->pid, s->name, (long long)(seconds() - s->since),
		      (unsigned long long)broker_save_seconds(s->bytes));
}

static int open_new(struct save *s, struct broker_reply *reply)
{
	struct archive_error err;
	int error;

	s->top = archive_open(s->all->archive, true, &err);
	error = s->top;
	if (s->top >= 0) {
		s->dir = archive_group(s->top, s->group, true, &err);
		error = s->dir;
	}
	if (s->dir >= 0 && check_room(s, reply))
		return -1;
	if (s->dir >= 0) {
		s->fd = archive_new(s->dir, &err);
		error = s->fd;
	}
	return error < 0 ? refuse(reply, -error, "%s", err.text) : 0;
}

static void link_in(struct save *s)
{
	s->next = s->all->first;
	s->link = &s->all->first;
	if (s->next)
		s->next->link = &s->next;
	s->all->first = s;
}

/* 0: nobody has the file open to write it; EAGAIN: somebody has; else: unknown, and why */
static int find_writers(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK))
		return errno;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return 0;
}

/* Will COMMIT know who writes it? @expected: what find_writers() has to find now */
static int check_leases(const struct save *s, int expected, struct broker_reply *reply)
{
	int error = find_writers(s->fd);

	if (error == expected)
		return 0;
	return refuse(reply, EOPNOTSUPP,
		      "gaggd could not tell whether somebody writes the file: %s; it takes sysctl fs.leases-enable=1, and gaggd --state DIR on a file system with leases",
		      error ? strerror(error) : "a lease is granted to all");
}

static int reopen(int fd, int flags, struct broker_reply *reply)
{
	char self[32];
	int again;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	again = open(self, flags | O_CLOEXEC);
	if (again < 0)
		refuse(reply, errno, "gaggd cannot open %s: %s", self, strerror(errno));
	return again;
}

/*
 * The file for COMMIT, only to be read, and the one that is passed, which the caller
 * closes: gaggd has none for writing then. That there are no leases the kernel says
 * only while nobody writes.
 */
static int split(struct save *s, struct broker_reply *reply)
{
	int made = s->fd, passed;

	s->fd = reopen(made, O_RDONLY, reply);
	close(made);
	if (s->fd < 0 || check_leases(s, 0, reply))
		return -1;
	passed = reopen(s->fd, O_WRONLY, reply);
	if (passed < 0 || !check_leases(s, EAGAIN, reply))
		return passed;
	close(passed);
	return -1;
}

static struct save *save_new(struct saves *all, const struct broker_request *req,
			     const struct peer *peer, const struct nl_group *g)
{
	struct save *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->all = all;
	s->top = -1;
	s->dir = -1;
	s->fd = -1;
	s->old = -1;
	s->bytes = req->bytes;
	s->pid = peer->pid;
	s->since = seconds();
	s->id = g->id;
	s->uid = g->uid;
	s->gid = g->gid;
	memcpy(s->group, req->group, sizeof(s->group));
	memcpy(s->name, req->name, sizeof(s->name));
	link_in(s);
	return s;
}

int save_begin(struct saves *all, const struct broker_request *req, const struct peer *peer,
	       const struct nl_group *g, struct broker_reply *reply, struct save **out)
{
	const struct save *other = under_way(all, req->group);
	struct save *s;
	int passed;

	if (other)
		return refuse_second(other, reply);
	s = save_new(all, req, peer, g);
	if (!s)
		return refuse(reply, ENOMEM, "gaggd has no memory for a checkpoint");
	passed = open_new(s, reply) ? -1 : split(s, reply);
	if (passed < 0) {
		save_drop(s);
		return -1;
	}
	*out = s;
	return passed;
}

/* --- COMMIT ------------------------------------------------------------- */

int save_check_group(const struct save *s, const struct nl_group *g,
		     struct broker_reply *reply)
{
	if (g->id == s->id && g->uid == s->uid && g->gid == s->gid)
		return 0;
	return refuse(reply, EACCES,
		      "group \"%s\" is another now (uid %u, gid %u) than when checkpoint \"%s\" was begun (uid %u, gid %u); it is not kept",
		      s->group, g->uid, g->gid, s->name, s->uid, s->gid);
}

/* Answer, with what is in the reply. */
static void finish(struct save *s)
{
	void (*done)(void *arg, const struct broker_reply *reply) = s->done;
	struct broker_reply reply = s->reply;
	void *arg = s->arg;

	save_drop(s);
	done(arg, &reply);
}

static void synced_top(struct loop_event *ev, int res)
{
	struct save *s = loop_container(ev, struct save, event);

	if (res < 0)
		refuse(&s->reply, -res, "checkpoint \"%s\" is kept, but not on the disk: %s",
		       s->name, strerror(-res));
	finish(s);
}

static void synced_dir(struct loop_event *ev, int res)
{
	struct save *s = loop_container(ev, struct save, event);

	if (res < 0) {
		synced_top(ev, res);
		return;
	}
	/* in which the group's directory may be new */
	ev->fire = synced_top;
	loop_fsync(s->all->loop, ev, s->top);
}

/* Was the directory removed with the last that was in it? Then there is a new one. */
static int reopen_dir(struct save *s, struct archive_error *err)
{
	int dir = archive_group(s->top, s->group, true, err);

	if (dir < 0)
		return dir;
	close(s->dir);
	s->dir = dir;
	return 0;
}

static int place(struct save *s)
{
	struct archive_error err;
	int res;

	s->old = openat(s->dir, s->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	res = archive_place(s->dir, s->fd, s->name, &err);
	if (res == -ENOENT) {
		res = reopen_dir(s, &err);
		res = res ? res : archive_place(s->dir, s->fd, s->name, &err);
	}
	return res < 0 ? refuse(&s->reply, -res, "%s", err.text) : 0;
}

static void synced_file(struct loop_event *ev, int res)
{
	struct save *s = loop_container(ev, struct save, event);

	if (res < 0)
		refuse(&s->reply, -res, "checkpoint \"%s\" onto the disk: %s", s->name,
		       strerror(-res));
	else
		res = place(s);
	if (res < 0) {
		finish(s);
		return;
	}
	ev->fire = synced_dir;
	loop_fsync(s->all->loop, ev, s->dir);
}

static void read_piece(struct save *s)
{
	loop_read(s->all->loop, &s->event, s->fd, s->piece, sizeof(s->piece), s->at);
}

/* what was read, and whether that was the last of it */
static const char *take_piece(struct save *s, size_t len)
{
	const char *wrong = NULL;
	size_t i;

	for (i = 0; i < len / sizeof(s->piece[0]) && !wrong; i++)
		wrong = ckp_take(&s->scan, s->piece[i]);
	s->at += len;
	if (!wrong && s->at == s->bytes && s->scan.next != CKP_W_NONE)
		wrong = "is cut off";
	return wrong;
}

static void took_piece(struct loop_event *ev, int res)
{
	struct save *s = loop_container(ev, struct save, event);
	const char *wrong;

	/* the size is known: what is short is an error of the file system */
	if (res <= 0 || (res % (int)sizeof(s->piece[0]))) {
		refuse(&s->reply, res < 0 ? -res : EIO, "checkpoint \"%s\" cannot be read: %s",
		       s->name, strerror(res < 0 ? -res : EIO));
		finish(s);
		return;
	}
	wrong = take_piece(s, (size_t)res);
	if (wrong) {
		refuse(&s->reply, EINVAL, "checkpoint \"%s\" %s; it is not kept", s->name, wrong);
		finish(s);
	} else if (s->at < s->bytes) {
		read_piece(s);
	} else {
		ev->fire = synced_file;
		loop_fsync(s->all->loop, ev, s->fd);
	}
}

/* Does anybody have the file open to write it? */
static int check_writers(struct save *s)
{
	int error = find_writers(s->fd);

	if (!error)
		return 0;
	if (error == EAGAIN)
		return refuse(&s->reply, ETXTBSY,
			      "checkpoint \"%s\": somebody still has the file open to write it, perhaps a process that was forked meanwhile: save again",
			      s->name);
	return refuse(&s->reply, error,
		      "checkpoint \"%s\": gaggd cannot tell any more whether somebody writes it: %s",
		      s->name, strerror(error));
}

static int check_size(struct save *s)
{
	struct stat st;

	if (fstat(s->fd, &st))
		return refuse(&s->reply, errno, "checkpoint \"%s\": %s", s->name,
			      strerror(errno));
	if ((uint64_t)st.st_size != s->bytes)
		return refuse(&s->reply, EINVAL,
			      "checkpoint \"%s\" has %llu bytes, where %llu were announced; it is not kept",
			      s->name, (unsigned long long)st.st_size,
			      (unsigned long long)s->bytes);
	if (archive_bytes(&st) == s->bytes)
		return 0;
	return refuse(&s->reply, EINVAL,
		      "checkpoint \"%s\" has %llu bytes, and %llu allocated; it is not kept: ftruncate() returns what is beyond the end",
		      s->name, (unsigned long long)s->bytes,
		      (unsigned long long)archive_bytes(&st));
}

void save_commit(struct save *s, void (*done)(void *arg, const struct broker_reply *reply),
		 void *arg)
{
	s->reply = (struct broker_reply){ .size = sizeof(s->reply) };
	s->done = done;
	s->arg = arg;
	if (check_writers(s) || check_size(s)) {
		finish(s);
		return;
	}
	ckp_begin(&s->scan);
	s->event.fire = took_piece;
	read_piece(s);
}
