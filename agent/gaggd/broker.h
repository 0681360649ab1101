/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The broker: gives a trainer a file that is bound to a rank, or a checkpoint, if uid, gid and mode
 * of the group allow it (broker_ops checks that). It keeps no file itself.
 */
#ifndef GAGGD_BROKER_H
#define GAGGD_BROKER_H

#include <sys/stat.h>
#include <sys/un.h>

#include "loop.h"
#include "request.h"

#define BROKER_CLIENTS		64	/* at once */
#define BROKER_CLIENTS_KEPT	8	/* of these, for root and for whom a group admits */

extern unsigned int broker_patience_ms;	/* time for a client that asks nothing; tests have more */

struct client;
struct load;
struct load_ask;
struct save;
struct save_answer;

/**
 * struct broker_ops - functions that carry out requests
 * @admits: may @peer open a session of some group? Called for the places that are kept
 * @open: OPEN: fill @reply and return a descriptor to pass, or -1 with error and message
 *	in @reply
 * @load: LOAD: the same, and a load, which tells @ask of its end, or ends by @load_drop;
 *	NULL: @open has the sentence that refuses it
 * @load_drop: its client is gone
 * @save: SAVE: the same, and a save that ends by @commit or @drop; NULL: @open has the
 *	sentence that refuses it
 * @commit: COMMIT of @save: tell @answer
 * @drop: its client is gone
 * @tell: TWIN, GROUP, STATS: fill @reply, and @more, of which there are @room bytes; return how
 *	many of these, 0 on error; NULL: refused, since netlink is what tells of gaggd's groups
 */
struct broker_ops {
	bool (*admits)(void *arg, const struct peer *peer);
	int (*open)(void *arg, const struct broker_request *req, const struct peer *peer,
		    struct broker_reply *reply);
	int (*load)(void *arg, const struct load_ask *ask, const struct peer *peer,
		    struct broker_reply *reply, struct load **load);
	void (*load_drop)(struct load *load);
	int (*save)(void *arg, const struct broker_request *req, const struct peer *peer,
		    struct broker_reply *reply, struct save **save);
	void (*commit)(void *arg, struct save *save, const struct broker_request *req,
		       const struct peer *peer, const struct save_answer *answer);
	void (*drop)(struct save *save);
	size_t (*tell)(void *arg, const struct broker_request *req, struct broker_reply *reply,
		       void *more, size_t room);
};

struct broker {
	struct loop *loop;
	const struct broker_ops *ops;
	void *arg;
	struct loop_event event;
	int fd;
	struct sockaddr_un addr;
	struct stat stat;	/* stat() of our socket */
	struct client *clients;
	unsigned int n_clients;
};

/*
 * Listen at @path. A socket file is replaced if no process listens at it. 0 or -errno, -EADDRINUSE:
 * another gaggd answers there. The error is logged.
 */
int broker_init(struct broker *b, struct loop *loop, const char *path,
		const struct broker_ops *ops, void *arg);

/* Removes the socket file if it is still ours. */
void broker_exit(struct broker *b);

#endif
