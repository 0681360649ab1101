// SPDX-License-Identifier: GPL-2.0
/*
 * The trainers, time.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "world_int.h"

#define TIME_MAX	(600 * GAGG_SEC)

void world_fail(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->error[0])
		return;
	va_start(ap, fmt);
	vsnprintf(w->error, sizeof(w->error), fmt, ap);
	va_end(ap);
}

u64 world_random(struct world *w)
{
	w->rng += 0x9e3779b97f4a7c15ULL;
	return gagg_mix64(w->rng, 1);
}

/* --- trainers ---------------------------------------------------------- */

static bool read_results(struct host *h, u32 c, struct trainer *t)
{
	struct world *w = h->w;
	struct chan_host *k = &h->c[c];
	u32 ring = h->g.ring, i;
	u64 was = t->read;

	while (t->read < w->total[c] && k->holds[t->read % ring] == t->read + 1) {
		const struct reference *ref = world_reference(w, c, t->read);
		u32 slot = t->read % ring;

		for (i = 0; i < k->lanes[slot]; i++)
			if (k->result[slot * WORLD_LANES + i] != (s32)ref->lanes[i])
				world_fail(w, "host %u chunk %llu changed before it was read", h->id,
					   (ull)t->read);
		t->read++;
	}
	if (t->read == was)
		return false;
	w->stall = gagg_max64(w->stall, w->now - w->read_at);
	w->read_at = w->now;
	return true;
}

static bool fill(struct host *h, u32 c, u32 rank, struct trainer *t)
{
	struct world *w = h->w;
	u32 ring = h->g.ring;
	u64 filled = t->filled;

	while (filled < w->total[c] && filled < t->read + ring && t->busy_until <= w->now) {
		u32 slot = filled % ring;

		t->desc[slot] = world_contribution(w, rank, c, filled,
						   &t->contrib[slot * WORLD_LANES]);
		filled++;
		if (w->cfg.think && world_random(w) % 16 == 0)
			t->busy_until = w->now + world_random(w) % w->cfg.think;
	}
	if (filled == t->filled)
		return false;
	t->filled = filled;
	return true;
}

static bool submit(struct host *h, u32 c, u32 l)
{
	struct world *w = h->w;
	struct trainer *t = &h->c[c].trainer[l];
	u32 op = t->next_op, s;
	u64 start = op ? w->op_end[c][op - 1] : 0;

	if (op == w->cfg.ops)
		return false;
	/* in all shards or in none */
	for (s = 0; s < w->cfg.shards; s++) {
		const struct gagg_local *lo = &h->c[c].part[s]->local[l];

		if (lo->numbers - lo->finished >= GAGG_OPS)
			return false;
	}
	for (s = 0; s < w->cfg.shards; s++)
		if (gagg_ring_submit(h->c[c].part[s], l, &(struct gagg_op){
			.sig = world_sig(op), .laneop = w->cfg.laneop,
			.flags = w->cfg.raw ? GAGG_OP_RAW : 0, .last_lanes = w->op_last[c][op],
		}, w->op_end[c][op] - start) != op + 1)
			world_fail(w, "host %u: op %u is not submitted", h->id, op + 1);
	t->next_op++;
	for (s = 0; s < w->cfg.shards; s++)
		host_refill(h, s);
	return true;
}

static bool trainer_step(struct host *h, u32 c, u32 l)
{
	struct trainer *t = &h->c[c].trainer[l];
	bool moved;

	if (h->w->now < t->busy_until)
		return false;
	moved = read_results(h, c, t);
	moved |= fill(h, c, h->c[c].part[0]->local[l].rank, t);
	while (submit(h, c, l))
		moved = true;
	return moved;
}

/* once each; true if something has come of it */
static bool trainers_step(struct host *h)
{
	bool moved = false;
	u32 c, l;

	/* those that pause go on without news */
	if (!h->news && !h->w->cfg.think && !h->w->cfg.late)
		return false;
	h->news = false;
	for (c = 0; c < h->w->cfg.chans; c++)
		for (l = 0; l < h->c[c].part[0]->nlocals; l++)
			moved |= trainer_step(h, c, l);
	h->news |= moved;
	return moved;
}

static bool chan_finished(const struct world *w, u32 c)
{
	u32 i, l, s;

	for (i = 0; i < w->cfg.nodes; i++)
		for (l = 0; l < w->host[i].c[c].part[0]->nlocals; l++) {
			const struct trainer *t = &w->host[i].c[c].trainer[l];

			if (t->read < w->total[c])
				return false;
			for (s = 0; s < w->cfg.shards; s++)
				if (t->done_in[s] < w->cfg.ops)
					return false;
		}
	return true;
}

static bool finished(struct world *w)
{
	bool all = true;
	u32 c;

	for (c = 0; c < w->cfg.chans; c++) {
		if (w->chan_time[c])
			continue;
		if (chan_finished(w, c))
			w->chan_time[c] = w->now ? w->now : 1;
		else
			all = false;
	}
	return all;
}

/* --- time -------------------------------------------------------------- */

static u64 next_time(struct world *w)
{
	u64 at = GAGG_NEVER;
	u32 i, c, l;

	if (w->nflight)
		at = w->flight[0].at;
	for (i = 0; i < w->cfg.nodes; i++) {
		struct host *h = &w->host[i];

		at = gagg_min64(at, host_due(h));
		if (!w->cfg.think && !w->cfg.late)
			continue;
		for (c = 0; c < w->cfg.chans; c++)
			for (l = 0; l < h->c[c].part[0]->nlocals; l++)
				if (h->c[c].trainer[l].busy_until > w->now)
					at = gagg_min64(at, h->c[c].trainer[l].busy_until);
	}
	return at;
}

/* a rank dies: all begin the next epoch, and have forgotten the last one */
static void die(struct world *w)
{
	u32 i, c;

	w->life++;
	w->epoch += world_chance(w, 500) ? 1 : 1ULL << 32;
	w->cookie = world_random(w);
	for (c = 0; c < w->cfg.chans; c++) {
		memset(w->ref[c], 0, w->total[c] * sizeof(*w->ref[c]));
		memset(w->decided[c], 0, w->total[c] * sizeof(*w->decided[c]));
		w->chan_time[c] = 0;
	}
	for (i = 0; i < w->cfg.nodes; i++) {
		host_end(&w->host[i]);
		host_begin(&w->host[i]);
	}
}

/* what the counters must say at the end */
static void check_counts(struct world *w)
{
	const struct world_config *cfg = &w->cfg;
	u64 chunks = 0, contribs = 0;
	u32 c, k;

	for (c = 0; c < cfg->chans; c++) {
		chunks += w->total[c];
		contribs += w->total[c] * gagg_weight64(w->members[c]);
	}
	if (world_count(w, GAGG_N_CHUNKS) != chunks)
		world_fail(w, "%llu chunks were published, not %llu",
			   (ull)world_count(w, GAGG_N_CHUNKS), (ull)chunks);
	if (cfg->loss || cfg->dup || cfg->jitter || cfg->wire || world_rough(w) || w->life ||
	    w->host->g.quorum)
		return;
	/* nothing was lost: nothing is said twice */
	for (k = 0; k < GAGG_N_MAX; k++) {
		/* a worker that waits for a rank, or for long in its own queue, asks */
		bool asks = cfg->late || cfg->think || cfg->cwnd < cfg->window;
		bool repeats = k == GAGG_N_PULLS;

		repeats |= !cfg->exps && k == GAGG_N_VOIDS;
		/* and is answered for all of its host, also what is still on its way */
		repeats |= !cfg->exps && !(asks && cfg->per_node > 1) && k == GAGG_N_RETRANSMITS;
		repeats |= !(asks && (cfg->exps || cfg->per_node > 1)) &&
			   (k == GAGG_N_DUPLICATES || k == GAGG_N_STALE);
		repeats |= !asks && (k == GAGG_N_QUERIES || k == GAGG_N_REPAIRS);
		if (repeats && world_count(w, k))
			world_fail(w, "no loss, but counter %u is %llu", k,
				   (ull)world_count(w, k));
	}
	if (!cfg->exps && world_count(w, GAGG_N_CONTRIBUTIONS) != contribs)
		world_fail(w, "%llu contributions were counted, not %llu",
			   (ull)world_count(w, GAGG_N_CONTRIBUTIONS), (ull)contribs);
}

int world_run(struct world *w)
{
	u32 i;
	bool moved;

	while (!w->error[0] && !finished(w)) {
		do {
			moved = false;
			for (i = 0; i < w->cfg.nodes; i++)
				moved |= trainers_step(&w->host[i]);
		} while (moved && !w->error[0]);
		if (finished(w))
			break;
		w->now = next_time(w);
		if (w->now > TIME_MAX) {
			world_fail(w, "stuck: nothing will happen before %llu s",
				   (ull)(w->now / GAGG_SEC));
			break;
		}
		world_deliver(w);
		for (i = 0; i < w->cfg.nodes; i++)
			host_timers(&w->host[i]);
		if (w->cfg.mortality && w->life + 1 < WORLD_LIVES &&
		    world_random(w) % w->cfg.mortality == 0)
			die(w);
	}
	if (!w->error[0])
		check_counts(w);
	return w->error[0] ? -1 : 0;
}

struct world *world_new(const struct world_config *cfg)
{
	struct world *w = calloc(1, sizeof(*w));
	u32 c, k, i;

	w->cfg = *cfg;
	w->rng = cfg->seed;
	w->epoch = 7;
	w->cookie = 0x1234567890abcdefULL;
	if (!w->cfg.worker_nodes)
		w->cfg.worker_nodes = ~0ULL >> (64 - cfg->nodes);
	if (!w->cfg.home_nodes)
		w->cfg.home_nodes = ~0ULL >> (64 - cfg->nodes);
	w->host = calloc(cfg->nodes, sizeof(*w->host));
	for (c = 0; c < cfg->chans; c++) {
		for (k = 0; k < cfg->ops; k++) {
			u32 chunks = 1 + (u32)(world_random(w) % cfg->max_chunks);
			u16 last = (u16)(1 + world_random(w) % WORLD_LANES);

			w->total[c] += cfg->exact ? cfg->max_chunks : chunks;
			w->op_end[c][k] = w->total[c];
			last += world_wide(w) ? last & 1 : 0;
			w->op_last[c][k] = cfg->exact ? WORLD_LANES : last;
		}
		w->ref[c] = calloc(w->total[c], sizeof(*w->ref[c]));
		w->decided[c] = calloc(w->total[c], sizeof(*w->decided[c]));
	}
	for (i = 0; i < cfg->nodes; i++)
		host_init(w, i);
	return w;
}

void world_free(struct world *w)
{
	u32 i;

	for (i = 0; i < w->cfg.nodes; i++)
		host_free(&w->host[i]);
	for (i = 0; i < w->cfg.chans; i++) {
		free(w->ref[i]);
		free(w->decided[i]);
	}
	free(w->host);
	world_net_free(w);
	free(w);
}

const char *world_error(const struct world *w)
{
	return w->error;
}

u64 world_count(const struct world *w, enum gagg_count what)
{
	u64 n = 0;
	u32 i, s;

	for (i = 0; i < w->cfg.nodes; i++)
		for (s = 0; s < w->cfg.shards; s++)
			n += w->host[i].sh[s]->n[what];
	return n;
}

u64 world_sent(const struct world *w, enum gagg_wire_type type)
{
	return w->sent[type];
}

u64 world_lanes(const struct world *w, enum gagg_wire_type type)
{
	return w->lanes[type];
}

u64 world_chunks(const struct world *w, u32 c)
{
	return w->total[c];
}

u64 world_overflows(const struct world *w)
{
	return w->befell[WORLD_QUEUE];
}

u64 world_befell(const struct world *w, enum world_weather what)
{
	return w->befell[what];
}

u32 world_deaths(const struct world *w)
{
	return w->life;
}

u64 world_time(const struct world *w)
{
	return w->now;
}

u64 world_stall(const struct world *w)
{
	return w->stall;
}

u64 world_chan_time(const struct world *w, u32 c)
{
	return w->chan_time[c];
}
