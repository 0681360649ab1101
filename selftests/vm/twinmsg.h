/* SPDX-License-Identifier: GPL-2.0 */
/* Messages to gagg-twin by hand, without libgagg. */
#ifndef GAGG_TWINMSG_H
#define GAGG_TWINMSG_H

#include <stddef.h>
#include <stdint.h>

#include "twin_proto.h"

/* a session; exits if there is none */
int twinmsg_open(const char *path, const char *group, uint32_t rank);
/* the answer's error; descriptors that came with it, -1 where none */
int twinmsg_ask(int fd, uint32_t request, void *arg, size_t size, int fds[TWIN_FDS]);

#endif
