// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/chan.c kmod/core/home.c kmod/core/worker.c kmod/core/shard.c kmod/core/sync.c kmod/core/sync_bsp.c kmod/core/geom.c kmod/core/reduce.c kmod/core/wire.c selftests/model/cluster.c selftests/model/cluster_path.c selftests/model/cluster_sum.c selftests/model/cluster_equal.c; libs: -DGAGG_NODES=3 -DGAGG_RANKS=3 -DGAGG_LOCALS=2 -DGAGG_OPS=3 */
/*
 * Explicit-state search over small clusters (cluster.h): every order of every
 * event, with each datagram late, lost or repeated at will. In every state:
 *
 *	safe	each result is published once, in order, counts each contribution
 *		once, is the reference's, and is not overwritten unread
 *	live	when all that is in flight is lost, and nothing from then on, all
 *		ranks get all results
 *
 * A state is known by 64 bits of hash: among 10^6 states of one search two are
 * taken for one with a probability of 3 * 10^-8.
 *
 *	model_chan [--seed N] [--walks N] [--full | --quick]
 *
 * --full searches all assignments of three exponents where else one stands for
 * all that order them alike, up to an exchange of hosts; --quick every 16th of
 * those. SEED in the environment works, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

#define DEPTH		1000
#define POOL		200000
#define SET_BITS	21	/* hashes in a set, at most half of it */
#define WALK		250	/* steps of a random walk */

struct set {
	u64 *hash;
	u32 n;
};

struct level {
	struct state state;
	u32 next, end;		/* steps not yet taken, in the pool */
};

static struct level *levels;
static struct step *pool;
static struct set seen, alive;
static u64 seed, rng, steps, states, assignments;
static u32 deepest;
static bool full, quick;

static u64 rnd(u64 n)
{
	rng += 0x9e3779b97f4a7c15ULL;
	return gagg_mix64(rng, 3) % n;
}

/* false if it is in there already */
static bool insert(struct set *s, u64 hash)
{
	u32 mask = (1U << SET_BITS) - 1, i = (u32)(hash >> 32) & mask;

	for (; s->hash[i]; i = (i + 1) & mask)
		if (s->hash[i] == hash)
			return false;
	s->hash[i] = hash;
	if (++s->n > mask / 2) {
		printf("Bail out! more than %u states\n", s->n);
		exit(1);
	}
	return true;
}

static void clear(struct set *s)
{
	if (s->n)
		memset(s->hash, 0, sizeof(u64) << SET_BITS);
	s->n = 0;
}

/* the steps that led to a violation */
static bool violated(const struct setup *su, const struct step *taken, u32 n)
{
	u32 r, k;

	printf("# seed %llu: %s\n", (unsigned long long)seed,
	       cluster_error()[0] ? cluster_error() : "stuck");
	for (r = 0; r < su->nodes; r++)
		printf("# node %u: %u ranks%s\n", r, su->ranks[r],
		       su->homes & GAGG_BIT(r) ? ", home" : "");
	printf("# ring %u window %u stripe %u cwnd %u raw %d\n", su->ring, su->window,
	       su->stripe, su->cwnd, su->raw);
	for (r = 0; r < C_RANKS; r++) {
		printf("# rank %u contributes", r);
		for (k = 0; k < su->ring * su->rounds; k++)
			printf(" %u", su->kind[r][k]);
		printf("\n");
	}
	for (k = 0; k < n; k++)
		cluster_print(&taken[k]);
	return false;
}

/* what is left of a state when the network is empty */
static bool is_live(const struct state *st)
{
	return !insert(&alive, cluster_hash(st->node, sizeof(st->node))) ||
	       cluster_recovers(st);
}

/* depth first through everything that can happen */
static bool search(const struct setup *su)
{
	static struct step taken[DEPTH];
	u32 depth = 0;

	assignments++;
	clear(&seen);
	clear(&alive);
	cluster_init(su, &levels[0].state);
	levels[0].next = 0;
	levels[0].end = cluster_steps(&levels[0].state, pool);
	insert(&seen, cluster_hash(&levels[0].state, sizeof(struct state)));
	for (;;) {
		struct level *l = &levels[depth], *m = l + 1;

		if (l->next == l->end) {
			if (!depth--)
				break;
			continue;
		}
		taken[depth] = pool[l->next++];
		m->state = l->state;
		cluster_take(&m->state, &taken[depth]);
		steps++;
		if (cluster_error()[0])
			return violated(su, taken, depth + 1);
		if (!insert(&seen, cluster_hash(&m->state, sizeof(m->state))))
			continue;
		if (!is_live(&m->state))
			return violated(su, taken, depth + 1);
		if (!cluster_ignores_past(&m->state, rnd(~0ULL)))
			return violated(su, taken, depth + 1);
		m->next = l->end;
		m->end = l->end + cluster_steps(&m->state, &pool[l->end]);
		if (++depth > deepest)
			deepest = depth;
		if (depth + 2 > DEPTH || m->end + C_STEPS > POOL) {
			printf("Bail out! too deep\n");
			exit(1);
		}
	}
	states += seen.n;
	return true;
}

static bool walk(const struct setup *su)
{
	static struct step taken[WALK], may[C_STEPS];
	struct state *st = &levels[0].state;
	u32 k, n;

	assignments++;
	clear(&alive);
	cluster_init(su, st);
	for (k = 0; k < WALK; k++) {
		n = cluster_steps(st, may);
		if (!n)
			break;
		taken[k] = may[rnd(n)];
		cluster_take(st, &taken[k]);
		steps++;
		if (cluster_error()[0] || (k % 8 == 0 && !cluster_recovers(st)))
			return violated(su, taken, k + 1);
	}
	return cluster_recovers(st) || violated(su, taken, k);
}

/* --- which assignments ------------------------------------------------- */

static u32 ranks_of(const struct setup *su)
{
	u32 n, ranks = 0;

	for (n = 0; n < su->nodes; n++)
		ranks += su->ranks[n];
	return ranks;
}

/* 0 is among the exponents of the chunk and there is none below another: one
 * for each way to order them, ties included
 */
static bool is_least(const struct setup *su, u32 v)
{
	u32 used = 0, r;

	for (r = 0; r < ranks_of(su); r++)
		used |= 1U << su->kind[r][v];
	return used == 1 || used == 3 || used == 7;
}

/* no exchange of the last two ranks, both alone on a host without a home, comes
 * earlier in the enumeration
 */
static bool is_first(const struct setup *su)
{
	u32 a = ranks_of(su) - 2, v;

	if (su->nodes < 3 || su->ranks[1] != 1 || su->ranks[2] != 1 || (su->homes & 6))
		return true;
	for (v = 0; v < su->ring * su->rounds; v++)
		if (su->kind[a][v] != su->kind[a + 1][v])
			return su->kind[a][v] < su->kind[a + 1][v];
	return true;
}

/* every assignment of the first @kinds kinds */
static bool search_all(struct setup *su, u32 kinds)
{
	u32 cells = ranks_of(su) * su->ring * su->rounds, c, v;
	u64 k, total = 1;

	for (c = 0; c < cells; c++)
		total *= kinds;
	for (k = 0; k < total; k++) {
		u64 left = k;
		bool skip = false;

		for (c = 0; c < cells; c++, left /= kinds)
			su->kind[c / (su->ring * su->rounds)][c % (su->ring * su->rounds)] =
				(u8)(left % kinds);
		for (v = 0; v < su->ring * su->rounds && kinds <= K_EXP && !full; v++)
			skip |= !is_least(su, v);
		if (skip || (!full && !is_first(su)) || (quick && cells == 6 && kinds == 3 && rnd(16)))
			continue;
		if (!search(su))
			return false;
	}
	return true;
}

static void draw(struct setup *su)
{
	static const u8 may[] = { 0, 0, 1, 2, K_ZERO, K_ZERO, K_ZERO, K_NONFINITE };
	u32 r, v;

	for (r = 0; r < C_RANKS; r++)
		for (v = 0; v < su->ring * su->rounds; v++)
			su->kind[r][v] = (u8)(may[rnd(8)] + (rnd(4) ? 0 : K_NORESULT));
}

static bool search_some(struct setup *su, u32 count)
{
	while (count--) {
		draw(su);
		if (!search(su))
			return false;
	}
	return true;
}

static const struct {
	const char *name;
	u32 kinds;	/* all assignments of so many, or 0: */
	u32 some;	/* so many random ones */
	struct setup su;
} searches[] = {
	{ "2 hosts, 3 rounds", 3, 0,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 3, .ops = 3 } },
	{ "2 hosts, lanes, zeros, nonfinite", 5, 0,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts and a home, 2 rounds", 3, 0,
	  { .nodes = 3, .ranks = { 0, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 2 } },
	{ "3 hosts, 2 rounds", 3, 0,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts, 3 ranks, 2 rounds", 3, 0,
	  { .nodes = 2, .ranks = { 1, 2 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts, 3 ranks, two of them at the home, 2 rounds", 3, 0,
	  { .nodes = 2, .ranks = { 2, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "3 hosts, 3 rounds, some", 0, 4,
	  { .nodes = 3, .ranks = { 1, 1, 1 }, .homes = 1, .ring = 1, .window = 1, .stripe = 1,
	    .cwnd = 4, .rounds = 3, .ops = 3 } },
	{ "2 hosts, a chunk at each, some", 0, 20,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 3, .ring = 2, .window = 2, .stripe = 1,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts, a chunk at each, window of one, some", 0, 20,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 3, .ring = 2, .window = 1, .stripe = 1,
	    .cwnd = 1, .rounds = 2, .ops = 2 } },
	{ "2 hosts, runs of two chunks, some", 0, 10,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .window = 2, .stripe = 2,
	    .cwnd = 4, .rounds = 2, .ops = 1 } },
	{ "2 hosts, two chunks, one datagram at a time, some", 0, 6,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .window = 2, .stripe = 2,
	    .cwnd = 1, .rounds = 2, .ops = 1 } },
	{ "2 hosts, two chunks, window of one, raw, some", 0, 6,
	  { .nodes = 2, .ranks = { 1, 1 }, .homes = 1, .ring = 2, .window = 1, .stripe = 2,
	    .cwnd = 4, .rounds = 2, .ops = 1, .raw = true } },
};

#define SEARCHES	(sizeof(searches) / sizeof(searches[0]))

static bool run_search(u32 i)
{
	struct setup su = searches[i].su;

	return searches[i].kinds ? search_all(&su, searches[i].kinds) :
				   search_some(&su, searches[i].some);
}

/* anything of up to three hosts, not exhaustive */
static bool run_walks(u32 count)
{
	while (count--) {
		struct setup su = {
			.nodes = 2 + (u32)rnd(2), .ring = 1 + (u32)rnd(2), .cwnd = 1 + (u32)rnd(4),
			.stripe = 1 + (u32)rnd(2), .ranks = { 1, 1, 1 }, .raw = !rnd(4),
		};

		su.window = 1 + (u32)rnd(su.ring);
		su.rounds = 2 + (u32)rnd(C_ROUNDS - 1);
		su.ops = rnd(2) ? su.rounds : 1;
		su.homes = 1 + rnd(GAGG_BIT(su.nodes) - 1);
		if (su.nodes == 2)
			su.ranks[rnd(2)] = 2;
		else if (!rnd(3))
			su.ranks[0] = 0;
		draw(&su);
		if (!walk(&su))
			return false;
	}
	return true;
}

static void report(u32 n, bool ok, const char *name)
{
	printf("%s %u - %s: %llu assignments, %llu states, %llu steps, depth %u\n",
	       ok ? "ok" : "not ok", n, name, (unsigned long long)assignments,
	       (unsigned long long)states, (unsigned long long)steps, deepest);
	fflush(stdout);
	/* one violation is enough: the same may be in all that follow */
	if (!ok)
		exit(1);
	assignments = states = steps = deepest = 0;
}

int main(int argc, char **argv)
{
	const char *env = getenv("SEED");
	u32 walks = 5000, i;

	seed = env ? strtoull(env, NULL, 0) : 1;
	for (i = 1; i < (u32)argc; i++) {
		if (!strcmp(argv[i], "--full"))
			full = true;
		else if (!strcmp(argv[i], "--quick"))
			quick = true;
		else if (!strcmp(argv[i], "--seed") && i + 1 < (u32)argc)
			seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--walks") && i + 1 < (u32)argc)
			walks = (u32)strtoul(argv[++i], NULL, 0);
		else
			return fprintf(stderr, "usage: model_chan [--seed N] [--walks N] "
				       "[--full | --quick]\n"), 2;
	}
	levels = calloc(DEPTH, sizeof(*levels));
	pool = calloc(POOL, sizeof(*pool));
	seen.hash = calloc(1U << SET_BITS, sizeof(u64));
	alive.hash = calloc(1U << SET_BITS, sizeof(u64));
	if (!levels || !pool || !seen.hash || !alive.hash)
		return 1;
	printf("TAP version 13\n1..%u\n", (u32)SEARCHES + 1);
	rng = seed;
	report(1, run_walks(walks), "random walks");
	for (i = 0; i < SEARCHES; i++)
		report(i + 2, run_search(i), searches[i].name);
	return 0;
}
