// SPDX-License-Identifier: GPL-2.0
/* links: agent/twin/queue.c agent/twin/multicast.c agent/twin/port.c agent/twin/limit.c agent/twin/twin.c; libs: */
/*
 * What a port of the twin sends, and how often: a burst once to each node, or once for all, if
 * there is an address for these. Counters say what has left.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "twin_port.h"
#include "../../agent/twin/group.h"
#include "../../agent/twin/queue.h"

#define NODES	4
#define BYTES	100

/* node 0 is the port's; what comes to the others, or to all, is seen at sockets there */
struct fixture {
	struct worker w;
	struct port *p;
	struct group *g;
	int node[NODES];
	int all;
};

static int bound(const char *ip, in_port_t n)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union address a = at(ip, n);

	assert_int_equal(bind(fd, &a.sa, address_length(&a)), 0);
	return fd;
}

/* any address does for all: the port's is one of many */
static void setup(struct fixture *f)
{
	static const char *const ip[NODES] = { "127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4" };
	in_port_t n = 0;
	unsigned int i;

	worker_open(&f->w);
	f->p = port_at(&f->w, ip[0], &n);
	f->g = calloc(1, sizeof(*f->g));
	assert_non_null(f->g);
	f->g->geom.shards = 1;
	f->g->part[0].port = f->p;
	for (i = 0; i < NODES; i++) {
		f->g->node[i] = at(ip[i], n);
		f->node[i] = i ? bound(ip[i], n) : -1;
	}
	f->g->all = at("127.0.0.9", n);
	f->g->all_nodes = 0xe;
	f->all = bound("127.0.0.9", n);
}

static void teardown(struct fixture *f)
{
	unsigned int i;

	worker_close(&f->w);
	for (i = 1; i < NODES; i++)
		close(f->node[i]);
	close(f->all);
	free(f->g);
}

static struct burst *burst_of(struct fixture *f)
{
	struct burst *b = burst_new(f->p->queue);

	assert_non_null(b);
	b->load.segs = 1;
	b->load.seg = BYTES;
	b->load.bytes = BYTES;
	b->iov[0] = (struct iovec){ b->head, BYTES };
	b->niov = 1;
	return b;
}

static void add(struct fixture *f, u64 nodes)
{
	struct burst *b = burst_of(f);

	queue_begin(f->p, gagg_weight64(nodes));
	for (; nodes; nodes &= nodes - 1)
		queue_add(f->p, f->g, b, &f->g->node[gagg_lowest(nodes)]);
	burst_put(f->p->queue, b);
}

static void add_for_all(struct fixture *f)
{
	struct burst *b = burst_of(f);

	queue_begin(f->p, 1);
	queue_add(f->p, f->g, b, &f->g->all);
	burst_put(f->p->queue, b);
}

/* Those of @to have got one datagram more, and no others have: a bit for each, 16 for all. */
static void got_is(struct fixture *f, unsigned int to)
{
	unsigned int i, k, comes;

	/* when those have come that are to, others would have, too */
	for (k = 0; k < 2; k++)
		for (i = 1; i <= NODES; i++) {
			comes = to >> i & 1;
			if (comes == !k)
				assert_int_equal(next_at(i < NODES ? f->node[i] : f->all,
							 comes ? SOON_MS : 0),
						 comes ? BYTES : 0);
		}
}

static void test_all(void **state)
{
	struct fixture f;
	const struct gagg_stats *stats;

	(void)state;
	setup(&f);
	stats = &f.g->part[0].stats;
	add(&f, 0x6);
	queue_send(f.p);
	got_is(&f, 0x6);
	add_for_all(&f);
	queue_send(f.p);
	got_is(&f, 0x10);
	got_is(&f, 0);
	assert_int_equal(stats->tx_datagrams, 3);
	assert_int_equal(stats->tx_bytes, 3 * BYTES);
	assert_int_equal(stats->tx_errors, 0);
	teardown(&f);
}

/* memory goes: what has not left is an error, and nothing of it leaves */
static void test_forgotten(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	kicks = 0;
	add_for_all(&f);
	add(&f, 0x6);
	queues_forget(f.g);
	assert_int_equal(kicks, 1);
	queue_send(f.p);
	got_is(&f, 0);
	assert_int_equal(f.g->part[0].stats.tx_errors, 3);
	assert_int_equal(f.g->part[0].stats.tx_datagrams, 0);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_forgotten),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
