// SPDX-License-Identifier: GPL-2.0
/*
 * gaggd as a whole: signals, the configuration file, the module, the broker.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>
#include <linux/rtnetlink.h>
#include <systemd/sd-daemon.h>

#include "daemon.h"
#include "limits.h"
#include "log.h"
#include "notify.h"
#include "session.h"
#include "../archive/archive.h"
#include "../conf/ports.h"
#include "../conf/reconcile.h"

/* Changes come in bursts: of attaching ranks, of addresses at boot. */
#define SETTLE_MS	200

static struct {
	const struct options *opt;
	struct loop loop;
	struct kernel kernel;
	struct sessions sessions;
	struct broker broker;
	struct watch addresses;
	struct loop_event signal, settle;
	int signal_fd;
	bool settling;
	bool started;
	bool busy;		/* a change waits for ranks to detach */
	struct config config;
} d;

static void daemon_say(void *arg, const char *line)
{
	(void)arg;
	if (strncmp(line, RECONCILE_CANNOT, strlen(RECONCILE_CANNOT)))
		log_info("%s", line);
	else
		log_err("%s", line);
}

static void daemon_apply(void)
{
	struct nl *nl = kernel_nl(&d.kernel);

	/* Without a file there is no configuration to apply. */
	if (!nl || !d.config.path[0])
		return;
	d.busy = reconcile(nl, &d.config, false, daemon_say, NULL) == -EBUSY;
	if (d.busy)
		log_info("will try again when ranks have detached");
}

static void daemon_settled(struct loop_event *ev, int res)
{
	(void)ev;
	(void)res;
	d.settling = false;
	daemon_apply();
}

static void daemon_apply_soon(void)
{
	if (d.settling)
		return;
	d.settling = true;
	loop_timer(&d.loop, &d.settle, SETTLE_MS);
}

static void daemon_module_came(struct kernel *k)
{
	(void)k;
	/* At the start the first daemon_apply() is called directly, not by a timer. */
	if (d.started)
		daemon_apply_soon();
}

static void daemon_module_said(struct kernel *k, const struct nl_event *e)
{
	char line[256];
	enum log_level level;

	(void)k;
	if (!e) {
		log_warn("events of the module were lost");
		if (d.busy)
			daemon_apply_soon();
		return;
	}
	level = notify_describe(e, line, sizeof(line));
	log_at(level, "%s", line);
	if (d.busy && notify_frees(e))
		daemon_apply_soon();
}

static void daemon_address_changed(struct watch *w, const struct nlmsghdr *msg)
{
	(void)w;
	if (!msg || msg->nlmsg_type == RTM_NEWADDR)
		daemon_apply_soon();
}

static void daemon_warn_of_ports(void)
{
	char msg[256];

	for (unsigned int i = 0; i < d.config.n_groups; i++)
		if (ports_warning(&d.config.groups[i], msg, sizeof(msg)))
			log_warn("group \"%s\": %s", d.config.groups[i].name, msg);
}

/* If one line is bad, the configuration does not change. */
static int daemon_load_config(void)
{
	const char *path = d.opt->config ? d.opt->config : CONFIG_PATH;
	struct config cfg;
	char err[4096];
	int ret;

	ret = config_load(path, &cfg, err, sizeof(err));
	if (ret == -ENOENT && !d.opt->config) {
		log_info("there is no %s: groups are left to gaggctl", path);
		return 0;
	}
	if (ret) {
		for (char *line = strtok(err, "\n"); line; line = strtok(NULL, "\n"))
			log_err("%s", line);
		return ret;
	}
	if (d.opt->local.family)
		cfg.local = d.opt->local;
	config_free(&d.config);
	d.config = cfg;
	log_info("%s: %u groups", path, cfg.n_groups);
	daemon_warn_of_ports();
	return 0;
}

static void daemon_reload(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   now.tv_sec * 1000000ULL + now.tv_nsec / 1000);
	if (daemon_load_config())
		log_err("not reloaded: nothing has changed");
	else
		daemon_apply();
	sd_notify(0, "READY=1");
}

static void daemon_signalled(struct loop_event *ev, int res)
{
	struct signalfd_siginfo info;

	(void)res;
	while (read(d.signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			daemon_reload();
			continue;
		}
		log_info("ends: signal %u", info.ssi_signo);
		loop_stop(&d.loop);
		return;
	}
	loop_readable(&d.loop, ev, d.signal_fd);
}

static int daemon_watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	d.signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d.signal_fd < 0)
		return -errno;
	d.signal.fire = daemon_signalled;
	loop_readable(&d.loop, &d.signal, d.signal_fd);
	return 0;
}

/*
 * Sessions are opened without an archive, too; requests for checkpoints are refused with the same
 * reason.
 */
static void daemon_prepare_sessions(void)
{
	struct saves *s = &d.sessions.saves;
	struct archive_error err;
	int fd;

	d.sessions.kernel = &d.kernel;
	s->loop = &d.loop;
	d.sessions.loads.loop = s->loop;
	s->loads = &d.sessions.loads;
	s->archive = d.opt->state ? d.opt->state : ARCHIVE_DIR;
	s->names = d.opt->checkpoints ?: OPTIONS_CHECKPOINTS;
	s->bytes = d.opt->checkpoint_bytes ?: (uint64_t)OPTIONS_CHECKPOINT_GIB << 30;
	fd = archive_open(s->archive, true, &err);
	if (fd >= 0)
		close(fd);
	else
		log_warn("no checkpoints can be kept: %s", err.text);
}

static int daemon_start(void)
{
	static const unsigned int groups[] = {
		RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, 0,
	};
	int ret;

	ret = daemon_watch_signals();
	if (ret) {
		log_err("signalfd: %s", strerror(-ret));
		return ret;
	}
	ret = daemon_load_config();
	if (ret)
		return ret;
	d.settle.fire = daemon_settled;
	ret = watch_open(&d.addresses, &d.loop, NETLINK_ROUTE, groups,
			 daemon_address_changed);
	if (!ret)
		ret = kernel_init(&d.kernel, &d.loop, daemon_module_came, daemon_module_said);
	if (ret) {
		log_err("netlink: %s", strerror(-ret));
		return ret;
	}
	/* Before READY: units that are ordered after gaggd must find the groups. */
	daemon_apply();
	d.started = true;
	daemon_prepare_sessions();
	return broker_init(&d.broker, &d.loop, d.opt->socket, &session_ops, &d.sessions);
}

int daemon_run(const struct options *opt)
{
	int ret;

	d.opt = opt;
	d.signal_fd = -1;
	d.addresses.fd = -1;
	d.broker.fd = -1;
	d.kernel.families.fd = -1;
	limits_raise();
	ret = loop_init(&d.loop);
	if (ret) {
		log_err("io_uring: %s; kernel.io_uring_disabled must be 0, or a seccomp filter forbids it",
			strerror(-ret));
		return EXIT_FAILURE;
	}
	ret = daemon_start();
	if (!ret) {
		sd_notify(0, "READY=1");
		log_info("ready at %s", opt->socket);
		ret = loop_run(&d.loop);
		if (ret)
			log_err("io_uring: %s", strerror(-ret));
		sd_notify(0, "STOPPING=1");
	}
	/*
	 * The ring first: it still has operations on memory of the other parts. Nothing waits for
	 * these: a read of a checkpoint may go on, so the memory of a COMMIT stays until the
	 * process ends, which waits for the read.
	 */
	loop_exit(&d.loop);
	broker_exit(&d.broker);
	saves_exit(&d.sessions.saves);
	sessions_exit(&d.sessions);
	kernel_exit(&d.kernel);
	watch_close(&d.addresses);
	config_free(&d.config);
	if (d.signal_fd >= 0)
		close(d.signal_fd);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
