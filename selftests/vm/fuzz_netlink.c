// SPDX-License-Identifier: GPL-2.0
/*
 * Random requests to the netlink family gagg.
 *
 *	fuzz_netlink SECONDS SEED LOCAL OTHER NAME...
 *
 * Groups of these NAMEs are created, changed, asked for and deleted, with
 * addresses LOCAL and OTHER; half of the requests are then spoilt: lengths, types,
 * nesting, bytes. No request names a group whose name is one letter: those have to
 * live on, also those with the same ports.
 *
 * Exit status 1: some kind of request was never made, or never accepted where it
 * has to be at times.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/socket.h>
#include <linux/gagg.h>

#include "datagram.h"
#include "dice.h"
#include "genl.h"
#include "tally.h"

#define SENDERS	4

enum { K_GET_DUMP = GAGG_CMD_STATS_GET + 1, K_COMMAND, K_SPOILT, K_NOISE, K_EVENT };

/* the first ones by their command */
static const char *const kinds[] = {
	"", "+group-new", "+group-del", "+group-set", "group-get", "member-add",
	"member-del", "member-set", "member-get", "stats-get", "group dump",
	"other command", "spoilt", "noise", "+event", NULL,
};

static struct {
	struct dice dice;
	struct tally *tally;
	uint16_t family;
	int fd[SENDERS];
	int events;
	union address local;
	union address other;
	char **name;
	int names;
} me;

static uint32_t chance(uint32_t n)
{
	return (uint32_t)below(&me.dice, n);
}

/* --- a request that is right, or nearly ------------------------------------ */

static void put(uint16_t type, uint64_t right, unsigned int bits)
{
	if (!chance(40))
		right = odd_number(&me.dice, bits);
	if (!chance(80))
		bits = 8 << chance(4);
	genl_add(genl_attr(type), &right, bits / 8);
}

/* bsp or asp; sometimes an algorithm over rounds, known or not, or what is no mode */
static void put_sync(void)
{
	struct gagg_sync_param p = { .mode = chance(2) };

	if (!chance(4)) {
		p.mode = 100 + chance(200);
		p.arg[chance(GAGG_SYNC_ARGS)] = chance(9);
	}
	genl_add(genl_attr(GAGG_GA_SYNC), &p, sizeof(p));
}

static void put_address(uint16_t type, const union address *a)
{
	uint8_t raw[20];

	scatter(&me.dice, raw, sizeof(raw));
	if (!chance(60))
		genl_add(genl_attr(type), raw, chance(20));
	else if (a->sa.sa_family == AF_INET6)
		genl_add(genl_attr(type), &a->in6.sin6_addr, 16);
	else
		genl_add(genl_attr(type), &a->in.sin_addr, 4);
}

static void put_member(uint32_t rank, bool address)
{
	struct nlattr *nest = genl_attr(GAGG_MA_MEMBER | NLA_F_NESTED);
	bool local = !rank || !chance(4);

	put(GAGG_MA_RANK, rank, 32);
	if (address || !chance(4)) {
		put_address(GAGG_MA_ADDRESS, local ? &me.local : &me.other);
		if (local != !chance(40))
			genl_attr(GAGG_MA_LOCAL);
	}
	if (!chance(4))
		put(GAGG_MA_ROLES, 1 + chance(3), 32);
	genl_nest_end(nest);
}

/* the first one is rank 0, which is here: alone it is complete */
static void put_members(uint32_t n, uint32_t first, bool address)
{
	struct nlattr *nest = genl_attr(GAGG_GA_MEMBERS | NLA_F_NESTED);
	uint32_t i;

	for (i = 0; i < n; i++)
		put_member(first + i, address);
	genl_nest_end(nest);
}

/* without a ring it has a large one: that takes long to allocate */
static void put_config(bool ring)
{
	if (ring) {
		put(GAGG_GA_RING, 64 * (4 + chance(8)), 32);
		put(GAGG_GA_WINDOW, 64, 32);
	}
	if (!chance(2))
		put(GAGG_GA_PORT, GAGG_WIRE_PORT + (chance(3) ? 20 * chance(4) : chance(30)), 16);
	if (!chance(3))
		put(GAGG_GA_SHARDS, 1 + chance(3), 16);
	if (!chance(4))
		put(GAGG_GA_ID, 1 + chance(6), 32);
	if (!chance(4))
		put(GAGG_GA_LANES, 8 * (1 + chance(43)), 16);
	if (!chance(6))
		put(GAGG_GA_STRIPE, 1 + chance(8), 16);
	if (!chance(6))
		put(GAGG_GA_CHANNELS, 1 + chance(64), 16);
	if (!chance(6))
		put(GAGG_GA_CWND, 4 + chance(300), 32);
	if (!chance(6))
		put(GAGG_GA_DEAD_AFTER, 100 + chance(5000), 32);
	if (!chance(8))
		put(GAGG_GA_PLACEMENT, chance(2), 32);
	if (!chance(8))
		put(GAGG_GA_MODE, chance(0700) & 0666, 32);
	if (!chance(8))
		put(GAGG_GA_UID, chance(70000), 32);
	if (!chance(8))
		put(GAGG_GA_GID, chance(70000), 32);
	if (!chance(8))
		put_sync();
	if (!chance(8))
		put(GAGG_GA_LANE_TYPE, chance(2), 32);
	if (!chance(8))
		put(GAGG_GA_WIRE, chance(3), 32);
	if (!chance(3))
		genl_add(genl_attr(GAGG_GA_MULTICAST), (uint8_t[]){ 239, 77, 0, (uint8_t)chance(3) },
			 chance(4) ? 4 : 0);
	if (!chance(60))
		put((uint16_t)chance(GAGG_GA_MAX + 2), 0, 64);
}

/* returns its kind */
static unsigned int request(void)
{
	static const uint8_t often[] = {
		GAGG_CMD_GROUP_NEW, GAGG_CMD_GROUP_NEW, GAGG_CMD_GROUP_NEW,
		GAGG_CMD_GROUP_DEL, GAGG_CMD_GROUP_SET, GAGG_CMD_GROUP_GET,
		GAGG_CMD_MEMBER_ADD, GAGG_CMD_MEMBER_DEL, GAGG_CMD_MEMBER_SET,
		GAGG_CMD_MEMBER_GET, GAGG_CMD_STATS_GET,
	};
	uint8_t cmd = chance(20) ? often[chance(sizeof(often))] : (uint8_t)chance(14);
	bool dump = cmd == GAGG_CMD_MEMBER_GET || (cmd == GAGG_CMD_GROUP_GET && !chance(2));
	const char *name = me.name[chance((uint32_t)me.names)];
	struct nlattr *group;

	if (!chance(50))
		dump = !dump;
	genl_begin(me.family, NLM_F_ACK | (dump ? NLM_F_DUMP : 0), cmd);
	group = genl_attr(GAGG_A_GROUP | NLA_F_NESTED);
	genl_add(genl_attr(GAGG_GA_NAME), name, strlen(name) + 1);
	switch (cmd) {
	case GAGG_CMD_GROUP_NEW:
		put_address(GAGG_GA_LOCAL, chance(30) ? &me.local : &me.other);
		put_config(true);
		if (chance(8))
			put_members(!chance(2) ? 1 : chance(5), 0, true);
		break;
	case GAGG_CMD_GROUP_SET:
		put_config(!chance(2));
		break;
	case GAGG_CMD_MEMBER_ADD:
		put_members(1 + chance(3), chance(6), true);
		break;
	case GAGG_CMD_MEMBER_DEL:
	case GAGG_CMD_MEMBER_SET:
		put_members(1, chance(6), false);
		break;
	}
	genl_nest_end(group);
	if (cmd > GAGG_CMD_STATS_GET || !cmd)
		return K_COMMAND;
	return cmd == GAGG_CMD_GROUP_GET && dump ? K_GET_DUMP : cmd;
}

/* --- and one that is not ----------------------------------------------------- */

static void spoil_attr(void)
{
	struct nlattr *a = (void *)(genl_msg.u.raw + genl_msg.attr[chance((uint32_t)genl_msg.attrs)]);

	switch (chance(4)) {
	case 0:
		a->nla_len = (uint16_t)odd_number(&me.dice, 16);
		break;
	case 1:
		a->nla_len += (uint16_t)(chance(9) - 4);
		break;
	case 2:
		a->nla_type ^= (uint16_t)(chance(2) ? NLA_F_NESTED : NLA_F_NET_BYTEORDER);
		break;
	default:
		a->nla_type = (uint16_t)odd_number(&me.dice, chance(2) ? 4 : 16);
	}
}

static void spoil(void)
{
	size_t body = NLMSG_HDRLEN + GENL_HDRLEN, n = genl_msg.len - body, at;
	uint32_t times;

	for (times = 1 + chance(3); times; times--) {
		switch (chance(5)) {
		case 0:		/* a byte; an attribute's, and so its name's, too */
			genl_msg.u.raw[body + below(&me.dice, n)] = (char)roll(&me.dice);
			break;
		case 1:		/* the end is missing */
			genl_msg.len = body + below(&me.dice, genl_msg.len - body + 1);
			return;
		case 2:		/* some of it twice */
			at = body + 4 * below(&me.dice, n / 4);
			if (genl_msg.len * 2 < sizeof(genl_msg.u)) {
				memmove(genl_msg.u.raw + genl_msg.len, genl_msg.u.raw + at,
					genl_msg.len - at);
				genl_msg.len += genl_msg.len - at;
			}
			break;
		default:
			spoil_attr();
		}
	}
}

static unsigned int noise(void)
{
	size_t n = chance(400);

	genl_begin(me.family, NLM_F_ACK | (chance(4) ? 0 : NLM_F_DUMP), (uint8_t)chance(14));
	scatter(&me.dice, genl_msg.u.raw + genl_msg.len, n);
	genl_msg.len += n;
	return K_NOISE;
}

/*
 * Whatever it has become: does it name one of the groups that are not ours? They
 * have names of one letter. A nest may begin anywhere, so a name may as well.
 */
static bool names_another(void)
{
	size_t at;

	for (at = NLMSG_HDRLEN; at + NLA_HDRLEN + 2 <= genl_msg.len; at++) {
		const struct nlattr *a = (void *)(genl_msg.u.raw + at);
		const char *name = (const char *)(a + 1);

		if ((a->nla_type & NLA_TYPE_MASK) == GAGG_GA_NAME && isalpha(name[0]) &&
		    !name[1])
			return true;
	}
	return false;
}

/* --- answers ----------------------------------------------------------------- */

/* up to the acknowledgement; at times it is left for later */
static int answer(int fd)
{
	static char raw[65536];
	struct nlmsghdr *h = (void *)raw;
	ssize_t n;

	for (;;) {
		n = recv(fd, raw, sizeof(raw), 0);
		if (n < 0)
			return errno;
		for (h = (void *)raw; NLMSG_OK(h, (size_t)n); h = NLMSG_NEXT(h, n)) {
			if (h->nlmsg_seq != genl_msg.u.h.nlmsg_seq)
				continue;
			if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE)
				return -*(int *)NLMSG_DATA(h);
		}
	}
}

static void drain(void)
{
	static char raw[65536];

	while (recv(me.events, raw, sizeof(raw), MSG_DONTWAIT) > 0)
		tally_add(me.tally, K_EVENT, 0);
}

/* the id of the multicast group, in the family's description */
static uint32_t event_group(int fd)
{
	static const char want[] = GAGG_MCGRP_NAME;
	char raw[8192];
	ssize_t n, i;

	genl_begin(GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	genl_add(genl_attr(CTRL_ATTR_FAMILY_NAME), GAGG_GENL_NAME, sizeof(GAGG_GENL_NAME));
	if (genl_send(fd))
		genl_die("send");
	n = recv(fd, raw, sizeof(raw), 0);
	/* the id is the attribute before the name's */
	for (i = 8; i + (ssize_t)sizeof(want) <= n; i++)
		if (!memcmp(raw + i, want, sizeof(want)))
			return *(uint32_t *)(raw + i - 8);
	genl_die("no group of events");
	return 0;
}

static int new_socket(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	/* a dump whose answer is left unread ends its socket */
	struct timeval patience = { .tv_sec = 20 };
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	int on = 1;

	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
		genl_die("socket");
	if (chance(2))
		setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	if (!chance(3))
		setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &on, sizeof(on));
	return fd;
}

static void one(uint32_t seq)
{
	int *fd = &me.fd[chance(SENDERS)];
	unsigned int kind = request();

	if (!chance(2)) {
		spoil();
		kind = K_SPOILT;
	}
	if (!chance(20))
		kind = noise();
	if (names_another())
		return;
	genl_msg.u.h.nlmsg_seq = seq;
	if (genl_send(*fd))
		genl_die("send");
	if (chance(50)) {
		tally_add(me.tally, kind, answer(*fd));
	} else {
		close(*fd);
		*fd = new_socket();
	}
}

int main(int argc, char **argv)
{
	uint32_t seq, group;
	time_t start;
	int i, seconds;

	if (argc < 6 || !address_parse(argv[3], 0, &me.local) ||
	    !address_parse(argv[4], 0, &me.other)) {
		fprintf(stderr, "see the top of selftests/vm/fuzz_netlink.c\n");
		return 2;
	}
	me.dice.state = strtoull(argv[2], NULL, 0);
	me.name = argv + 5;
	me.names = argc - 5;
	me.tally = tally_new();
	for (i = 0; i < SENDERS; i++)
		me.fd[i] = new_socket();
	me.family = genl_family(me.fd[0]);
	me.events = new_socket();
	group = event_group(me.fd[0]);
	if (setsockopt(me.events, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)))
		genl_die("events");
	seconds = atoi(argv[1]);
	start = time(NULL);
	for (seq = 1; time(NULL) < start + seconds ||
	     (!tally_complete(me.tally, kinds) && time(NULL) < start + TALLY_PATIENCE * seconds);
	     seq++) {
		one(seq);
		drain();
		usleep(2000);
	}
	return !tally_report(me.tally, "netlink", kinds);
}
