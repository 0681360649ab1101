// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * Stores of the real core under random schedules, against an oracle that knows
 * which updates a read may show, must show and must not. Ranks finish early, and die.
 */
#include "full.h"
#include "store_net.h"

#define SEEDS	full_or(16, 3)
#define CLOCKS	8
#define RANKS	5

/* what rank r adds to word k of a chunk at clock c of an epoch: no two sums of subsets
 * look alike, and sums of words wrap
 */
static int32_t value(u32 r, u32 c, u32 slot, u32 k)
{
	return (int32_t)gagg_mix64((u64)r << 32 | c, (u64)life << 32 | slot << 8 | k);
}

static bool is_zero(u32 r, u32 c, u32 slot)
{
	return gagg_mix64(value(r, c, slot, 7), 3) % 4 == 0;
}

static void fill(u32 r, u32 c)
{
	u32 slot, k;

	for (slot = 0; slot < RING; slot++) {
		ranks[r].zero[slot] = is_zero(r, c, slot);
		for (k = 0; k < LANES; k++)
			ranks[r].push[slot][k] = value(r, c, slot, k);
	}
}

/* the words of a chunk, the first one lowest: lanes of 32 bits, or of 64 */
static u64 words(u32 low, u32 high)
{
	return (u64)high << 32 | low;
}

static u64 words_of(const int32_t *chunk)
{
	return words((u32)chunk[0], (u32)chunk[1]);
}

static u64 plus(u64 a, u64 b)
{
	return wide ? a + b : words((u32)a + (u32)b, (u32)(a >> 32) + (u32)(b >> 32));
}

static u64 minus(u64 a, u64 b)
{
	return wide ? a - b : words((u32)a - (u32)b, (u32)(a >> 32) - (u32)(b >> 32));
}

/* sums of the first c updates of rank r; of each epoch, lanes of 32 bits, and of 64 */
static u64 sums[LIVES][2][RANKS][CLOCKS + 1][RING];

static void sum_up(void)
{
	u64 (*s)[CLOCKS + 1][RING] = sums[life][wide];
	u32 r, c, slot;

	for (r = 0; r < RANKS; r++)
		for (c = 0; c < CLOCKS; c++)
			for (slot = 0; slot < RING; slot++) {
				u64 update = words((u32)value(r, c, slot, 0),
						   (u32)value(r, c, slot, 1));

				s[r][c + 1][slot] = plus(s[r][c][slot],
							 is_zero(r, c, slot) ? 0 : update);
			}
}

/* a copy is the sum of the first so many updates of each rank, at least @must
 * and at most @may: find them, for rank r and those behind it
 */
static bool explained(u32 r, u64 copy, u32 slot, const u32 *must, const u32 *may)
{
	u32 c;

	if (r == nranks)
		return !copy;
	for (c = must[r]; c <= may[r]; c++)
		if (explained(r + 1, minus(copy, sums[life][wide][r][c][slot]), slot, must, may))
			return true;
	return false;
}

/* a worker of the test: clock after clock it reads, updates, at its own pace */
struct worker {
	u32 clock;
	u32 goal;	/* it makes so many, and finishes */
	u32 op;		/* it waits for; 0: none */
	u32 first;	/* chunks that it reads; none: it updates */
	u32 chunks;
	bool last;	/* it has finished, and reads what there is in the end */
	bool over;
};

static struct worker work[GAGG_RANKS];

/* @clocks of a rank, that many of which were updates */
static u32 updates(u32 r, u32 clocks)
{
	return clocks < work[r].goal ? clocks : work[r].goal;
}

/* sum of all updates of the first @clocks */
static u64 sum_of(u32 clocks, u32 slot)
{
	u64 sum = 0;
	u32 r;

	for (r = 0; r < nranks; r++)
		sum = plus(sum, sums[life][wide][r][updates(r, clocks)][slot]);
	return sum;
}

static void attach(bool early)
{
	u32 r;

	memset(work, 0, sizeof(work));
	for (r = 0; r < nranks; r++)
		work[r].goal = early ? 1 + rnd(CLOCKS) : CLOCKS;
}

static u32 least_clock(void)
{
	u32 r, min = GAGG_CLOCK_END;

	for (r = 0; r < nranks; r++)
		min = begun(r) < min ? begun(r) : min;
	return min;
}

static u32 bound;	/* a reader lacks so many clocks of others, at most */
static bool exact;	/* it shows no more */

/* reads show what they must, nothing else but what they may, and what they say */
static void check_read(u32 r)
{
	u32 must[GAGG_RANKS], may[GAGG_RANKS], slot, i;
	u32 c = work[r].clock, least;

	for (slot = work[r].first; slot < work[r].first + work[r].chunks; slot++) {
		for (i = 0; i < nranks; i++) {
			least = updates(i, c > bound ? c - bound : 0);
			may[i] = exact ? least : updates(i, begun(i));
			/* what has finished is as fresh as can be */
			must[i] = (u32)gagg_min64(ranks[r].fresh[slot], may[i]);
			must[i] = must[i] < least ? least : must[i];
		}
		/* its own, all of them */
		must[r] = c;
		may[r] = c;
		if (!explained(0, words_of(ranks[r].copy[slot]), slot, must, may))
			fail_msg("rank %u at clock %u: chunk %u holds no sum that it may", r, c,
				 slot);
	}
}

static bool hasty;	/* workers leave out reads */

/* all of the store, or a part */
static void read_some(u32 r)
{
	struct worker *w = &work[r];

	w->first = rnd(2) * rnd(RING - 1);
	w->chunks = w->first ? 1 + rnd(RING - w->first) : RING;
	memset(ranks[r].copy, 0xcc, sizeof(ranks[r].copy));
	w->op = submit(r, GAGG_OP_READ, w->first, w->chunks);
}

/* everybody has finished, and reads the same */
static void check_end(u32 r)
{
	u32 slot;

	for (slot = 0; slot < RING; slot++)
		assert_int_equal(words_of(ranks[r].copy[slot]), sum_of(CLOCKS, slot));
}

/* the op that it waits for, if that is over; true: it was an update */
static bool take(u32 r)
{
	struct worker *w = &work[r];
	bool update = w->op && !w->chunks;

	if (!w->op || ranks[r].done < w->op)
		return false;
	w->op = 0;
	w->clock += update;
	if (w->last) {
		check_end(r);
		w->over = true;
	} else if (w->chunks) {
		check_read(r);
		if (bound != GAGG_CLOCK_END)
			assert_true(w->clock - least_clock() <= bound);
	}
	w->chunks = 0;
	return update;
}

/* its last update, which may be empty; then it waits for the others */
static void finish(u32 r, u32 chunks)
{
	submit(r, GAGG_OP_LAST, 0, chunks);
	work[r].last = true;
	work[r].chunks = RING;
	work[r].op = submit(r, GAGG_OP_READ, 0, RING);
}

/* one step of a worker */
static void step_worker(u32 r)
{
	struct worker *w = &work[r];

	/* a rank that does not read waits for none, but may hold back its updates */
	if (take(r) && (!hasty || rnd(4)))
		read_some(r);
	if (w->op || w->over)
		return;
	if (w->clock == w->goal) {
		finish(r, 0);
		return;
	}
	fill(r, w->clock);
	if (w->clock + 1 == w->goal && rnd(2))
		finish(r, RING);
	else
		w->op = submit(r, 0, 0, RING);
}

static u64 in_store(u32 slot)
{
	u32 n = home_of(slot);
	const struct gagg_store *st = gagg_store_of(chan[n]);
	const u32 *open = (const u32 *)((const char *)st + st->off_beside);
	u64 copy = words_of(kept[n][slot]);

	return base_geom.snapshot && open[slot] ? plus(copy, words_of(beside[n][slot])) : copy;
}

/* what was read is explained until the end, and updates that were over are in the store */
static void last_look(void)
{
	u32 must[GAGG_RANKS], may[GAGG_RANKS], slot, r;

	for (r = 0; r < nranks; r++) {
		take(r);
		must[r] = updates(r, confirmed(r));
		may[r] = updates(r, begun(r));
	}
	for (slot = 0; slot < RING; slot++)
		if (!explained(0, in_store(slot), slot, must, may))
			fail_msg("chunk %u lacks an update that was over", slot);
}

static bool all_done(void)
{
	u32 r;

	for (r = 0; r < nranks; r++)
		if (!work[r].over)
			return false;
	return true;
}

/* all ranks through all their clocks; returns the largest lead seen */
static u32 run(u32 n, const char *mode, u64 homes)
{
	u32 events = 0, r, lead = 0;

	start(n, mode, homes);
	attach(rnd(2));
	mortality = 1U << (8 + rnd(6));
	while (!all_done()) {
		r = rnd(n);
		/* one of them is slow */
		if (attached(r) && (r || !rnd(8)))
			step_worker(r);
		go_on();
		for (r = 0; r < n; r++)
			if (begun(r) != GAGG_CLOCK_END && begun(r) - least_clock() > lead)
				lead = begun(r) - least_clock();
		if (dies(last_look))
			attach(rnd(2));
		if (++events > 400000)
			fail_msg("%s: stuck at clock %u", mode, least_clock());
	}
	mortality = 0;
	return lead;
}

static void every_mode(u32 n, u64 homes)
{
	deaths = 0;
	for (seed = 1; seed <= SEEDS; seed++) {
		u64 was = seed;

		wide = seed & 1;
		loss = (u32)seed % 3 * 10;
		dup = (u32)seed % 4 * 5;
		disorder = (u32)seed % 5 * 10;
		bound = GAGG_CLOCK_END;
		exact = false;
		hasty = false;
		run(n, "asp", homes);
		seed = was << 24;
		run(n, "dssp-literal:1:3", homes);
		bound = 1;
		seed = was << 25;
		assert_true(run(n, "r2sp:80:0:1", homes) <= 2);
		seed = was << 26;
		assert_true(run(n, "r2sp:80:0", homes) <= 3);
		bound = 2;
		seed = was << 20;
		assert_true(run(n, "ssp:2", homes) <= 3);
		bound = 3;
		seed = was << 23;
		assert_true(run(n, "dssp:1:3", homes) <= 4);
		bound = 0;
		exact = true;
		seed = was << 21;
		assert_true(run(n, "ssp:0", homes) <= 1);
		seed = was << 22;
		hasty = true;
		run(n, "ssp:0", homes);
		seed = was;
	}
	/* of 7 runs each */
	assert_true(deaths > 3 * SEEDS);
	wide = false;
	stop_all();
}

static void reads__show_what_they_must_and_may(void **state)
{
	(void)state;
	every_mode(3, ~0ULL);
}

static void reads__from_one_home(void **state)
{
	(void)state;
	every_mode(3, 1);
}

static void reads__of_ranks_that_share_a_host(void **state)
{
	(void)state;
	every_mode(4, 2);
	every_mode(5, ~0ULL);
}

/* what a rank does: updates, then all read at the same clock, and so on */
static u32 scripted(u32 r, u32 at)
{
	switch (at) {
	case 3:
	case 9:
		memset(ranks[r].copy, 0xcc, sizeof(ranks[r].copy));
		return submit(r, GAGG_OP_READ | GAGG_OP_FENCE, 0, RING);
	case 4:
	case 10:
		return submit(r, 0, 0, 0);
	case 5:
	case 11:
		return submit(r, GAGG_OP_READ | GAGG_OP_FENCE, RING - 1, 1);
	}
	/* the empty updates are clocks, too, without values */
	fill(r, at < 3 ? at : at - 3);
	return submit(r, 0, 0, RING);
}

static void check_snapshot(u32 r, u32 updates)
{
	u32 slot;

	for (slot = 0; slot < RING; slot++)
		assert_int_equal(words_of(ranks[r].copy[slot]), sum_of(updates, slot));
}

static void snapshot(u32 n, const char *mode, u64 homes)
{
	u32 r, at[RANKS] = { 0 }, left = n, events = 0;

	start(n, mode, homes);
	attach(false);
	while (left) {
		r = rnd(n);
		if ((r || !rnd(8)) && at[r] < 13 && ranks[r].done == work[r].op) {
			if (at[r] == 4)
				check_snapshot(r, 3);
			if (at[r] == 10)
				check_snapshot(r, 6);
			if (at[r] < 12)
				work[r].op = scripted(r, at[r]);
			else
				left--;
			at[r]++;
		}
		advance();
		if (++events > 200000)
			fail_msg("%s: stuck", mode);
	}
	stop_all();
}

static void a_fence__shows_a_clock(void **state)
{
	static const char *const modes[] = {
		"asp", "ssp:0", "ssp:1", "dssp:1:3", "dssp-literal:1:2", "r2sp:80:0",
	};
	u32 i;

	(void)state;
	loss = 10;
	dup = 5;
	disorder = 20;
	for (seed = 1; seed < 5; seed++)
		for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
			u64 was = seed;

			snapshot(3, modes[i], ~0ULL);
			snapshot(5, modes[i], 2);
			seed = was;
		}
}

/* without loss every chunk goes over the wire once */
static void an_update__is_sent_once(void **state)
{
	(void)state;
	loss = 0;
	dup = 0;
	disorder = 0;
	start(3, "asp", 1);
	fill(1, 0);
	memset(ranks[1].zero, 0, sizeof(ranks[1].zero));
	submit(1, 0, 0, RING);
	while (nflight)
		advance();
	assert_int_equal(ranks[1].done, 1);
	assert_int_equal(sent[GAGG_T_CONTRIB], RING);
	assert_int_equal(sent[GAGG_T_READY], 1);
	submit(2, GAGG_OP_READ, 3, 10);
	while (nflight)
		advance();
	assert_int_equal(ranks[2].done, 1);
	assert_int_equal(sent[GAGG_T_RESULT], 10);
	assert_int_equal(ranks[2].reads, 10);
	assert_memory_equal(ranks[2].copy[3], ranks[1].push[3], 10 * sizeof(ranks[2].copy[3]));
	stop_all();
}

/* an old answer is not taken for one to the read that asks now */
static void a_late_answer__is_not_taken(void **state)
{
	struct packet old;
	u32 i;

	(void)state;
	loss = 0;
	dup = 0;
	start(3, "asp", 1);
	submit(1, GAGG_OP_READ, 0, 1);
	while (packets[flight[0]].m.type != GAGG_T_RESULT)
		advance();
	old = packets[flight[0]];
	while (nflight)
		advance();
	fill(2, 0);
	memset(ranks[2].zero, 0, sizeof(ranks[2].zero));
	submit(2, 0, 0, 1);
	while (nflight)
		advance();
	submit(1, GAGG_OP_READ, 0, 1);
	receive(&old);
	assert_int_equal(ranks[1].done, 1);
	while (ranks[1].done < 2)
		advance();
	for (i = 0; i < LANES; i++)
		assert_int_equal(ranks[1].copy[0][i], value(2, 0, 0, i));
	stop_all();
}

/* a strong reader is parked, not busy: it asks with growing pauses */
static void a_reader_that_waits__is_quiet(void **state)
{
	u64 until;

	(void)state;
	loss = 0;
	dup = 0;
	start(2, "ssp:0", 1);
	submit(1, 0, 0, RING);
	submit(1, GAGG_OP_READ, 0, RING);
	for (until = now + 10 * GAGG_SEC; now < until;)
		advance();
	assert_int_equal(ranks[1].done, 1);
	assert_true(sent[GAGG_T_PULL] < 60);
	submit(0, 0, 0, RING);
	while (ranks[1].done < 2)
		advance();
	stop_all();
}

/* in which updates are admitted */
static const char *const admitting[] = { "ssp:0", "r2sp:0:0" };

static void calm(void)
{
	loss = 0;
	dup = 0;
	disorder = 0;
}

static u32 push_all(u32 r, u32 c, u8 flags)
{
	fill(r, c);
	memset(ranks[r].zero, 0, sizeof(ranks[r].zero));
	return submit(r, flags, 0, RING);
}

/* chunks of a last update wait for their clock like any others: sent before, they
 * would be refused, and be taken for lost
 */
static void a_last_update__is_sent_once(void **state)
{
	u64 until;
	u32 i;

	(void)state;
	calm();
	for (i = 0; i < sizeof(admitting) / sizeof(admitting[0]); i++) {
		start(3, admitting[i], 1);
		submit(0, 0, 0, 0);
		push_all(1, 0, 0);
		while (ranks[1].done < 1)
			advance();
		push_all(1, 1, GAGG_OP_LAST);
		for (until = now + 2 * GAGG_SEC; now < until;)
			advance();
		assert_int_equal(sent[GAGG_T_CONTRIB], RING);
		submit(0, GAGG_OP_LAST, 0, 0);
		submit(2, GAGG_OP_LAST, 0, 0);
		while (ranks[1].done < 2)
			advance();
		assert_int_equal(sent[GAGG_T_CONTRIB], 2 * RING);
	}
	stop_all();
}

/* a worker whose update may come has not asked for a copy */
static void who_is_admitted__gets_no_lanes(void **state)
{
	u64 copies;
	u32 i, c;

	(void)state;
	calm();
	for (i = 0; i < sizeof(admitting) / sizeof(admitting[0]); i++) {
		start(2, admitting[i], 1);
		copies = copies_sent;
		/* with ssp:0 the first clock is admitted without a question */
		for (c = 0; c < 2; c++) {
			push_all(0, c, 0);
			push_all(1, c, 0);
			while (ranks[0].done <= c || ranks[1].done <= c)
				advance();
		}
		assert_true(sent[GAGG_T_RESULT] > 0);
		assert_int_equal(copies_sent, copies);
		submit(1, GAGG_OP_READ, 0, RING);
		while (ranks[1].done < 3)
			advance();
		assert_int_equal(copies_sent, copies + RING);
	}
	stop_all();
}

static void refuse(u32 node, u32 from, struct gagg_msg *m, enum gagg_drop why)
{
	struct gagg_env env = env_of(node);
	struct gagg_arrival in = arrival_at(node, from);

	assert_int_equal(gagg_shard_rx(&in, &env, m, NULL), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, why);
}

static void nonsense__is_refused(void **state)
{
	struct gagg_msg good = {
		.type = GAGG_T_CONTRIB, .group = 7, .epoch = (u32)EPOCH, .cookie = COOKIE,
		.src = 1, .run = 1, .lanes = LANES, .round = 1, .pn = 1, .flags = GAGG_WF_RAW,
	}, m;

	(void)state;
	start(3, "asp", 1);
#define BAD(from, why, ...) do { m = good; __VA_ARGS__; refuse(0, from, &m, why); } while (0)
	BAD(1, GAGG_DROP_CHUNK, m.chunk = RING);
	BAD(1, GAGG_DROP_RANK, m.src = 2);
	BAD(1, GAGG_DROP_RANK, m.src = GAGG_RANKS);
	BAD(1, GAGG_DROP_ROUND, m.round = 2);
	BAD(1, GAGG_DROP_ROUND, m.round = 0);
	BAD(1, GAGG_DROP_OP, m.lanes = 1);
	BAD(1, GAGG_DROP_OP, m.flags |= GAGG_WF_ZERO);
	BAD(1, GAGG_DROP_OP, m.flags |= GAGG_WF_NONFINITE);
	BAD(1, GAGG_DROP_OP, m.laneop = GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MAX));
	BAD(1, GAGG_DROP_OP, m.laneop = GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD));
	BAD(1, GAGG_DROP_WINDOW, m.type = GAGG_T_PULL; m.run = 17);
	BAD(1, GAGG_DROP_OP, m.type = GAGG_T_PULL; m.aux = GAGG_GATE_FENCE + 1);
	BAD(1, GAGG_DROP_TYPE, m.type = GAGG_T_QUERY);
	BAD(1, GAGG_DROP_CHUNK, m.type = GAGG_T_RESULT);
#undef BAD
	m = good;
	m.type = GAGG_T_RESULT;
	m.src = 0;
	m.aux = 2;
	refuse(1, 0, &m, GAGG_DROP_RANK);
	m.aux = 1;
	m.lanes = 1;
	refuse(1, 0, &m, GAGG_DROP_OP);
	m.lanes = LANES;
	m.laneop = GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD);
	refuse(1, 0, &m, GAGG_DROP_OP);
	/* a home of nothing */
	refuse(1, 1, &good, GAGG_DROP_CHUNK);
	/* chunks that live elsewhere; answers in another home's name */
	start(3, "asp", 3);
	good.chunk = 2;
	assert_int_equal(home_of(good.chunk), 1);
	refuse(0, 1, &good, GAGG_DROP_CHUNK);
	m = good;
	m.type = GAGG_T_RESULT;
	m.aux = 2;
	m.src = 0;
	refuse(2, 0, &m, GAGG_DROP_CHUNK);
	refuse(2, 1, &m, GAGG_DROP_CHUNK);
	/* where lanes are int64, those of int32 */
	wide = true;
	start(3, "asp", 1);
	good.chunk = 0;
	refuse(0, 1, &good, GAGG_DROP_OP);
	m = good;
	m.type = GAGG_T_RESULT;
	m.src = 0;
	m.aux = 1;
	refuse(1, 0, &m, GAGG_DROP_OP);
	wide = false;
	stop_all();
}

/* such an answer is none to a read */
static void a_copy__has_lanes(void **state)
{
	struct gagg_msg m = {
		.type = GAGG_T_RESULT, .group = 7, .epoch = (u32)EPOCH, .cookie = COOKIE,
		.run = 1, .lanes = LANES, .aux = 1, .flags = GAGG_WF_RAW | GAGG_WF_ZERO,
	};

	(void)state;
	loss = 100;
	start(2, "asp", 1);
	m.number = submit(1, GAGG_OP_READ, 0, RING);
	advance();
	refuse(1, 0, &m, GAGG_DROP_OP);
	m.flags = GAGG_WF_RAW | GAGG_WF_NONFINITE;
	refuse(1, 0, &m, GAGG_DROP_OP);
	loss = 0;
	stop_all();
}

static enum gagg_rx ask(u32 number, u32 clock)
{
	struct gagg_msg m = {
		.type = GAGG_T_PULL, .group = 7, .epoch = (u32)EPOCH, .cookie = COOKIE,
		.src = 1, .run = 1, .number = number, .round = clock, .aux = GAGG_GATE_FENCE,
	};
	struct gagg_env env = env_of(0);
	struct gagg_arrival in = arrival_at(0, 1);

	return gagg_shard_rx(&in, &env, &m, NULL);
}

/* numbers of ops wrap between two requests, if a rank has asked others for long */
static void requests__are_newer_by_their_clock(void **state)
{
	const struct gagg_pull *pull;

	(void)state;
	start(3, "asp", 1);
	pull = &gagg_store_of(chan[0])->park[1].pull[0];
	assert_int_equal(ask(5, 3), GAGG_RX_OK);
	assert_int_equal(ask(4, 3), GAGG_RX_DROP);
	assert_int_equal(ask(6, 2), GAGG_RX_DROP);
	assert_int_equal(ask(5 + (1U << 31), 4), GAGG_RX_OK);
	assert_int_equal(pull->clock, 4);
	assert_int_equal(ask(4 + (1U << 31), 4), GAGG_RX_DROP);
	assert_int_equal(ask(1, GAGG_CLOCK_END), GAGG_RX_OK);
	assert_int_equal(pull->clock, GAGG_CLOCK_END);
	stop_all();
}

static void submit__what_can_be(void **state)
{
	const struct gagg_geom geom = { .lanes = LANES, .ring = RING, .store = 1 };
	const struct gagg_ioc_submit update = { .kind = GAGG_K_UPDATE, .chunks = RING };
	const struct gagg_ioc_submit read = {
		.kind = GAGG_K_READ, .count = RING - 1, .chunks = 1,
	};
	struct gagg_ioc_submit a;
	int i;

	(void)state;
	assert_true(gagg_store_may_submit(&geom, &update));
	assert_true(gagg_store_may_submit(&geom, &read));
	a = update;
	a.chunks = 0;
	assert_true(gagg_store_may_submit(&geom, &a));
	a.count = RING;
	assert_true(gagg_store_may_submit(&geom, &a));
#define REFUSED(base, change) do {					\
	a = (base);							\
	change;								\
	assert_false(gagg_store_may_submit(&geom, &a));			\
} while (0)
	for (i = 0; i < 32; i++) {
		if (1U << i != GAGG_SUBMIT_LAST)
			REFUSED(update, a.flags = 1U << i);
		if (1U << i != GAGG_SUBMIT_FENCE)
			REFUSED(read, a.flags = 1U << i);
	}
	REFUSED(read, a.kind = GAGG_K_ALLREDUCE);
	REFUSED(read, a.kind = GAGG_K_READ + 1);
	REFUSED(update, a.reserved = 1);
	REFUSED(update, a.laneop = 1);
	REFUSED(update, a.dtype = 1);
	REFUSED(update, a.root = 1);
	REFUSED(update, a.last_lanes = 1);
	REFUSED(update, a.chunks = RING + 1);
	REFUSED(update, a.count = 1);
	REFUSED(update, a.count = ~0ULL);
	REFUSED(read, a.chunks = 0);
	REFUSED(read, a.chunks = 2);
	REFUSED(read, a.count = RING + 1);
#undef REFUSED
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads__show_what_they_must_and_may),
		cmocka_unit_test(reads__from_one_home),
		cmocka_unit_test(reads__of_ranks_that_share_a_host),
		cmocka_unit_test(a_fence__shows_a_clock),
		cmocka_unit_test(an_update__is_sent_once),
		cmocka_unit_test(a_late_answer__is_not_taken),
		cmocka_unit_test(a_reader_that_waits__is_quiet),
		cmocka_unit_test(a_last_update__is_sent_once),
		cmocka_unit_test(who_is_admitted__gets_no_lanes),
		cmocka_unit_test(a_copy__has_lanes),
		cmocka_unit_test(nonsense__is_refused),
		cmocka_unit_test(requests__are_newer_by_their_clock),
		cmocka_unit_test(submit__what_can_be),
	};
	int i;

	for (life = 0; life < LIVES; life++)
		for (i = 0; i < 2; i++) {
			wide = i;
			sum_up();
		}
	wide = false;
	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
