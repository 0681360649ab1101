/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Groups, members, counters and errors to and from netlink messages. No
 * socket, so that tests run without a kernel.
 */
#ifndef GAGG_NL_CODEC_H
#define GAGG_NL_CODEC_H

#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "nl.h"

#define NL_MESSAGE_MAX	32768
#define NL_SENTENCE_MAX	512

/*
 * Append the nest GAGG_A_GROUP. -EMSGSIZE no room, -ERANGE a value does not
 * fit its attribute, -EINVAL a name too long or an address without a family.
 */
int nl_put_group(struct nl_msg *msg, const struct nl_group *group);

/* Append GAGG_A_GROUP with @name and the one member. */
int nl_put_member(struct nl_msg *msg, const char *name,
		  const struct nl_member *member);

/*
 * Take a message apart. Unknown attributes are skipped; -ENODATA the expected
 * nest is missing, -EBADMSG an attribute has the wrong length.
 */
int nl_parse_group(struct nlmsghdr *hdr, struct nl_group *out);
int nl_parse_stats(struct nlmsghdr *hdr, uint64_t values[NL_STATS]);
int nl_parse_event(struct nlmsghdr *hdr, struct nl_event *out);

/*
 * errno and sentence of an answer, NLMSG_ERROR or NLMSG_DONE, to @sent (NULL:
 * unknown). Returns 0 for an acknowledgement, else -errno with the attribute to
 * blame and the kernel's sentence in @text; "" when the kernel gave none.
 */
int nl_parse_ack(struct nlmsghdr *hdr, const struct nlmsghdr *sent,
		 char text[NL_SENTENCE_MAX]);

#endif
