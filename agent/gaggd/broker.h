/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The broker: gives a trainer a file that is bound to a rank, if the group's
 * uid, gid and mode say so. It keeps no file itself.
 */
#ifndef GAGGD_BROKER_H
#define GAGGD_BROKER_H

#include <sys/stat.h>
#include <sys/un.h>

#include "kernel.h"
#include "loop.h"

#define BROKER_CLIENTS		64	/* at once */
#define BROKER_CLIENTS_OF_UID	32	/* root's are not limited */
#define BROKER_PATIENCE_MS	5000

struct client;

struct broker {
	struct loop *loop;
	struct kernel *kernel;
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
int broker_init(struct broker *b, struct loop *loop, struct kernel *kernel,
		const char *path);

/* The socket file goes if it is still ours. */
void broker_exit(struct broker *b);

#endif
