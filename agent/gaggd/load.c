// SPDX-License-Identifier: GPL-2.0
/*
 * Sends checkpoints from the archive: a piece is read, then sent, then the next one.
 *
 * Lifetime: from load_begin() on one event is armed. When it fires at the end, or after the load
 * was dropped, the load is freed. If an event is armed when the loop ends, its load stays until the
 * process ends, since the kernel may still read into its piece.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "load.h"
#include "log.h"
#include "refuse.h"
#include "save.h"
#include "../lib/broker_proto.h"
#include "../lib/deadline.h"

#define PIECE		(64 << 10)
#define PAUSE_MS	5

struct load {
	struct loop_event event;
	struct loads *all;
	struct load *next, **link;
	char group[GAGG_NAME_MAX], name[GAGG_NAME_MAX];
	int file, to;
	uint64_t bytes, at;	/* of the file; sent */
	size_t have, put;	/* of the piece: read, sent */
	uint64_t until;		/* deadlines: the load is given up, */
	uint64_t idle;		/* or earlier, if no byte is sent */
	bool dropped;
	void (*done)(void *arg);
	void *arg;
	char piece[PIECE];
};

static void load_free(struct load *l)
{
	/* together with bytes that the client may have sent, which nobody reads */
	loop_close(l->all->loop, l->to);
	loop_close(l->all->loop, l->file);
	*l->link = l->next;
	if (l->next)
		l->next->link = l->link;
	free(l);
}

/* nothing more comes: if the checkpoint is cut off, libgagg notices it */
static void load_over(struct load *l)
{
	void (*done)(void *arg) = l->dropped ? NULL : l->done;
	void *arg = l->arg;

	load_free(l);
	if (done)
		done(arg);
}

void load_drop(struct load *l)
{
	l->dropped = true;
	if (!l->all->loop->stop)
		loop_cancel(l->all->loop, &l->event);
}

static void load_give_up(struct load *l, const char *why)
{
	if (!l->dropped)
		log_limited(LOG_OF_ANY, LOG_L_WARN, "group \"%s\": checkpoint \"%s\" is not sent to its end: %s",
			    l->group, l->name, why);
	load_over(l);
}

static void load_read_piece(struct load *l);
static void load_send_piece(struct load *l);

/* sends the piece, or as much as there is room for */
static void load_sent(struct load *l, size_t n)
{
	l->put += n;
	l->idle = deadline_in((int)save_idle_ms);
	if (l->at + l->put == l->bytes) {
		load_over(l);
	} else if (!deadline_left(l->until)) {
		load_give_up(l, "it is read too slowly");
	} else if (l->put < l->have) {
		load_send_piece(l);
	} else {
		l->at += l->have;
		load_read_piece(l);
	}
}

/*
 * The poll reports room. If a client has closed its own direction, the poll reports that all the
 * time (EPOLLRDHUP), hence the pause.
 */
static void load_writable(struct loop_event *ev, int res)
{
	struct load *l = loop_container(ev, struct load, event);
	ssize_t n;

	(void)res;
	if (l->dropped) {
		load_over(l);
		return;
	}
	n = send(l->to, l->piece + l->put, l->have - l->put, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n > 0)
		load_sent(l, (size_t)n);
	else if (n < 0 && errno != EAGAIN)
		/* the client has read enough */
		load_over(l);
	else if (!deadline_left(l->idle))
		load_give_up(l, "nobody has read of it for too long");
	else
		loop_timer(l->all->loop, ev, PAUSE_MS);
}

static void load_send_piece(struct load *l)
{
	l->event.fire = load_writable;
	loop_writable(l->all->loop, &l->event, l->to, save_idle_ms);
}

static void load_was_read(struct loop_event *ev, int res)
{
	struct load *l = loop_container(ev, struct load, event);

	if (l->dropped) {
		load_over(l);
		return;
	}
	if (res == -EAGAIN || res == -EINTR) {
		load_read_piece(l);
		return;
	}
	if (res <= 0) {
		load_give_up(l, res ? strerror(-res) : "the file is shorter than it was");
		return;
	}
	l->have = (size_t)res;
	l->put = 0;
	load_send_piece(l);
}

static void load_read_piece(struct load *l)
{
	uint64_t left = l->bytes - l->at;

	l->event.fire = load_was_read;
	loop_read(l->all->loop, &l->event, l->file,
		  (struct iovec){ l->piece, left < PIECE ? (size_t)left : PIECE }, l->at);
}

static struct load *load_new(struct loads *all, const struct load_ask *ask, int file,
			     uint64_t bytes)
{
	struct load *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->all = all;
	l->file = file;
	l->bytes = bytes;
	l->until = deadline_in((int)broker_save_seconds(bytes) * 1000);
	l->idle = deadline_in((int)save_idle_ms);
	l->done = ask->done;
	l->arg = ask->arg;
	memcpy(l->group, ask->req->group, sizeof(l->group));
	memcpy(l->name, ask->req->name, sizeof(l->name));
	l->next = all->first;
	l->link = &all->first;
	if (l->next)
		l->next->link = &l->next;
	all->first = l;
	return l;
}

int load_begin(struct loads *all, const struct load_ask *ask, int file,
	       struct broker_reply *reply, struct load **out)
{
	struct load *l = NULL;
	struct stat st;
	int pair[2];

	if (fstat(file, &st) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
		refuse(reply, errno, "gaggd cannot send a checkpoint: %s", strerror(errno));
		close(file);
		return -1;
	}
	l = load_new(all, ask, file, (uint64_t)st.st_size);
	if (!l) {
		close(file);
		close(pair[0]);
		close(pair[1]);
		return refuse(reply, ENOMEM, "gaggd has no memory for a checkpoint");
	}
	l->to = pair[0];
	load_read_piece(l);
	*out = l;
	return pair[1];
}

void loads_replaced(const struct loads *all, const char *group, uint64_t *files,
		    uint64_t *bytes)
{
	const struct load *l;
	struct stat st;

	*files = 0;
	*bytes = 0;
	for (l = all->first; l; l = l->next)
		if (!strcmp(l->group, group) && !fstat(l->file, &st) && !st.st_nlink) {
			++*files;
			*bytes += l->bytes;
		}
}
