/* SPDX-License-Identifier: GPL-2.0 */
/* Which users may bind the UDP ports of a group. */
#ifndef GAGG_CONF_PORTS_H
#define GAGG_CONF_PORTS_H

#include <stdbool.h>

#include "../nl/nl.h"

/*
 * file with the first port that requires no privilege in this network namespace; tests have another
 * one
 */
extern const char *ports_sysctl;

/**
 * ports_warning() - may a user act as a member without being allowed to train?
 * @g: the group; its port, shards and mode are set
 * @msg: receives a sentence about that, to follow the group's name
 * @size: bytes of @msg
 *
 * Uid, gid and mode are checked on the trainer's own host. For other hosts a member is the process
 * that has its address and ports: while its daemon is away, any process that may bind these.
 *
 * Return: true if there is such a sentence.
 */
bool ports_warning(const struct nl_group *g, char *msg, size_t size);

#endif
