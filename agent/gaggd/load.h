/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A checkpoint on its way to a client that loads it, from LOAD to its last byte.
 *
 * Only gaggd opens the file. A process that has it open, even for reading only, could hold its lock
 * (inode_lock()) for as long as it likes, by a direct read into memory whose pages it does not
 * provide. A rename to the file's name waits for that lock in the kernel.
 */
#ifndef GAGGD_LOAD_H
#define GAGGD_LOAD_H

#include "loop.h"
#include "request.h"

struct load;

/**
 * struct loads - all loads in progress
 * @loop: event loop that reads and sends them
 * @first: list
 */
struct loads {
	struct loop *loop;
	struct load *first;
};

/**
 * struct load_ask - a client that asks for a checkpoint
 * @req:	LOAD
 * @done:	called once, later, when all is sent, or it is given up
 * @arg:	for @done
 */
struct load_ask {
	const struct broker_request *req;
	void (*done)(void *arg);
	void *arg;
};

/**
 * load_begin() - send a file
 * @all:	where it belongs to
 * @ask:	for what; not used after the call
 * @file:	open to read, given up to this function
 * @reply:	receives error and message
 * @out:	receives the load, for load_drop() before @ask's function is called
 *
 * Return: a stream socket from which the bytes come, to be passed and then closed, or -1.
 */
int load_begin(struct loads *all, const struct load_ask *ask, int file,
	       struct broker_reply *reply, struct load **out);

/* Its client is gone: the function of its struct load_ask is not called. */
void load_drop(struct load *l);

/*
 * Counts files of a group that have lost their names, usually to newer ones, and stay on the disk
 * as long as they are being sent.
 */
void loads_replaced(const struct loads *all, const char *group, uint64_t *files,
		    uint64_t *bytes);

#endif
