// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions that no libgagg has: messages of any kind, in any order, a page and regions
 * full of anything, holes in both, sudden ends.
 *
 *	sessions GROUP SOCKET RANK SECONDS SEED [store]
 *
 * With "store" most submissions are ops of one, and many of these are legal.
 * Exit status 1: an answer that never came, or memory that could be made shorter.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <linux/ioctl.h>

#include "broker.h"
#include "twinmsg.h"

#define REGIONS	8
#define PATIENCE_MS	120000

struct client {
	int fd;
	int page_fd, bell, events;
	struct twin_page *page;
	int region[REGIONS];
	unsigned int regions;
};

static uint64_t state;
static unsigned long sessions, messages, closed, written;
static int status;
static bool store;	/* the group has one */

/* xorshift64 (Marsaglia 2003) */
static uint32_t below(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return n ? (uint32_t)((state >> 20) % n) : 0;
}

static void wrong(const char *what)
{
	printf("# %s\n", what);
	status = 1;
}

/* as the request says; what is the twin's own has no size in it */
static size_t length_of(uint32_t request)
{
	if (request == TWIN_MAP)
		return sizeof(uint64_t);
	return _IOC_TYPE(request) == GAGG_IOC_MAGIC ? _IOC_SIZE(request) : 0;
}

static uint32_t some_request(void)
{
	static const unsigned long all[] = {
		TWIN_HELLO, TWIN_MAP, TWIN_MAP, TWIN_MAP, GAGG_IOC_FEATURES, GAGG_IOC_ATTACH,
		GAGG_IOC_ATTACH, GAGG_IOC_DETACH, GAGG_IOC_CHANNEL, GAGG_IOC_CHANNEL,
		GAGG_IOC_CHANNEL_FREE, GAGG_IOC_STATUS, GAGG_IOC_TIMES, 77,
	};

	return (uint32_t)all[below(sizeof(all) / sizeof(all[0]))];
}

/* mostly right, so that it goes far */
static size_t some_argument(uint32_t request, uint32_t rank, unsigned char *arg)
{
	size_t length = length_of(request), i;
	struct gagg_ioc_channel channel = { .channel = 1 + below(6) };
	uint64_t offset = (uint64_t)below(20) << 36;
	uint32_t size = (uint32_t)length;

	memset(arg, 0, 1024);
	memcpy(arg, &size, sizeof(size));
	if (request == TWIN_MAP)
		memcpy(arg, &offset, sizeof(offset));
	if (request == GAGG_IOC_CHANNEL) {
		channel.size = size;
		channel.members = below(3) ? 3 : 1ULL << rank;
		memcpy(arg, &channel, sizeof(channel));
	}
	if (request == GAGG_IOC_CHANNEL_FREE)
		arg[offsetof(struct gagg_ioc_channel_free, channel)] = (unsigned char)below(7);
	if (!below(30))
		length = below(600);
	for (i = 4; !below(6) && i < length; i++)
		if (!below(4))
			arg[i] = (unsigned char)below(256);
	return length;
}

/* false: the session is over */
static bool answer(struct client *c, uint32_t request, int fds[TWIN_FDS], int *error)
{
	unsigned char arg[1024];
	int err = twinmsg_answer(c->fd, error, arg, sizeof(arg), fds, PATIENCE_MS);

	if (err == -ETIMEDOUT) {
		printf("# no answer to request %x in %d ms\n", request, PATIENCE_MS);
		status = 1;
	}
	return !err;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_all(int fds[TWIN_FDS])
{
	unsigned int i;

	for (i = 0; i < TWIN_FDS; i++)
		close_one(&fds[i]);
}

/* an answer may be that to a request before: it has fewer descriptors then */
static void take_page(struct client *c, int fds[TWIN_FDS])
{
	if (c->page || fds[TWIN_FDS - 1] < 0) {
		close_all(fds);
		return;
	}
	c->page_fd = fds[0];
	c->bell = fds[1];
	c->events = fds[2];
	c->page = mmap(NULL, sizeof(*c->page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	if (c->page == MAP_FAILED)
		c->page = NULL;
	if (!ftruncate(fds[0], 0))
		wrong("the page could be made shorter");
}

static void take_region(struct client *c, int fds[TWIN_FDS])
{
	int fd = fds[0];
	struct stat st;

	if (c->regions == REGIONS || fds[1] >= 0 || fstat(fd, &st)) {
		close_all(fds);
		return;
	}
	if (!ftruncate(fd, 4096) || !ftruncate(fd, st.st_size + 4096))
		wrong("a region could be made shorter, or longer");
	c->region[c->regions++] = fd;
}

static bool ask(struct client *c, uint32_t request, uint32_t rank)
{
	unsigned char arg[1024];
	size_t length = some_argument(request, rank, arg);
	int fds[TWIN_FDS], error;

	messages++;
	if (twinmsg_send(c->fd, request, arg, length))
		return false;
	/* sometimes the answer is left to lie */
	if (!below(200))
		return true;
	if (!answer(c, request, fds, &error))
		return false;
	if (!error && request == TWIN_HELLO && fds[0] >= 0)
		take_page(c, fds);
	else if (!error && request == TWIN_MAP && fds[0] >= 0)
		take_region(c, fds);
	else
		close_all(fds);
	return true;
}

static void punch(int fd, off_t size)
{
	/* where it may not, that is right, too */
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, size))
		return;
	written++;
}

static void spoil_region(const struct client *c)
{
	unsigned char junk[64];
	struct stat st;
	size_t i;
	int fd;

	if (!c->regions)
		return;
	fd = c->region[below(c->regions)];
	if (fstat(fd, &st))
		return;
	for (i = 0; i < sizeof(junk); i++)
		junk[i] = (unsigned char)below(256);
	if (pwrite(fd, junk, sizeof(junk), below((uint32_t)st.st_size - sizeof(junk))) > 0)
		written++;
	if (!below(4))
		punch(fd, st.st_size);
}

static void some_collective(struct gagg_ioc_submit *s)
{
	s->kind = (uint8_t)below(9);
	s->laneop = (uint8_t)below(256);
	s->dtype = (uint8_t)below(7);
	s->chunks = below(3) ? 1 + below(5000) : (uint32_t)(below(~0U) << below(30));
	s->last_lanes = below(400);
	s->count = below(1000);
}

/* of 256 chunks */
static void some_store_op(struct gagg_ioc_submit *s)
{
	s->kind = below(2) ? GAGG_K_UPDATE : GAGG_K_READ;
	if (!below(8))
		s->flags = 1U << below(6);
	s->count = below(256);
	s->chunks = below(257 - (uint32_t)s->count);
	if (!below(20))
		s->chunks = below(~0U);
}

static void submit_something(struct twin_page *page)
{
	struct gagg_ioc_submit *s = &page->submit[page->head % TWIN_SUBMITS];

	memset(s, 0, sizeof(*s));
	s->size = sizeof(*s);
	s->channel = below(4) ? 0 : below(6);
	if (store && below(10))
		some_store_op(s);
	else
		some_collective(s);
	page->head++;
}

static void spoil_page(const struct client *c)
{
	struct twin_page *page = c->page;
	uint64_t one = 1;
	unsigned int i;

	if (!page)
		return;
	switch (below(7)) {
	case 0:
		page->head += 1 + below(3);
		break;
	case 1:
		page->head = below(2) ? UINT64_MAX : below(1000);
		break;
	case 2:
	case 3:
		submit_something(page);
		break;
	case 4:
		for (i = 0; i < GAGG_CHANNELS_MAX; i++) {
			page->seat[i].want_op = below(3);
			page->seat[i].want_chunk = below(3000);
		}
		break;
	case 5:
		memset(page, (int)below(256), sizeof(*page));
		break;
	case 6:
		punch(c->page_fd, sizeof(*page));
		break;
	}
	page->events = below(2);
	/* the bell may be full */
	if (c->bell >= 0 && write(c->bell, &one, sizeof(one)) < 0)
		usleep(100);
	if (!below(3))
		usleep(below(3000));
}

static void once(const char *group, const char *path, uint32_t rank)
{
	struct client c = { .page_fd = -1, .bell = -1, .events = -1 };
	unsigned int i, steps = 5 + below(60);

	c.fd = broker_open(path, group, rank, 5000);
	if (c.fd < 0) {
		usleep(2000);
		return;
	}
	sessions++;
	for (i = 0; i < steps; i++) {
		uint32_t request = i == 0 ? TWIN_HELLO :
				   i == 1 ? (uint32_t)GAGG_IOC_ATTACH : some_request();

		if (!ask(&c, request, rank)) {
			closed++;
			break;
		}
		spoil_region(&c);
		if (below(2))
			spoil_page(&c);
	}
	if (c.page)
		munmap(c.page, sizeof(*c.page));
	while (c.regions)
		close(c.region[--c.regions]);
	close_one(&c.page_fd);
	close_one(&c.bell);
	close_one(&c.events);
	close(c.fd);
}

/* a process that is gone before its session is */
static void once_by_a_child(char **argv, uint32_t rank)
{
	int result = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();

	if (!pid) {
		once(argv[1], argv[2], rank);
		exit(status);
	}
	below(1);
	if (pid < 0 || waitpid(pid, &result, 0) != pid)
		wrong("no child");
	else if (result)
		printf("# a child has ended with %x\n", (unsigned int)result);
	status |= result != 0;
}

int main(int argc, char **argv)
{
	uint32_t rank;
	time_t end;

	if (argc < 6)
		return 2;
	store = argc > 6;
	rank = (uint32_t)atoi(argv[3]);
	end = time(NULL) + atoi(argv[4]);
	state = strtoull(argv[5], NULL, 0) * 0x9e3779b97f4a7c15 + rank + 1;
	while (time(NULL) < end) {
		if (below(4))
			once(argv[1], argv[2], rank);
		else
			once_by_a_child(argv, rank);
	}
	printf("# rank %u: %lu sessions, %lu messages, %lu closed, %lu writes\n", rank, sessions,
	       messages, closed, written);
	return status;
}
