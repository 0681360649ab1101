/* SPDX-License-Identifier: GPL-2.0 */
/* A descriptor for text that never waits for its reader: what finds no room is refused. */
#ifndef GAGGD_OUTLET_H
#define GAGGD_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct outlet - where text goes
 * @fd: to be written
 * @socket: it is one
 * @own: a description of our own, with O_NONBLOCK
 */
struct outlet {
	int fd;
	bool socket;
	bool own;
};

/* @fd stays the caller's, and is what is written if there is nothing better. */
void outlet_open(struct outlet *o, int fd);

/* what outlet_open() has opened besides */
void outlet_close(struct outlet *o, int fd);

/*
 * @len: at most PIPE_BUF. 0; -EAGAIN: there is no room for it now, and nothing was
 * written; or another error.
 */
int outlet_put(const struct outlet *o, const char *text, size_t len);

#endif
