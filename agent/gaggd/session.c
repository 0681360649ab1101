// SPDX-License-Identifier: GPL-2.0
/*
 * Opening a session or a checkpoint.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "refuse.h"
#include "session.h"
#include "../archive/archive.h"
#include "../lib/deadline.h"

#define OWNERS_MS	100

const char *session_device = "/dev/gagg";

static int session_no_module(struct broker_reply *reply)
{
	return refuse(reply, ENODEV,
		      "the gagg module is not loaded on this host: modprobe gagg");
}

static int session_take_member(const struct nl_member *m, void *arg)
{
	struct nl_group *g = arg;

	if (g->n_members < GAGG_RANKS_MAX)
		g->members[g->n_members++] = *m;
	return 0;
}

static int session_get_group(struct nl *nl, const char *name, struct nl_group *g)
{
	int ret = nl_group_get(nl, name, g);

	if (ret)
		return ret;
	g->n_members = 0;
	return nl_member_dump(nl, name, session_take_member, g);
}

static int session_open_device(struct broker_reply *reply)
{
	int fd = open(session_device, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		return session_no_module(reply);
	return refuse(reply, errno, "gaggd cannot open %s: %s",
		      session_device, strerror(errno));
}

/* The first of @ranks that is free. */
static int session_bind_rank(int fd, const char *group, const uint32_t *ranks,
			     unsigned int n, struct broker_reply *reply)
{
	struct gagg_ioc_open arg = { .size = sizeof(arg) };

	memcpy(arg.name, group, sizeof(arg.name));
	for (unsigned int i = 0; i < n; i++) {
		arg.rank = ranks[i];
		if (!ioctl(fd, GAGG_IOC_OPEN, &arg)) {
			reply->rank = ranks[i];
			return fd;
		}
		if (errno != EBUSY)
			break;
	}
	if (errno == EBUSY && n > 1)
		refuse(reply, EBUSY,
		       "all %u workers of group \"%s\" on this host have a session",
		       n, group);
	else if (errno == EBUSY)
		refuse(reply, EBUSY, "rank %u of group \"%s\" has a session",
		       arg.rank, group);
	else
		refuse(reply, errno, "rank %u of group \"%s\": %s", arg.rank,
		       group, strerror(errno));
	close(fd);
	return -1;
}

/* 0: @g is the group, and @peer may use it; else -1 */
static int session_find_group(struct kernel *k,
			      const struct broker_request *req,
			      const struct peer *peer, struct nl_group *g,
			      struct broker_reply *reply)
{
	struct nl *nl = kernel_nl(k);
	int ret;

	if (!nl && k->error == -ENOENT)
		return session_no_module(reply);
	if (!nl)
		return refuse(reply, -k->error,
			      "gaggd cannot talk to the gagg module: %s",
			      strerror(-k->error));
	ret = session_get_group(nl, req->group, g);
	if (ret == -ENOENT)
		return refuse(reply, ENOENT,
			      "there is no group \"%s\" in gaggd's network namespace",
			      req->group);
	if (ret)
		return refuse(reply, -ret, "group \"%s\": %s", req->group,
			      nl_error(nl));
	if (!access_allowed(peer, g->uid, g->gid, g->mode))
		return refuse(reply, EACCES,
			      "group \"%s\" is of uid %u, gid %u, mode %04o, which does not let uid %u train",
			      req->group, g->uid, g->gid, g->mode, peer->uid);
	return 0;
}

static int session_open_rank(const struct broker_request *req, const struct nl_group *g,
			     struct broker_reply *reply)
{
	uint32_t ranks[GAGG_RANKS_MAX];
	unsigned int n;
	int ret, fd;

	ret = rank_candidates(g, req->rank, ranks, &n, reply->message);
	if (ret) {
		reply->error = ret;
		return -1;
	}
	fd = session_open_device(reply);
	return fd < 0 ? -1 : session_bind_rank(fd, req->group, ranks, n, reply);
}

static int session_open(void *arg, const struct broker_request *req, const struct peer *peer,
			struct broker_reply *reply)
{
	struct sessions *s = arg;
	struct nl_group g;

	return session_find_group(s->kernel, req, peer, &g, reply) ?
		       -1 :
		       session_open_rank(req, &g, reply);
}

static int session_load(void *arg, const struct load_ask *ask, const struct peer *peer,
			struct broker_reply *reply, struct load **load)
{
	const struct broker_request *req = ask->req;
	struct sessions *s = arg;
	struct archive_error err;
	struct nl_group g;
	int fd;

	if (session_find_group(s->kernel, req, peer, &g, reply))
		return -1;
	fd = archive_load(s->saves.archive, req->group, req->name, &err);
	if (fd < 0)
		return refuse(reply, -fd, "%s", err.text);
	return load_begin(&s->loads, ask, fd, reply, load);
}

static int session_save(void *arg, const struct broker_request *req, const struct peer *peer,
			struct broker_reply *reply, struct save **save)
{
	struct sessions *s = arg;
	struct nl_group g;
	const struct save_ask ask = { .req = req, .peer = peer, .group = &g };

	if (session_find_group(s->kernel, req, peer, &g, reply))
		return -1;
	return save_begin(&s->saves, &ask, reply, save);
}

/* Minutes may have passed since SAVE, and the group may belong to other users now. */
static void session_commit(void *arg, struct save *save, const struct broker_request *req,
			   const struct peer *peer, const struct save_answer *answer)
{
	struct broker_reply reply = { .size = sizeof(reply) };
	struct sessions *s = arg;
	struct nl_group g;

	if (!session_find_group(s->kernel, req, peer, &g, &reply) &&
	    !save_check_group(save, &g, &reply)) {
		save_commit(save, answer);
		return;
	}
	save_drop(save);
	answer->done(answer->arg, &reply);
}

struct owner {
	uint32_t uid, gid, mode;
};

static int session_take_owner(const struct nl_group *g, void *arg)
{
	struct owners *o = arg;
	struct owner *all = reallocarray(o->all, o->n + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	o->all = all;
	all[o->n++] = (struct owner){ .uid = g->uid, .gid = g->gid, .mode = g->mode };
	return 0;
}

/*
 * Any user may connect as often as it likes, and the kernel may have many groups: so the kernel is
 * asked once in OWNERS_MS. A user who was admitted since then gets the answer to try again.
 */
static const struct owners *session_owners(struct sessions *s)
{
	struct nl *nl = kernel_nl(s->kernel);
	struct owners *o = &s->owners;

	if (deadline_left(o->until))
		return o;
	o->until = deadline_in(OWNERS_MS);
	o->n = 0;
	if (!nl || nl_group_dump(nl, session_take_owner, o))
		o->n = 0;
	return o;
}

static bool session_admits(void *arg, const struct peer *peer)
{
	const struct owners *o = session_owners(arg);

	for (const struct owner *a = o->all; a < o->all + o->n; a++)
		if (access_allowed(peer, a->uid, a->gid, a->mode))
			return true;
	return false;
}

void sessions_exit(struct sessions *s)
{
	free(s->owners.all);
	s->owners = (struct owners){ };
}

const struct broker_ops session_ops = {
	.admits = session_admits,
	.open = session_open,
	.load = session_load,
	.load_drop = load_drop,
	.save = session_save,
	.commit = session_commit,
	.drop = save_drop,
};
