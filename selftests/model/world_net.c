// SPDX-License-Identifier: GPL-2.0
/*
 * The network between hosts: links, a switch, and what befalls them.
 */
#include <stdlib.h>
#include <string.h>
#include "world_int.h"

#define FLIGHT_MAX	400000
#define DELAY		(50 * GAGG_USEC)

bool world_chance(struct world *w, u32 permille)
{
	return permille && world_random(w) % 1000 < permille;
}

/* --- the network: a heap of datagrams by the time of their arrival ----- */

static bool sooner(const struct arrival *a, const struct arrival *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void flight_push(struct world *w, const struct arrival *a)
{
	u32 i = w->nflight++;

	if (w->nflight > w->room) {
		w->room = w->nflight * 2;
		w->flight = realloc(w->flight, w->room * sizeof(*w->flight));
	}
	for (; i && sooner(a, &w->flight[(i - 1) / 2]); i = (i - 1) / 2)
		w->flight[i] = w->flight[(i - 1) / 2];
	w->flight[i] = *a;
}

static void flight_pop(struct world *w, struct arrival *a)
{
	const struct arrival *last = &w->flight[--w->nflight];
	u32 i = 0, k;

	*a = w->flight[0];
	for (; (k = 2 * i + 1) < w->nflight; i = k) {
		if (k + 1 < w->nflight && sooner(&w->flight[k + 1], &w->flight[k]))
			k++;
		if (!sooner(&w->flight[k], last))
			break;
		w->flight[i] = w->flight[k];
	}
	w->flight[i] = *last;
}

static struct packet *new_packet(struct world *w)
{
	struct packet *p = w->spare;

	if (!p)
		return malloc(sizeof(*p));
	w->spare = p->next;
	return p;
}

static void free_packet(struct world *w, struct packet *p)
{
	p->next = w->spare;
	w->spare = p;
}

/* when what is at a link at @at has gone through it */
static u64 through(u64 *busy_until, u64 at, u64 takes)
{
	*busy_until = gagg_max64(*busy_until, at) + takes;
	return *busy_until;
}

/* --- weather ----------------------------------------------------------- */

/* outages, bursts of loss and short queues: things are lost that were not asked to be */
bool world_rough(const struct world *w)
{
	const struct world_config *cfg = &w->cfg;

	return cfg->outage.lasts || cfg->queue || cfg->burst || cfg->swing || cfg->straggle;
}

static bool befalls(struct world *w, enum world_weather what, bool does)
{
	w->befell[what] += does;
	return does;
}

/* an outage on the way of a datagram from @from to @to, at @at */
static bool is_out(const struct world *w, u32 from, u32 to, u64 at)
{
	const struct world_outage *o = &w->cfg.outage;
	u64 since = at - o->first, begin = 0;

	if (at < o->first)
		return false;
	if (o->every && o->uneven)
		begin = gagg_mix64(since / o->every, w->cfg.seed) % (o->every - o->lasts);
	if (o->every)
		since %= o->every;
	if (since < begin || since - begin >= o->lasts)
		return false;
	if (!o->nodes)
		return true;
	return (o->ways & WORLD_OUT && o->nodes & GAGG_BIT(from)) ||
	       (o->ways & WORLD_IN && o->nodes & GAGG_BIT(to));
}

/* Gilbert: in a burst everything that the host sends is lost */
static bool in_burst(struct host *h)
{
	const struct world_config *cfg = &h->w->cfg;

	if (cfg->burst && world_chance(h->w, h->bad ? cfg->burst_ends : cfg->burst))
		h->bad = !h->bad;
	return h->bad;
}

/* from one end to the other, without links and queues */
static u64 delay(struct world *w, u64 at)
{
	const struct world_config *cfg = &w->cfg;
	u64 takes = cfg->delay ? cfg->delay : DELAY;

	if (befalls(w, WORLD_SWING, cfg->swing && at / cfg->swing_every % 2))
		takes += cfg->swing;
	if (befalls(w, WORLD_STRAGGLE, world_chance(w, cfg->straggle)))
		takes += cfg->straggle_by;
	return takes + (cfg->jitter ? world_random(w) % cfg->jitter : 0);
}

/* a queue at @link, of datagrams with lanes, has no room for another */
static bool is_full(const struct world *w, u64 link, u64 at)
{
	return w->cfg.queue && link > at && link - at > w->cfg.queue * w->cfg.wire;
}

/* --- links ------------------------------------------------------------- */

void world_put(struct host *h, u32 to, u32 s, struct gagg_msg *m, const void *body, u32 len)
{
	struct world *w = h->w;
	u32 copies = 1 + world_chance(w, w->cfg.dup);
	u64 takes = gagg_wire_has_lanes(m) ? w->cfg.wire : w->cfg.wire / 8;
	u64 gone = through(&h->link_out, w->now, takes);

	m->len = len;
	w->sent[0]++;
	w->sent[m->type]++;
	if (gagg_wire_has_lanes(m))
		w->lanes[m->type] += m->lanes;
	if (world_chance(w, w->cfg.loss) || befalls(w, WORLD_BURST, in_burst(h)) ||
	    befalls(w, WORLD_OUTAGE, is_out(w, h->id, to, gone)))
		return;
	while (copies--) {
		struct arrival a = {
			.at = gone + delay(w, gone),
			.order = w->order++,
		};

		if (w->nflight == FLIGHT_MAX) {
			world_fail(w, "storm: %u datagrams in flight", w->nflight);
			return;
		}
		a.p = new_packet(w);
		a.p->from = (u8)h->id;
		a.p->to = (u8)to;
		a.p->shard = (u8)s;
		a.p->life = (u8)w->life;
		a.p->takes = takes;
		a.p->len = len;
		gagg_wire_build(a.p->hdr, m);
		memcpy(a.p->body, body, len);
		flight_push(w, &a);
	}
}

/* what comes of a dead epoch comes again, later, now and then */
static bool linger(struct world *w, struct arrival *a)
{
	if (a->p->life == w->life || !world_chance(w, 500) || w->nflight == FLIGHT_MAX)
		return false;
	a->at = w->now + world_random(w) % (10 * GAGG_MSEC);
	flight_push(w, a);
	return true;
}

/* true if it has come to the switch, and goes on through the receiver's link, or finds no
 * room in its queue; hosts look at what has come every now and then
 */
static bool forward(struct world *w, struct arrival *a)
{
	u64 poll = w->cfg.poll ? w->cfg.poll : 1;

	if (!a->p->takes)
		return false;
	if (is_full(w, w->host[a->p->to].link_in, a->at)) {
		w->befell[WORLD_QUEUE]++;
		free_packet(w, a->p);
		return true;
	}
	a->at = through(&w->host[a->p->to].link_in, a->at, a->p->takes);
	a->at += poll - 1 - (a->at + poll - 1) % poll;
	a->p->takes = 0;
	flight_push(w, a);
	return true;
}

/* what arrives at the same time is one batch of its receiver */
void world_deliver(struct world *w)
{
	struct arrival a;
	u32 i;

	while (w->nflight && w->flight[0].at <= w->now && !w->error[0]) {
		flight_pop(w, &a);
		if (forward(w, &a))
			continue;
		host_receive(&w->host[a.p->to], a.p);
		if (!linger(w, &a))
			free_packet(w, a.p);
	}
	for (i = 0; i < w->cfg.nodes && !w->error[0]; i++)
		host_end_batch(&w->host[i]);
}

void world_net_free(struct world *w)
{
	struct packet *p;
	u32 i;

	for (i = 0; i < w->nflight; i++)
		free_packet(w, w->flight[i].p);
	while ((p = w->spare)) {
		w->spare = p->next;
		free(p);
	}
	free(w->flight);
}
