// SPDX-License-Identifier: GPL-2.0
/* gaggctl monitor: a line for each event, until SIGINT or SIGTERM. */
#define _GNU_SOURCE 1		/* ppoll() */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "gaggctl.h"

static const char usage[] =
	"Usage: gaggctl monitor\n"
	"\n"
	"Print what happens to groups and members, a line for each event, until\n"
	"interrupted. With -j each line is a JSON object.\n"
	"\n"
	"  group NAME EVENT STATE ...      EVENT: new, del, set, epoch-start,\n"
	"                                  epoch-end, config-mismatch\n"
	"  member GROUP EVENT MEMBER ...   EVENT: new, del, set, member-state\n";

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static void print_event(const struct nl_event *e)
{
	print_object(NULL);
	print_str("object", "", e->is_member ? "member" : "group", " ");
	print_str("group", "", e->group.name, " ");
	print_str("event", "", nl_event_name(e->event), "");
	if (e->is_member) {
		print_text(" ");
		print_object("member");
		member_print(&e->group.members[0]);
		print_close();
	} else {
		group_print_state(&e->group);
	}
	print_text("\n");
	print_close();
}

/* Take all there are. 0, or -errno when going on makes no sense. */
static int drain(struct nl *nl)
{
	struct nl_event e;
	int ret;

	while ((ret = nl_event_next(nl, &e)) != 0) {
		if (ret == -ENOBUFS)
			ctl_say("%s", nl_error(nl));
		else if (ret < 0)
			return ret;
		else
			print_event(&e);
		if (fflush(stdout))
			return -errno;
	}
	return 0;
}

/*
 * The signals are blocked except in ppoll(), so that none is lost between the
 * look at @stop and the sleep.
 */
enum ctl_exit monitor_command(struct args *a)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct pollfd pfd = { .events = POLLIN };
	sigset_t blocked, before;
	struct nl *nl;
	int err;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_end(a))
		return CTL_USAGE;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGINT);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &before);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);

	nl = ctl_open();
	if (!nl)
		return CTL_FAILED;
	err = nl_subscribe(nl);
	pfd.fd = nl_fd(nl);
	while (!err && !stop) {
		if (ppoll(&pfd, 1, NULL, &before) > 0)
			err = drain(nl);
	}
	if (err && ferror(stdout)) {
		nl_free(nl);
		return CTL_FAILED;
	}
	return ctl_close(nl, err);
}
