// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * Stores of which every rank has a copy, of the real core under random schedules:
 * what ako brings where, and when. Ranks finish early, and die.
 */
#include "full.h"
#include "store_net.h"

#define SEEDS	full_or(20, 8)
#define CLOCKS	12
#define PARTS	7	/* at most */

/* gradient of rank r at clock c of an epoch */
static int32_t gradient(u32 r, u32 c, u32 slot, u32 k)
{
	return (int32_t)gagg_mix64((u64)r << 32 | c, (u64)life << 32 | slot << 8 | k);
}

/* sums of the first c gradients of rank r */
static uint32_t prefix[LIVES][NODES][CLOCKS + 1][RING][LANES];

static void sum_up(void)
{
	uint32_t (*p)[CLOCKS + 1][RING][LANES] = prefix[life];
	u32 r, c, slot, k;

	for (r = 0; r < NODES; r++)
		for (c = 0; c < CLOCKS; c++)
			for (slot = 0; slot < RING; slot++)
				for (k = 0; k < LANES; k++)
					p[r][c + 1][slot][k] = p[r][c][slot][k] +
						(uint32_t)gradient(r, c, slot, k);
}

struct worker {
	u32 clock;
	u32 goal;	/* gradients, after which there are none */
	u32 op;		/* it waits for; 0: none */
	bool reads;
	bool last;	/* it has finished, and reads what there is in the end */
	bool over;
};

static struct worker work[NODES];
static u32 parts, late;

/* sum of what rank r has computed at its first clocks */
static uint32_t sum_of(u32 r, u32 clocks, u32 slot, u32 k)
{
	u32 goal = work[r].goal;

	return prefix[life][r][clocks < goal ? clocks : goal][slot][k];
}

/* the sum of the last p gradients, as a trainer pushes it */
static void fill_window(u32 r, u32 c, u32 p)
{
	u32 from = c + 1 > p ? c + 1 - p : 0, slot, k;

	for (slot = 0; slot < RING; slot++) {
		ranks[r].zero[slot] = 1;
		for (k = 0; k < LANES; k++) {
			ranks[r].push[slot][k] = (int32_t)(sum_of(r, c + 1, slot, k) -
							   sum_of(r, from, slot, k));
			ranks[r].zero[slot] &= !ranks[r].push[slot][k];
		}
	}
}

/* @clocks of a rank, that many of which were updates */
static u32 updates(u32 r, u32 clocks)
{
	u32 most = work[r].goal + parts;

	return clocks < most ? clocks : most;
}

/*
 * A copy holds of each other rank its gradients up to some clock at which the chunk's
 * partition was this rank's turn: find them, of rank i and those behind it. @must: what
 * was pushed below that clock has come.
 */
static bool holds(u32 to, u32 i, const u32 *must, uint32_t a, uint32_t b, u32 slot)
{
	u32 turn = (slot + parts - to % parts) % parts, t;

	if (i == to)
		return holds(to, i + 1, must, a, b, slot);
	if (i == nranks)
		return !a && !b;
	/* nothing yet */
	if (turn >= must[i] && holds(to, i + 1, must, a, b, slot))
		return true;
	for (t = turn; t < updates(i, begun(i)); t += parts)
		if (t + parts >= must[i] &&
		    holds(to, i + 1, must, a - sum_of(i, t + 1, slot, 0),
			  b - sum_of(i, t + 1, slot, 1), slot))
			return true;
	return false;
}

static void check_copy(u32 r, int32_t (*copy)[LANES], const u32 *must)
{
	u32 slot;

	for (slot = 0; slot < RING; slot++)
		if (!holds(r, 0, must, (uint32_t)copy[slot][0], (uint32_t)copy[slot][1], slot))
			fail_msg("copy of rank %u: chunk %u holds no sum that it may", r, slot);
}

static void check_read(u32 r)
{
	u32 c = work[r].clock, must[NODES], i;

	for (i = 0; i < nranks; i++) {
		assert_true(c <= begun(i) + parts + late);
		must[i] = updates(i, c > parts + late ? c - parts - late : 0);
	}
	check_copy(r, ranks[r].copy, must);
}

/* all that the others have computed, once */
static void check_end(u32 r)
{
	u32 slot, k, i;

	for (slot = 0; slot < RING; slot++)
		for (k = 0; k < LANES; k++) {
			uint32_t sum = 0;

			for (i = 0; i < nranks; i++)
				sum += i == r ? 0 : sum_of(i, CLOCKS, slot, k);
			assert_int_equal((uint32_t)ranks[r].copy[slot][k], sum);
		}
}

/* the op that it waits for, if that is over; true: it was an update */
static bool take(u32 r)
{
	struct worker *w = &work[r];
	bool update = w->op && !w->reads;

	if (!w->op || ranks[r].done < w->op)
		return false;
	w->op = 0;
	w->clock += update;
	w->over = w->last;
	if (w->last)
		check_end(r);
	else if (w->reads)
		check_read(r);
	w->reads = false;
	return update;
}

static void read_all(u32 r)
{
	memset(ranks[r].copy, 0xcc, sizeof(ranks[r].copy));
	work[r].reads = true;
	work[r].op = submit(r, GAGG_OP_READ, 0, RING);
}

/* its last update, which may be empty; then it waits for the others */
static void finish(u32 r, u32 chunks)
{
	submit(r, GAGG_OP_LAST, 0, chunks);
	work[r].last = true;
	read_all(r);
}

static void step_ako(u32 r)
{
	struct worker *w = &work[r];
	u32 all = w->goal + parts;

	if (take(r))
		read_all(r);
	if (w->op || w->over)
		return;
	if (w->clock == all) {
		finish(r, 0);
		return;
	}
	fill_window(r, w->clock, parts);
	if (w->clock + 1 == all && rnd(2))
		finish(r, RING);
	else
		w->op = submit(r, 0, 0, RING);
}

/* what was read is explained until the end, and updates that were over are there */
static void last_look(void)
{
	u32 must[NODES], r;

	for (r = 0; r < nranks; r++) {
		take(r);
		must[r] = updates(r, confirmed(r));
	}
	for (r = 0; r < nranks; r++)
		check_copy(r, kept[ranks[r].node], must);
}

static void attach(bool early)
{
	u32 r;

	memset(work, 0, sizeof(work));
	for (r = 0; r < nranks; r++)
		work[r].goal = early ? 1 + rnd(CLOCKS) : CLOCKS;
}

static bool at_end(void)
{
	u32 r;

	for (r = 0; r < nranks; r++)
		if (!work[r].over)
			return false;
	return true;
}

static void run_ako(u32 n)
{
	char mode[32];
	u32 events = 0, r;

	snprintf(mode, sizeof(mode), "ako:%u:%u", parts, late);
	start(n, mode, ~0ULL);
	attach(rnd(2));
	mortality = 1U << (8 + rnd(6));
	while (!at_end()) {
		r = rnd(n);
		/* one of them is slow */
		if (attached(r) && (r || !rnd(8)))
			step_ako(r);
		go_on();
		if (dies(last_look))
			attach(rnd(2));
		if (++events > 600000)
			fail_msg("%s: stuck", mode);
	}
	mortality = 0;
	stop_all();
}

static void ako__every_gradient_once(void **state)
{
	static const u32 some[] = { 1, 2, 3, PARTS };
	u32 i;

	(void)state;
	deaths = 0;
	for (seed = 1; seed <= SEEDS; seed++) {
		u64 was = seed;

		loss = (u32)seed % 3 * 10;
		dup = (u32)seed % 4 * 5;
		disorder = (u32)seed % 5 * 10;
		late = (u32)seed % 3;
		for (i = 0; i < 4; i++) {
			parts = some[i];
			seed = was << (20 + i);
			run_ako(2 + (u32)(was + i) % (NODES - 1));
		}
		seed = was;
	}
	/* of 4 runs each */
	assert_true(deaths > SEEDS);
}

/* in p clocks every chunk goes to every other rank once, and nothing else */
static void ako__sends_a_part(void **state)
{
	u32 r, c, p, slot;

	(void)state;
	loss = 0;
	dup = 0;
	disorder = 0;
	for (p = 1; p <= PARTS; p++) {
		char mode[32];

		snprintf(mode, sizeof(mode), "ako:%u:9", p);
		start(NODES, mode, ~0ULL);
		attach(false);
		for (c = 0; c < p; c++)
			for (r = 0; r < NODES; r++) {
				u32 chunks = 0, was = (u32)sent[GAGG_T_CONTRIB], i, op;

				fill_window(r, c, p);
				memset(ranks[r].zero, 0, sizeof(ranks[r].zero));
				op = submit(r, 0, 0, RING);
				while (ranks[r].done < op)
					advance();
				for (i = 0; i < NODES; i++)
					for (slot = 0; slot < RING; slot++)
						chunks += i != r && (i + c) % p == slot % p;
				assert_int_equal(sent[GAGG_T_CONTRIB] - was, chunks);
			}
		assert_int_equal(sent[GAGG_T_CONTRIB], NODES * (NODES - 1) * RING);
		/* to every other host each clock, whether it was sent chunks or not */
		assert_int_equal(sent[GAGG_T_READY], NODES * (NODES - 1) * p);
		stop_all();
	}
}

static bool may(const struct gagg_geom *g, u32 kind, u32 flags, u32 root)
{
	const struct gagg_ioc_submit arg = {
		.kind = (u8)kind, .flags = flags, .root = root, .chunks = 1,
	};

	return gagg_store_may_submit(g, &arg);
}

static void ops__say_whose_copy(void **state)
{
	struct gagg_ioc_submit arg = { .flags = GAGG_SUBMIT_PEER, .root = 2 };

	(void)state;
	start(3, "ako:2:0", ~0ULL);
	assert_true(may(&base_geom, GAGG_K_UPDATE, 0, 0));
	assert_false(may(&base_geom, GAGG_K_UPDATE, GAGG_SUBMIT_OWN, 0));
	assert_false(may(&base_geom, GAGG_K_UPDATE, GAGG_SUBMIT_PEER, 1));
	assert_false(may(&base_geom, GAGG_K_READ, 0, 0));
	assert_true(may(&base_geom, GAGG_K_READ, GAGG_SUBMIT_OWN, 0));
	assert_false(may(&base_geom, GAGG_K_READ, GAGG_SUBMIT_OWN, 1));
	assert_true(may(&base_geom, GAGG_K_READ, GAGG_SUBMIT_PEER | GAGG_SUBMIT_FENCE, 1));
	assert_false(may(&base_geom, GAGG_K_READ, GAGG_SUBMIT_PEER | GAGG_SUBMIT_OWN, 0));
	assert_int_equal(gagg_store_copy(&base_geom, chan[0], &arg), 2);
	arg.root = 3;
	assert_int_equal(gagg_store_copy(&base_geom, chan[0], &arg), -1);
	arg.root = GAGG_RANKS;
	assert_int_equal(gagg_store_copy(&base_geom, chan[0], &arg), -1);
	arg.flags = GAGG_SUBMIT_OWN;
	assert_int_equal(gagg_store_copy(&base_geom, chan[1], &arg), 1);
	start(3, "asp", ~0ULL);
	assert_false(may(&base_geom, GAGG_K_READ, GAGG_SUBMIT_OWN, 0));
	assert_false(may(&base_geom, GAGG_K_UPDATE, GAGG_SUBMIT_PEER, 0));
	stop_all();
}

/* a host that was not asked gives no answer that counts, whatever it says */
static void an_answer__of_whom_was_asked(void **state)
{
	struct gagg_arrival in;
	struct gagg_env env;
	struct gagg_msg m;

	(void)state;
	loss = 0;
	dup = 0;
	start(3, "ako:2:0", ~0ULL);
	submit_of(0, GAGG_OP_READ, 1, 0, 4);
	while (packets[flight[0]].m.type != GAGG_T_RESULT)
		advance();
	m = packets[flight[0]].m;
	m.src = 2;
	env = env_of(0);
	in = arrival_at(0, 2);
	assert_int_equal(gagg_shard_rx(&in, &env, &m, NULL), GAGG_RX_OK);
	while (!ranks[0].done)
		advance();
	assert_int_equal(ranks[0].reads, 4);
	stop_all();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ako__every_gradient_once),
		cmocka_unit_test(ako__sends_a_part),
		cmocka_unit_test(ops__say_whose_copy),
		cmocka_unit_test(an_answer__of_whom_was_asked),
	};

	for (life = 0; life < LIVES; life++)
		sum_up();
	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
