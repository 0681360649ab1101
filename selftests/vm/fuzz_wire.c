// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams at the live sockets of groups, from whatever address.
 *
 *	fuzz_wire SECONDS SEED NETNS CORRECT STORE OWN OWNSTORE STRANGER NODE...
 *
 * NETNS sees the traffic of the groups CORRECT to OWNSTORE (their ids; 0: there is none)
 * among the NODEs (addresses, in the order of the nodes). What they said, and nothing that this
 * program sent in their names (it would learn its own inventions, and replay what had
 * a wrong checksum), is sent
 *
 *	replay		again, as it was, at any later time
 *	mutant		mutated (mutate.h), with a node's address
 *	late		one of the last ones, of this epoch and clock, but for a field that is
 *			looked at last (mutate.h); a burst of such
 *	stranger	the same, from STRANGER, or from a node and another port
 *	checksum	the same, but what the checksum says is wrong
 *	train		several in one GSO burst
 *
 * To OWN and OWNSTORE as a forger that knows their secrets. CORRECT and STORE have to
 * stay right whatever comes: what is said to them in a node's name and is not a replay
 * has lost their secrets; the order of their datagrams, and how often each arrives, is
 * not kept. The sync modes of STORE and OWNSTORE keep one.
 *
 * Exit status 1: something was not done at all, or the words of a store were not seen.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <net/if.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>

#include "datagram.h"
#include "mutate.h"
#include "tally.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif

#define BOOK		1024
#define RECENT		32	/* places of the book for the last ones seen */
#define NODES		8
#define SHARDS		16
#define TRAIN_MAX	32
#define SEGMENT_MAX	(1400 + 64)
#define SEEN_MAX	3000	/* bytes; no group here has chunks that are longer */

enum how { REPLAY, MUTANT, LATE, STRANGER, CHECKSUM, TRAIN, HOWS };

static const char *const hows[] = {
	"+replay", "+mutant", "+late", "+stranger", "+checksum", "+train", NULL,
};

/* one that was seen on its way from a node to a node */
struct seen {
	uint8_t from;
	uint8_t to;
	uint8_t shard;
	uint16_t length;
	uint8_t payload[SEEN_MAX];
};

#define STORE_TYPES	(1U << GAGG_T_CONTRIB | 1U << GAGG_T_READY | 1U << GAGG_T_PULL | \
			 1U << GAGG_T_RESULT)
/* where ranks read what is on their own hosts */
#define COPY_TYPES	(1U << GAGG_T_CONTRIB | 1U << GAGG_T_READY)

static struct victim {
	const char *name;
	uint32_t id;
	bool correct;
	struct seen *book;
	unsigned long seen;
	struct tally *tally;
	unsigned int types;	/* that were seen, a bit each */
	unsigned int must;	/* of them */
	struct secrets secrets;
	struct gagg_hdr last;	/* of its epoch */
	uint32_t round[NODES];	/* that each node has contributed to last */
} victims[] = {
	{ .name = "correct", .correct = true },
	{ .name = "store", .correct = true, .must = STORE_TYPES },
	{ .name = "own" },
	{ .name = "own store", .must = COPY_TYPES },
};

#define VICTIMS	(sizeof(victims) / sizeof(victims[0]))

static struct {
	struct dice dice;
	union address node[NODES];
	uint32_t nodes;
	union address stranger;
	int watch;
	uint8_t mac[ETH_ALEN];	/* what comes from there is one's own */
	int raw[NODES + 1];		/* the last one is the stranger's */
	int burst[NODES][SHARDS];	/* -1: not yet open */
	struct tally *mutations;
	unsigned long own;	/* came from here, and were not looked at */
} me;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* --- what is seen ---------------------------------------------------------- */

static void know_oneself(void)
{
	struct ifreq r = { .ifr_name = "eth0" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCGIFHWADDR, &r))
		die("eth0");
	close(fd);
	memcpy(me.mac, r.ifr_hwaddr.sa_data, sizeof(me.mac));
}

static int open_watch(const char *netns)
{
	char path[64];
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), there, fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	there = open(path, O_RDONLY | O_CLOEXEC);
	if (here < 0 || there < 0 || setns(there, CLONE_NEWNET))
		die(path);
	fd = watch_socket("eth0");
	if (fd < 0 || setns(here, CLONE_NEWNET))
		die("watch");
	close(here);
	close(there);
	return fd;
}

/* the node that has the address, at shard *@shard; -1: none */
static int node_of(const union address *a, uint8_t *shard)
{
	union address b = *a;
	uint32_t n;

	for (n = 0; n < me.nodes; n++) {
		int up = ntohs(a->in.sin_port) - ntohs(me.node[n].in.sin_port);

		b.in.sin_port = me.node[n].in.sin_port;
		if (up >= 0 && up < SHARDS && address_equal(&b, &me.node[n])) {
			*shard = (uint8_t)up;
			return (int)n;
		}
	}
	return -1;
}

static void keep(const uint8_t *payload, size_t length, int from, int to, uint8_t shard)
{
	const struct gagg_hdr *h = (const void *)payload;
	struct victim *v;
	struct seen *s;

	for (v = victims; v < victims + VICTIMS; v++)
		if (h->group == v->id)
			break;
	if (v == victims + VICTIMS || length > SEEN_MAX)
		return;
	s = &v->book[v->seen % RECENT];
	/* some stay for long */
	if (v->seen >= RECENT)
		v->book[v->seen < BOOK ? v->seen : RECENT + below(&me.dice, BOOK - RECENT)] = *s;
	s->from = (uint8_t)from;
	s->to = (uint8_t)to;
	s->shard = shard;
	s->length = (uint16_t)length;
	memcpy(s->payload, payload, length);
	learn_secrets(&v->secrets, payload, length);
	if (h->type > GAGG_T_ABORT)
		v->last = *h;
	if (h->type == GAGG_T_CONTRIB)
		v->round[from] = h->round;
	v->types |= 1U << (h->type % 32);
	v->seen++;
}

/* bursts come whole */
static void look(void)
{
	static uint8_t packet[70000];
	union address from, to;
	const uint8_t *payload;
	size_t length, n;
	uint8_t shard;
	ssize_t size;
	int budget;

	for (budget = 0; budget < 64; budget++) {
		struct sockaddr_ll ll = { 0 };
		socklen_t len = sizeof(ll);
		int a, b;

		size = recvfrom(me.watch, packet, sizeof(packet), MSG_DONTWAIT,
				(struct sockaddr *)&ll, &len);
		if (size < 0)
			return;
		if (!memcmp(ll.sll_addr, me.mac, sizeof(me.mac))) {
			me.own++;
			continue;
		}
		payload = udp_find(packet, size, &length, &from, &to);
		if (!payload)
			continue;
		a = node_of(&from, &shard);
		b = node_of(&to, &shard);
		for (; a >= 0 && b >= 0 && length; payload += n, length -= n) {
			n = datagram_length(payload, length);
			if (!n)
				break;
			keep(payload, n, a, b, shard);
		}
	}
}

/* --- what is sent ---------------------------------------------------------- */

static union address port_of(const union address *a, uint32_t shard)
{
	union address b = *a;

	b.in.sin_port = htons(ntohs(a->in.sin_port) + shard);
	return b;
}

static int burst_socket(uint8_t node, uint8_t shard)
{
	int *fd = &me.burst[node][shard];
	union address a = port_of(&me.node[node], shard);

	if (*fd < 0)
		*fd = udp_socket(&a, false);
	if (*fd < 0)
		die("burst");
	return *fd;
}

static const struct seen *pick_of(const struct victim *v, uint64_t n)
{
	return &v->book[below(&me.dice, v->seen < n ? v->seen : n)];
}

static const struct seen *pick(const struct victim *v)
{
	return pick_of(v, one_in(&me.dice, 3) ? BOOK : RECENT);
}

static void load(struct mutant *m, const struct seen *s)
{
	m->length = s->length;
	memcpy(m->payload, s->payload, s->length);
}

static void belong(const struct victim *v, struct gagg_hdr *h)
{
	if (h->type <= GAGG_T_ABORT || !v->last.epoch)
		return;
	h->epoch = v->last.epoch;
	memcpy(h->tag, v->last.tag, sizeof(h->tag));
}

/* what node @from could say now, but for a field */
static void change_late(const struct victim *v, struct mutant *m, uint8_t from)
{
	struct gagg_hdr *h = (struct gagg_hdr *)m->payload;
	static struct mutant other;

	belong(v, h);
	if (h->type == GAGG_T_CONTRIB)
		h->round = v->round[from] + (uint32_t)below(&me.dice, 2);
	load(&other, pick(v));
	mutate_late(&me.dice, m, &other);
}

/* one to four times; often of the epoch that runs now */
static void change(const struct victim *v, struct mutant *m)
{
	static struct mutant other;
	uint64_t n;

	if (one_in(&me.dice, 2))
		belong(v, (struct gagg_hdr *)m->payload);
	for (n = 1 + below(&me.dice, 4); n; n--) {
		enum mutation how = below(&me.dice, MUTATIONS);

		load(&other, pick(v));
		mutate(&me.dice, how, m, &other);
		tally_add(me.mutations, how, 0);
	}
}

/*
 * What an insider says about epochs ends them, and while there is none nothing else
 * is looked at: seldom, and not before its ranks have said what they must.
 */
static bool spared(const struct victim *v, const struct mutant *m)
{
	uint8_t type = m->payload[offsetof(struct gagg_hdr, type)];

	return !v->correct && type >= GAGG_T_HELLO && type <= GAGG_T_ABORT &&
	       ((v->must & ~v->types) || !one_in(&me.dice, 40));
}

/* @from: a node, or me.nodes for the stranger */
static void send_raw(struct victim *v, enum how how, const struct mutant *m,
		     uint32_t from, const union address *source, const union address *to)
{
	static struct {
		struct udphdr udp;
		uint8_t payload[MUTANT_MAX];
	} d;
	union address host = *to;
	ssize_t n;

	memcpy(d.payload, m->payload, m->length);
	udp_seal(&d.udp, m->length, source, to);
	if (how == CHECKSUM)
		d.udp.check ^= htons((uint16_t)(1 + below(&me.dice, 0xfffe)));
	/* 0: there is none. 0xffff is 0 as well */
	if (how == CHECKSUM && (!d.udp.check || d.udp.check == 0xffff))
		d.udp.check = htons(0x1234);
	host.in.sin_port = 0;
	n = sendto(me.raw[from], &d, sizeof(d.udp) + m->length, MSG_DONTWAIT, &host.sa,
		   address_size(&host));
	tally_add(v->tally, how, n < 0 ? errno : 0);
}

static void one(struct victim *v, enum how how)
{
	static struct mutant m;
	const struct seen *s = pick(v);
	union address to = port_of(&me.node[s->to], s->shard);
	union address from = port_of(&me.node[s->from], s->shard);
	uint32_t who = s->from;

	load(&m, s);
	if (how != REPLAY && !(how != MUTANT && one_in(&me.dice, 4)))
		change(v, &m);
	if (how == STRANGER && one_in(&me.dice, 2)) {
		from = port_of(&me.stranger, s->shard);
		who = me.nodes;
	} else if (how == STRANGER) {
		from.in.sin_port ^= htons((uint16_t)(1U << (4 + below(&me.dice, 10))));
	}
	if (how == MUTANT && v->correct)
		forget_secrets(&me.dice, &m, &v->secrets);
	if (how == MUTANT && spared(v, &m))
		return;
	send_raw(v, how, &m, who, &from, &to);
}

/* @size: of a segment */
static void send_burst(struct victim *v, enum how how, const struct seen *way,
		       const uint8_t *burst, size_t length, int size)
{
	int fd = burst_socket(way->from, way->shard);
	union address to = port_of(&me.node[way->to], way->shard);
	ssize_t sent;

	if (setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size)))
		die("UDP_SEGMENT");
	sent = sendto(fd, burst, length, MSG_DONTWAIT, &to.sa, address_size(&to));
	tally_add(v->tally, how, sent < 0 ? errno : 0);
}

/* one that changes what the core keeps, if there is one */
static const struct seen *pick_late(const struct victim *v)
{
	const struct seen *s;
	int tries = 16;
	uint8_t type;

	do {
		s = pick_of(v, RECENT);
		type = s->payload[offsetof(struct gagg_hdr, type)];
	} while (--tries && (type <= GAGG_T_ABORT || type == GAGG_T_ACK));
	return s;
}

static void late(struct victim *v)
{
	static uint8_t burst[65000];
	static struct mutant m;
	const struct seen *s = pick_late(v);
	union address from = port_of(&me.node[s->from], s->shard);
	union address to = port_of(&me.node[s->to], s->shard);
	size_t at = 0, n;

	for (n = 1 + below(&me.dice, TRAIN_MAX); n; n--) {
		load(&m, s);
		change_late(v, &m, s->from);
		if (v->correct)
			forget_secrets(&me.dice, &m, &v->secrets);
		if (spared(v, &m))
			continue;
		if (m.length != s->length || s->length > SEGMENT_MAX) {
			send_raw(v, LATE, &m, s->from, &from, &to);
		} else {
			memcpy(burst + at, m.payload, m.length);
			at += m.length;
		}
	}
	if (at)
		send_burst(v, LATE, s, burst, at, s->length);
}

/* all segments but the last have the length of the first */
static void train(struct victim *v)
{
	static uint8_t burst[65000];
	static struct mutant m;
	const struct seen *first = pick(v), *s = first;
	size_t at = 0, n = 2 + below(&me.dice, TRAIN_MAX - 1);
	int size = 0;

	for (; n; n--, s = pick(v)) {
		bool replay = one_in(&me.dice, 3);

		/* as it was is as it was from there, to there */
		if (replay && (s->from != first->from || s->to != first->to ||
			       s->shard != first->shard))
			continue;
		load(&m, s);
		if (!replay) {
			change(v, &m);
			if (v->correct)
				forget_secrets(&me.dice, &m, &v->secrets);
			if (spared(v, &m))
				continue;
		}
		if (!size)
			size = (int)m.length;
		/* a shorter one is the last; one that is cut is no replay */
		if ((replay && (int)m.length > size) || !size || size > SEGMENT_MAX ||
		    at + size > sizeof(burst))
			break;
		if ((int)m.length > size)
			m.length = (size_t)size;
		memcpy(burst + at, m.payload, m.length);
		at += m.length;
		if ((int)m.length < size)
			break;
	}
	if (at)
		send_burst(v, TRAIN, first, burst, at, size);
}

static void volley(void)
{
	struct victim *v;
	enum how how;
	uint64_t n = 8;

	/* what was never done goes first */
	do {
		v = &victims[below(&me.dice, VICTIMS)];
		how = below(&me.dice, HOWS);
	} while (--n && (!v->id || !tally_idle(v->tally, how, hows[how])));
	if (!v->seen)
		return;
	/* a forger that knows the secrets does best so */
	if (!n && !v->correct && one_in(&me.dice, 2))
		how = LATE;
	if (how == TRAIN || how == LATE) {
		(how == TRAIN ? train : late)(v);
		return;
	}
	for (n = 1 + below(&me.dice, 32); n; n--)
		one(v, how);
}

/* @argv: SEED and what follows it */
static void setup(char **argv)
{
	const char *netns;
	uint32_t n, s;

	me.dice.state = strtoull(*argv++, NULL, 0);
	netns = *argv++;
	for (n = 0; n < VICTIMS; n++) {
		victims[n].id = (uint32_t)strtoul(*argv++, NULL, 0);
		victims[n].book = calloc(BOOK, sizeof(struct seen));
		victims[n].tally = tally_new();
	}
	if (!address_parse(*argv, GAGG_WIRE_PORT, &me.stranger))
		die(*argv);
	for (n = 0; n < NODES && *++argv; n++)
		if (!address_parse(*argv, GAGG_WIRE_PORT, &me.node[n]))
			die(*argv);
	me.nodes = n;
	for (n = 0; n <= me.nodes; n++) {
		me.raw[n] = udp_socket(n < me.nodes ? &me.node[n] : &me.stranger, true);
		if (me.raw[n] < 0)
			die("raw");
		for (s = 0; n < me.nodes && s < SHARDS; s++)
			me.burst[n][s] = -1;
	}
	me.mutations = tally_new();
	know_oneself();
	me.watch = open_watch(netns);
}

static bool complete(void)
{
	const struct victim *v;

	for (v = victims; v < victims + VICTIMS; v++)
		if (v->id && (!tally_complete(v->tally, hows) || (v->must & ~v->types)))
			return false;
	return tally_complete(me.mutations, mutations);
}

int main(int argc, char **argv)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	time_t start, seconds;
	const struct victim *v;
	bool good = true;

	if (argc < 11) {
		fprintf(stderr, "see the top of selftests/vm/fuzz_wire.c\n");
		return 2;
	}
	setup(argv + 2);
	seconds = atoi(argv[1]);
	start = time(NULL);
	while (time(NULL) < start + seconds ||
	       (!complete() && time(NULL) < start + TALLY_PATIENCE * seconds)) {
		look();
		volley();
		nanosleep(&pause, NULL);
	}
	printf("# wire: %lu of its own, not looked at\n", me.own);
	for (v = victims; v < victims + VICTIMS; v++) {
		if (!v->id)
			continue;
		printf("# wire: %s: %lu seen, of types %#x\n", v->name, v->seen, v->types);
		if (v->must & ~v->types) {
			printf("wire: %s: none seen of types %#x\n", v->name,
			       v->must & ~v->types);
			good = false;
		}
		good &= tally_report(v->tally, v->name, hows);
	}
	good &= tally_report(me.mutations, "mutations", mutations);
	return !good;
}
