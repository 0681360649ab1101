/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A checkpoint on its way into the archive, from SAVE to what is answered to COMMIT.
 *
 * Its client sends what it likes. What is kept is what was found to be a checkpoint, of the
 * size that was announced.
 */
#ifndef GAGGD_SAVE_H
#define GAGGD_SAVE_H

#include "load.h"
#include "loop.h"
#include "request.h"

/* without a byte: others want to save; tests have less */
extern unsigned int save_idle_ms;

struct save;

/**
 * struct saves - where checkpoints go
 * @loop: receives, writes and syncs them
 * @archive: directory
 * @names: most of a group
 * @bytes: most of a group
 * @first: those on their way, one of a group
 * @loads: those on their way out, which count for the group while they are
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
 * @peer:	who asks
 * @group:	of @req; it admits @peer
 */
struct save_ask {
	const struct broker_request *req;
	const struct peer *peer;
	const struct nl_group *group;
};

/**
 * struct save_answer - who is told the answer to COMMIT
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
 * 0: @g, by that name, is still what it was at save_begin(). Else -1: it belongs to
 * others, or is another one.
 */
int save_check_group(const struct save *s, const struct nl_group *g,
		     struct broker_reply *reply);

/**
 * save_commit() - the client has written all: keep it
 * @s:		save, given up to this function
 * @answer:	who is told; copied
 */
void save_commit(struct save *s, const struct save_answer *answer);

/* Nothing of it is left. */
void save_drop(struct save *s);

/*
 * After loop_exit(): the same for all that are on their way, but for those whose piece the
 * kernel may still read or write: they stay until the process ends.
 */
void saves_exit(struct saves *all);

#endif
