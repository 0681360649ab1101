// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

#define DEPTH		2000
#define POOL		400000
#define SET_BITS	22	/* hashes in a set, at most half of it */
#define WALK		250	/* steps of a random walk */
#define QUICK		20000	/* states of a search with --quick */

#define STUCK		"stuck when all that is under way is lost"
#define NOTICED		"a dead datagram has changed something"

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
static u64 seed, rng, steps, states, assignments, cut;
static u32 deepest;
bool search_full, search_quick;

u64 rnd(u64 n)
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

static void print_bounds(const struct setup *su)
{
	u32 n;

	printf("# %s\n", su->sync ? su->sync : "bsp");
	printf("# %u hosts:", su->nodes);
	for (n = 0; n < su->nodes; n++)
		printf(" %u rank%s%s%s", su->ranks[n], su->ranks[n] == 1 ? "" : "s",
		       su->homes & GAGG_BIT(n) ? " and a home" : "",
		       n + 1 < su->nodes ? "," : ";");
	printf(" %u round%s of %u chunk%s, window %u, stripe %u, %u datagram%s under way%s",
	       su->rounds, su->rounds == 1 ? "" : "s", su->ring, su->ring == 1 ? "" : "s",
	       su->window, su->stripe, su->cwnd, su->cwnd == 1 ? "" : "s",
	       su->raw ? ", raw" : "");
	if (su->epochs > 1)
		printf(", %u epochs%s", su->epochs, su->same_number ? " of one number" : "");
	for (n = 0; n < su->chans && su->chans > 1; n++)
		printf(", channel %u of ranks %#llx", n, (unsigned long long)su->members[n]);
	printf("\n");
}

/* the steps that led to a violation; @what: one that no check has a name for */
static bool violated(const struct setup *su, const struct step *taken, u32 n, const char *what)
{
	u32 r, k;

	printf("# seed %llu: %s\n", (unsigned long long)seed,
	       cluster_error()[0] ? cluster_error() : what);
	print_bounds(su);
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

/* the steps from a state, in the pool from @at on; returns their end */
static u32 steps_from(const struct state *st, u32 at, bool shuffle)
{
	u32 n = cluster_steps(st, &pool[at]), i, k;

	for (i = n; shuffle && i > 1; i--) {
		struct step s = pool[at + i - 1];

		k = (u32)rnd(i);
		pool[at + i - 1] = pool[at + k];
		pool[at + k] = s;
	}
	return at + n;
}

/* depth first through everything that can happen; a @limit ends it, and chance
 * says what is seen until then
 */
static bool search(const struct setup *su, u32 limit)
{
	static struct step taken[DEPTH];
	u32 depth = 0;

	assignments++;
	clear(&seen);
	clear(&alive);
	cluster_init(su, &levels[0].state);
	levels[0].next = 0;
	levels[0].end = steps_from(&levels[0].state, 0, limit);
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
			return violated(su, taken, depth + 1, "");
		if (!insert(&seen, cluster_hash(&m->state, sizeof(m->state))))
			continue;
		if (!is_live(&m->state))
			return violated(su, taken, depth + 1, STUCK);
		if (!cluster_ignores(&m->state, rnd(~0ULL)))
			return violated(su, taken, depth + 1, NOTICED);
		if (limit && seen.n >= limit) {
			cut++;
			break;
		}
		m->next = l->end;
		m->end = steps_from(&m->state, l->end, limit);
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
		/* epochs last a while */
		if ((taken[k].type == STEP_END || taken[k].type == STEP_START) && rnd(4))
			continue;
		cluster_take(st, &taken[k]);
		steps++;
		if (cluster_error()[0] || (k % 8 == 0 && !cluster_recovers(st)))
			return violated(su, taken, k + 1, STUCK);
		if (k % 8 == 4 && !cluster_ignores(st, rnd(~0ULL)))
			return violated(su, taken, k + 1, NOTICED);
	}
	return cluster_recovers(st) || violated(su, taken, k, STUCK);
}

/* --- which assignments ------------------------------------------------- */

u32 ranks_of(const struct setup *su)
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

/* every assignment of the first @kinds kinds; unless --full, of exponents one
 * stands for all that order them alike, up to an exchange of hosts; --quick
 * takes some of those
 */
static bool search_all(struct setup *su, u32 kinds, u32 limit)
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
		for (v = 0; v < su->ring * su->rounds && kinds <= K_EXP && !search_full; v++)
			skip |= !is_least(su, v);
		if (skip || (!search_full && !is_first(su)) ||
		    (search_quick && cells == 6 && kinds == 3 && rnd(16)))
			continue;
		if (!search(su, limit))
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

static bool run_search(const struct search *s)
{
	u32 grow = search_full && s->grow ? s->grow : 1;
	u32 count = s->some * grow, limit = s->limit * grow;
	struct setup su = s->su;

	if (s->kinds)
		return search_all(&su, s->kinds, limit);
	if (search_quick) {
		count = (count + 3) / 4;
		limit = QUICK;
	}
	while (count--) {
		draw(&su);
		if (!search(&su, limit))
			return false;
	}
	return true;
}

void search_shape(struct setup *su)
{
	su->nodes = 2 + (u32)rnd(2);
	su->ranks[0] = 1;
	su->ranks[1] = 1;
	su->ranks[2] = 1;
	su->ring = 1 + (u32)rnd(2);
	su->cwnd = 1 + (u32)rnd(4);
	su->stripe = 1;
	su->window = 1 + (u32)rnd(su->ring);
	su->rounds = 1 + (u32)rnd(C_ROUNDS);
	su->ops = 1;
	su->homes = 1 + rnd(GAGG_BIT(su->nodes) - 1);
}

static bool run_walks(const struct model *m, u32 count)
{
	while (count--) {
		struct setup su;

		memset(&su, 0, sizeof(su));
		m->shape(&su);
		draw(&su);
		if (!walk(&su))
			return false;
	}
	return true;
}

static void report(u32 n, bool ok, const char *name)
{
	printf("%s %u - %s: %llu assignments, %llu states%s, %llu steps, depth %u\n",
	       ok ? "ok" : "not ok", n, name, (unsigned long long)assignments,
	       (unsigned long long)states, cut ? " of more" : "", (unsigned long long)steps,
	       deepest);
	fflush(stdout);
	/* one violation is enough: the same may be in all that follow */
	if (!ok)
		exit(1);
	assignments = states = steps = deepest = cut = 0;
}

int main(int argc, char **argv)
{
	const struct model *m = &model;
	const char *env = getenv("SEED");
	u32 walks = m->walks, i;

	seed = env ? strtoull(env, NULL, 0) : 1;
	search_full = getenv("FULL");
	for (i = 1; i < (u32)argc; i++) {
		if (!strcmp(argv[i], "--full"))
			search_full = true;
		else if (!strcmp(argv[i], "--quick"))
			search_quick = true;
		else if (!strcmp(argv[i], "--seed") && i + 1 < (u32)argc)
			seed = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--walks") && i + 1 < (u32)argc)
			walks = (u32)strtoul(argv[++i], NULL, 0);
		else
			return fprintf(stderr, "usage: %s [--seed N] [--walks N] [--full | --quick]\n",
				       argv[0]), 2;
	}
	levels = calloc(DEPTH, sizeof(*levels));
	pool = calloc(POOL, sizeof(*pool));
	seen.hash = calloc(1U << SET_BITS, sizeof(u64));
	alive.hash = calloc(1U << SET_BITS, sizeof(u64));
	if (!levels || !pool || !seen.hash || !alive.hash)
		return 1;
	printf("TAP version 13\n1..%u\n", m->nsearches + 1);
	rng = seed;
	report(1, run_walks(m, walks), "random walks");
	for (i = 0; i < m->nsearches; i++) {
		print_bounds(&m->searches[i].su);
		report(i + 2, run_search(&m->searches[i]), m->searches[i].name);
	}
	return 0;
}
