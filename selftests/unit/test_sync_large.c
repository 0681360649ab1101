// SPDX-License-Identifier: GPL-2.0
/* links: sync kmod/core/wire.c; libs: -DGAGG_CLOCK_RANKS=1024 */
/*
 * Policies with up to 1024 workers: what they promise, and that nobody waits for ever,
 * while workers have speeds of their own, finish early, and leave in the middle of an op.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "full.h"
#include "sync_sim.h"
#include "agent/conf/sync_text.h"

#define RANKS	GAGG_CLOCK_RANKS
#define PARTS	4
#define CLOCKS	24	/* most that a worker makes */
#define ANY	GAGG_CLOCK_END

/* every mode of a store has one, with parameters that show what it promises */
static const struct row {
	const char *mode;
	enum sim_kind kind;
	u32 bound;	/* no reader is further ahead of the slowest */
	u32 free;	/* stores, ako: nor does one wait that is no further */
} rows[] = {
	{ "asp", SIM_STORE, ANY, .free = ANY },
	{ "easgd:4:1.5", SIM_STORE, ANY, .free = ANY },
	{ "ssp:0", SIM_STORE, 0, .free = 0 },
	{ "ssp:3", SIM_STORE, 3, .free = 3 },
	{ "dssp:1:4", SIM_STORE, 4, .free = 1 },
	{ "dssp-literal:1:4", SIM_STORE, ANY, .free = 1 },
	{ .mode = "r2sp:80:0", .kind = SIM_TURNS, .bound = 1 },
	{ .mode = "r2sp:0:0", .kind = SIM_TURNS, .bound = 1 },
	{ .mode = "r2sp:0:0:1", .kind = SIM_TURNS, .bound = 1 },
	{ .mode = "r2sp:80:0:9", .kind = SIM_TURNS, .bound = 1 },
	{ .mode = "r2sp:80:3", .kind = SIM_TURNS, .bound = ANY },
	{ "ako:4:1", SIM_PARTS, 5, .free = 5 },
	{ "ako:3:0", SIM_PARTS, 3, .free = 3 },
	{ .mode = "gossip-pull:1", .kind = SIM_PULL, .bound = ANY },
	{ .mode = "gossip-push:1:2", .kind = SIM_PUSH, .bound = ANY },
	{ .mode = "push-sum:1", .kind = SIM_PUSH, .bound = ANY },
	{ .mode = "gossip-pair:1", .kind = SIM_PAIR, .bound = ANY },
};

#define NROWS	(sizeof(rows) / sizeof(rows[0]))

static const struct row *row;
static u32 nranks, members[RANKS];	/* in ascending order */
static u64 seed;

/* what has come where, kept without the objects that are tested */
static u32 (*heard)[RANKS];		/* by home and rank: clocks */
static u32 least[RANKS];		/* by home: of them, and how many have no more */
static u32 at_least[RANKS];
static u32 largest;			/* lead of a reader */

static void find_least(u32 home)
{
	u32 i, clock;

	least[home] = GAGG_CLOCK_END;
	for (i = 0; i < nranks; i++) {
		clock = heard[home][members[i]];
		if (clock < least[home]) {
			least[home] = clock;
			at_least[home] = 0;
		}
		at_least[home] += clock == least[home];
	}
}

static void hear(u32 home, u32 rank, u32 clock)
{
	u32 was = heard[home][rank];

	heard[home][rank] = clock;
	if (was == least[home] && !--at_least[home])
		find_least(home);
}

static bool ended(u32 home, u32 rank)
{
	return heard[home][rank] == GAGG_CLOCK_END;
}

/* --- r2sp: (clock, rank) is the order of turns, at each home ------------------- */
static struct {
	u32 adds;
	u32 seen[RANKS];	/* adds when the rank was released */
	u64 next;		/* turn of the first update that has not come */
	u32 at;			/* whose that is, in members */
} ring[SIM_HOMES];
static u32 stalest;

static u64 turn_of(u32 rank, u32 clock)
{
	return (u64)clock * RANKS + rank;
}

static void check_release(u32 rank, u32 home, u32 clock)
{
	struct sim_home *h = &sim_home[home];
	u32 i, r;

	ring[home].seen[rank] = ring[home].adds;
	if (sim_param.arg[1])
		return;
	for (i = 0; i < nranks && (r = members[i]) < rank; i++)
		if (!ended(home, r) && heard[home][r] <= clock)
			assert_true(sim_ops->may_read(&sim_param, &h->st, &h->k, r, clock));
}

/* updates at a time */
static u32 at_a_time(void)
{
	return sim_param.arg[2] ? sim_param.arg[2] : SIM_HOMES + 1;
}

static void check_turn(u32 rank, u32 home, u32 clock)
{
	u32 missed = ring[home].adds++ - ring[home].seen[rank];
	u32 i, before = 0;

	if (sim_param.arg[1])
		return;
	for (i = 0; i < nranks; i++)
		before += !ended(home, members[i]) &&
			  turn_of(members[i], heard[home][members[i]]) < turn_of(rank, clock);
	assert_true(before < at_a_time());
	assert_true(missed <= nranks + at_a_time() - 2);
	stalest = missed > stalest ? missed : stalest;
}

/* turns from the first one that has not come to this one, also of ranks that have ended since */
static u32 turns_before(u32 rank, u32 home, u32 clock)
{
	const struct gagg_clocks *k = &sim_home[home].k;
	u64 first = ring[home].next;

	return (clock - (u32)(first / RANKS)) * nranks + gagg_clocks_place(k, rank) -
	       gagg_clocks_place(k, first % RANKS);
}

static void count_turn(u32 home)
{
	u32 i = ring[home].at;

	/* of the first one at the lowest clock; nobody comes back to that */
	if (ring[home].next / RANKS != least[home])
		i = 0;
	while (i < nranks && heard[home][members[i]] != least[home])
		i++;
	ring[home].at = i;
	ring[home].next = ended(home, members[i]) ? GAGG_NEVER : turn_of(members[i], least[home]);
}

/* An update waits for K that were released before; a reader to be released, for one of the
 * round before, or for the gap. With patience more may be due: those that were passed over.
 */
static bool waits_in_turn(u32 rank, u32 home, bool update, u32 clock)
{
	if (sim_param.arg[1])
		return true;
	if (update)
		return ring[home].next < turn_of(rank, clock) &&
		       turns_before(rank, home, clock) >= at_a_time();
	return ring[home].next + RANKS < turn_of(rank, clock) ||
	       (sim_param.arg[0] && sim_now < sim_home[home].st.r2sp.next_at);
}

/* --- ako: a part to each of the others, another one at each clock -------------- */
static u16 (*got)[RANKS][PARTS];	/* by receiver, sender: clock of the last one, + 1 */

static void check_parts(u32 from, u32 to, u32 clock)
{
	u32 parts = sim_param.arg[0], i, n = 0;

	for (i = 0; i < parts; i++) {
		u16 *last = &got[to][from][i];

		if (!sim_ops->sends(&sim_param, to, clock, i))
			continue;
		n++;
		if (*last ? clock + 1 != *last + parts : clock >= parts)
			fail_msg("%s: part %u from %u to %u at clocks %u and %u", row->mode, i,
				 from, to, *last - 1, clock);
		*last = (u16)(clock + 1);
	}
	assert_int_equal(n, 1);
}

/* a reader lacks at most 2 P + S - 1 clocks of what another one has computed */
static void check_lack(u32 rank, u32 clock)
{
	u32 most = 2 * sim_param.arg[0] + sim_param.arg[1] - 1, i, k;

	for (i = 0; i < nranks; i++)
		for (k = 0; members[i] != rank && k < sim_param.arg[0]; k++)
			if (!ended(rank, members[i]))
				assert_true(got[rank][members[i]][k] + most >= clock);
}

/* --- gossip -------------------------------------------------------------------- */
static struct {
	u32 others;	/* ranks that read a copy, or add to it */
	bool alone;	/* its owner has it */
	bool wanted;	/* or waits for it, and lets nobody in */
	u32 version;	/* how often it was replaced */
} copy[RANKS];
static u32 at[RANKS];		/* copy that a rank shares, + 1 */
static u32 sent[RANKS];		/* and the clock of what it has added last, + 1 */
static u32 read_round[RANKS];	/* of the pair, + 1 */
static u32 peer[CLOCKS * 2][RANKS];
static u32 chooser[CLOCKS * 2][RANKS];	/* whose peer that rank is */

/* all have one peer and are one's peer; of a pair, each other's */
static void draw_peers(u32 clocks)
{
	static u8 chosen[RANKS];
	u32 c, i, r, alone;

	for (c = 0; c < clocks; c++) {
		memset(chosen, 0, sizeof(chosen));
		for (i = 0, alone = 0; i < nranks; i++) {
			r = members[i];
			peer[c][r] = sim_peer(r, c);
			assert_true(gagg_clocks_has(&sim_home[0].k, peer[c][r]));
			assert_false(chosen[peer[c][r]]++);
			chooser[c][peer[c][r]] = r;
			alone += peer[c][r] == r;
		}
		assert_int_equal(alone, sim_kind == SIM_PAIR ? nranks % 2 : 0);
		for (i = 0; i < nranks && sim_kind == SIM_PAIR; i++)
			assert_int_equal(peer[c][peer[c][members[i]]], members[i]);
	}
}

static void take_copy(u32 rank, u32 of)
{
	assert_false(copy[of].alone);
	if (rank == of) {
		assert_int_equal(copy[of].others, 0);
		copy[of].alone = true;
	} else {
		assert_int_equal(at[rank], 0);
		copy[of].others++;
		at[rank] = of + 1;
	}
}

static void leave_copy(u32 rank, u32 home)
{
	if (rank == home) {
		copy[home].alone = false;
		copy[home].wanted = false;
	}
	if (at[rank] != home + 1)
		return;
	copy[home].others--;
	at[rank] = 0;
}

static void check_sender(u32 rank, u32 clock)
{
	u32 late = sim_param.arg[1], last = clock - 1 - late;

	if (clock > late)
		assert_true(sent[chooser[last][rank]] > last || ended(rank, chooser[last][rank]));
}

/* has its home heard so? */
static bool has_been_sent(u32 rank, u32 clock)
{
	u32 late = sim_param.arg[1], last = clock - 1 - late;

	return clock <= late || heard[rank][chooser[last][rank]] > last;
}

/* the owner for those that share the copy, others for the owner */
static bool waits_for_copy(u32 rank, u32 home)
{
	if (rank != home)
		return copy[home].alone || copy[home].wanted;
	copy[home].wanted = true;
	return copy[home].others;
}

static bool waits_to_pull(u32 rank, u32 home, bool update)
{
	return update == (rank == home) && waits_for_copy(rank, home);
}

static bool waits_to_push(u32 rank, u32 home, bool update, u32 clock)
{
	return update == (rank != home) &&
	       ((!update && !has_been_sent(rank, clock)) || waits_for_copy(rank, home));
}

static bool waits_for_pair(u32 rank, u32 home, bool update, u32 clock)
{
	u32 other;

	if (!update)
		return heard[home][home] < clock;
	if (clock % 2 || !clock)
		return false;
	other = peer[clock - 1][rank];
	return other != rank && heard[home][other] < clock;
}

static void push_granted(u32 rank, u32 home, bool update, u32 clock)
{
	/* an update asks at home, too, where it has nothing */
	if (update && rank == home)
		return;
	take_copy(rank, home);
	if (update)
		sent[rank] = clock + 1;
	else
		check_sender(rank, clock);
}

static void pair_granted(u32 rank, u32 home, bool update, u32 clock)
{
	u32 round = clock / 2, other;

	if (!update) {
		assert_int_equal(peer[clock][rank], home);
		if (!ended(home, home))
			assert_int_equal(copy[home].version, round + 1);
		read_round[rank] = round + 1;
	} else if (clock % 2 == 0) {
		other = peer[clock - !!clock][rank];
		if (round && other != rank && !ended(home, other))
			assert_true(read_round[other] >= round);
		copy[home].version = round + 1;
	}
}

/* --- all of them ----------------------------------------------------------------- */
static void granted(u32 rank, u32 home, bool update, u32 clock)
{
	u32 min = least[home], lead = clock > min ? clock - min : 0;

	assert_int_equal(sim_home[home].k.min, min);
	assert_int_equal(heard[home][rank], clock);
	if (!update && lead > row->bound)
		fail_msg("%s: %u ahead", row->mode, lead);
	if (!update && lead > largest)
		largest = lead;
	if (sim_kind == SIM_TURNS)
		(update ? check_turn : check_release)(rank, home, clock);
	else if (sim_kind == SIM_PARTS && !update)
		check_lack(rank, clock);
	else if (sim_kind == SIM_PULL && update == (rank == home))
		take_copy(rank, home);
	else if (sim_kind == SIM_PUSH)
		push_granted(rank, home, update, clock);
	else if (sim_kind == SIM_PAIR)
		pair_granted(rank, home, update, clock);
}

/* a reader that is too far ahead, and an update beside whole clocks */
static bool waits_for_slowest(u32 home, bool update, u32 clock)
{
	u32 min = sim_home[home].k.min;

	return clock > min && (update ? !row->bound : clock - min > row->free);
}

/* nobody waits but for what the mode says */
static void refused(u32 rank, u32 home, bool update, u32 clock)
{
	bool right;

	assert_int_equal(heard[home][rank], clock);
	if (sim_kind == SIM_TURNS)
		right = waits_in_turn(rank, home, update, clock);
	else if (sim_kind == SIM_PULL)
		right = waits_to_pull(rank, home, update);
	else if (sim_kind == SIM_PUSH)
		right = waits_to_push(rank, home, update, clock);
	else if (sim_kind == SIM_PAIR)
		right = waits_for_pair(rank, home, update, clock);
	else
		right = waits_for_slowest(home, update, clock);
	if (!right)
		fail_msg("%s, %u ranks: rank %u waits at clock %u, at home %u to %s, for nothing",
			 row->mode, nranks, rank, clock, home, update ? "update" : "read");
}

static void ticks(u32 rank, u32 home, u32 clock)
{
	if (sim_kind == SIM_PARTS && rank != home && clock != GAGG_CLOCK_END)
		check_parts(rank, home, clock - 1);
	leave_copy(rank, home);
	hear(home, rank, clock);
	if (sim_kind == SIM_TURNS)
		count_turn(home);
}

static const struct sim_watch watch = { granted, refused, ticks };

/* @n of RANKS, at random */
static void draw_members(u32 n, u64 *words)
{
	u32 left = n, r;

	memset(words, 0, GAGG_CLOCK_WORDS * sizeof(*words));
	for (nranks = 0, r = 0; r < RANKS; r++)
		if (sim_rnd(RANKS - r) < left) {
			words[r / 64] |= GAGG_BIT(r % 64);
			members[nranks++] = r;
			left--;
		}
	assert_int_equal(nranks, n);
}

static void forget(void)
{
	memset(heard, 0, RANKS * sizeof(*heard));
	memset(got, 0, RANKS * sizeof(*got));
	memset(ring, 0, sizeof(ring));
	memset(copy, 0, sizeof(copy));
	memset(at, 0, sizeof(at));
	memset(sent, 0, sizeof(sent));
	memset(read_round, 0, sizeof(read_round));
}

static void drive(u32 n, u32 clocks)
{
	u64 words[GAGG_CLOCK_WORDS];
	struct sim_worker *w;
	struct gagg_sync_param p;
	u32 r, h;

	sim_seed = seed << 32 | n;
	forget();
	draw_members(n, words);
	for (h = 0; h < RANKS; h++) {
		least[h] = 0;
		at_least[h] = nranks;
	}
	assert_true(sync_text_parse(row->mode, &p, NULL, 0));
	sim_begin(&p, row->kind, words, clocks, &watch);
	if (row->kind >= SIM_PULL)
		draw_peers(clocks + 2);
	r = sim_run();
	if (r == RANKS)
		return;
	w = &sim_worker[r];
	h = w->ask[0].home;
	fail_msg("%s, %u ranks, seed %u: rank %u waits for ever at clock %u, at home %u to %s",
		 row->mode, n, (u32)seed, r, w->clock, h, w->ask[0].update ? "update" : "read");
}

/* @fewer, @few: workers, and their clocks, where each tick comes to all workers' copies, or
 * lets all ask again
 */
static void drive_all(u32 n, u32 fewer, u32 clocks, u32 few, u32 seeds)
{
	for (row = rows; row < rows + NROWS; row++) {
		largest = 0;
		stalest = 0;
		for (seed = 1; seed <= seeds; seed++)
			drive(row->kind == SIM_STORE ? n : fewer,
			      row->kind == SIM_STORE ? clocks : few);
		/* bounds are come to, and what has none is not bounded by chance */
		if (row->kind <= SIM_TURNS && row->bound != ANY && largest != row->bound)
			fail_msg("%s: at most %u ahead", row->mode, largest);
		if ((sim_ops == &gagg_sync_asp || sim_ops == &gagg_sync_dssp_literal) &&
		    largest <= 4)
			fail_msg("%s: at most %u ahead", row->mode, largest);
	}
}

static void stores__of_64(void **state)
{
	(void)state;
	drive_all(64, 64, CLOCKS, CLOCKS, full_or(3, 1));
}

static void stores__of_256(void **state)
{
	(void)state;
	drive_all(256, full_or(256, 128), 12, full_or(8, 4), full_or(2, 1));
}

static void stores__of_1024(void **state)
{
	(void)state;
	drive_all(1024, full_or(1024, 256), 8, full_or(4, 2), 1);
}

static void every_mode__is_driven(void **state)
{
	const struct gagg_sync_ops *ops;
	struct gagg_sync_param p;
	u32 i, k;

	(void)state;
	for (i = 0; i <= GAGG_SYNC_ROUNDS_MAX; i++) {
		ops = gagg_sync_get(i);
		for (k = 0; ops && ops->store && k < NROWS; k++) {
			assert_true(sync_text_parse(rows[k].mode, &p, NULL, 0));
			if (p.mode == i)
				break;
		}
		if (ops && ops->store && k == NROWS)
			fail_msg("mode %u has no row in rows[]", i);
	}
}

/* --- clocks and places ----------------------------------------------------------- */
static u32 places(const u64 *words)
{
	u32 i, r = 0, next;

	gagg_clocks_init(&sim_home[0].k, words);
	for (i = 0; i < nranks; i++, r++) {
		next = gagg_clocks_next(&sim_home[0].k, r);
		assert_int_equal(next, members[i]);
		for (; r < next; r++)
			assert_false(gagg_clocks_has(&sim_home[0].k, r));
		assert_true(gagg_clocks_has(&sim_home[0].k, r));
		assert_int_equal(gagg_clocks_place(&sim_home[0].k, r), i);
		assert_int_equal(gagg_clocks_at(&sim_home[0].k, i), r);
	}
	return r < RANKS ? gagg_clocks_next(&sim_home[0].k, r) : RANKS;
}

static void clocks__of_any_ranks(void **state)
{
	u64 words[GAGG_CLOCK_WORDS], i;
	struct gagg_clocks *k;
	u32 r, to;

	(void)state;
	for (sim_seed = seed = 1; seed <= 40; seed++) {
		draw_members(1 + sim_rnd(sim_rnd(2) ? 64 : RANKS), words);
		assert_int_equal(places(words), RANKS);
		k = &sim_home[0].k;
		assert_int_equal(k->n, nranks);
		memset(heard[0], 0, sizeof(heard[0]));
		find_least(0);
		for (i = 0; i < 2000; i++) {
			r = members[sim_rnd(nranks)];
			to = sim_rnd(64) ? heard[0][r] + sim_rnd(4) - 1 : GAGG_CLOCK_END;
			gagg_clocks_tick(k, r, to);
			if (to <= GAGG_CLOCK_END && to > heard[0][r])
				hear(0, r, to);
			assert_int_equal(k->min, least[0]);
		}
	}
}

/* what trainers of a group compute from a word of ranks */
static void peers__are_those_of_a_group(void **state)
{
	u64 words[GAGG_CLOCK_WORDS] = { 0 };
	u32 i, c, r;

	(void)state;
	for (i = 0; i < 100; i++) {
		words[0] = gagg_mix64(i, 1) & gagg_mix64(i, 2);
		for (r = 0; r < 64; r++)
			gagg_clocks_init(&sim_home[r].k, words);
		for (c = 0; c < 10; c++)
			gagg_for_each_worker(&sim_home[0].k, r) {
				sim_kind = SIM_PUSH;
				assert_int_equal(sim_peer(r, c), gagg_peer_to(words[0], r, c));
				sim_kind = SIM_PAIR;
				assert_int_equal(sim_peer(r, c),
						 gagg_peer_pair(words[0], r, c / 2));
			}
	}
}

/* --- quorums --------------------------------------------------------------------- */

/* one is three times as slow, one of 20 takes four times as long for once */
static u64 contribution(u32 rank)
{
	u64 time = (900 + sim_rnd(200)) * GAGG_USEC;

	return time * (rank ? 1 : 3) * (sim_rnd(20) ? 1 : 4);
}

/* how many are in the round when it is complete, and after what time; both sides know
 * when the first one came
 */
static u32 quorum_round(u32 n, struct gagg_delays *d, u64 *took)
{
	u64 limit = sim_ops->limit ? sim_ops->limit(&sim_param, d) : GAGG_NEVER, first = 0;
	u32 r, in = 0, out = n, k = sim_param.arg[0];
	bool due = false, done = false;
	struct event e;

	sim_now = 0;
	for (r = 0; r < n; r++)
		sim_event(SIM_ASKS, contribution(r), r, 0, 0);
	while (event_pop(&e)) {
		sim_now = e.at;
		if (e.what == SIM_TIMER)
			due = true;
		else if (!in++)
			first = e.at;
		if (in == 1 && e.what != SIM_TIMER && limit != GAGG_NEVER)
			sim_event(SIM_TIMER, limit, 0, 0, 0);
		if (e.what != SIM_TIMER && in > 1)
			gagg_delays_add(d, sim_now - first);
		if (done || !sim_ops->complete(&sim_param, in, n, due))
			continue;
		done = true;
		out = in;
		*took = sim_now - first;
		assert_true(in >= k);
		/* all, or enough at the deadline, or the last one needed after it */
		if (e.what == SIM_TIMER)
			assert_true(*took == limit);
		else
			assert_int_equal(in, due || !sim_ops->limit ? k : n);
	}
	assert_true(done);
	return out;
}

/* rounds as of @mode with a K that no group may have; how many had all */
static u32 rounds(const char *mode, u32 n, u32 k, u64 *longest)
{
	struct gagg_delays d = { .n = 0 };
	u32 i, all = 0;
	u64 took = 0;

	assert_true(sync_text_parse(mode, &sim_param, NULL, 0));
	sim_ops = gagg_sync_get(sim_param.mode);
	sim_param.arg[0] = k;
	for (i = 0, *longest = 0; i < 50; i++) {
		u32 in = quorum_round(n, &d, &took);

		if (!sim_ops->limit)
			assert_int_equal(in, k);
		all += in == n;
		*longest = gagg_max64(*longest, i ? took : 0);
	}
	return all;
}

static void quorums__of_many(void **state)
{
	static const u32 sizes[] = { 64, 256, 1024 };
	u64 longest;
	u32 i, n, all;

	(void)state;
	for (i = 0; i < 3; i++) {
		n = sizes[i];
		sim_seed = n;
		assert_int_equal(rounds("bsp-quorum:1:1", n, n - n / 8, &longest), 0);
		assert_true(longest < GAGG_MSEC);
		assert_int_equal(rounds("bsp-quorum:1:1", n, n, &longest), 50);
		/* half are there in time, always */
		assert_int_equal(rounds("bsp-deadline:1:1:1", n, n / 2, &longest), 0);
		assert_true(longest == GAGG_MSEC);
		/*
		 * the first round waits for all. If there are many more ranks than GAGG_DELAYS,
		 * those that came last make the deadline
		 */
		all = rounds("bsp-adaptive:1:8:1", n, n / 2, &longest);
		assert_in_range(all, 1, n == 64 ? 1 : 49);
		assert_in_range(longest, GAGG_MSEC, 4 * 3300 * GAGG_USEC);
		/* a quorum of nearly all waits beyond the deadline */
		assert_in_range(rounds("bsp-deadline:1:1:1", n, n - 1, &longest), 0, 1);
		assert_true(longest > 2 * GAGG_MSEC);
	}
}

static int setup(void **state)
{
	(void)state;
	heard = calloc(RANKS, sizeof(*heard));
	got = calloc(RANKS, sizeof(*got));
	sim_home = calloc(RANKS, sizeof(*sim_home));
	return heard && got && sim_home ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	free(heard);
	free(got);
	free(sim_home);
	event_free();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks__of_any_ranks),
		cmocka_unit_test(peers__are_those_of_a_group),
		cmocka_unit_test(quorums__of_many),
		cmocka_unit_test(every_mode__is_driven),
		cmocka_unit_test(stores__of_64),
		cmocka_unit_test(stores__of_256),
		cmocka_unit_test(stores__of_1024),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, setup, teardown);
}
