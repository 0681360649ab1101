// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c selftests/model/world.c selftests/model/world_net.c selftests/model/world_host.c selftests/model/world_ref.c; libs: */
/*
 * What time a collective takes on links of 1 Gbit/s, in the simulator: virtual time,
 * so the same on every machine. Processors take none.
 *
 *	model_loss [--full]	all that is tested
 *	model_loss [--table N]	means of N seeds, of more sizes, without a test
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "selftests/model/world.h"
#include "../unit/full.h"

/* of 344 lanes: 64 MiB, 4 MiB */
#define LONG	48771
#define SHORT	3049
#define WIRE	(12 * GAGG_USEC)
#define SEEDS	24

/* all are homes, as groups are by default, or half of them only work, others only add */
struct net {
	const char *name;
	u32 hosts;
	u64 workers, homes;
};

static const struct net four = { .name = "4 hosts", .hosts = 4 };
static const struct net eight = { .name = "8 hosts", .hosts = 8 };
static const struct net apart = {
	.name = "8 hosts and 8 that add", .hosts = 16, .workers = 0xff, .homes = 0xff00,
};

/* @loss: per mille; without it one datagram of 1000 may be for nothing */
static u64 time_of_seed(u64 seed, const struct net *net, u32 chunks, u64 poll, u32 loss)
{
	const struct world_config cfg = {
		.seed = seed, .nodes = net->hosts, .worker_nodes = net->workers,
		.home_nodes = net->homes, .per_node = 1, .ring = 49152, .window = 2048,
		.stripe = 8, .shards = 1, .cwnd = 256, .chans = 1, .ops = 1,
		.max_chunks = chunks, .exact = true, .wire = WIRE, .poll = poll,
		.loss = loss,
	};
	struct world *w = world_new(&cfg);
	u64 took;

	if (world_run(w))
		fail_msg("%s", world_error(w));
	if (!loss && world_count(w, GAGG_N_RETRANSMITS) + world_count(w, GAGG_N_QUERIES) >
		     world_sent(w, 0) / 1000)
		fail_msg("without loss: %llu sent again, %llu queries",
			 (unsigned long long)world_count(w, GAGG_N_RETRANSMITS),
			 (unsigned long long)world_count(w, GAGG_N_QUERIES));
	took = world_time(w);
	world_free(w);
	return took;
}

static u64 time_of(const struct net *net, u32 chunks, u64 poll, u32 loss)
{
	u64 took = time_of_seed(1, net, chunks, poll, loss);

	print_message("# %s, %u chunks, a look each %llu us, %u of 1000 lost: %llu us\n",
		      net->name, chunks, (unsigned long long)poll / 1000, loss, (unsigned long long)took / 1000);
	return took;
}

/* What the wire takes alone: a host sends contributions to all chunks but its own part,
 * and the results of that to all others. One that only works sends all, and gets all at
 * the same time.
 */
static u64 wire_of(const struct net *net, u32 chunks)
{
	if (net->homes)
		return (u64)chunks * WIRE;
	return 2ULL * chunks * (net->hosts - 1) / net->hosts * WIRE;
}

/* hosts look for what has come at once or rarely, which makes round trips long */
static const u64 polls[] = { 50 * GAGG_USEC, 500 * GAGG_USEC, 2 * GAGG_MSEC };

static void links__are_kept_busy(void **state)
{
	u32 i;

	(void)state;
	/* a short one ends with the last look */
	for (i = 0; i < 2; i++)
		assert_in_range(time_of(&four, SHORT, polls[i], 0), wire_of(&four, SHORT),
				wire_of(&four, SHORT) * 108 / 100);
}

static void links__are_kept_busy_with_losses(void **state)
{
	u64 wire = wire_of(&four, LONG), none;
	u32 i;

	(void)state;
	/* in a quarter of LONG it does not show yet that each loss cuts the window */
	for (i = full_or(0, 1); i < full_or(3, 2); i++) {
		none = time_of(&four, LONG, polls[i], 0);
		assert_in_range(none, wire, wire * 107 / 100);
		/* a host that looks each 2 ms takes that for a queue */
		assert_in_range(time_of(&four, LONG, polls[i], 10), none,
				none * (i < 2 ? 110 : 135) / 100);
	}
}

/* the end of an operation, where nothing follows what is lost; means, since one datagram
 * that is lost three times makes half of the difference
 */
static void ends__of_short_ones_are_found_soon(void **state)
{
	static const struct {
		const struct net *net;
		u32 chunks;
		u32 poll;
		u32 percent;	/* of the time without loss, at most */
		bool always;	/* not with --full only */
	} bars[] = {
		{ &four, SHORT, 0, 107, false }, { &four, SHORT, 1, 112, true },
		{ &eight, SHORT / 4, 0, 125, true }, { &eight, SHORT / 4, 1, 129, false },
		{ &eight, SHORT, 0, 120, false }, { &eight, SHORT, 1, 125, false },
		{ &apart, SHORT / 4, 1, 170, true },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bars) / sizeof(bars[0]); i++) {
		u64 poll = polls[bars[i].poll], loss = 0, seed, none;

		if (!bars[i].always && !full)
			continue;
		none = time_of(bars[i].net, bars[i].chunks, poll, 0);
		for (seed = 1; seed <= SEEDS; seed++)
			loss += time_of_seed(seed, bars[i].net, bars[i].chunks, poll, 10);
		print_message("# with 1 %% of loss, mean of %u seeds: %llu us\n", SEEDS,
			      (unsigned long long)loss / SEEDS / 1000);
		assert_in_range(loss / SEEDS, none, none * bars[i].percent / 100);
	}
}

/* a stripe and a half for each */
static void hosts__begin_with_different_homes(void **state)
{
	(void)state;
	assert_in_range(time_of(&eight, 96, polls[0], 0), wire_of(&eight, 96),
			wire_of(&eight, 96) + wire_of(&eight, 96) / 2);
}

/* a ring would take 1.75 times the wire's time at least */
static void homes_of_their_own__are_kept_busy(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 2; i++)
		assert_in_range(time_of(&apart, SHORT / 4, polls[i], 0), wire_of(&apart, SHORT / 4),
				wire_of(&apart, SHORT / 4) * 14 / 10);
}

static void table(const struct net *net, u32 chunks, u64 seeds)
{
	u32 p;

	for (p = 0; p < 3; p++) {
		u64 seed, none = 0, loss = 0;

		for (seed = 1; seed <= seeds; seed++) {
			none += time_of_seed(seed, net, chunks, polls[p], 0);
			loss += time_of_seed(seed, net, chunks, polls[p], 10);
		}
		printf("%s, %5u chunks, a look each %4llu us: %.1f ms, of the wire's time %.3f; with 1 %% of loss %.3f of that\n",
		       net->name, chunks, (unsigned long long)polls[p] / 1000,
		       (double)none / (double)seeds / 1e6,
		       (double)none / (double)(seeds * wire_of(net, chunks)),
		       (double)loss / (double)none);
	}
}

static void tables(u64 seeds)
{
	table(&four, SHORT, seeds);
	table(&four, 4 * SHORT, seeds);
	table(&four, LONG, seeds);
	table(&eight, SHORT / 4, seeds);
	table(&eight, SHORT, seeds);
	table(&apart, SHORT / 4, seeds);
	table(&apart, SHORT, seeds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts__begin_with_different_homes),
		cmocka_unit_test(homes_of_their_own__are_kept_busy),
		cmocka_unit_test(links__are_kept_busy),
		cmocka_unit_test(links__are_kept_busy_with_losses),
		cmocka_unit_test(ends__of_short_ones_are_found_soon),
	};

	if (argc == 3 && !strcmp(argv[1], "--table")) {
		tables(strtoull(argv[2], NULL, 0));
		return 0;
	}
	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
