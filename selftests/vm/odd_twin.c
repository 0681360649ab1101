// SPDX-License-Identifier: GPL-2.0
/*
 * What no honest trainer asks of gagg-twin.
 *
 *	odd_twin GROUP SOCKET RANK
 *
 * Messages that are none, regions that it may not have, write or shorten, a page
 * full of nonsense. Exit status 1: something was accepted, or the error is
 * another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "broker.h"
#include "error.h"
#include "missing.h"
#include "twinmsg.h"

static const char *group, *path;
static uint32_t rank;
static int status;

static int open_session(void)
{
	return twinmsg_open(path, group, rank);
}

static void expect(const char *what, int got, int want)
{
	if (got == want)
		return;
	fprintf(stderr, "%s: %d (%s) instead of %d\n", what, got, strerror(-got), want);
	status = 1;
}

static struct twin_page *hello(int fd)
{
	int fds[TWIN_FDS];
	struct twin_page *page;

	expect("hello", twinmsg_ask(fd, TWIN_HELLO, NULL, 0, fds), 0);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	if (page == MAP_FAILED)
		exit(2);
	expect("shorten the page", ftruncate(fds[0], 0) ? -errno : 0, -EPERM);
	return page;
}

static void odd_messages(void)
{
	struct gagg_ioc_attach attach = { .size = sizeof(attach), .flags = 1 };
	struct gagg_ioc_channel channel = { .size = sizeof(channel), .channel = 5, .members = 1 };
	struct gagg_ioc_submit submit = { .size = sizeof(submit) };
	int fd = open_session(), fds[TWIN_FDS];
	uint64_t offset = 0;
	char big[4096] = { 0 };

	expect("attach before hello", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, &attach,
					  sizeof(attach), fds), -EINVAL);
	attach.flags = 0;
	expect("attach without a page", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, &attach,
					    sizeof(attach), fds), -ENOTCONN);
	hello(fd);
	expect("hello again", twinmsg_ask(fd, TWIN_HELLO, NULL, 0, fds), -EBUSY);
	expect("hello with more", twinmsg_ask(fd, TWIN_HELLO, big, 8, fds), -EINVAL);
	expect("a number there is not", twinmsg_ask(fd, 77, NULL, 0, fds), -ENOTTY);
	expect("submit by message", twinmsg_ask(fd, (uint32_t)GAGG_IOC_SUBMIT, &submit,
					sizeof(submit), fds), -ENOTTY);
	expect("half a struct", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, &attach, 8, fds), -EINVAL);
	expect("far too long", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, big, sizeof(big), fds),
	       -E2BIG);
	expect("a channel before an epoch", twinmsg_ask(fd, (uint32_t)GAGG_IOC_CHANNEL, &channel,
						sizeof(channel), fds), -ENOTCONN);
	expect("a region before a seat", twinmsg_ask(fd, TWIN_MAP, &offset, sizeof(offset), fds),
	       -EINVAL);
	offset = ~0ULL;
	expect("no region", twinmsg_ask(fd, TWIN_MAP, &offset, sizeof(offset), fds), -EINVAL);
	close(fd);
}

static void odd_regions(void)
{
	struct gagg_ioc_attach attach = { .size = sizeof(attach) };
	int fd = open_session(), fds[TWIN_FDS], i, again;
	char proc[64];
	void *addr;

	hello(fd);
	expect("attach", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, &attach, sizeof(attach), fds), 0);
	expect("attach again", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, &attach, sizeof(attach), fds),
	       -EBUSY);
	for (i = 0; i < GAGG_REG_COUNT; i++) {
		const struct gagg_region *r = &attach.geo.region[i];
		uint64_t offset = r->offset;
		bool mine = i == GAGG_REG_PUSH || i == GAGG_REG_CONTRIB;

		expect("region", twinmsg_ask(fd, TWIN_MAP, &offset, sizeof(offset), fds), 0);
		expect("shorten it", ftruncate(fds[0], 4096) ? -errno : 0, -EPERM);
		expect("lengthen it", ftruncate(fds[0], 1LL << 40) ? -errno : 0, -EPERM);
		addr = mmap(NULL, r->length, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
		expect("write it", addr == MAP_FAILED ? -errno : 0, mine ? 0 : -EPERM);
		if (mine)
			memset(addr, 0xff, r->length);
		/* another description of the same file gives no more */
		snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fds[0]);
		again = open(proc, O_RDWR);
		addr = mmap(NULL, r->length, PROT_WRITE, MAP_SHARED, again, 0);
		expect("write it, opened again", addr == MAP_FAILED ? -errno : 0,
		       mine ? 0 : -EPERM);
		if (!mine)
			expect("write() to it", pwrite(again, "x", 1, 0) < 0 ? -errno : 0, -EPERM);
	}
	close(fd);
}

/* the session ends: the socket is closed at the other side */
static void expect_closed(const char *what, int fd)
{
	/* to be hung up upon, whatever there is to read */
	struct pollfd p = { .fd = fd };

	if (poll(&p, 1, 60000) == 1 && (p.revents & POLLHUP))
		return;
	fprintf(stderr, "%s: the session goes on\n", what);
	status = 1;
}

/* a client that asks again and again reads the answers */
static void odd_answers(void)
{
	struct twin_message head = { .request = (uint32_t)GAGG_IOC_FEATURES };
	struct gagg_ioc_features features = { .size = sizeof(features) };
	struct iovec iov[2] = { { &head, sizeof(head) }, { &features, sizeof(features) } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	int fd = open_session(), i;

	hello(fd);
	/* it may be hung up upon meanwhile */
	for (i = 0; i < 64 && sendmsg(fd, &msg, MSG_NOSIGNAL) > 0; i++)
		usleep(1000);
	expect_closed("answers that are not read", fd);
	/* descriptors may lie there: there is no other session while they do */
	expect("its rank is refused", broker_open(path, group, rank, 5000) < 0, 1);
	close(fd);
	/* and one when they are gone: it waits for that */
	close(open_session());
}

/* a trainer that leaves has room to come again at once, whatever it has asked for at last */
static void soon_again(void)
{
	struct gagg_ioc_features features = { .size = sizeof(features) };
	int fd = open_session(), n, i;

	for (n = 0; n < 100 && fd >= 0; n++) {
		for (i = 0; i < 3; i++)
			twinmsg_send(fd, (uint32_t)GAGG_IOC_FEATURES, &features, sizeof(features));
		close(fd);
		fd = broker_open(path, group, rank, 30000);
	}
	if (fd < 0)
		fprintf(stderr, "%s\n", error_thread());
	expect("sessions, one after the other", n - (fd < 0), 100);
	if (fd >= 0)
		close(fd);
}

/* a child that inherits the socket of a rank */
static void odd_child(void)
{
	struct gagg_ioc_attach attach = { .size = sizeof(attach) };
	struct gagg_ioc_detach detach = { .size = sizeof(detach) };
	int fd = open_session(), fds[TWIN_FDS], child;
	pid_t pid;

	hello(fd);
	expect("attach", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, &attach, sizeof(attach), fds), 0);
	pid = fork();
	if (!pid) {
		expect("a child leaves", twinmsg_ask(fd, (uint32_t)GAGG_IOC_DETACH, &detach,
					     sizeof(detach), fds), -EPERM);
		_exit(status);
	}
	if (pid < 0 || waitpid(pid, &child, 0) != pid)
		exit(2);
	status |= child != 0;
	expect("leave", twinmsg_ask(fd, (uint32_t)GAGG_IOC_DETACH, &detach, sizeof(detach), fds), 0);
	close(fd);
}

static void odd_page(uint64_t head, uint32_t chunks)
{
	struct gagg_ioc_attach attach = { .size = sizeof(attach) };
	int fd = open_session(), fds[TWIN_FDS], bell;
	struct twin_page *page;
	uint64_t one = 1;

	expect("hello", twinmsg_ask(fd, TWIN_HELLO, NULL, 0, fds), 0);
	bell = fds[1];
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	if (page == MAP_FAILED)
		exit(2);
	expect("attach", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, &attach, sizeof(attach), fds), 0);
	/* no word of it is what it should be */
	memset(page, 0xff, sizeof(*page));
	memset(page->submit, 0, sizeof(page->submit));
	page->submit[0].chunks = chunks;
	page->submit[0].channel = 0;
	__atomic_store_n(&page->head, head, __ATOMIC_SEQ_CST);
	if (write(bell, &one, sizeof(one)) < 0)
		exit(2);
	if (head > TWIN_SUBMITS)
		expect_closed("a head out of range", fd);
	close(fd);
}

/* nothing, with what comes beside it: nothing of that is left in the twin */
static void odd_empty(void)
{
	int fd = open_session();

	expect("send nothing", (int)send(fd, "", 0, MSG_NOSIGNAL), 0);
	expect_closed("who sends nothing", fd);
}

struct hold {
	int fd;		/* of a region */
	void *page;	/* that never comes */
};

static void *write_it(void *arg)
{
	struct hold *h = arg;

	expect("write a page that is not there", (int)write(h->fd, h->page, MISSING_BYTES),
	       MISSING_BYTES);
	return NULL;
}

/* A region's lock is held by a write that waits: the twin lets the session go all the same. */
static void odd_writer(void)
{
	struct gagg_ioc_attach attach = { .size = sizeof(attach) };
	struct gagg_ioc_detach detach = { .size = sizeof(detach) };
	int fd = open_session(), fds[TWIN_FDS], missing, error;
	struct uffd_msg fault;
	struct hold h;
	pthread_t thread;
	uint64_t offset;

	hello(fd);
	expect("attach", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, &attach, sizeof(attach), fds), 0);
	offset = attach.geo.region[GAGG_REG_CONTRIB].offset;
	expect("region", twinmsg_ask(fd, TWIN_MAP, &offset, sizeof(offset), fds), 0);
	h.fd = fds[0];
	missing = missing_page(&h.page);
	if (missing < 0) {
		perror("userfaultfd");
		exit(2);
	}
	pthread_create(&thread, NULL, write_it, &h);
	/* somebody waits for it: within write(), which has the lock */
	expect("a fault", (int)read(missing, &fault, sizeof(fault)), sizeof(fault));
	expect("send", twinmsg_send(fd, (uint32_t)GAGG_IOC_DETACH, &detach, sizeof(detach)), 0);
	expect("leave", twinmsg_answer(fd, &error, &detach, sizeof(detach), fds, 60000), 0);
	close(missing);
	pthread_join(thread, NULL);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	group = argv[1];
	path = argv[2];
	rank = (uint32_t)atoi(argv[3]);
	odd_messages();
	odd_regions();
	odd_answers();
	soon_again();
	odd_child();
	odd_empty();
	odd_writer();
	odd_page(1, 0);
	odd_page(~0ULL, 1);
	odd_page(TWIN_SUBMITS + 1, 1);
	return status;
}
