// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets, requests, answers. libnl makes the sockets and the messages; the
 * receive loop is ours, because libnl's folds errno into codes of its own and
 * ignores the error of a dump.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>

#include "socket.h"

static __thread char open_error[NL_SENTENCE_MAX];

static const char not_loaded[] =
	"kernel module gagg is not loaded (modprobe gagg)";

static const char *nl_why(int err)
{
	switch (err) {
	case -EPERM:
		return "Operation not permitted (needs CAP_NET_ADMIN in this network namespace)";
	case -ENOENT:
		return "no such group";
	case -EINTR:
		return "groups change faster than they can be listed; try again";
	case -ENOBUFS:
		return "events were lost; list the groups again";
	case -EBADMSG:
	case -ENODATA:
		return "the kernel's answer makes no sense; is the module of another version?";
	case -ERANGE:
		return "a value does not fit";
	default:
		return strerror(-err);
	}
}

int nl_fail(struct nl *nl, int err, const char *said, const char *asked, ...)
{
	size_t n = sizeof(nl->error);
	va_list ap;
	int len;

	if (!err)
		return 0;
	if (err == -ENOENT && !nl->family && !nl_twin(nl))
		said = not_loaded;
	va_start(ap, asked);
	len = vsnprintf(nl->error, n, asked, ap);
	va_end(ap);
	if (len >= 0 && (size_t)len < n)
		snprintf(nl->error + len, n - len, ": %s",
			 said && *said ? said : nl_why(err));
	return err;
}

const char *nl_error(const struct nl *nl)
{
	return nl ? nl->error : open_error;
}

struct nl_sock *nl_open_socket(void)
{
	struct nl_sock *sk = nl_socket_alloc();
	int on = 1, fd;

	if (!sk)
		return NULL;
	if (nl_connect(sk, NETLINK_GENERIC) < 0) {
		nl_socket_free(sk);
		return NULL;
	}
	fd = nl_socket_get_fd(sk);
	/* Kernels without these say less; nothing else depends on them. */
	setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof(on));
	return sk;
}

/*
 * Reads until the acknowledgement or the end of the dump. A callback that
 * fails does not stop it: a dump half read would make the next one EBUSY.
 * The buffer is larger than a page on purpose: the kernel makes the messages
 * of a dump as large as what the socket was last read with.
 */
static int nl_answers(struct nl *nl, const struct nlmsghdr *sent, nl_each_fn each,
		      void *arg, char text[NL_SENTENCE_MAX])
{
	int fd = nl_socket_get_fd(nl->req);
	bool intr = false;
	int err = 0, ack;

	for (;;) {
		struct nlmsghdr *hdr = (struct nlmsghdr *)nl->buf;
		ssize_t got = recv(fd, nl->buf, sizeof(nl->buf), MSG_TRUNC);
		int n = got;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if ((size_t)got > sizeof(nl->buf))
			return -EMSGSIZE;
		for (; nlmsg_ok(hdr, n); hdr = nlmsg_next(hdr, &n)) {
			if (hdr->nlmsg_seq != sent->nlmsg_seq)
				continue;
			intr |= hdr->nlmsg_flags & NLM_F_DUMP_INTR;
			if (hdr->nlmsg_type == NLMSG_ERROR ||
			    hdr->nlmsg_type == NLMSG_DONE) {
				ack = nl_parse_ack(hdr, sent, text);
				if (ack)
					return ack;
				return intr ? -EINTR : err;
			}
			if (hdr->nlmsg_type == sent->nlmsg_type && !err && each)
				err = each(hdr, arg);
		}
	}
}

int nl_transact(struct nl *nl, struct nl_msg *msg, nl_each_fn each, void *arg,
		char text[NL_SENTENCE_MAX])
{
	struct nlmsghdr *hdr;
	ssize_t n;

	text[0] = 0;
	nl_complete_msg(nl->req, msg);
	hdr = nlmsg_hdr(msg);
	do {
		n = send(nl_socket_get_fd(nl->req), hdr, hdr->nlmsg_len, 0);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return nl_answers(nl, hdr, each, arg, text);
}

struct nl_msg *nl_message(unsigned int family, int cmd, int version,
			  int flags)
{
	struct nl_msg *msg = nlmsg_alloc_size(NL_MESSAGE_MAX);

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0,
				flags, cmd, version)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

bool nl_learn_family(struct nl *nl, struct nlmsghdr *hdr)
{
	struct nlattr *a[CTRL_ATTR_MAX + 1], *grp, *id, *name;
	const struct genlmsghdr *genl = nlmsg_data(hdr);
	int rem;

	if (genlmsg_parse(hdr, 0, a, CTRL_ATTR_MAX, NULL) < 0 ||
	    !a[CTRL_ATTR_FAMILY_NAME] || !a[CTRL_ATTR_FAMILY_ID] ||
	    nla_strcmp(a[CTRL_ATTR_FAMILY_NAME], GAGG_GENL_NAME) ||
	    (genl->cmd != CTRL_CMD_NEWFAMILY && genl->cmd != CTRL_CMD_DELFAMILY))
		return false;
	nl->family = 0;
	nl->mcgrp = 0;
	if (genl->cmd == CTRL_CMD_DELFAMILY)
		return true;
	nl->family = nla_get_u16(a[CTRL_ATTR_FAMILY_ID]);
	if (a[CTRL_ATTR_VERSION])
		nl->version = nla_get_u32(a[CTRL_ATTR_VERSION]);
	if (!a[CTRL_ATTR_MCAST_GROUPS])
		return true;
	nla_for_each_nested(grp, a[CTRL_ATTR_MCAST_GROUPS], rem) {
		name = nla_find(nla_data(grp), nla_len(grp),
				CTRL_ATTR_MCAST_GRP_NAME);
		id = nla_find(nla_data(grp), nla_len(grp),
			      CTRL_ATTR_MCAST_GRP_ID);
		if (name && id && !nla_strcmp(name, GAGG_MCGRP_NAME))
			nl->mcgrp = nla_get_u32(id);
	}
	return true;
}

static int nl_each_family(struct nlmsghdr *hdr, void *arg)
{
	return nl_learn_family(arg, hdr) ? 0 : -EBADMSG;
}

static int nl_resolve(struct nl *nl)
{
	struct nl_msg *msg = nl_message(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, 0);
	char text[NL_SENTENCE_MAX];
	int err = -ENOMEM;

	if (!msg)
		return err;
	if (!nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, GAGG_GENL_NAME))
		err = nl_transact(nl, msg, nl_each_family, nl, text);
	nlmsg_free(msg);
	return err ? err : nl->family ? 0 : -EBADMSG;
}

struct nl *nl_open_failed(struct nl *nl, int err, const char *text)
{
	snprintf(open_error, sizeof(open_error), "%s", text);
	nl_free(nl);
	errno = err;
	return NULL;
}

struct nl *nl_open(void)
{
	struct nl *nl = calloc(1, sizeof(*nl));
	char text[NL_SENTENCE_MAX];
	int err = ENOMEM;

	if (nl) {
		errno = 0;
		nl->req = nl_open_socket();
		err = nl->req ? -nl_resolve(nl) : errno ? errno : ENOMEM;
	}
	if (!err)
		return nl;
	if (err == ENOENT)
		return nl_open_failed(nl, err, not_loaded);
	snprintf(text, sizeof(text), "cannot talk to the kernel module: %s", nl_why(-err));
	return nl_open_failed(nl, err, text);
}

void nl_free(struct nl *nl)
{
	if (!nl)
		return;
	nl_socket_free(nl->req);
	nl_socket_free(nl->events);
	free(nl);
}

unsigned int nl_family_version(const struct nl *nl)
{
	return nl->version;
}
