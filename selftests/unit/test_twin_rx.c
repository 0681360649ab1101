// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/layout.c kmod/core/front.c kmod/core/site.c agent/twin/rx.c agent/twin/multicast.c agent/twin/port.c agent/twin/queue.c agent/twin/limit.c agent/twin/twin.c; libs: */
/*
 * What a port of the twin receives in a turn: over sockets of the loopback and the real core,
 * with a home that others ask.
 */
#include <arpa/inet.h>
#include <unistd.h>
#include <linux/sock_diag.h>
#include "chan_node.h"
#include "twin/act.h"
#include "twin/channel.h"
#include "twin/epoch.h"
#include "twin/group.h"
#include "twin/multicast.h"
#include "twin/port.h"
#include "twin/reduce.h"
#include "twin/rx.h"
#include "twin/trainer.h"
#include "twin/twin.h"
#include "twin/worker.h"

#define LONGEST	8192	/* of a question, in chunks: it costs two turns, see receive.h */

const struct gagg_loops *twin_loops = &gagg_loops;
static struct worker worker;
static struct port port = { .worker = &worker, .n_groups = 1 };
static struct group group;
static struct group *groups[] = { &group };
static int peer;	/* a socket of node 1 */

void act_drain(struct port *p, struct group *grp)
{
	(void)p;
	(void)grp;
	drain();
}

struct channel *channel_find(struct group *grp, u32 id)
{
	(void)grp;
	(void)id;
	return NULL;
}

enum gagg_drop epoch_rx(struct group *grp, u32 node, u32 shard, const struct gagg_msg *m,
			const void *body)
{
	(void)grp, (void)node, (void)shard, (void)m, (void)body;
	return 0;
}

void trainers_env(struct gagg_env *e, struct gagg_trainers *trainers, struct group *grp,
		  unsigned int shard)
{
	(void)trainers, (void)grp, (void)shard;
	*e = env;
}

void worker_kick(struct worker *w)
{
	(void)w;
}

static int bound(union address *a)
{
	socklen_t len = sizeof(a->in);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memset(a, 0, sizeof(*a));
	a->in.sin_family = AF_INET;
	a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, &a->sa, sizeof(a->in)), 0);
	assert_int_equal(getsockname(fd, &a->sa, &len), 0);
	return fd;
}

static int begin(void **state)
{
	(void)state;
	geometry(0);
	g.ring = 2 * LONGEST;
	g.window = LONGEST;
	g.room = g.lanes;
	start_channel(0, g.workers);
	memset(&group, 0, sizeof(group));
	group.geom = g;
	group.part[0].core = sh;
	group.part[0].port = &port;
	port.groups = groups;
	port.dear = false;
	port.fd = bound(&group.node[0]);
	peer = bound(&group.node[1]);
	worker.rx = rx_new();
	assert_non_null(worker.rx);
	return 0;
}

static int end(void **state)
{
	close(port.fd);
	close(peer);
	rx_free(worker.rx);
	return finish_test(state);
}

/* memory of what is at the port */
static u32 held(void)
{
	u32 of[SK_MEMINFO_VARS] = { 0 };
	socklen_t len = sizeof(of);

	assert_int_equal(getsockopt(port.fd, SOL_SOCKET, SO_MEMINFO, of, &len), 0);
	return of[SK_MEMINFO_RMEM_ALLOC];
}

/* Sends the port a datagram; returns when it is there, on a busy machine, too. */
static void comes(const void *data, size_t size)
{
	u32 before = held(), i;

	assert_int_equal(sendto(peer, data, size, 0, &group.node[0].sa,
				sizeof(group.node[0].in)), size);
	for (i = 0; i < 6000 && held() <= before; i++)
		usleep(10000);
	assert_true(held() > before);
}

/* a question of @run chunks comes @times */
static void questions(u32 times, u32 run)
{
	struct gagg_msg m = message(GAGG_T_QUERY, 1, 0, 1);
	unsigned char raw[GAGG_WIRE_HDRLEN];

	m.run = (u16)run;
	gagg_wire_build(raw, &m);
	while (times--)
		comes(raw, sizeof(raw));
}

static u64 then;	/* the time, after a turn that began now */

/* datagrams that a turn receives; @more: what it says */
static u64 turn(bool more)
{
	u64 before = group.part[0].stats.rx_datagrams;

	then = now;
	assert_int_equal(rx_port(&port, &then), more);
	return group.part[0].stats.rx_datagrams - before;
}

static void turn__of_what_is_cheap_is_one_call(void **state)
{
	u32 i;

	(void)state;
	questions(20, 1);
	assert_int_equal(turn(true), 8);
	assert_int_equal(turn(true), 8);
	assert_int_equal(turn(false), 4);
	assert_int_equal(turn(false), 0);
	assert_int_equal(then, now);
	for (i = 0; i < GAGG_DROP_COUNT; i++)
		assert_int_equal(group.part[0].stats.drop[i], 0);
}

/* one call has received eight, whatever they cost; from then on each may be the last of a turn */
static void turn__ends_when_questions_have_cost_it(void **state)
{
	(void)state;
	questions(12, LONGEST);
	questions(3, LONGEST / 8);
	questions(20, 1);
	assert_int_equal(turn(true), 8);
	assert_int_equal(turn(true), 1);
	assert_int_equal(turn(true), 1);
	assert_int_equal(turn(true), 1);
	assert_int_equal(turn(true), 1);
	assert_int_equal(then, now);
	/* three quarters of a turn, and others, in several calls, of which each has its time */
	assert_int_equal(turn(false), 23);
	assert_true(then > now);
	questions(9, 1);
	assert_int_equal(turn(true), 8);
	assert_int_equal(turn(false), 1);
}

/* both sockets are read, in as many calls as it takes */
static void turn__with_multicast_is_bounded_likewise(void **state)
{
	union address a;
	struct multicast mc = { .fd = bound(&a) };

	(void)state;
	port.multicasts = &mc;
	questions(20, 1);
	assert_int_equal(turn(false), 20);
	questions(12, LONGEST);
	assert_int_equal(turn(true), 8);
	assert_int_equal(turn(true), 1);
	assert_int_equal(turn(true), 1);
	assert_int_equal(turn(true), 1);
	assert_int_equal(turn(true), 1);
	assert_int_equal(turn(false), 0);
	port.multicasts = NULL;
	close(mc.fd);
}

/* it is received, and is not what "nothing is there" means */
static void turn__an_empty_datagram_is_one(void **state)
{
	union address a;
	struct multicast mc = { .fd = bound(&a) };
	u32 i;

	(void)state;
	port.multicasts = &mc;
	for (i = 0; i < 8; i++)
		comes("", 0);
	questions(8, 1);
	assert_int_equal(turn(false), 8);
	port.multicasts = NULL;
	close(mc.fd);
}

#define TEST(f)	cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(turn__of_what_is_cheap_is_one_call),
		TEST(turn__ends_when_questions_have_cost_it),
		TEST(turn__with_multicast_is_bounded_likewise),
		TEST(turn__an_empty_datagram_is_one),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
