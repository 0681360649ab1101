// SPDX-License-Identifier: GPL-2.0
/*
 * The module, as seen from gaggd.
 *
 * A poll in progress holds the socket's file, so a socket is only freed after its poll has fired:
 * k->closing is set, the poll is cancelled, and the poll's function frees the socket. So an event
 * is never armed twice.
 *
 * After the module has gone gaggd does not ask for its family: the kernel would load the module for
 * that, which would undo the rmmod.
 */
#include <errno.h>
#include <string.h>
#include <linux/genetlink.h>

#include "kernel.h"
#include "log.h"

static void kernel_open(struct kernel *k)
{
	int ret;

	k->nl = nl_open();
	if (!k->nl) {
		k->error = -errno;
		if (k->error == -ENOENT)
			log_info("waiting for the gagg module");
		else
			log_err("%s", nl_error(NULL));
		return;
	}
	ret = nl_subscribe(k->nl);
	if (ret)
		log_err("no events, thus no retries: %s", nl_error(k->nl));
	if (!ret) {
		loop_readable(k->loop, &k->event, nl_fd(k->nl));
		k->armed = true;
	}
	log_info("the gagg module is there, interface version %u",
		 nl_family_version(k->nl));
	k->came(k);
}

static void kernel_closed(struct kernel *k)
{
	nl_free(k->nl);
	k->nl = NULL;
	k->closing = false;
	if (k->again)
		kernel_open(k);
}

static void kernel_close(struct kernel *k, bool again)
{
	k->again = again;
	if (!k->nl || k->closing)
		return;
	k->closing = true;
	k->error = -ENOENT;
	if (k->armed)
		loop_cancel(k->loop, &k->event);
	else
		kernel_closed(k);
}

static void kernel_readable(struct loop_event *ev, int res)
{
	struct kernel *k = loop_container(ev, struct kernel, event);
	static struct nl_event e;
	int ret;

	k->armed = false;
	if (res < 0 && !k->closing)
		k->again = true;
	if (res < 0 || k->closing) {
		kernel_closed(k);
		return;
	}
	while ((ret = nl_event_next(k->nl, &e)) == 1)
		k->heard(k, &e);
	if (ret == -ENOBUFS)
		k->heard(k, NULL);
	else if (ret < 0)
		log_warn("an event is not understood: %s", nl_error(k->nl));
	loop_readable(k->loop, &k->event, nl_fd(k->nl));
	k->armed = true;
}

/* Is this message of generic netlink about our family? */
static bool kernel_is_gagg(const struct nlmsghdr *msg)
{
	const struct nlattr *a = NLMSG_DATA(msg) + GENL_HDRLEN;
	int left = (int)NLMSG_PAYLOAD(msg, GENL_HDRLEN);

	while (left >= NLA_HDRLEN && a->nla_len >= NLA_HDRLEN &&
	       a->nla_len <= left) {
		if ((a->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_FAMILY_NAME)
			return a->nla_len == NLA_HDRLEN + sizeof(GAGG_GENL_NAME) &&
			       !memcmp((const char *)a + NLA_HDRLEN,
				       GAGG_GENL_NAME, sizeof(GAGG_GENL_NAME));
		left -= NLA_ALIGN(a->nla_len);
		a = (const void *)((const char *)a + NLA_ALIGN(a->nla_len));
	}
	return false;
}

static void kernel_family(struct watch *w, const struct nlmsghdr *msg)
{
	struct kernel *k = loop_container(w, struct kernel, families);
	const struct genlmsghdr *genl;

	if (!msg) {
		/* Anything may have happened: an open socket may be stale. */
		if (k->nl)
			kernel_close(k, true);
		else
			kernel_open(k);
		return;
	}
	if (msg->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN) || !kernel_is_gagg(msg))
		return;
	genl = NLMSG_DATA(msg);
	if (genl->cmd == CTRL_CMD_DELFAMILY) {
		log_info("the gagg module is gone");
		kernel_close(k, false);
	} else if (genl->cmd == CTRL_CMD_NEWFAMILY) {
		if (k->nl)
			k->again = true;
		else
			kernel_open(k);
	}
}

int kernel_init(struct kernel *k, struct loop *loop,
		void (*came)(struct kernel *k),
		void (*heard)(struct kernel *k, const struct nl_event *e))
{
	/* The group "notify" of the controller has the controller's number. */
	static const unsigned int groups[] = { GENL_ID_CTRL, 0 };
	int ret;

	*k = (struct kernel){
		.loop = loop,
		.event.fire = kernel_readable,
		.came = came,
		.heard = heard,
	};
	/* Listen first: a module that comes in between is seen twice, instead of never. */
	ret = watch_open(&k->families, loop, NETLINK_GENERIC, groups,
			 kernel_family);
	if (!ret)
		kernel_open(k);
	return ret;
}

void kernel_exit(struct kernel *k)
{
	watch_close(&k->families);
	if (k->nl)
		nl_free(k->nl);
	k->nl = NULL;
}

struct nl *kernel_nl(struct kernel *k)
{
	return k->closing ? NULL : k->nl;
}
