// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams that no honest host sends.
 *
 *	wire learn INTERFACE FILE [FIELD=VALUE]...
 *		says "listening", waits for a gagg datagram that comes in and has these
 *		fields, and keeps it
 *	wire send FROM:PORT TO:PORT [FILE] [FIELD=VALUE]... sends what was kept, or a header of
 *		zeros, with other fields. FROM need not be this host's. IPv4.
 *
 * FIELD: a field of struct gagg_hdr (cookie: the first half of the tag), or
 *	length=N	of the UDP payload: cut off, or followed by zeros
 *	checksum=1	a wrong one; 0: none
 *	count=N, seconds=S	as many, or for as long
 *	replies=MS	wait so long, and say how many datagrams came back
 *
 * A VALUE of +N or ^N is relative to what was kept.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include "datagram.h"

#define PAYLOAD_MAX	9000

static struct {
	uint8_t payload[PAYLOAD_MAX];
	size_t length;
	bool wrong, none;	/* checksum */
	unsigned long count;
	unsigned long seconds;
	unsigned long replies;
} me = { .length = GAGG_WIRE_HDRLEN, .count = 1 };

static void fail(const char *what)
{
	fprintf(stderr, "wire: %s: %s\n", what, errno ? strerror(errno) : "?");
	exit(2);
}

static bool option(const char *word, const char *name, unsigned long *value)
{
	size_t n = strlen(name);

	if (strncmp(word, name, n) || word[n] != '=')
		return false;
	*value = strtoul(word + n + 1, NULL, 0);
	return true;
}

static void set(const char *word)
{
	const char *value = strchr(word, '=');
	const struct field *f;
	unsigned long n;
	uint64_t v;

	errno = 0;
	if (!value++)
		fail(word);
	if (option(word, "length", &n)) {
		if (n > PAYLOAD_MAX)
			fail(word);
		if (n > me.length)
			memset(me.payload + me.length, 0, n - me.length);
		me.length = n;
		return;
	}
	if (option(word, "checksum", &n)) {
		me.wrong = n;
		me.none = !n;
		return;
	}
	if (option(word, "count", &me.count) || option(word, "seconds", &me.seconds) ||
	    option(word, "replies", &me.replies))
		return;
	f = field_find(word, value - 1 - word);
	if (!f)
		fail(word);
	v = field_get(f, me.payload);
	if (*value == '+')
		v += strtoull(value + 1, NULL, 0);
	else if (*value == '^')
		v ^= strtoull(value + 1, NULL, 0);
	else
		v = strtoull(value, NULL, 0);
	field_set(f, me.payload, v);
}

static void parse_address(const char *text, union address *a)
{
	char buf[64], *port;

	snprintf(buf, sizeof(buf), "%s", text);
	port = strchr(buf, ':');
	if (!port)
		fail(text);
	*port++ = 0;
	if (!address_parse(buf, (uint16_t)atoi(port), a))
		fail(text);
}

/* UDP from @to to @from that comes in within the time */
static int replies(int fd, const union address *from, const union address *to)
{
	struct pollfd p = { fd, POLLIN, 0 };
	uint8_t packet[PAYLOAD_MAX + 100];
	union address source, dest;
	size_t length;
	ssize_t size;
	int n = 0;

	while (poll(&p, 1, (int)me.replies) > 0) {
		size = recv(fd, packet, sizeof(packet), 0);
		n += size > 0 && udp_find(packet, size, &length, &source, &dest) &&
		     address_equal(&source, to) && dest.in.sin_port == from->in.sin_port;
	}
	return n;
}

static void load(const char *file)
{
	FILE *f = fopen(file, "r");

	if (!f)
		fail(file);
	me.length = fread(me.payload, 1, PAYLOAD_MAX, f);
	fclose(f);
}

static int send_some(int argc, char **argv)
{
	struct {
		struct udphdr udp;
		uint8_t payload[PAYLOAD_MAX];
	} d;
	union address from, to, host;
	int out, in, i = 2;
	unsigned long n;
	time_t end;

	if (argc < 2)
		fail("FROM:PORT TO:PORT");
	parse_address(argv[0], &from);
	parse_address(argv[1], &to);
	if (i < argc && !strchr(argv[i], '='))
		load(argv[i++]);
	for (; i < argc; i++)
		set(argv[i]);
	memcpy(d.payload, me.payload, me.length);
	udp_seal(&d.udp, me.length, &from, &to);
	if (me.wrong)
		d.udp.check ^= htons(0x55aa);
	if (me.none)
		d.udp.check = 0;
	out = udp_socket(&from, true);
	in = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
	if (out < 0 || in < 0)
		fail("raw socket");
	host = to;
	host.in.sin_port = 0;
	end = time(NULL) + me.seconds;
	for (n = 0; me.seconds ? time(NULL) < end : n < me.count; n++)
		if (sendto(out, &d, sizeof(d.udp) + me.length, 0, &host.sa,
			   address_size(&host)) < 0 && errno != ENOBUFS)
			fail("send");
	printf("sent %lu replies %d\n", n, me.replies ? replies(in, &from, &to) : -1);
	return 0;
}

static bool wanted(const uint8_t *payload, size_t length, int argc, char **argv)
{
	int i;

	if (length < GAGG_WIRE_HDRLEN || payload[0] != 'G' || payload[1] != 'A')
		return false;
	for (i = 0; i < argc; i++) {
		const char *value = strchr(argv[i], '=');
		const struct field *f = value ? field_find(argv[i], value - argv[i]) : NULL;

		if (!f)
			fail(argv[i]);
		if (field_get(f, payload) != strtoull(value + 1, NULL, 0))
			return false;
	}
	return true;
}

static int learn(int argc, char **argv)
{
	static uint8_t packet[70000];
	union address from, to;
	const uint8_t *payload;
	size_t length;
	ssize_t n;
	FILE *f;
	int fd;

	if (argc < 2)
		fail("INTERFACE FILE");
	fd = watch_socket(argv[0]);
	if (fd < 0)
		fail(argv[0]);
	puts("listening");
	fflush(stdout);
	for (;;) {
		struct sockaddr_ll who;
		socklen_t size = sizeof(who);

		n = recvfrom(fd, packet, sizeof(packet), 0, (struct sockaddr *)&who, &size);
		if (n < 0)
			fail("recv");
		if (who.sll_pkttype != PACKET_HOST && who.sll_pkttype != PACKET_MULTICAST)
			continue;
		/* of a burst that came whole, the first */
		payload = udp_find(packet, n, &length, &from, &to);
		if (payload && wanted(payload, length, argc - 2, argv + 2))
			break;
	}
	f = fopen(argv[1], "w");
	if (!f || fwrite(payload, 1, length, f) != length || fclose(f))
		fail(argv[1]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "learn"))
		return learn(argc - 2, argv + 2);
	if (argc > 2 && !strcmp(argv[1], "send"))
		return send_some(argc - 2, argv + 2);
	fprintf(stderr, "see the top of selftests/vm/wire.c\n");
	return 2;
}
