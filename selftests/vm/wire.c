// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams that no honest host sends.
 *
 *	wire learn INTERFACE FILE [FIELD=VALUE]...
 *		waits for a gagg datagram that comes in and has these fields, and
 *		keeps it
 *	wire send FROM:PORT TO:PORT [FILE] [FIELD=VALUE]...
 *		sends what was kept, or a header of zeros, with other fields.
 *		FROM needs not be this host's. IPv4.
 *
 * FIELD: a field of struct gagg_hdr (cookie: the first half of the tag), or
 *	length=N	of the UDP payload: cut off, or followed by zeros
 *	first=N		32-bit word of the payload that follows the header
 *	checksum=1	a wrong one
 *	count=N, seconds=S	as many, or for as long
 *	replies=MS	wait so long, and say how many datagrams came back
 *
 * A VALUE of +N or ^N is relative to what was kept.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/gagg_wire.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <sys/socket.h>

#define PAYLOAD_MAX	9000

static const struct field {
	const char *name;
	size_t at;
	size_t size;
} fields[] = {
#define FIELD(name) { #name, offsetof(struct gagg_hdr, name), \
		      sizeof(((struct gagg_hdr *)0)->name) }
	FIELD(magic), FIELD(ver), FIELD(type), FIELD(flags), FIELD(hdrlen), FIELD(laneop),
	FIELD(group), FIELD(epoch), FIELD(channel), FIELD(src), FIELD(sig), FIELD(chunk),
	FIELD(round), FIELD(run), FIELD(lanes), FIELD(exp), FIELD(want), FIELD(weight),
	FIELD(pn), FIELD(aux),
	{ "cookie", offsetof(struct gagg_hdr, tag), 8 },
	{ "first", GAGG_WIRE_HDRLEN, 4 },
};

static struct {
	uint8_t payload[PAYLOAD_MAX];
	size_t length;
	bool checksum;
	unsigned long count;
	unsigned long seconds;
	unsigned long replies;
} me = { .length = GAGG_WIRE_HDRLEN, .count = 1 };

/* an IPv4 datagram as a raw socket takes it */
struct datagram {
	struct iphdr ip;
	struct udphdr udp;
	uint8_t payload[PAYLOAD_MAX];
} __attribute__((packed));

static void fail(const char *what)
{
	fprintf(stderr, "wire: %s: %s\n", what, errno ? strerror(errno) : "?");
	exit(2);
}

static const struct field *field_find(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (strlen(fields[i].name) == n && !strncmp(fields[i].name, name, n))
			return &fields[i];
	return NULL;
}

/* little-endian, as this machine */
static uint64_t field_get(const struct field *f, const uint8_t *payload)
{
	uint64_t v = 0;

	memcpy(&v, payload + f->at, f->size);
	return v;
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
		me.checksum = n;
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
	memcpy(me.payload + f->at, &v, f->size);
}

/* ones' complement sum of UDP with its pseudo header */
static uint16_t checksum(const struct datagram *d, size_t udp_length)
{
	const uint8_t *p = (const uint8_t *)&d->udp;
	uint32_t sum = ntohs(d->ip.saddr & 0xffff) + ntohs(d->ip.saddr >> 16) +
		       ntohs(d->ip.daddr & 0xffff) + ntohs(d->ip.daddr >> 16) +
		       IPPROTO_UDP + udp_length;
	size_t i;

	for (i = 0; i + 1 < udp_length; i += 2)
		sum += p[i] << 8 | p[i + 1];
	if (i < udp_length)
		sum += p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum & 0xffff;
	return htons(sum ? sum : 0xffff);
}

static struct sockaddr_in parse_address(const char *text)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	char buf[64], *port;

	snprintf(buf, sizeof(buf), "%s", text);
	port = strchr(buf, ':');
	if (!port)
		fail(text);
	*port++ = 0;
	a.sin_port = htons(atoi(port));
	if (inet_pton(AF_INET, buf, &a.sin_addr) != 1)
		fail(text);
	return a;
}

static size_t build(struct datagram *d, const struct sockaddr_in *from,
		    const struct sockaddr_in *to)
{
	size_t udp_length = sizeof(d->udp) + me.length;

	memset(d, 0, sizeof(*d));
	d->ip.version = 4;
	d->ip.ihl = 5;
	d->ip.ttl = 64;
	d->ip.protocol = IPPROTO_UDP;
	d->ip.saddr = from->sin_addr.s_addr;
	d->ip.daddr = to->sin_addr.s_addr;
	d->ip.tot_len = htons(sizeof(d->ip) + udp_length);
	d->udp.source = from->sin_port;
	d->udp.dest = to->sin_port;
	d->udp.len = htons(udp_length);
	memcpy(d->payload, me.payload, me.length);
	d->udp.check = checksum(d, udp_length);
	if (me.checksum)
		d->udp.check ^= htons(0x55aa);
	return sizeof(d->ip) + udp_length;
}

/* UDP from @to to @from that comes in within the time */
static int replies(int fd, const struct sockaddr_in *from, const struct sockaddr_in *to)
{
	struct pollfd p = { fd, POLLIN, 0 };
	struct datagram d;
	int n = 0;

	while (poll(&p, 1, (int)me.replies) > 0) {
		if (recv(fd, &d, sizeof(d), 0) < (ssize_t)(sizeof(d.ip) + sizeof(d.udp)))
			continue;
		n += d.ip.saddr == to->sin_addr.s_addr && d.udp.source == to->sin_port &&
		     d.udp.dest == from->sin_port;
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
	struct sockaddr_in from, to;
	struct datagram d;
	int out, in, on = 1, i = 2;
	unsigned long n;
	time_t end;
	size_t len;

	if (argc < 2)
		fail("FROM:PORT TO:PORT");
	from = parse_address(argv[0]);
	to = parse_address(argv[1]);
	if (i < argc && !strchr(argv[i], '='))
		load(argv[i++]);
	for (; i < argc; i++)
		set(argv[i]);
	len = build(&d, &from, &to);
	out = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	in = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
	if (out < 0 || in < 0 || setsockopt(out, IPPROTO_IP, IP_HDRINCL, &on, sizeof(on)))
		fail("raw socket");
	end = time(NULL) + me.seconds;
	for (n = 0; me.seconds ? time(NULL) < end : n < me.count; n++)
		if (sendto(out, &d, len, 0, (struct sockaddr *)&to, sizeof(to)) < 0 &&
		    errno != ENOBUFS)
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
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP) };
	static union {
		struct datagram d;
		uint8_t raw[70000];
	} u;
	ssize_t n;
	FILE *f;
	int fd;

	if (argc < 2)
		fail("INTERFACE FILE");
	ll.sll_ifindex = if_nametoindex(argv[0]);
	fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));
	if (fd < 0 || bind(fd, (struct sockaddr *)&ll, sizeof(ll)))
		fail(argv[0]);
	for (;;) {
		struct sockaddr_ll who;
		socklen_t size = sizeof(who);

		n = recvfrom(fd, &u, sizeof(u), 0, (struct sockaddr *)&who, &size);
		if (n < 0)
			fail("recv");
		n -= sizeof(u.d.ip) + sizeof(u.d.udp);
		/* of a burst that came whole, the first */
		if (n > 0 && who.sll_pkttype == PACKET_HOST &&
		    u.d.ip.protocol == IPPROTO_UDP &&
		    wanted(u.d.payload, n, argc - 2, argv + 2))
			break;
	}
	f = fopen(argv[1], "w");
	if (!f || fwrite(u.d.payload, 1, n, f) != (size_t)n || fclose(f))
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
