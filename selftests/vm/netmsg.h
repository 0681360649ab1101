/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A netlink request (genl.h) out of words, and the kernel's answer.
 *
 * A request is COMMAND ATTRIBUTE... COMMAND: as in enum gagg_cmd, group-new and
 * so on, or a number.
 *
 * ATTRIBUTE: NAME=VALUE, or NAME{ ... } for a nest, NAME[ ... } for one that does
 * not say so. NAME: group, g.port and so on (enum gagg_group_attr), m.rank and so
 * on (enum gagg_member_attr), or #N. VALUE: u8:N u16:N u32:N u64:N, ip:ADDRESS,
 * m:MODE:PARAMETER... (a sync mode, by numbers), s:TEXT (with its zero), t:TEXT (without),
 * x:HEX, nothing.
 *
 * What goes wrong here ends the program.
 */
#ifndef NETMSG_H
#define NETMSG_H

#include "genl.h"

/* a socket for the family, which has this @type */
int netmsg_open(uint16_t *type);
uint8_t netmsg_command(const char *word);
void netmsg_attribute(const char *word);
/* the kernel's verdict, an errno; the attribute and the sentence it names */
int netmsg_answer(int fd, char *sentence, size_t size, const char **blamed);

#endif
