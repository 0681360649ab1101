// SPDX-License-Identifier: GPL-2.0
/*
 * Receives checkpoints into the archive.
 *
 * A chain of events: piece after piece comes over a socket, is checked, and is written. After
 * COMMIT the file is synced, gets its name, and the directories are synced. The loop serves other
 * events between two of these. Digesting a piece needs about 0.1 ms. The loop itself does link and
 * rename: they change a directory, and may wait until the file system's journal has room. They do
 * not delete a file's data, which would need 0.2 s for a GiB: there is a descriptor of the file
 * that is replaced, and loop_close() closes it.
 *
 * The bytes that are kept are those that were checked, and no more than was announced is ever on
 * the disk: only gaggd has the file.
 *
 * Lifetime: a save is in the list from save_begin() on. The client has it until save_commit() or
 * save_drop(); then it is freed, or when the event that is armed has fired.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "refuse.h"
#include "save.h"
#include "../archive/archive.h"
#include "../lib/checkpoint_file.h"

#define PIECE	(64 << 10)

unsigned int save_idle_ms = 60000;

struct save {
	struct loop_event event;
	struct saves *all;
	struct save *next, **link;
	char group[GAGG_NAME_MAX], name[GAGG_NAME_MAX];
	uint64_t bytes;		/* bytes announced by SAVE */
	pid_t pid;		/* the process that saves, */
	time_t since;		/* the time since when, */
	uint32_t id, uid, gid;	/* the group, and the user */
	int top, dir, fd;
	int from;		/* socket with the client's bytes */
	int old;		/* the file that is replaced */
	struct ckp_scan scan;
	uint64_t at;		/* bytes that were written */
	size_t have, put;	/* of the piece: received, written */
	bool armed;		/* an event is armed, for a piece */
	bool dropped;		/* dropped, and freed when the event has fired */
	bool over;		/* nothing more is received: complete, or reply has an error */
	struct broker_reply reply;
	struct save_answer answer;	/* after COMMIT */
	uint64_t piece[PIECE / sizeof(uint64_t)];
};

static time_t save_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void save_close_files(struct save *s)
{
	if (s->from >= 0)
		close(s->from);
	if (s->fd >= 0)
		loop_close(s->all->loop, s->fd);
	s->from = -1;
	s->fd = -1;
}

static void save_free(struct save *s)
{
	save_close_files(s);
	if (s->old >= 0)
		loop_close(s->all->loop, s->old);
	if (s->dir >= 0)
		close(s->dir);
	if (s->top >= 0) {
		/* the directory stays while a checkpoint is in it */
		unlinkat(s->top, s->group, AT_REMOVEDIR);
		close(s->top);
	}
	*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
	free(s);
}

void save_drop(struct save *s)
{
	if (!s->armed) {
		save_free(s);
		return;
	}
	s->dropped = true;
	if (!s->all->loop->stop)
		loop_cancel(s->all->loop, &s->event);
}

void saves_exit(struct saves *all)
{
	struct save *s, *next;

	for (s = all->first; s; s = next) {
		next = s->next;
		if (!s->armed)
			save_free(s);
	}
}

/* --- SAVE --------------------------------------------------------------- */

/* checkpoints of a group without the one that is replaced */
struct usage {
	const char *name;
	uint64_t names;
	uint64_t bytes;
};

static int save_count(const struct archive_entry *e, void *arg)
{
	struct usage *u = arg;

	if (strcmp(e->name, u->name)) {
		u->names++;
		u->bytes += e->bytes;
	}
	return 0;
}

/* Nothing is deleted to make room: gaggd does not know which checkpoints are still needed. */
static int save_check_room(const struct save *s, struct broker_reply *reply)
{
	struct usage u = { .name = s->name };
	int err = archive_each(s->dir, s->group, save_count, &u);
	uint64_t names, bytes;

	if (err)
		return refuse(reply, -err, "checkpoints of group \"%s\": %s", s->group,
			      strerror(-err));
	loads_replaced(s->all->loads, s->group, &names, &bytes);
	if (names && (u.names + names >= s->all->names ||
		      u.bytes + bytes + s->bytes > s->all->bytes))
		return refuse(reply, EDQUOT,
			      "checkpoints of group \"%s\": %llu that were replaced, of %llu bytes, are still being sent to processes that load them, and count for its limits until those have them or end",
			      s->group, (unsigned long long)names, (unsigned long long)bytes);
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

static const struct save *save_under_way(const struct saves *all, const char *group)
{
	const struct save *s;

	for (s = all->first; s; s = s->next)
		if (!s->dropped && !s->reply.error && !strcmp(s->group, group))
			break;
	return s;
}

static int save_refuse_second(const struct save *s, struct broker_reply *reply)
{
	return refuse(reply, EBUSY,
		      "group \"%s\": pid %d has been saving checkpoint \"%s\" for %lld s, and may for %llu s: one at a time",
		      s->group, (int)s->pid, s->name, (long long)(save_seconds() - s->since),
		      (unsigned long long)broker_save_seconds(s->bytes));
}

static int save_open_new(struct save *s, struct broker_reply *reply)
{
	struct archive_error err;
	int error;

	s->top = archive_open(s->all->archive, true, &err);
	error = s->top;
	if (s->top >= 0) {
		s->dir = archive_group(s->top, s->group, true, &err);
		error = s->dir;
	}
	if (s->dir >= 0 && save_check_room(s, reply))
		return -1;
	if (s->dir >= 0) {
		s->fd = archive_new(s->dir, &err);
		error = s->fd;
	}
	return error < 0 ? refuse(reply, -error, "%s", err.text) : 0;
}

static void save_link_in(struct save *s)
{
	s->next = s->all->first;
	s->link = &s->all->first;
	if (s->next)
		s->next->link = &s->next;
	s->all->first = s;
}

static struct save *save_new(struct saves *all, const struct save_ask *ask)
{
	const struct broker_request *req = ask->req;
	struct save *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->all = all;
	s->top = -1;
	s->dir = -1;
	s->fd = -1;
	s->from = -1;
	s->old = -1;
	s->reply.size = sizeof(s->reply);
	s->bytes = req->bytes;
	s->pid = ask->peer->pid;
	s->since = save_seconds();
	s->id = ask->group->id;
	s->uid = ask->group->uid;
	s->gid = ask->group->gid;
	memcpy(s->group, req->group, sizeof(s->group));
	memcpy(s->name, req->name, sizeof(s->name));
	save_link_in(s);
	return s;
}

/* creates the client's end */
static int save_open_pair(struct save *s, struct broker_reply *reply)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return refuse(reply, errno, "gaggd cannot open a pair of sockets: %s",
			      strerror(errno));
	s->from = pair[0];
	return pair[1];
}

static void save_receive(struct save *s);

int save_begin(struct saves *all, const struct save_ask *ask, struct broker_reply *reply,
	       struct save **out)
{
	const struct save *other = save_under_way(all, ask->req->group);
	struct save *s;
	int passed;

	if (other)
		return save_refuse_second(other, reply);
	s = save_new(all, ask);
	if (!s)
		return refuse(reply, ENOMEM, "gaggd has no memory for a checkpoint");
	passed = save_open_new(s, reply) ? -1 : save_open_pair(s, reply);
	if (passed < 0) {
		save_drop(s);
		return -1;
	}
	ckp_begin(&s->scan);
	save_receive(s);
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

/* Answers with the reply. */
static void save_finish(struct save *s)
{
	const struct broker_reply reply = s->reply;
	const struct save_answer answer = s->answer;

	save_free(s);
	answer.done(answer.arg, &reply);
}

static void save_synced_top(struct loop_event *ev, int res)
{
	struct save *s = loop_container(ev, struct save, event);

	if (res < 0)
		refuse(&s->reply, -res, "checkpoint \"%s\" is kept, but not on the disk: %s",
		       s->name, strerror(-res));
	save_finish(s);
}

static void save_synced_dir(struct loop_event *ev, int res)
{
	struct save *s = loop_container(ev, struct save, event);

	if (res < 0) {
		save_synced_top(ev, res);
		return;
	}
	/* the group's directory in it may be new */
	ev->fire = save_synced_top;
	loop_fsync(s->all->loop, ev, s->top);
}

/* Was the directory removed with its last checkpoint? Then a new one is made. */
static int save_reopen_dir(struct save *s, struct archive_error *err)
{
	int dir = archive_group(s->top, s->group, true, err);

	if (dir < 0)
		return dir;
	close(s->dir);
	s->dir = dir;
	return 0;
}

static int save_place(struct save *s)
{
	struct archive_error err;
	int res;

	s->old = openat(s->dir, s->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	res = archive_place(s->dir, s->fd, s->name, &err);
	if (res == -ENOENT) {
		res = save_reopen_dir(s, &err);
		res = res ? res : archive_place(s->dir, s->fd, s->name, &err);
	}
	if (!res)
		return 0;
	/* the old file still has its name */
	if (s->old >= 0)
		loop_close(s->all->loop, s->old);
	s->old = -1;
	return refuse(&s->reply, -res, "%s", err.text);
}

static void save_synced_file(struct loop_event *ev, int res)
{
	struct save *s = loop_container(ev, struct save, event);

	if (res < 0)
		refuse(&s->reply, -res, "checkpoint \"%s\" onto the disk: %s", s->name,
		       strerror(-res));
	else
		res = save_place(s);
	if (res < 0) {
		save_finish(s);
		return;
	}
	ev->fire = save_synced_dir;
	loop_fsync(s->all->loop, ev, s->dir);
}

/* All bytes are written: keeps the checkpoint. */
static void save_keep(struct save *s)
{
	int more = 0;

	if (!ioctl(s->from, FIONREAD, &more) && more) {
		refuse(&s->reply, EINVAL,
		       "checkpoint \"%s\" has more than the %llu bytes that were announced; it is not kept",
		       s->name, (unsigned long long)s->bytes);
		save_finish(s);
		return;
	}
	s->event.fire = save_synced_file;
	loop_fsync(s->all->loop, &s->event, s->fd);
}

/* --- the bytes ---------------------------------------------------------- */

/*
 * Receives nothing more. The client's next send() fails, and the answer to COMMIT has the reason.
 */
static void save_end(struct save *s)
{
	s->over = true;
	if (s->reply.error)
		save_close_files(s);
	if (!s->answer.done)
		return;
	if (s->reply.error)
		save_finish(s);
	else
		save_keep(s);
}

/* returns what is wrong with the piece, or NULL */
static const char *save_take_piece(struct save *s)
{
	bool last = s->at + s->have == s->bytes;
	const char *wrong = NULL;
	size_t i;

	for (i = 0; i < s->have / sizeof(s->piece[0]) && !wrong; i++)
		wrong = ckp_take(&s->scan, s->piece[i]);
	if (!wrong && last && s->scan.next != CKP_W_NONE)
		wrong = "is cut off";
	return wrong;
}

static void save_wrote(struct loop_event *ev, int res);

static void save_write_piece(struct save *s)
{
	s->armed = true;
	s->event.fire = save_wrote;
	loop_write(s->all->loop, &s->event, s->fd,
		   (struct iovec){ (char *)s->piece + s->put, s->have - s->put },
		   s->at + s->put);
}

/* the event that was armed has fired; true: the save was dropped */
static bool save_fired(struct save *s)
{
	s->armed = false;
	if (!s->dropped)
		return false;
	save_free(s);
	return true;
}

static void save_wrote(struct loop_event *ev, int res)
{
	struct save *s = loop_container(ev, struct save, event);

	if (save_fired(s))
		return;
	if (res == -EAGAIN || res == -EINTR) {
		save_write_piece(s);
		return;
	}
	if (res <= 0) {
		refuse(&s->reply, res ? -res : EIO,
		       "checkpoint \"%s\", into gaggd's directory: %s", s->name,
		       strerror(res ? -res : EIO));
		save_end(s);
		return;
	}
	s->put += (size_t)res;
	if (s->put < s->have) {
		save_write_piece(s);
		return;
	}
	s->at += s->have;
	s->have = 0;
	s->put = 0;
	if (s->at < s->bytes)
		save_receive(s);
	else
		save_end(s);
}

/* checks the result of a receive */
static int save_check_received(struct save *s, int res)
{
	if (res == -ECANCELED)
		return refuse(&s->reply, ETIMEDOUT,
			      "checkpoint \"%s\": no byte of it came for %u ms: it is given up",
			      s->name, save_idle_ms);
	if (res < 0)
		return refuse(&s->reply, -res, "checkpoint \"%s\" cannot be received: %s",
			      s->name, strerror(-res));
	if (!res)
		return refuse(&s->reply, EINVAL,
			      "checkpoint \"%s\" has %llu bytes, where %llu were announced; it is not kept",
			      s->name, (unsigned long long)(s->at + s->have),
			      (unsigned long long)s->bytes);
	return 0;
}

static void save_received(struct loop_event *ev, int res)
{
	struct save *s = loop_container(ev, struct save, event);
	const char *wrong;

	if (save_fired(s))
		return;
	if (res == -EAGAIN || res == -EINTR) {
		save_receive(s);
		return;
	}
	if (save_check_received(s, res)) {
		save_end(s);
		return;
	}
	s->have += (size_t)res;
	if (s->have < sizeof(s->piece) && s->at + s->have < s->bytes) {
		save_receive(s);
		return;
	}
	wrong = save_take_piece(s);
	if (wrong) {
		refuse(&s->reply, EINVAL, "checkpoint \"%s\" %s; it is not kept", s->name, wrong);
		save_end(s);
	} else {
		save_write_piece(s);
	}
}

static void save_receive(struct save *s)
{
	uint64_t left = s->bytes - s->at - s->have;
	size_t room = sizeof(s->piece) - s->have;

	s->armed = true;
	s->event.fire = save_received;
	loop_recv(s->all->loop, &s->event, s->from,
		  (struct iovec){ (char *)s->piece + s->have, left < room ? (size_t)left : room },
		  save_idle_ms);
}

/*
 * The client's bytes are in the socket. No more are written: a reader that waits there for more
 * gets the end.
 */
void save_commit(struct save *s, const struct save_answer *answer)
{
	s->answer = *answer;
	if (s->over)
		save_end(s);
	else
		shutdown(s->from, SHUT_RD);
}
