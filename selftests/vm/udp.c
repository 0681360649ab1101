// SPDX-License-Identifier: GPL-2.0
/*
 * Numbered UDP datagrams in GSO bursts, to see what a network does to them.
 *
 *	udp recv ADDRESS PORT BURSTS SEGMENTS [gro]
 *		prints "ready", then, when its standard input has ended and after half
 *		a second of silence, one line NAME=COUNT...
 *		  datagrams  received, copies included     reads    calls that took
 *		  whole      bursts with all segments      part     with some
 *		  lost       with none                     copies   beyond the first
 *		  late       after one with a higher number
 *		  bad        whose content is not what was sent
 *	udp send ADDRESS PORT BURSTS SEGMENTS
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/udp.h>
#include <sys/socket.h>

#include "datagram.h"

#define SIZE	1000	/* bytes of a datagram: its number, again and again */
#define WORDS	(SIZE / sizeof(uint32_t))
#define BURST	65536
#define SILENCE	10	/* so many times 50 ms: a machine that stands still skips one */

static void fail(const char *what)
{
	fprintf(stderr, "udp: %s: %s\n", what, strerror(errno));
	exit(2);
}

static void set(int sock, int level, int name, const void *value, socklen_t size)
{
	if (setsockopt(sock, level, name, value, size))
		fail("setsockopt");
}

static void set_int(int sock, int level, int name, int value)
{
	set(sock, level, name, &value, sizeof(value));
}

static void send_all(int sock, const union address *to, uint32_t bursts, uint32_t segments)
{
	static uint32_t burst[BURST / sizeof(uint32_t)];
	uint32_t i, n = 0;

	set_int(sock, IPPROTO_UDP, UDP_SEGMENT, SIZE);
	if (connect(sock, &to->sa, address_size(to)))
		fail("connect");
	while (bursts--) {
		for (i = 0; i < segments * WORDS; i++)
			burst[i] = n + i / WORDS;
		n += segments;
		if (send(sock, burst, segments * SIZE, 0) < 0)
			fail("send");
		usleep(1000);
	}
}

struct tally {
	uint32_t *seen;		/* by number: how often */
	uint32_t n;
	uint32_t highest;
	unsigned int reads, late, bad;
};

static void take(struct tally *t, const uint8_t *data, size_t length)
{
	uint32_t words[WORDS];
	size_t i;

	if (length != SIZE) {
		t->bad++;
		return;
	}
	memcpy(words, data, SIZE);
	for (i = 1; i < WORDS && words[i] == words[0]; i++)
		;
	if (i < WORDS || words[0] >= t->n) {
		t->bad++;
		return;
	}
	t->seen[words[0]]++;
	if (words[0] < t->highest)
		t->late++;
	else
		t->highest = words[0];
}

static void report(const struct tally *t, uint32_t bursts, uint32_t segments)
{
	unsigned int datagrams = 0, copies = 0, whole = 0, part = 0, lost = 0;
	uint32_t i, j;

	for (i = 0; i < bursts; i++) {
		unsigned int held = 0;

		for (j = 0; j < segments; j++) {
			uint32_t seen = t->seen[i * segments + j];

			datagrams += seen;
			copies += seen ? seen - 1 : 0;
			held += seen > 0;
		}
		whole += held == segments;
		part += held && held < segments;
		lost += !held;
	}
	printf("datagrams=%u reads=%u whole=%u part=%u lost=%u copies=%u late=%u bad=%u\n",
	       datagrams, t->reads, whole, part, lost, copies, t->late, t->bad);
}

static void recv_all(int sock, const union address *at, uint32_t bursts, uint32_t segments,
		     bool gro)
{
	static uint8_t data[BURST];
	struct tally t = { .n = bursts * segments };
	struct pollfd p[2] = { { .fd = sock, .events = POLLIN }, { .fd = STDIN_FILENO } };
	unsigned int silence = 0;
	ssize_t got, i;

	t.seen = calloc(t.n, sizeof(*t.seen));
	if (!t.seen)
		fail("memory");
	set_int(sock, SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20);
	if (gro)
		set_int(sock, IPPROTO_UDP, UDP_GRO, 1);
	if (bind(sock, &at->sa, address_size(at)))
		fail("bind");
	puts("ready");
	fflush(stdout);

	while (silence < SILENCE) {
		if (poll(p, 2, p[1].fd < 0 ? 50 : -1) < 0)
			fail("poll");
		/* nobody sends any more */
		if (p[1].revents & POLLHUP)
			p[1].fd = -1;
		p[1].revents = 0;
		if (!(p[0].revents & POLLIN)) {
			silence += p[1].fd < 0;
			continue;
		}
		silence = 0;
		got = recv(sock, data, sizeof(data), 0);
		if (got < 0)
			fail("recv");
		t.reads++;
		for (i = 0; i < got; i += SIZE)
			take(&t, data + i, got - i < SIZE ? got - i : SIZE);
	}
	report(&t, bursts, segments);
}

int main(int argc, char **argv)
{
	unsigned long port, bursts, segments;
	union address a;
	int sock;

	if (argc < 6)
		goto usage;
	port = strtoul(argv[3], NULL, 10);
	bursts = strtoul(argv[4], NULL, 10);
	segments = strtoul(argv[5], NULL, 10);
	if (!address_parse(argv[2], port, &a) || !segments || segments > BURST / SIZE)
		goto usage;
	sock = socket(a.sa.sa_family, SOCK_DGRAM, 0);
	if (sock < 0)
		fail("socket");
	if (!strcmp(argv[1], "send"))
		send_all(sock, &a, bursts, segments);
	else if (!strcmp(argv[1], "recv"))
		recv_all(sock, &a, bursts, segments, argc > 6 && !strcmp(argv[6], "gro"));
	else
		goto usage;
	return 0;

usage:
	fprintf(stderr, "usage: udp send|recv ADDRESS PORT BURSTS SEGMENTS [gro]\n");
	return 2;
}
