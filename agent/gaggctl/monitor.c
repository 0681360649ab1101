// SPDX-License-Identifier: GPL-2.0
/* gaggctl monitor: a line for each event, until SIGINT or SIGTERM. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

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

static void monitor_print_event(const struct nl_event *e)
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

/* Reads all events that are there. 0, or -errno if it makes no sense to go on. */
static int monitor_drain(struct nl *nl)
{
	struct nl_event e;
	int ret;

	while ((ret = nl_event_next(nl, &e)) != 0) {
		if (ret == -ENOBUFS)
			ctl_say("%s", nl_error(nl));
		else if (ret < 0)
			return ret;
		else
			monitor_print_event(&e);
		if (fflush(stdout))
			return -errno;
	}
	return 0;
}

/* Descriptor that is readable once SIGINT or SIGTERM has come. */
static int monitor_catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Events that have come before the signal are printed. */
static int monitor_watch(struct nl *nl, int signals)
{
	struct pollfd fds[] = {
		{ .fd = nl_fd(nl), .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	int err = 0;

	while (!err) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[0].revents)
			err = monitor_drain(nl);
		if (fds[1].revents &&
		    read(signals, &info, sizeof(info)) == sizeof(info))
			break;
	}
	return err;
}

enum ctl_exit monitor_command(struct args *a)
{
	struct nl *nl;
	int signals, err;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_end(a))
		return CTL_USAGE;
	nl = ctl_open();
	if (!nl)
		return CTL_FAILED;
	signals = monitor_catch_signals();
	if (signals < 0) {
		ctl_say("signalfd: %s", strerror(errno));
		nl_free(nl);
		return CTL_FAILED;
	}
	err = nl_subscribe(nl);
	if (!err)
		err = monitor_watch(nl, signals);
	close(signals);
	if (ferror(stdout)) {
		nl_free(nl);
		errno = -err;	/* main() reports the error of stdout */
		return CTL_FAILED;
	}
	return ctl_close(nl, err);
}
