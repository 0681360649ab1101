// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * Gossip of the real core under random schedules: which ranks meet, and that none
 * ever reads a part of a replica. A replica is one number, the same in all lanes, so
 * that a mixture shows; a byte for each rank, which counts its updates, those of the
 * second epoch in sixteens. Ranks finish early, and die.
 */
#include <linux/gagg_peer.h>

/* more than a host does at once */
#define RING	1024
#define LIVES	2
#include "full.h"
#include "store_net.h"

#define SEEDS	full_or(12, 3)
#define ROUNDS	12

enum kind { PULL, PUSH, PAIR };

struct worker {
	u32 round;
	u32 goal;	/* it makes so many, and finishes */
	u32 phase;
	u32 op;		/* it waits for; 0: none */
	u32 peer;
	bool over;
};

static struct worker work[NODES];
static enum kind kind;
static u32 bound;

/* add one to the rank's count in all lanes of a copy. As in libgagg, only reads are
 * waited for.
 */
static u32 add_to(u32 r, u32 of, u32 chunks)
{
	u32 slot, k;

	memset(ranks[r].zero, 0, sizeof(ranks[r].zero));
	for (slot = 0; slot < RING; slot++)
		for (k = 0; k < LANES; k++)
			ranks[r].push[slot][k] = (int32_t)(1U << (8 * r + 4 * life));
	return submit_of(r, 0, of, 0, chunks);
}

static u32 read_of(u32 r, u32 of)
{
	memset(ranks[r].copy, 0xcc, sizeof(ranks[r].copy));
	return submit_of(r, GAGG_OP_READ, of, 0, RING);
}

/* what was read, which is one number */
static u32 whole(u32 r)
{
	u32 slot, k;

	for (slot = 0; slot < RING; slot++)
		for (k = 0; k < LANES; k++)
			if (ranks[r].copy[slot][k] != ranks[r].copy[0][0])
				fail_msg("rank %u: a mixture: %d and %d", r,
					 ranks[r].copy[0][0], ranks[r].copy[slot][k]);
	return (u32)ranks[r].copy[0][0];
}

/* what rank i adds to the copy of rank @of at clocks below @clock */
static u32 added(u32 i, u32 of, u32 clock)
{
	/* a round of pairs has two */
	u32 goal = kind == PAIR ? 2 * work[i].goal : work[i].goal, c, n = 0;

	clock = clock < goal ? clock : goal;
	if (kind != PUSH)
		return i != of ? 0 : kind == PULL ? clock : (clock + 1) / 2;
	for (c = 0; c < clock; c++)
		n += gagg_peer_to(base_geom.workers, i, c) == of;
	return n;
}

/* a copy has what rank i has added below clock @least, and nothing that it has not yet */
static void check_count(u32 copy, u32 of, u32 i, u32 least)
{
	u32 count = copy >> 8 * i & 0xff, unit = 1U << 4 * life;

	if (count % unit || count / unit < added(i, of, least) ||
	    count / unit > added(i, of, begun(i)))
		fail_msg("copy of rank %u: of rank %u %x", of, i, count);
}

static void check_copy(u32 copy, u32 of, u32 least)
{
	u32 i;

	for (i = 0; i < nranks; i++)
		check_count(copy, of, i, least);
}

/* rank r reads its peer's replica, replaces its own */
static void step_pull(u32 r)
{
	struct worker *w = &work[r];

	if (!w->phase) {
		w->peer = gagg_peer_to(base_geom.workers, r, begun(r));
		w->op = read_of(r, w->peer);
	} else {
		add_to(r, r, RING);
		w->round++;
	}
	w->phase ^= 1;
}

/* rank r reads what it was sent, and sends */
static void step_push(u32 r)
{
	struct worker *w = &work[r];

	if (!w->phase) {
		w->op = read_of(r, r);
	} else {
		add_to(r, gagg_peer_to(base_geom.workers, r, begun(r)), RING);
		w->round++;
	}
	w->phase ^= 1;
}

/* rank r replaces its replica, reads that of its pair of the same round */
static void step_pair(u32 r)
{
	struct worker *w = &work[r];

	switch (w->phase) {
	case 0:
		w->op = add_to(r, r, RING);
		w->phase = 1;
		break;
	case 1:
		w->peer = gagg_peer_pair(base_geom.workers, r, w->round);
		w->phase = 2;
		if (w->peer != r)
			w->op = read_of(r, w->peer);
		break;
	case 2:
		w->op = add_to(r, r, 0);
		w->phase = 0;
		w->round++;
	}
}

/* what a rank has read of another one's copy (push: its own) at its clock */
static void check_read(u32 r)
{
	u32 copy = whole(r), c = begun(r);

	if (kind == PUSH) {
		check_copy(copy, r, 0);
		/* the rank that chose this one so many clocks ago has sent */
		if (c > bound)
			check_count(copy, r, gagg_peer_from(base_geom.workers, r, c - 1 - bound),
				    c - bound);
		return;
	}
	check_copy(copy, work[r].peer, 0);
	/* of the same round, neither less nor more */
	if (kind == PAIR)
		assert_int_equal(copy, added(work[r].peer, work[r].peer, c) <<
				 (8 * work[r].peer + 4 * life));
}

/* the op that it waits for, if that is over; false: it is not */
static bool take(u32 r)
{
	struct worker *w = &work[r];

	if (w->op && ranks[r].done < w->op)
		return false;
	/* everybody has finished, and all that was sent is there */
	if (w->op && begun(r) == GAGG_CLOCK_END) {
		check_copy(whole(r), r, GAGG_CLOCK_END);
		w->over = true;
	} else if (w->op && w->phase == (kind == PAIR ? 2 : 1)) {
		check_read(r);
	}
	w->op = 0;
	return true;
}

static void step(u32 r)
{
	struct worker *w = &work[r];

	if (!take(r) || w->over)
		return;
	if (w->round == w->goal) {
		submit(r, GAGG_OP_LAST, 0, 0);
		w->op = read_of(r, r);
	} else if (kind == PULL) {
		step_pull(r);
	} else if (kind == PUSH) {
		step_push(r);
	} else {
		step_pair(r);
	}
}

static bool at_end(u32 asleep)
{
	u32 r;

	for (r = 0; r < nranks; r++)
		if (r != asleep && !work[r].over && (asleep == nranks ||
						     work[r].round < work[r].goal))
			return false;
	return true;
}

/* what was read is explained until the end, and updates that were over are there */
static void last_look(void)
{
	u32 r, i, slot;

	for (r = 0; r < nranks; r++)
		take(r);
	for (r = 0; r < nranks; r++)
		for (slot = 0; slot < RING; slot++)
			for (i = 0; i < nranks; i++)
				check_count((u32)kept[r][slot][0], r, i, confirmed(i));
}

static void attach(bool early)
{
	u32 r;

	memset(work, 0, sizeof(work));
	for (r = 0; r < nranks; r++)
		work[r].goal = early ? 1 + rnd(ROUNDS) : ROUNDS;
}

/* @asleep: a rank that stops training halfway, between two exchanges; nranks: none */
static void run(u32 n, const char *mode, u32 asleep)
{
	u32 events = 0, r;

	lazy = true;
	start(n, mode, ~0ULL);
	attach(asleep == n && rnd(2));
	mortality = asleep == n ? 1U << (9 + rnd(7)) : 0;
	while (!at_end(asleep)) {
		r = rnd(n);
		if (attached(r) && (r || !rnd(8)) &&
		    !(r == asleep && work[r].round == ROUNDS / 2))
			step(r);
		go_on();
		if (dies(last_look))
			attach(rnd(2));
		if (++events > 4000000)
			fail_msg("%s: stuck", mode);
	}
	mortality = 0;
	stop_all();
}

static void many(enum kind k, const char *mode)
{
	u32 n;

	kind = k;
	deaths = 0;
	for (seed = 1; seed <= SEEDS; seed++) {
		u64 was = seed;

		loss = (u32)seed % 3 * 10;
		dup = (u32)seed % 4 * 5;
		disorder = (u32)seed % 5 * 10;
		n = 2 + (u32)(was % (NODES - 1));
		seed = was << 20;
		run(n, mode, n);
		seed = was;
	}
	assert_true(deaths > SEEDS / 4);
}

static void pull__whole_replicas(void **state)
{
	(void)state;
	many(PULL, "gossip-pull:1");
}

static void push__whole_replicas_once(void **state)
{
	(void)state;
	bound = 0;
	many(PUSH, "push-sum:1");
	many(PUSH, "gossip-push:1:0");
	bound = 2;
	many(PUSH, "gossip-push:1:2");
}

static void pair__the_same_values(void **state)
{
	(void)state;
	many(PAIR, "gossip-pair:1");
}

/* a rank that pulls waits for no other's training */
static void pull__goes_on_without_a_rank(void **state)
{
	(void)state;
	kind = PULL;
	loss = 5;
	dup = 0;
	disorder = 10;
	for (seed = 1; seed <= SEEDS; seed++) {
		u64 was = seed;

		run(NODES, "gossip-pull:1", (u32)(seed % NODES));
		seed = was;
	}
}

/* a rank that changes its own copy asks none whether it may */
static void an_own_update__goes_nowhere(void **state)
{
	u32 op;

	(void)state;
	loss = 0;
	dup = 0;
	lazy = false;
	start(3, "gossip-pull:1", ~0ULL);
	op = add_to(0, 0, RING);
	while (ranks[0].done < op)
		advance();
	assert_int_equal(sent[GAGG_T_PULL] + sent[GAGG_T_CONTRIB], 0);
	assert_int_equal(sent[GAGG_T_READY], 2);
	stop_all();
}

/* members with gaps; every peer is another one, each is chosen once */
static void peers__are_a_permutation(void **state)
{
	u64 members, chosen;
	u32 r, c, i, round;

	(void)state;
	for (i = 0; i < 300; i++) {
		members = gagg_mix64(i, 1) & gagg_mix64(i, 2);
		if (i == 299)
			members = ~0ULL;
		if (gagg_weight64(members) < 2)
			continue;
		for (c = 0; c < 20; c++) {
			for (chosen = 0, r = 0; r < 64; r++) {
				u32 to;

				if (!(members & GAGG_BIT(r)))
					continue;
				to = gagg_peer_to(members, r, c);
				assert_true(to != r && (members & GAGG_BIT(to)));
				assert_int_equal(gagg_peer_from(members, to, c), r);
				chosen |= GAGG_BIT(to);
			}
			assert_true(chosen == members);
		}
		for (round = 0; round < 20; round++) {
			u32 alone = 0;

			for (r = 0; r < 64; r++) {
				u32 pair;

				if (!(members & GAGG_BIT(r)))
					continue;
				pair = gagg_peer_pair(members, r, round);
				assert_true(members & GAGG_BIT(pair));
				assert_int_equal(gagg_peer_pair(members, pair, round), r);
				alone += pair == r;
			}
			assert_int_equal(alone, gagg_weight64(members) % 2);
		}
	}
}

/* and all of them about as often as each other */
static void peers__are_all_met(void **state)
{
	static u32 met[2][9][9];
	u32 n, r, c, i;

	(void)state;
	for (n = 2; n <= 9; n++) {
		memset(met, 0, sizeof(met));
		for (c = 0; c < 2000; c++)
			for (r = 0; r < n; r++) {
				met[0][r][gagg_peer_to(GAGG_BIT(n) - 1, r, c)]++;
				met[1][r][gagg_peer_pair(GAGG_BIT(n) - 1, r, c)]++;
			}
		for (r = 0; r < n; r++)
			for (i = 0; i < n; i++) {
				if (i == r)
					continue;
				assert_in_range(met[0][r][i], 1600 / (n - 1), 2400 / (n - 1));
				assert_in_range(met[1][r][i], 1600 / (n - 1 + n % 2),
						2400 / (n - 1 + n % 2));
			}
	}
}

/* it is its own peer, be it a member or not */
static void a_lone_rank__has_no_peer(void **state)
{
	u32 r, c;

	(void)state;
	for (r = 0; r < 64; r++)
		for (c = 0; c < 4; c++) {
			assert_int_equal(gagg_peer_to(GAGG_BIT(r), r, c), r);
			assert_int_equal(gagg_peer_from(GAGG_BIT(r), r, c), r);
			assert_int_equal(gagg_peer_pair(GAGG_BIT(r), r, c), r);
			assert_int_equal(gagg_peer_to(GAGG_BIT(c), r, c), r);
			assert_int_equal(gagg_peer_from(GAGG_BIT(c), r, c), r);
			assert_int_equal(gagg_peer_pair(GAGG_BIT(c), r, c), r);
			assert_int_equal(gagg_peer_to(0, r, c), r);
			assert_int_equal(gagg_peer_from(0, r, c), r);
			assert_int_equal(gagg_peer_pair(0, r, c), r);
		}
}

/* the most that there may be, and one more */
static void pairs__of_very_many(void **state)
{
	u32 n, i, c;

	(void)state;
	for (n = 65535; n <= 65536; n++)
		for (c = 0; c < 20; c++)
			for (i = n - 2000; i < n; i++)
				assert_int_equal(gagg_peer_place_pair(7, n,
					gagg_peer_place_pair(7, n, i, c), c), i);
}

static bool may_begin(u8 kind, u32 flags, u32 chunks)
{
	const struct gagg_ioc_submit arg = { .kind = kind, .flags = flags, .chunks = chunks };
	const struct gagg_ledger led = { .local = 0 };

	/* the op is of the rank's own copy */
	return gagg_store_may_begin(&geom[0], chan[0], &led, &arg) == GAGG_REFUSE_NOT;
}

/* two ranks that each hold what the other reads next would wait for ever */
static void a_read__is_the_only_one_of_a_clock(void **state)
{
	struct gagg_local *lo;

	(void)state;
	start(2, "push-sum:1", 3);
	lo = &chan[0]->local[0];
	assert_true(may_begin(GAGG_K_READ, GAGG_SUBMIT_OWN, 1));
	submit_of(0, GAGG_OP_READ, 1, 0, RING);
	assert_false(may_begin(GAGG_K_READ, GAGG_SUBMIT_OWN, 1));
	assert_true(may_begin(GAGG_K_READ, GAGG_SUBMIT_OWN | GAGG_SUBMIT_FENCE, 1));
	submit_of(0, 0, 1, 0, 1);
	assert_true(may_begin(GAGG_K_READ, GAGG_SUBMIT_OWN, 1));
	/* the last clock has room for the rank's end, and for nothing else */
	lo->clock = GAGG_CLOCK_END - 1;
	assert_false(may_begin(GAGG_K_UPDATE, 0, 0));
	assert_false(may_begin(GAGG_K_UPDATE, GAGG_SUBMIT_LAST, 1));
	assert_true(may_begin(GAGG_K_UPDATE, GAGG_SUBMIT_LAST, 0));
	lo->clock = GAGG_CLOCK_END;
	assert_false(may_begin(GAGG_K_UPDATE, GAGG_SUBMIT_LAST, 0));
	stop_all();
	/* pairs read without a lock */
	start(2, "gossip-pair:1", 3);
	submit_of(0, GAGG_OP_READ, 1, 0, RING);
	assert_true(may_begin(GAGG_K_READ, GAGG_SUBMIT_OWN, 1));
	stop_all();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pull__whole_replicas),
		cmocka_unit_test(push__whole_replicas_once),
		cmocka_unit_test(pair__the_same_values),
		cmocka_unit_test(pull__goes_on_without_a_rank),
		cmocka_unit_test(an_own_update__goes_nowhere),
		cmocka_unit_test(a_read__is_the_only_one_of_a_clock),
		cmocka_unit_test(peers__are_a_permutation),
		cmocka_unit_test(peers__are_all_met),
		cmocka_unit_test(a_lone_rank__has_no_peer),
		cmocka_unit_test(pairs__of_very_many),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
