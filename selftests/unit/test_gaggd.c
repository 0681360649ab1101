// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggd/refuse.c agent/gaggd/request.c agent/gaggd/session.c agent/gaggd/save.c agent/gaggd/load.c agent/gaggd/broker.c agent/gaggd/daemon.c agent/gaggd/kernel.c agent/gaggd/watch.c agent/gaggd/limits.c agent/gaggd/loop.c agent/gaggd/log.c agent/gaggd/outlet.c agent/gaggd/notify.c agent/conf/ports.c agent/conf/reconcile.c agent/conf/diff.c agent/conf/describe.c agent/conf/host.c agent/conf/applied.c agent/conf/config.c agent/conf/parse.c agent/conf/roster.c agent/conf/ring.c agent/conf/value.c agent/archive/archive.c agent/archive/list.c agent/lib/checkpoint_file.c agent/nl/names.c kmod/core/geom.c kmod/core/group/param.c kmod/core/group/roster.c kmod/core/group/fit.c sync agent/lib/message.c; libs: libconfuse liburing libsystemd */
/*
 * gaggd's socket file over its life, and its configuration file.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gaggd_fixture.h"

static void gaggd__takes_over_stale_socket(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	fake.absent = true;
	start();
	finish(SIGKILL);
	assert_int_equal(access(path, F_OK), 0);
	start();
	assert_int_equal(ask(&r, msg), ENODEV);
	assert_int_equal(finish(SIGTERM), 0);
	assert_int_equal(access(path, F_OK), -1);
}

static void gaggd__second_one_refuses(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];
	int status;
	pid_t pid;

	(void)state;
	fake.absent = true;
	start();
	pid = spawn();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	assert_int_equal(ask(&r, msg), ENODEV);
}

static void gaggd__leaves_what_is_not_its(void **state)
{
	int status, fd;
	pid_t pid;

	(void)state;
	/* not a socket: not touched */
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	pid = spawn();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	/* replaced meanwhile: not removed at the end */
	start();
	unlink(path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(finish(SIGTERM), 0);
	assert_int_equal(access(path, F_OK), 0);
}

static void gaggd__config(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];
	int status;
	pid_t pid;

	(void)state;
	fake.absent = true;
	write_config("group x { member 0 { address = 10.0.0.1 } }\n"
		     "group y { member 0 { address = 10.0.0.1 } }\n");
	start();
	assert_true(logged("conf: 2 groups"));
	write_config("");
	kill(daemon_pid, SIGHUP);
	assert_true(logged("conf: 0 groups"));
	write_config("group x { port = 0 }\n");
	/* A bad file does not end a gaggd that runs ... */
	kill(daemon_pid, SIGHUP);
	assert_true(logged("conf:1: group \"x\": port = \"0\": allowed"));
	assert_true(logged("not reloaded: nothing has changed"));
	assert_int_equal(ask(&r, msg), ENODEV);
	assert_int_equal(finish(SIGTERM), 0);
	/* ... but one that starts says so. */
	pid = spawn();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	unlink(config);
	pid = spawn();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gaggd__takes_over_stale_socket),
		TEST(gaggd__second_one_refuses),
		TEST(gaggd__leaves_what_is_not_its),
		TEST(gaggd__config),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gaggd", tests, NULL, NULL);
}
