// SPDX-License-Identifier: GPL-2.0
/*
 * A trainer that attaches and leaves, again and again.
 *
 *	pin_twin GROUP SOCKET RANK ROUNDS keep|close
 *
 * Asks for all regions each time, writes what it may write, and with "keep" holds the
 * files and says so, until standard input ends. Exit status 1: a request failed.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "twinmsg.h"

static bool keeps;

static void must(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-err));
	exit(1);
}

/* a region is mapped for as long as it takes to write it: ours to pay for */
static void touch(int fd, const struct gagg_region *r)
{
	void *addr = mmap(NULL, r->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (addr == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memset(addr, 1, r->length);
	munmap(addr, r->length);
}

static void once(int fd)
{
	struct gagg_ioc_attach attach = { .size = sizeof(attach) };
	struct gagg_ioc_detach detach = { .size = sizeof(detach) };
	int fds[TWIN_FDS], i;

	must("attach", twinmsg_ask(fd, (uint32_t)GAGG_IOC_ATTACH, &attach, sizeof(attach), fds));
	for (i = 0; i < GAGG_REG_COUNT; i++) {
		const struct gagg_region *r = &attach.geo.region[i];
		uint64_t offset = r->offset;

		must("region", twinmsg_ask(fd, TWIN_MAP, &offset, sizeof(offset), fds));
		if (i == GAGG_REG_PUSH || i == GAGG_REG_CONTRIB)
			touch(fds[0], r);
		if (!keeps)
			close(fds[0]);
	}
	must("leave", twinmsg_ask(fd, (uint32_t)GAGG_IOC_DETACH, &detach, sizeof(detach), fds));
}

int main(int argc, char **argv)
{
	struct rlimit files = { 65536, 65536 };
	int fd, rounds, fds[TWIN_FDS];
	char c;

	if (argc != 6)
		return 2;
	rounds = atoi(argv[4]);
	keeps = !strcmp(argv[5], "keep");
	setrlimit(RLIMIT_NOFILE, &files);
	fd = twinmsg_open(argv[2], argv[1], (uint32_t)atoi(argv[3]));
	must("hello", twinmsg_ask(fd, TWIN_HELLO, NULL, 0, fds));
	for (; rounds; rounds--)
		once(fd);
	if (keeps) {
		printf("kept\n");
		fflush(stdout);
		while (read(0, &c, 1) > 0)
			;
	}
	return 0;
}
