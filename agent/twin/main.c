// SPDX-License-Identifier: GPL-2.0
/*
 * gagg-twin: the command line, and start and end of all parts.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "epoch.h"
#include "facts.h"
#include "group.h"
#include "idle.h"
#include "reduce.h"
#include "session.h"
#include "stats.h"
#include "sweep.h"
#include "twin.h"
#include "worker.h"
#include "../conf/host.h"
#include "../gaggd/limits.h"
#include "../gaggd/log.h"
#include "../gaggd/options.h"

static const char usage[] =
	"Usage: gagg-twin [OPTION]...\n"
	"Aggregates in userspace, for hosts without the gagg module: keeps this host's\n"
	"groups of the configuration, and opens sessions for trainers.\n"
	"\n"
	OPTIONS_USAGE
	OPTIONS_IDLE_USAGE
	"\n"
	"SIGUSR1 prints counters. See gagg-twin(8), gagg.conf(5).\n";

static void main_called(struct loop_event *ev, int res)
{
	struct twin *t = loop_container(ev, struct twin, call);
	u64 n;

	if (res < 0 || read(t->call_fd, &n, sizeof(n)) < 0)
		n = 0;
	epoch_run(t);
	loop_readable(&t->loop, ev, t->call_fd);
}

static void main_timed(struct loop_event *ev, int res)
{
	struct twin *t = loop_container(ev, struct twin, timer);
	u64 n;

	if (res < 0 || read(t->timer_fd, &n, sizeof(n)) < 0)
		n = 0;
	epoch_run(t);
	loop_readable(&t->loop, ev, t->timer_fd);
}

static void main_signalled(struct loop_event *ev, int res)
{
	struct twin *t = loop_container(ev, struct twin, signal);
	struct signalfd_siginfo info;

	(void)res;
	while (read(t->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1) {
			stats_print(t);
			continue;
		}
		if (info.ssi_signo == SIGHUP) {
			log_info("SIGHUP: the configuration is read at the start only; restart to change it");
			continue;
		}
		log_info("ends: signal %u", info.ssi_signo);
		loop_stop(&t->loop);
		return;
	}
	loop_readable(&t->loop, ev, t->signal_fd);
}

static int main_listen_to(struct twin *t)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -1;
	t->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	t->call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	t->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (t->signal_fd < 0 || t->call_fd < 0 || t->timer_fd < 0)
		return -1;
	t->signal.fire = main_signalled;
	t->call.fire = main_called;
	t->timer.fire = main_timed;
	loop_readable(&t->loop, &t->signal, t->signal_fd);
	loop_readable(&t->loop, &t->call, t->call_fd);
	loop_readable(&t->loop, &t->timer, t->timer_fd);
	return 0;
}

/* none of the members' addresses is one of @ips */
static void main_say_no_group(const char *path, const struct nl_ip *ips, unsigned int n)
{
	char list[512] = "", ip[NL_IP_MAX];
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < n && len < sizeof(list); i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
				nl_ip_format(&ips[i], ip));
	log_err("%s: this host is in no group: no member has its address, which is %s%s", path,
		list, len < sizeof(list) ? "" : "...");
}

/* groups of the file with this host in them */
static int main_make_groups(struct twin *t, const struct nl_ip *ips, unsigned int n)
{
	char msg[256];
	unsigned int i;

	for (i = 0; i < t->config.n_groups; i++) {
		struct nl_group *cfg = &t->config.groups[i];

		if (host_resolve(cfg, ips, n, msg, sizeof(msg))) {
			log_err("group \"%s\": %s", cfg->name, msg);
			return -1;
		}
		if (!(cfg->set & NL_SET(GAGG_GA_LOCAL)))
			continue;
		if (group_add(t, cfg))
			return -1;
	}
	if (t->n_groups)
		return 0;
	main_say_no_group(t->config.path, ips, n);
	return -1;
}

static int main_load(struct twin *t, const struct options *opt)
{
	struct nl_ip *host = NULL;
	char err[4096], *line, *rest = err;
	int n, ret;

	if (config_load(opt->config, &t->config, err, sizeof(err))) {
		while ((line = strsep(&rest, "\n")))
			log_err("%s", line);
		return -1;
	}
	if (opt->local.family)
		t->config.local = opt->local;
	if (t->config.local.family)
		return main_make_groups(t, &t->config.local, 1);
	n = host_addresses(&host);
	if (n < 0) {
		log_err("list this host's addresses: %s", strerror(-n));
		return -1;
	}
	ret = main_make_groups(t, host, (unsigned int)n);
	free(host);
	return ret;
}

static int main_start(struct twin *t, const struct options *opt)
{
	static const struct broker_ops ops = {
		.admits = session_admits,
		.open = session_open,
		.tell = facts_tell,
	};
	unsigned int i;

	if (main_listen_to(t)) {
		log_err("signalfd, eventfd or timerfd: %s", strerror(errno));
		return -1;
	}
	t->idle_most = opt->end_when_idle;
	if (main_load(t, opt))
		return -1;
	if (t->idle_most && idle_begin(t)) {
		log_err("timerfd: %s", strerror(errno));
		return -1;
	}
	for (i = 0; i < t->n_workers; i++)
		if (worker_start(t->workers[i])) {
			log_err("out of threads");
			return -1;
		}
	epoch_run(t);
	return broker_init(&t->broker, &t->loop, opt->socket, &ops, t);
}

static void main_stop(struct twin *t)
{
	unsigned int i, r;

	t->ending = true;
	broker_exit(&t->broker);
	epoch_farewell(t);
	for (i = 0; i < t->n_groups; i++)
		for (r = 0; r < GAGG_RANKS; r++)
			if (t->groups[i]->session[r])
				session_close(t->groups[i]->session[r]);
	loop_exit(&t->loop);
	for (i = 0; i < t->n_workers; i++)
		worker_free(t->workers[i]);
	for (i = 0; i < t->n_groups; i++)
		group_free(t->groups[i]);
	free(t->groups);
	config_free(&t->config);
	close(t->sweeper);
}

static int main_run(const struct options *opt)
{
	static struct twin t = { .broker.fd = -1 };
	int ret;

	limits_raise();
	t.sweeper = sweep_start();
	if (t.sweeper < 0) {
		log_err("no process to sweep memory: %s", strerror(errno));
		return EXIT_FAILURE;
	}
	ret = loop_init(&t.loop);
	if (ret) {
		log_err("io_uring: %s; kernel.io_uring_disabled must be 0, or a seccomp filter forbids it",
			strerror(-ret));
		return EXIT_FAILURE;
	}
	reduce_init();
	ret = main_start(&t, opt);
	if (!ret) {
		sd_notify(0, "READY=1");
		log_info("ready at %s", opt->socket);
		ret = loop_run(&t.loop);
		sd_notify(0, "STOPPING=1");
	}
	main_stop(&t);
	if (opt->end_when_idle)
		idle_remove_folder(opt->socket);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct options opt;
	int status = options_parse(&opt, "gagg-twin", usage, argc, argv);

	if (status != OPTIONS_GO_ON)
		return status;
	if (opt.state || opt.checkpoints || opt.checkpoint_bytes) {
		fprintf(stderr, "gagg-twin: --state, --checkpoints and --checkpoint-bytes are gaggd's: gagg-twin keeps no checkpoints\n");
		return 2;
	}
	opt.config = opt.config ?: CONFIG_PATH;
	return main_run(&opt);
}
