/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A checkpoint on its way into the archive, from SAVE to the answer to COMMIT.
 *
 * The client may send anything. Only bytes that were found to be a checkpoint, of the announced
 * size, are kept.
 */
#ifndef GAGGD_SAVE_H
#define GAGGD_SAVE_H

#include "load.h"
#include "loop.h"
#include "request.h"

/* longest time without a byte, since others want to save; tests have less */
extern unsigned int save_idle_ms;

struct save;

/**
 * struct saves - the archive, and saves in progress
 * @loop: event loop that receives, writes and syncs them
 * @archive: directory of the archive
 * @names: most checkpoints of a group
 * @bytes: most bytes of a group's checkpoints
 * @first: saves in progress, one per group
 * @loads: loads in progress; their files count for the group
 */
struct saves {
	struct loop *loop;
	const char *archive;
	uint64_t names;
	uint64_t bytes;
	struct save *first;
	const struct loads *loads;
};

/**
 * struct save_ask - a client that asks to save a checkpoint
 * @req:	SAVE
 * @peer:	the client that asks
 * @group:	of @req; it admits @peer
 */
struct save_ask {
	const struct broker_request *req;
	const struct peer *peer;
	const struct nl_group *group;
};

/**
 * struct save_answer - where the answer to COMMIT goes
 * @done:	called once, soon or later, with the answer
 * @arg:	for @done
 */
struct save_answer {
	void (*done)(void *arg, const struct broker_reply *reply);
	void *arg;
};

/**
 * save_begin() - carry out SAVE
 * @all:	where it goes
 * @ask:	for what; not used after the call
 * @reply:	receives error and message
 * @out:	receives the save, for save_commit() or save_drop()
 *
 * Return: a stream socket for the bytes, to be passed and then closed, or -1.
 */
int save_begin(struct saves *all, const struct save_ask *ask, struct broker_reply *reply,
	       struct save **out);

/*
 * 0: @g, which has that name, is the group of save_begin(). Else -1: it belongs to other users, or
 * is another group.
 */
int save_check_group(const struct save *s, const struct nl_group *g,
		     struct broker_reply *reply);

/**
 * save_commit() - the client has written all: keep it
 * @s:		save, given up to this function
 * @answer:	where the answer goes; copied
 */
void save_commit(struct save *s, const struct save_answer *answer);

/* Gives up the save: nothing of it is left. */
void save_drop(struct save *s);

/*
 * After loop_exit(): the same for all saves in progress. If the kernel may still read or write a
 * save's piece, that stays until the process ends.
 */
void saves_exit(struct saves *all);

#endif
