/* SPDX-License-Identifier: GPL-2.0 */
/* A descriptor for text that never waits for its reader: text without room is refused. */
#ifndef GAGGD_OUTLET_H
#define GAGGD_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct outlet - destination of text
 * @fd: descriptor to write to
 * @socket: @fd is a socket
 * @own: @fd has a description of our own, with O_NONBLOCK
 */
struct outlet {
	int fd;
	bool socket;
	bool own;
};

/* The caller still owns @fd; it is written to if there is nothing better. */
void outlet_open(struct outlet *o, int fd);

/* closes what outlet_open() has opened */
void outlet_close(struct outlet *o, int fd);

/*
 * @len: at most PIPE_BUF. 0; -EAGAIN: there is no room now, and nothing was written; or another
 *       error.
 */
int outlet_put(const struct outlet *o, const char *text, size_t len);

#endif
