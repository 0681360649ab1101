// SPDX-License-Identifier: GPL-2.0
/* links: agent/twin/sweep.c agent/lib/message.c; libs: -pthread */
/*
 * Pages of files are given back; while somebody holds the files' locks, nobody waits.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "full.h"
#include "../vm/missing.h"
#include "../../agent/twin/sweep.h"

#define HELD	16		/* as many as are swept at a time */
#define BYTES	65536

struct file {
	int fd;
	void *page;		/* that never comes */
	int missing;		/* trainers that wait for it */
	pthread_t thread;
};

static int make(void)
{
	static const char bytes[BYTES] = { 1 };
	int fd = memfd_create("swept", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, BYTES), BYTES);
	return fd;
}

static long blocks(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_blocks;
}

static void is_swept(int fd)
{
	int i;

	for (i = 0; i < 6000 && blocks(fd); i++)
		usleep(10000);
	assert_int_equal(blocks(fd), 0);
	close(fd);
}

static void *write_it(void *arg)
{
	struct file *f = arg;

	assert_int_equal(pwrite(f->fd, f->page, MISSING_BYTES, 0), MISSING_BYTES);
	return NULL;
}

/* by a write() that waits for its bytes */
static void hold(struct file *f)
{
	struct uffd_msg fault;

	f->fd = make();
	f->missing = missing_page(&f->page);
	assert_true(f->missing >= 0);
	assert_int_equal(pthread_create(&f->thread, NULL, write_it, f), 0);
	assert_int_equal(read(f->missing, &fault, sizeof(fault)), sizeof(fault));
}

static void let_go(struct file *f)
{
	close(f->missing);
	pthread_join(f->thread, NULL);
	munmap(f->page, MISSING_BYTES);
}

/* the process ends with the socket, whatever is held */
static void end(int sweeper)
{
	int status, i;

	close(sweeper);
	for (i = 0; i < 6000 && waitpid(-1, &status, WNOHANG) <= 0; i++)
		usleep(10000);
	assert_int_equal(status, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* processes whose parent is @parent; @child: one of them */
static int children_of(pid_t parent, pid_t *child)
{
	DIR *procs = opendir("/proc");
	struct dirent *d;
	int n = 0;

	assert_non_null(procs);
	while ((d = readdir(procs))) {
		char name[300];
		int pid = atoi(d->d_name), of = 0;
		FILE *f;

		snprintf(name, sizeof(name), "/proc/%s/stat", d->d_name);
		f = pid > 0 ? fopen(name, "r") : NULL;
		if (!f)
			continue;
		/* no name here has a parenthesis */
		if (fscanf(f, "%*d (%*[^)]) %*c %d", &of) == 1 && of == parent) {
			*child = pid;
			n++;
		}
		fclose(f);
	}
	closedir(procs);
	return n;
}

/* Returns when the sweeper, our only child, has @n processes at work, or ended and not reaped. */
static void has_at_work(int n)
{
	pid_t sweeper, any;
	int i;

	assert_int_equal(children_of(getpid(), &sweeper), 1);
	for (i = 0; i < 6000 && children_of(sweeper, &any) != n; i++)
		usleep(10000);
	assert_int_equal(children_of(sweeper, &any), n);
}

static void sweep__many(void **state)
{
	int sweeper = sweep_start(), fd, i;

	(void)state;
	assert_true(sweeper >= 0);
	/* one by one: of more than are swept at a time some are left to their holders */
	for (i = 0; i < (int)full_or(100, 2 * HELD); i++) {
		fd = make();
		assert_true(sweep_file(sweeper, fd));
		is_swept(fd);
	}
	end(sweeper);
}

static void sweep__held(void **state)
{
	int sweeper = sweep_start(), fd, i, n;
	struct file f[HELD];

	(void)state;
	assert_true(sweeper >= 0);
	for (i = 0; i < HELD; i++)
		hold(&f[i]);
	/* all but one: those that nobody holds go on */
	for (i = 0; i < HELD - 1; i++)
		assert_true(sweep_file(sweeper, f[i].fd));
	fd = make();
	assert_true(sweep_file(sweeper, fd));
	is_swept(fd);
	/* all: nobody waits, and what is passed on is held by nobody but us */
	/* the process of the one before may not have ended when its pages are gone */
	has_at_work(HELD - 1);
	assert_true(sweep_file(sweeper, f[HELD - 1].fd));
	has_at_work(HELD);
	fd = make();
	for (n = 0; n < 1000; n++)
		while (!sweep_file(sweeper, fd))
			usleep(1000);
	assert_true(blocks(fd) > 0);
	for (i = 0; i < HELD; i++)
		let_go(&f[i]);
	for (i = 0; i < HELD; i++)
		is_swept(f[i].fd);
	/* one that comes when there is room again */
	for (i = 0; i < 6000 && blocks(fd); i++) {
		sweep_file(sweeper, fd);
		usleep(10000);
	}
	is_swept(fd);
	end(sweeper);
}

static void sweep__ends(void **state)
{
	int sweeper = sweep_start();
	struct file f;

	(void)state;
	assert_true(sweeper >= 0);
	hold(&f);
	assert_true(sweep_file(sweeper, f.fd));
	usleep(50000);
	end(sweeper);
	let_go(&f);
	is_swept(f.fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sweep__many),
		cmocka_unit_test(sweep__held),
		cmocka_unit_test(sweep__ends),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("sweep", tests, NULL, NULL);
}
