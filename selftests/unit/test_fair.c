// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * A store that is asked for more than one call can do: everybody has a share of it.
 */
#define RING	2048
#include "store_net.h"
#include "store/internal.h"

#define CALLS	400

static void one_call(u32 n)
{
	struct gagg_env env = env_of(n);

	gagg_chan_refill(shard[n], &geom[n], &env, chan[n], now);
}

static void spread_of(const u32 *count, u32 first, u32 n, u32 *least, u32 *most)
{
	*least = *most = count[first];
	for (u32 i = first + 1; i < n; i++) {
		*least = count[i] < *least ? count[i] : *least;
		*most = count[i] > *most ? count[i] : *most;
	}
}

/* four ranks of one host, each with two reads of the whole store in flight */
static void ranks_of_a_host(void **state)
{
	const struct gagg_op read_all = { .end = RING, .flags = GAGG_OP_READ };
	u32 read[4], least, most;

	(void)state;
	hosts = 1;
	start(4, "asp", 1);
	for (u32 call = 0; call < CALLS; call++) {
		for (u32 r = 0; r < 4; r++)
			while (gagg_store_submit(chan[0], ranks[r].local, &read_all))
				;
		one_call(0);
		drain(0);
	}
	for (u32 r = 0; r < 4; r++)
		read[r] = ranks[r].reads;
	spread_of(read, 0, 4, &least, &most);
	assert_true(least > CALLS * 100);
	assert_true(most - least <= 2 * GAGG_ACTS);
	stop_all();
	hosts = NODES;
}

#define REMOTE	12

/* rank @r of another host asks for all of the store */
static void ask(u32 r, u32 sig)
{
	u32 node = ranks[r].node;
	struct gagg_env env = env_of(0);
	struct gagg_arrival in = arrival_at(0, node);
	struct gagg_msg m;

	gagg_shard_msg(shard[node], &geom[node], GAGG_T_PULL, (u16)r, &m);
	m.channel = chan[node]->id;
	m.run = RING;
	m.sig = sig;
	m.aux = GAGG_GATE_READ;
	assert_int_equal(gagg_shard_rx(&in, &env, &m, NULL), GAGG_RX_OK);
}

/* what the home does in one call, by rank: answers, and its own ranks' updates */
static void count_call(u32 *count)
{
	const struct gagg_act *a;

	one_call(0);
	while ((a = gagg_shard_act(shard[0]))) {
		if (a->type == GAGG_ACT_SEND_RESULT)
			count[a->m.aux]++;
		else if (a->type == GAGG_ACT_ADD_LOCAL)
			count[chan[0]->local[a->local].rank]++;
	}
}

/* a home's own rank updates all of it; others want copies, all the time */
static void ranks_of_others(void **state)
{
	u32 count[REMOTE] = { 0 }, asked[REMOTE] = { 0 }, least, most;
	const struct gagg_op update_all = { .end = RING };

	(void)state;
	start(REMOTE, "asp", 1);
	geom[0].window = RING;
	for (u32 call = 0; call < CALLS; call++) {
		for (u32 r = 0; r < REMOTE; r++) {
			if (!ranks[r].node)
				while (gagg_store_submit(chan[0], ranks[r].local, &update_all))
					;
			else if (count[r] == asked[r] * RING)
				ask(r, ++asked[r]);
		}
		count_call(count);
	}
	/* ranks 0, 4 and 8 are the home's: half of the calls are theirs first */
	assert_true(count[0] + count[4] + count[8] > CALLS * 200);
	for (u32 r = 0; r < REMOTE; r++)
		if (!ranks[r].node)
			count[r] = count[1];
	spread_of(count, 1, REMOTE, &least, &most);
	assert_true(least > CALLS * 10);
	assert_true(most - least <= 2 * GAGG_ACTS);
	stop_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_of_a_host),
		cmocka_unit_test(ranks_of_others),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
