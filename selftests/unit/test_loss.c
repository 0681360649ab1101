// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/chan.c kmod/core/home.c kmod/core/quorum.c kmod/core/gap.c kmod/core/worker.c kmod/core/shard.c kmod/core/path.c kmod/core/sync*.c kmod/core/clocks.c kmod/core/store.c kmod/core/store_worker.c kmod/core/geom.c kmod/core/publish.c kmod/core/reduce.c kmod/core/wire.c selftests/model/world.c selftests/model/world_host.c selftests/model/world_ref.c; libs: */
/*
 * What time a collective takes on links of 1 Gbit/s, in the simulator: virtual time,
 * so the same on every machine. Processors take none.
 *
 *	test_loss [--table N]	means of N seeds, of more sizes, without a test
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

/* of 344 lanes: 64 MiB, 4 MiB */
#define LONG	48771
#define SHORT	3049
#define WIRE	(12 * GAGG_USEC)

/* hosts that are all homes, as groups are by default; @loss: per mille */
static u64 time_of_seed(u64 seed, u32 hosts, u32 chunks, u64 poll, u32 loss)
{
	const struct world_config cfg = {
		.seed = seed, .nodes = hosts, .per_node = 1, .ring = 49152, .window = 2048,
		.stripe = 8, .shards = 1, .cwnd = 256, .chans = 1, .ops = 1,
		.max_chunks = chunks, .exact = true, .wire = WIRE, .poll = poll,
		.loss = loss,
	};
	struct world *w = world_new(&cfg);
	u64 took;

	if (world_run(w))
		fail_msg("%s", world_error(w));
	took = world_time(w);
	world_free(w);
	return took;
}

static u64 time_of(u32 hosts, u32 chunks, u64 poll, u32 loss)
{
	u64 took = time_of_seed(1, hosts, chunks, poll, loss);

	print_message("# %u hosts, %u chunks, a look each %llu us, %u of 1000 lost: %llu us\n", hosts, chunks,
		      (unsigned long long)poll / 1000, loss, (unsigned long long)took / 1000);
	return took;
}

/* what the wire takes alone: a host sends contributions to all chunks but its own part,
 * and the results of that to all others
 */
static u64 wire_of(u32 hosts, u32 chunks)
{
	return 2ULL * chunks * (hosts - 1) / hosts * WIRE;
}

/* hosts look for what has come at once or rarely, which makes round trips long */
static const u64 polls[] = { 50 * GAGG_USEC, 500 * GAGG_USEC, 2 * GAGG_MSEC };

static void links__are_kept_busy(void **state)
{
	u32 i;

	(void)state;
	/* a short one ends with the last look */
	for (i = 0; i < 2; i++)
		assert_in_range(time_of(4, SHORT, polls[i], 0), wire_of(4, SHORT),
				wire_of(4, SHORT) + wire_of(4, SHORT) / 20);
}

static void links__are_kept_busy_with_losses(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		u64 none = time_of(4, LONG, polls[i], 0);

		assert_in_range(none, wire_of(4, LONG), wire_of(4, LONG) + wire_of(4, LONG) / 20);
		assert_in_range(time_of(4, LONG, polls[i], 10), none, none + none * 15 / 100);
	}
}

/* a stripe and a half for each */
static void hosts__begin_with_different_homes(void **state)
{
	(void)state;
	assert_in_range(time_of(8, 96, polls[0], 0), wire_of(8, 96),
			wire_of(8, 96) + wire_of(8, 96) / 4);
}

static void table(u64 seeds)
{
	static const u32 sizes[] = { SHORT, 4 * SHORT, LONG };
	u32 p, i;

	for (p = 0; p < 3; p++)
		for (i = 0; i < 3; i++) {
			u64 seed, none = 0, loss = 0;

			for (seed = 1; seed <= seeds; seed++) {
				none += time_of_seed(seed, 4, sizes[i], polls[p], 0);
				loss += time_of_seed(seed, 4, sizes[i], polls[p], 10);
			}
			printf("%5u chunks, a look each %4llu us: %.1f ms, of the wire's time %.3f; with 1 %% of loss %.3f of that\n",
			       sizes[i], (unsigned long long)polls[p] / 1000,
			       (double)none / (double)seeds / 1e6,
			       (double)none / (double)(seeds * wire_of(4, sizes[i])),
			       (double)loss / (double)none);
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts__begin_with_different_homes),
		cmocka_unit_test(links__are_kept_busy),
		cmocka_unit_test(links__are_kept_busy_with_losses),
	};

	if (argc == 3 && !strcmp(argv[1], "--table")) {
		table(strtoull(argv[2], NULL, 0));
		return 0;
	}
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
