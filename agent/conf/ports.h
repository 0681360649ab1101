/* SPDX-License-Identifier: GPL-2.0 */
/* Who may have the UDP ports of a group. */
#ifndef GAGG_CONF_PORTS_H
#define GAGG_CONF_PORTS_H

#include <stdbool.h>

#include "../nl/nl.h"

/* the first port that takes no privilege, of this network namespace; tests have another file */
extern const char *ports_sysctl;

/**
 * ports_warning() - may somebody be a member who may not train in the group?
 * @g: the group; its port, shards and mode are set
 * @msg: receives a sentence that says so, to follow the group's name
 * @size: bytes of @msg
 *
 * Uid, gid and mode are asked on the trainer's own host. For the others a member is who has
 * its address and ports: while its daemon is away, whoever may bind these.
 *
 * Return: true if there is something to say.
 */
bool ports_warning(const struct nl_group *g, char *msg, size_t size);

#endif
