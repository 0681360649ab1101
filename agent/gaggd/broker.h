/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The broker: gives a trainer a file that is bound to a rank, if whoever opens
 * it finds that the group's uid, gid and mode allow it. It keeps no file itself.
 */
#ifndef GAGGD_BROKER_H
#define GAGGD_BROKER_H

#include <sys/stat.h>
#include <sys/un.h>

#include "loop.h"
#include "request.h"

#define BROKER_CLIENTS		64	/* at once */
#define BROKER_CLIENTS_OF_UID	32	/* root's are not limited */
#define BROKER_PATIENCE_MS	5000

struct client;

/*
 * Answer @req of @peer: @reply is filled. Returns a descriptor bound to
 * @reply->rank, or -1 with error and message in @reply.
 */
typedef int (*broker_open_fn)(void *arg, const struct broker_request *req,
			      const struct peer *peer, struct broker_reply *reply);

struct broker {
	struct loop *loop;
	broker_open_fn open;
	void *arg;
	struct loop_event event;
	int fd;
	struct sockaddr_un addr;
	struct stat stat;	/* of our socket */
	struct client *clients;
	unsigned int n_clients;
};

/*
 * Listen at @path. A socket file that nobody listens at is replaced.
 * 0 or -errno, -EADDRINUSE: another gaggd answers there. It has said why.
 */
int broker_init(struct broker *b, struct loop *loop, const char *path,
		broker_open_fn open, void *arg);

/* The socket file goes if it is still ours. */
void broker_exit(struct broker *b);

#endif
