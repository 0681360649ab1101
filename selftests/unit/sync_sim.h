/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Simulated stores of up to GAGG_CLOCK_RANKS workers: time is a number, the policies are those of
 * kmod/core. store/home.c and store/worker.c are replaced by what a policy sees of them: an op is a
 * read, or an update that ends with ticks; a home asks the policy again after each tick. Requests,
 * answers and ticks have random delays, so homes see the same events in different orders.
 *
 * sim_watch is called for each grant, refusal and tick, before it has an effect.
 */
#ifndef SYNC_SIM_H
#define SYNC_SIM_H

#include <linux/gagg_peer.h>
#include "sync/internal.h"
#include "event_heap.h"

#define SIM_HOMES	2	/* homes of a store without copies */
#define SIM_CLASSES	4	/* classes of homes of copies; a tick reaches a class at once */
#define SIM_CLASS_SIZE	(GAGG_CLOCK_RANKS / SIM_CLASSES)

/* what a worker does in turn */
enum sim_op {
	SIM_AGAIN,
	SIM_COMPUTE,
	SIM_READ,		/* at all homes */
	SIM_READ_OWN,
	SIM_READ_PEER,
	SIM_UPDATE,		/* at all homes, or to all others as the policy says */
	SIM_UPDATE_OWN,
	SIM_UPDATE_PEER,
	SIM_UPDATE_NONE,
};

enum sim_kind { SIM_STORE, SIM_TURNS, SIM_PARTS, SIM_PULL, SIM_PUSH, SIM_PAIR };

static const enum sim_op sim_program[][5] = {
	[SIM_STORE] = { SIM_READ, SIM_COMPUTE, SIM_UPDATE },
	[SIM_TURNS] = { SIM_READ, SIM_COMPUTE, SIM_UPDATE },
	[SIM_PARTS] = { SIM_READ_OWN, SIM_COMPUTE, SIM_UPDATE },
	[SIM_PULL] = { SIM_COMPUTE, SIM_READ_PEER, SIM_UPDATE_OWN },
	[SIM_PUSH] = { SIM_COMPUTE, SIM_READ_OWN, SIM_UPDATE_PEER },
	[SIM_PAIR] = { SIM_COMPUTE, SIM_UPDATE_OWN, SIM_READ_PEER, SIM_UPDATE_NONE },
};

enum sim_event { SIM_COMPUTED, SIM_ASKS, SIM_ANSWERED, SIM_TICKS, SIM_TIMER, SIM_LEAVES };

#define SIM_CLASS(c)	(GAGG_CLOCK_RANKS + (c))

/* a request of a worker at a home, which may have to wait there */
struct sim_ask {
	u32 home;
	bool update;
	struct sim_ask *next;
	u32 rank;
};

struct sim_worker {
	u64 pace;		/* ns for a clock of the worker */
	u32 clock;		/* updates that are over at all homes */
	u32 last;		/* it finishes at this clock */
	u32 at;			/* position in its program */
	u32 missing;		/* answers or ticks until its op is over */
	u32 target;		/* home where its update has chunks, or GAGG_CLOCK_RANKS */
	bool over;
	struct sim_ask ask[SIM_HOMES];
};

struct sim_home {
	struct gagg_clocks k;
	union gagg_sync_state st;
	struct sim_ask *asks;
	u64 timer;
};

struct sim_watch {
	void (*granted)(u32 rank, u32 home, bool update, u32 clock);
	void (*refused)(u32 rank, u32 home, bool update, u32 clock);
	void (*ticks)(u32 rank, u32 home, u32 clock);
};

static struct sim_worker sim_worker[GAGG_CLOCK_RANKS];
static struct sim_home *sim_home;	/* GAGG_CLOCK_RANKS of them */
static struct gagg_sync_param sim_param;
static const struct gagg_sync_ops *sim_ops;
static enum sim_kind sim_kind;
static const struct sim_watch *sim_watch;
static u64 sim_now, sim_seed;

static u32 sim_rnd(u32 below)
{
	sim_seed += 0x9e3779b97f4a7c15ULL;
	return (u32)(gagg_mix64(sim_seed, 7) % below);
}

static void sim_event(enum sim_event what, u64 after, u32 who, u32 where, u32 clock)
{
	event_push(&(struct event){ .at = sim_now + after, .key = sim_rnd(~0U), .what = what,
				    .who = who, .where = where, .clock = clock });
}

/* across the network */
static u64 sim_way(void)
{
	return (20 + sim_rnd(sim_rnd(16) ? 60 : 600)) * GAGG_USEC;
}

/* the rank whose copy a worker reads, or adds to, at a clock */
static u32 sim_peer(u32 rank, u32 clock)
{
	const struct gagg_clocks *k = &sim_home[rank].k;
	u32 place = gagg_clocks_place(k, rank);
	u64 seed = gagg_clocks_seed(k);

	if (sim_kind == SIM_PAIR)
		return gagg_clocks_at(k, gagg_peer_place_pair(seed, k->n, place, clock / 2));
	return gagg_clocks_at(k, gagg_peer_place_to(seed, k->n, place, clock));
}

static bool sim_snapshot(void)
{
	return sim_ops->snapshot && sim_ops->snapshot(&sim_param);
}

/* as store_home_may_update() and store_home_may_read() */
static bool sim_may(const struct sim_ask *a)
{
	u32 clock = sim_worker[a->rank].clock;
	struct sim_home *h = &sim_home[a->home];

	if (!a->update)
		return sim_ops->may_read(&sim_param, &h->st, &h->k, a->rank, clock);
	if (sim_snapshot() && clock != h->k.min)
		return false;
	return !sim_ops->may_update ||
	       sim_ops->may_update(&sim_param, &h->st, &h->k, a->rank, sim_now);
}

/* grants a request, or refuses it for now */
static bool sim_try(struct sim_ask *a)
{
	u32 clock = sim_worker[a->rank].clock;
	bool may = sim_may(a);

	(may ? sim_watch->granted : sim_watch->refused)(a->rank, a->home, a->update, clock);
	if (may && a->update)
		sim_event(SIM_TICKS, sim_way(), a->rank, a->home, clock + 1);
	else if (may)
		sim_event(SIM_ANSWERED, sim_way(), a->rank, a->home, clock);
	return may;
}

static void sim_serve(struct sim_home *h)
{
	struct sim_ask **at = &h->asks, *a;
	u64 due;

	if (sim_ops->run) {
		due = sim_ops->run(&sim_param, &h->st, &h->k, sim_now);
		assert_true(due > sim_now);
		if (due != GAGG_NEVER && (due < h->timer || h->timer <= sim_now)) {
			h->timer = due;
			sim_event(SIM_TIMER, due - sim_now, 0, (u32)(h - sim_home), 0);
		}
	}
	while ((a = *at)) {
		if (sim_worker[a->rank].over || sim_try(a))
			*at = a->next;
		else
			at = &a->next;
	}
}

static void sim_ask(u32 rank, u32 slot, u32 home, bool update)
{
	struct sim_ask *a = &sim_worker[rank].ask[slot];

	*a = (struct sim_ask){ .home = home, .update = update, .rank = rank };
	sim_worker[rank].missing++;
	sim_event(SIM_ASKS, sim_way(), rank, slot, 0);
}

static void sim_arrives(struct sim_ask *a)
{
	if (sim_worker[a->rank].over || sim_try(a))
		return;
	a->next = sim_home[a->home].asks;
	sim_home[a->home].asks = a;
}

/* as gagg_store_tick() */
static void sim_tick_at(u32 rank, u32 home, u32 clock)
{
	struct sim_home *h = &sim_home[home];

	if (clock <= h->k.clock[rank])
		return;
	sim_watch->ticks(rank, home, clock);
	gagg_clocks_tick(&h->k, rank, clock);
	if (sim_ops->on_tick)
		sim_ops->on_tick(&sim_param, &h->st, &h->k, rank, sim_now);
	if (h->asks || sim_ops->run)
		sim_serve(h);
}

/* at all homes of a class, or at a single one */
static void sim_tick(u32 rank, u32 where, u32 clock)
{
	const struct sim_worker *w = &sim_worker[rank];
	const struct gagg_clocks *k = &sim_home[rank].k;
	u32 home, end = (where + 1 - SIM_CLASS(0)) * SIM_CLASS_SIZE;

	if (where < GAGG_CLOCK_RANKS) {
		sim_tick_at(rank, where, clock);
		return;
	}
	for (home = gagg_clocks_next(k, end - SIM_CLASS_SIZE); home < end;
	     home = gagg_clocks_next(k, home + 1))
		if (clock == GAGG_CLOCK_END || (home != rank && home != w->target))
			sim_tick_at(rank, home, clock);
}

/* homes where an update has no chunks hear the tick at once, but for one's own */
static void sim_send_ticks(u32 rank, u32 clock)
{
	u32 i, n = sim_ops->copies ? SIM_CLASSES : SIM_HOMES;

	for (i = 0; i < n; i++)
		sim_event(SIM_TICKS, sim_way(), rank, sim_ops->copies ? SIM_CLASS(i) : i, clock);
	sim_worker[rank].missing += n;
}

static void sim_update(u32 rank, enum sim_op op)
{
	struct sim_worker *w = &sim_worker[rank];
	u32 i;

	w->target = GAGG_CLOCK_RANKS;
	if (!sim_ops->copies) {
		for (i = 0; i < SIM_HOMES; i++)
			sim_ask(rank, i, i, true);
		return;
	}
	if (op == SIM_UPDATE_PEER)
		w->target = sim_peer(rank, w->clock);
	/* the worker's own home may make it wait, even if the update has no chunks there */
	sim_ask(rank, 0, rank, true);
	if (w->target < GAGG_CLOCK_RANKS && w->target != rank)
		sim_ask(rank, 1, w->target, true);
	sim_send_ticks(rank, w->clock + 1);
}

static void sim_read(u32 rank, enum sim_op op)
{
	u32 i;

	if (op == SIM_READ)
		for (i = 0; i < SIM_HOMES; i++)
			sim_ask(rank, i, i, false);
	else
		sim_ask(rank, 0, op == SIM_READ_OWN ? rank :
			sim_peer(rank, sim_worker[rank].clock), false);
}

/* modes are for workers that are slow for a while, and for one that always is */
static void sim_compute(u32 rank)
{
	const struct sim_worker *w = &sim_worker[rank];
	u64 time = w->pace - w->pace / 10 + sim_rnd((u32)(w->pace / 5));

	sim_event(SIM_COMPUTED, sim_rnd(20) ? time : 4 * time, rank, 0, 0);
}

static void sim_end(u32 rank)
{
	sim_worker[rank].over = true;
	sim_send_ticks(rank, GAGG_CLOCK_END);
}

static void sim_next(u32 rank)
{
	struct sim_worker *w = &sim_worker[rank];
	enum sim_op op = sim_program[sim_kind][w->at];

	if (op == SIM_AGAIN) {
		if (w->clock >= w->last) {
			sim_end(rank);
			return;
		}
		w->at = 0;
		op = sim_program[sim_kind][0];
	}
	w->at++;
	w->missing = 0;
	if (op == SIM_COMPUTE)
		sim_compute(rank);
	else if (op < SIM_UPDATE)
		sim_read(rank, op);
	else
		sim_update(rank, op);
}

/* an answer or a tick has come */
static void sim_done(u32 rank, bool update)
{
	struct sim_worker *w = &sim_worker[rank];

	if (w->over || --w->missing)
		return;
	w->clock += update;
	sim_next(rank);
}

static void sim_happens(const struct event *e)
{
	struct sim_worker *w = &sim_worker[e->who];

	switch (e->what) {
	case SIM_COMPUTED:
		if (!w->over)
			sim_next(e->who);
		break;
	case SIM_ASKS:
		sim_arrives(&w->ask[e->where]);
		break;
	case SIM_ANSWERED:
		sim_done(e->who, false);
		break;
	case SIM_TICKS:
		sim_tick(e->who, e->where, e->clock);
		sim_done(e->who, true);
		break;
	case SIM_TIMER:
		sim_serve(&sim_home[e->where]);
		break;
	case SIM_LEAVES:
		if (!w->over)
			sim_end(e->who);
	}
}

/*
 * sim_begin - stores of @members in that mode, and their workers
 * @clocks:	number of clocks that most workers make
 *
 * One worker is three times as slow; one of 16 finishes early, another leaves in the middle of an
 * op. (There are no deaths: a death would end the epoch.)
 */
static void sim_begin(const struct gagg_sync_param *p, enum sim_kind kind, const u64 *members,
		      u32 clocks, const struct sim_watch *watch)
{
	const struct gagg_clocks *k;
	u32 i, slow, r;

	sim_param = *p;
	sim_ops = gagg_sync_get(p->mode);
	sim_kind = kind;
	sim_watch = watch;
	sim_now = GAGG_SEC;
	memset(sim_worker, 0, sizeof(sim_worker));
	for (i = 0; i < GAGG_CLOCK_RANKS; i++) {
		memset(&sim_home[i], 0, sizeof(sim_home[i]));
		gagg_clocks_init(&sim_home[i].k, members);
		sim_home[i].k.owner = i;
		sim_home[i].k.homes = sim_ops->copies ? 1 : SIM_HOMES;
	}
	k = &sim_home[0].k;
	slow = gagg_clocks_at(k, sim_rnd(k->n));
	gagg_for_each_worker(k, r) {
		struct sim_worker *w = &sim_worker[r];

		w->pace = (500 + sim_rnd(1000)) * GAGG_USEC * (r == slow ? 3 : 1);
		w->last = sim_rnd(16) ? clocks : 1 + sim_rnd(clocks);
		if (!sim_rnd(16))
			sim_event(SIM_LEAVES, sim_rnd(clocks * 1000) * GAGG_USEC, r, 0, 0);
		sim_next(r);
	}
	for (i = 0; i < SIM_HOMES && sim_ops->run; i++)
		sim_serve(&sim_home[i]);
}

/*
 * runs until nothing can happen; returns a rank that has not come to its end, or GAGG_CLOCK_RANKS
 */
static u32 sim_run(void)
{
	const struct gagg_clocks *k = &sim_home[0].k;
	struct event e;
	u32 r;

	while (event_pop(&e)) {
		sim_now = e.at;
		sim_happens(&e);
	}
	gagg_for_each_worker(k, r)
		if (!sim_worker[r].over)
			return r;
	return GAGG_CLOCK_RANKS;
}

#endif
