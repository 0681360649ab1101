// SPDX-License-Identifier: GPL-2.0
/*
 * Sends datagrams in GSO bursts and counts the instructions that the machine
 * takes for them, receiver included.
 *
 *	burst FROM:PORT TO:PORT TEMPLATE IDLE-FILE NAME=NUMBER...
 *
 * TEMPLATE is a gagg datagram ("wire learn"), IDLE-FILE what "spin" counts in.
 *
 *	datagrams=N	to send
 *	chunks=N	of a rank: datagram i is chunk i % N of rank src + i / N, but of
 *			rank src if steps=0
 *	steps=0
 *	ticks=N		of a measurement; default: 8
 *	src=N round=N chunk=N pn=N group=N	of the first; default: the template's
 *
 * Prints instructions per datagram. FROM may be an address that another host has.
 */
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/gagg_wire.h>
#include <sys/socket.h>

#include "agent/bench/usage.h"

#define QUIET		2		/* ticks in the end, in which follows what was put off */
#define BACKGROUNDS	3
#define NSEC		1000000000LL
#define BURST		45		/* as many as gagg sends */
#define DATAGRAM_MAX	1500

static struct {
	uint8_t template[DATAGRAM_MAX];
	size_t size;
	uint64_t datagrams;
	uint64_t chunks;
	uint64_t steps;
	uint64_t ticks;
	uint64_t src;
	uint64_t round;
	uint64_t chunk;
	uint64_t pn;
	uint64_t group;
} me = { .datagrams = 1, .chunks = 1, .steps = 1, .ticks = 8 };

static const struct word {
	const char *name;
	uint64_t *to;
} words[] = {
	{ "datagrams", &me.datagrams }, { "chunks", &me.chunks }, { "steps", &me.steps },
	{ "ticks", &me.ticks },
	{ "src", &me.src }, { "round", &me.round }, { "chunk", &me.chunk },
	{ "pn", &me.pn }, { "group", &me.group },
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void load(const char *file)
{
	const struct gagg_hdr *h = (const void *)me.template;
	FILE *f = fopen(file, "r");

	if (!f)
		fail(file);
	me.size = fread(me.template, 1, sizeof(me.template), f);
	fclose(f);
	/* "wire" may have seen a whole burst: the first of it */
	if (me.size < sizeof(*h) || me.size < sizeof(*h) + 4 * h->lanes) {
		fprintf(stderr, "%s: no datagram with lanes\n", file);
		exit(1);
	}
	me.size = sizeof(*h) + 4 * h->lanes;
	me.src = h->src;
	me.round = h->round;
	me.chunk = h->chunk;
	me.pn = h->pn;
	me.group = h->group;
}

static void set(const char *text)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i].name);

		if (!strncmp(text, words[i].name, n) && text[n] == '=') {
			*words[i].to = strtoull(text + n + 1, NULL, 0);
			return;
		}
	}
	fprintf(stderr, "burst: '%s'?\n", text);
	exit(2);
}

static struct sockaddr_in address(const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	char ip[32];
	unsigned int port;

	if (sscanf(text, "%31[0-9.]:%u", ip, &port) != 2 || !inet_pton(AF_INET, ip, &a.sin_addr)) {
		fprintf(stderr, "burst: '%s'?\n", text);
		exit(2);
	}
	a.sin_port = htons((uint16_t)port);
	return a;
}

/* all of them, one after the other, before any is sent */
static uint8_t *build(void)
{
	uint8_t *all = malloc(me.datagrams * me.size);

	if (!all)
		fail("malloc");
	for (uint64_t i = 0; i < me.datagrams; i++) {
		struct gagg_hdr *h = (void *)(all + i * me.size);

		memcpy(h, me.template, me.size);
		h->src = (uint16_t)(me.src + me.steps * (i / me.chunks));
		h->chunk = (uint32_t)(me.chunk + i % me.chunks);
		h->round = (uint32_t)me.round;
		h->pn = (uint32_t)(me.pn + i);
		h->group = (uint32_t)me.group;
	}
	return all;
}

/* ticks */
static long elapsed(const struct timespec *from, const struct timespec *to)
{
	struct timespec tick;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return (long)(((to->tv_sec - from->tv_sec) * NSEC + to->tv_nsec - from->tv_nsec +
		       tick.tv_nsec / 2) / tick.tv_nsec);
}

static void send_all(int fd, const uint8_t *all)
{
	uint64_t n;

	for (uint64_t i = 0; i < me.datagrams; i += n) {
		n = me.datagrams - i < BURST ? me.datagrams - i : BURST;
		if (send(fd, all + i * me.size, n * me.size, 0) < 0)
			fail("send");
	}
}

/*
 * Sleeps until a quarter of a tick is over, @n ticks later. A tick costs 30000 instructions,
 * with what it wakes: whatever is compared must have as many of them.
 */
static void sleep_ticks(long n)
{
	struct timespec tick, at;

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
	at.tv_nsec += n * tick.tv_nsec + tick.tv_nsec / 4;
	at.tv_sec += at.tv_nsec / NSEC;
	at.tv_nsec %= NSEC;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* instructions in me.ticks ticks: in which @all is sent, or (NULL) nothing */
static int64_t busy(int fd, const uint8_t *all)
{
	struct usage before, after;
	struct timespec began, ended;
	long left;

	sleep_ticks(1);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &began);
	usage_machine(&before);
	if (all)
		send_all(fd, all);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &ended);
	left = (long)me.ticks - elapsed(&began, &ended);
	if (left < QUIET) {
		fprintf(stderr, "burst: more datagrams than %lu ticks are for\n", (unsigned long)me.ticks);
		exit(1);
	}
	sleep_ticks(left);
	usage_machine(&after);
	return after.busy - before.busy;
}

int main(int argc, char **argv)
{
	struct sockaddr_in from, to;
	int64_t background;
	uint8_t *all;
	int fd, segment;

	if (argc < 5) {
		fprintf(stderr, "see the top of selftests/bench/burst.c\n");
		return 2;
	}
	from = address(argv[1]);
	to = address(argv[2]);
	load(argv[3]);
	if (usage_init(argv[4]))
		fail(argv[4]);
	for (int i = 5; i < argc; i++)
		set(argv[i]);
	all = build();
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	segment = (int)me.size;
	if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof(from)) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
	    setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof(segment)))
		fail("socket");
	background = busy(fd, NULL);
	/* what else happens in one of them is no background, and would be taken off */
	for (int i = 1; i < BACKGROUNDS; i++) {
		int64_t again = busy(fd, NULL);

		background = again < background ? again : background;
	}
	printf("%.1f\n", (double)(busy(fd, all) - background) / (double)me.datagrams);
	free(all);
	return 0;
}
