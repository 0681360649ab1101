/* SPDX-License-Identifier: GPL-2.0 */
/* What nl.c shares with request.c, events.c and twin.c. */
#ifndef GAGG_NL_SOCKET_H
#define GAGG_NL_SOCKET_H

#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "codec.h"

struct nl {
	struct nl_twin twin;		/* no path: it is the module */
	struct nl_sock *req;
	struct nl_sock *events;		/* NULL: not subscribed */
	unsigned int family;		/* 0: the module has gone */
	unsigned int version;
	unsigned int mcgrp;
	struct nlmsghdr *next;		/* event not yet taken from event_buf */
	int left;
	char error[NL_SENTENCE_MAX + 128];
	char buf[NL_MESSAGE_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
	char event_buf[NL_MESSAGE_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
};

typedef int (*nl_each_fn)(struct nlmsghdr *hdr, void *arg);

/**
 * struct nl_question - what the module, or a gagg-twin, is asked
 * @cmd:	GAGG_CMD_*
 * @flags:	NLM_F_*
 * @group:	about it; NULL: about all
 * @member:	or, if not NULL, about this one of it
 * @each:	called for each message that answers; NULL: none does
 * @arg:	for @each
 */
struct nl_question {
	int cmd;
	int flags;
	const struct nl_group *group;
	const struct nl_member *member;
	nl_each_fn each;
	void *arg;
};

struct nl_sock *nl_open_socket(void);
/* nl_open() or nl_open_twin() fails: why, for nl_error(NULL). Frees @nl, returns NULL */
struct nl *nl_open_failed(struct nl *nl, int err, const char *why);
struct nl_msg *nl_message(unsigned int family, int cmd, int version, int flags);

/*
 * Send @msg, call @each for what comes before the acknowledgement. Returns 0
 * or -errno, with the kernel's sentence in @text.
 */
int nl_transact(struct nl *nl, struct nl_msg *msg, nl_each_fn each, void *arg,
		char text[NL_SENTENCE_MAX]);

/* twin.c: the same of a gagg-twin. What it cannot be asked is refused: all changes */
int nl_twin_transact(struct nl *nl, const struct nl_question *q, char text[NL_SENTENCE_MAX]);

/* Keep "<asked>: <said>" for nl_error() and pass @err on; 0 is no failure. */
int nl_fail(struct nl *nl, int err, const char *said, const char *asked, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * The id of the family and of its multicast group change when the module is
 * loaded again. The controller says so in the same message that answers
 * CTRL_CMD_GETFAMILY; false: it is about another family.
 */
bool nl_learn_family(struct nl *nl, struct nlmsghdr *hdr);

#endif
