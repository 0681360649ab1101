// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c selftests/model/world.c selftests/model/world_net.c selftests/model/world_host.c selftests/model/world_ref.c; libs: */
/*
 * What it costs when all is lost for a while, and when queues are short: an all-reduce in
 * the simulator, in virtual time.
 *
 *	model_outage [--full]	every rate, number of hosts and kind of outage
 *	model_outage [--table]	what each costs, without a test
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
#include "path.h"

#define CHUNKS	4096

typedef unsigned long long ull;

struct rate {
	const char *name;
	u64 wire;	/* ns for a datagram */
};

static const struct rate rates[] = {
	{ "1 Gbit/s", 11520 }, { "10 Gbit/s", 1152 }, { "100 Gbit/s", 115 },
};

struct way {
	const char *name;
	u64 nodes;
	u32 ways;
};

static const struct way ways[] = {
	{ "all that a host sends", 1, WORLD_OUT },
	{ "all that a host receives", 1, WORLD_IN },
	{ "one host", 1, WORLD_IN | WORLD_OUT },
	{ "all hosts", 0, 0 },
};

/* every host is a home, or the first alone */
static struct world_config net(u32 hosts, bool one_home, u64 wire)
{
	return (struct world_config){
		.seed = 7, .nodes = hosts, .home_nodes = one_home, .per_node = 1,
		.ring = 8192, .window = 2048, .stripe = 8, .shards = 1, .cwnd = 256,
		.chans = 1, .ops = 1, .max_chunks = CHUNKS, .exact = true, .wire = wire,
		.poll = 50 * GAGG_USEC,
	};
}

static u64 time_of(const struct world_config *cfg)
{
	struct world *w = world_new(cfg);
	u64 took;

	if (world_run(w))
		fail_msg("%s", world_error(w));
	took = world_time(w);
	world_free(w);
	return took;
}

/*
 * The most that one costs that begins after so many sixths of the operation; or saves: 0.
 * Before that some paths have no round trip yet.
 */
static u64 cost(const struct world_config *cfg, const struct way *way, u64 lasts)
{
	u64 undisturbed = time_of(cfg), worst = 0, sixths;

	for (sixths = 3; sixths <= (full ? 5 : 3); sixths++) {
		struct world_config out = *cfg;

		out.outage = (struct world_outage){
			.first = undisturbed * sixths / 6, .lasts = lasts,
			.nodes = way->nodes, .ways = way->ways,
		};
		worst = gagg_max64(worst, gagg_max64(time_of(&out), undisturbed) - undisturbed);
	}
	return worst;
}

static const u64 outages[] = { GAGG_MSEC, 5 * GAGG_MSEC, 20 * GAGG_MSEC };

/*
 * What an outage may cost beside the time that it lasts: two of the least timeouts. At 1
 * Gbit/s these are a twentieth of the operation, and paths that share a link are not as
 * even as that.
 */
static u64 slack(const struct rate *rate)
{
	u64 most = 2 * GAGG_PATH_RTO_MIN;

	if (rate == &rates[0])
		most += 2 * GAGG_PATH_RTO_MIN;
	return most;
}

/* true if none costs more than that */
static bool bounded(u32 hosts, bool one_home, const struct rate *rate, bool say)
{
	const struct world_config cfg = net(hosts, one_home, rate->wire);
	bool good = true;
	u32 i, k;

	for (i = 0; i < 4; i++) {
		for (k = 0; k < 3; k++) {
			u64 took = cost(&cfg, &ways[i], outages[k]);
			bool bad = took > outages[k] + slack(rate);

			if (bad || say)
				print_message("# %s, %u hosts, %s, %s for %llu ms: costs %llu us\n",
					      rate->name, hosts, one_home ? "one home" : "striped",
					      ways[i].name, (ull)outages[k] / GAGG_MSEC,
					      (ull)took / GAGG_USEC);
			good &= !bad;
		}
	}
	return good;
}

static void outages__cost_what_they_last(void **state)
{
	static const u32 hosts[] = { 3, 4, 8 };
	bool good = true;
	u32 r, n, one;

	(void)state;
	for (r = 0; r < 3; r++)
		for (n = 0; n < 3; n++)
			for (one = 0; one < 2; one++)
				if (full || (r + n + one) % 2 == 0)
					good &= bounded(hosts[n], one, &rates[r], false);
	assert_true(good);
}

/* all send to one home, behind a port with room for 100 datagrams */
static u64 incast(u32 hosts, bool say)
{
	struct world_config cfg = net(hosts, true, rates[1].wire);
	struct world *w;
	u64 wire, took;

	cfg.worker_nodes = ((1ULL << hosts) - 1) << 1;
	cfg.nodes = hosts + 1;
	cfg.max_chunks = CHUNKS / 4;
	cfg.queue = 100;
	wire = (u64)hosts * cfg.max_chunks * cfg.wire;
	w = world_new(&cfg);
	if (world_run(w))
		fail_msg("%s", world_error(w));
	took = world_time(w);
	if (say || took > wire * 13 / 10)
		print_message("# incast of %u: %llu us, %llu of the wire, %llu found no room\n",
			      hosts, (ull)took / GAGG_USEC, (ull)wire / GAGG_USEC,
			      (ull)world_overflows(w));
	world_free(w);
	return took * 10 / wire;
}

static void incast__ends_soon_behind_a_short_queue(void **state)
{
	static const u32 hosts[] = { 8, 16, 32 };
	bool good = true;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++)
		good &= incast(hosts[i], false) < 13;
	assert_true(good);
}

static void table(void)
{
	static const u32 hosts[] = { 3, 4, 8 };
	u32 r, n, one;

	full = false;
	for (r = 0; r < 3; r++)
		for (n = 0; n < 3; n++)
			for (one = 0; one < 2; one++)
				bounded(hosts[n], one, &rates[r], true);
	for (n = 8; n <= 32; n *= 2)
		incast(n, true);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(outages__cost_what_they_last),
		cmocka_unit_test(incast__ends_soon_behind_a_short_queue),
	};

	if (argc == 2 && !strcmp(argv[1], "--table")) {
		table();
		return 0;
	}
	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
