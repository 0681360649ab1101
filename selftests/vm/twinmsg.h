/* SPDX-License-Identifier: GPL-2.0 */
/* Messages to gagg-twin by hand, without libgagg. */
#ifndef GAGG_TWINMSG_H
#define GAGG_TWINMSG_H

#include <stddef.h>
#include <stdint.h>

#include "twin_proto.h"

/* a session; exits if there is none */
int twinmsg_open(const char *path, const char *group, uint32_t rank);
/* 0 or a negative errno */
int twinmsg_send(int fd, uint32_t request, void *arg, size_t size);
/*
 * 0; -EPIPE: the session is over; -ETIMEDOUT (@timeout_ms -1: never). @error: what the answer
 * says; @fds: descriptors that came with it, -1 where none
 */
int twinmsg_answer(int fd, int *error, void *arg, size_t size, int fds[TWIN_FDS],
		   int timeout_ms);
/* both: an error of either */
int twinmsg_ask(int fd, uint32_t request, void *arg, size_t size, int fds[TWIN_FDS]);

#endif
