// SPDX-License-Identifier: GPL-2.0
/*
 * What may happen on a host: what the module does around the core, and trainers.
 */
#include "hosts.h"

#define CALLS_MAX	10000	/* of a loop that must end */

struct env_ctx {
	struct host *h;
	u32 shard;
};

static struct gagg_chan *env_chan(void *ctx, u16 id)
{
	struct env_ctx *e = ctx;

	return id < HOSTS_CHANS ? e->h->c[id].core[e->shard] : NULL;
}

static u64 env_filled(void *ctx, struct gagg_chan *ch, u32 local)
{
	struct env_ctx *e = ctx;

	return chunks_filled(e->h, ch->id, local);
}

static struct gagg_cdesc env_desc(void *ctx, struct gagg_chan *ch, u32 local, u32 slot)
{
	struct env_ctx *e = ctx;

	fuzz_assert(slot < e->h->g.ring);
	return chunks_desc(e->h, ch->id, local, slot);
}

static void env_of(struct host *h, u32 s, struct env_ctx *c, struct gagg_env *env)
{
	*c = (struct env_ctx) { h, s };
	*env = (struct gagg_env) { c, env_chan, env_filled, env_desc };
}

/* --- actions ----------------------------------------------------------- */

static void put(struct host *h, u32 to, u32 s, const struct gagg_msg *m, const void *body,
		u32 len)
{
	struct hosts *w = h->w;
	struct packet *p;

	if (w->nflight == HOSTS_FLIGHT)		/* the oldest one is lost */
		arrive(w, 0);
	p = leave(w);
	*p = (struct packet) { (u8)h->g.self, (u8)to, (u8)s, len, { 0 }, { 0 } };
	gagg_wire_build(p->hdr, m);
	if (len)
		memcpy(p->body, body, len);
}

static void on_open(struct host *h, const struct gagg_act *a)
{
	if (a->channel >= HOSTS_CHANS || h->c[a->channel].chunks)
		return;
	if (!h->w->insiders)
		fuzz_assert(a->members == h->w->members[a->channel]);
	host_open(h, a->channel, a->members);
}

static void act(struct host *h, u32 s, const struct gagg_act *a)
{
	struct gagg_msg m;
	u64 left;

	check_action(h, s, a);
	switch (a->type) {
	case GAGG_ACT_SEND_CONTRIB:
		put(h, a->node, s, &a->m, chunks_lanes(h, a), lanes_bytes(&a->m));
		break;
	case GAGG_ACT_SEND_RESULT:
		m = a->m;
		if (gagg_lane_narrow(m.laneop))
			gagg_publish_shift(h->c[a->channel].core[s], &m);
		for (left = a->nodes; left; left &= left - 1)
			put(h, gagg_lowest(left), s, &m, chunks_lanes(h, a), lanes_bytes(&m));
		break;
	case GAGG_ACT_SEND_CTRL:
		put(h, a->node, s, &a->m, &a->ack, a->m.len);
		break;
	case GAGG_ACT_OPEN:
		on_open(h, a);
		break;
	case GAGG_ACT_DESYNC:
		h->stopped = true;
		break;
	default:
		chunks_act(h, s, a);
	}
}

/* after every call into the core */
static void drain(struct host *h, u32 s)
{
	struct gagg_shard *sh = h->sh[s];
	const struct gagg_act *a;

	/* a full queue may have lost some, see gagg_shard_emit() */
	fuzz_assert(sh->nacts < GAGG_ACTS);
	while ((a = gagg_shard_act(sh)))
		act(h, s, a);
	if (h->stopped)
		for (s = 0; s < h->g.shards; s++)
			gagg_shard_stop(h->sh[s]);
}

void host_batch(struct host *h, u32 s)
{
	struct env_ctx ctx;
	struct gagg_env env;
	u32 c, calls = 0;
	bool more;

	env_of(h, s, &ctx, &env);
	for (c = 0; c < HOSTS_CHANS; c++) {
		if (!h->c[c].core[s])
			continue;
		do {
			more = gagg_chan_refill(h->sh[s], &h->g, &env, h->c[c].core[s], h->w->now);
			drain(h, s);
			fuzz_assert(++calls < CALLS_MAX);
		} while (more);
	}
	gagg_shard_flush(h->sh[s], &h->g);
	drain(h, s);
}

/* --- what arrives ------------------------------------------------------ */

/* a host that is itself honest is dropped for few reasons */
static void check_drop(const struct host *h, const struct gagg_msg *m, enum gagg_drop why)
{
	if (h->w->insiders || why == GAGG_DROP_EPOCH ||
	    (why == GAGG_DROP_CHANNEL && m->channel == 1 && !h->c[1].chunks) ||
	    chunks_may_drop(h, m, why))
		return;
	fuzz_fail("host %u dropped type %u: %u", h->g.self, m->type, why);
}

static void rx(struct host *h, const struct packet *p, struct gagg_msg *m, const void *body,
	       bool ours)
{
	struct gagg_arrival in = {
		.vis = { .sh = h->sh[p->shard], .g = &h->g, .now = h->w->now }, .node = p->from,
	};
	struct env_ctx ctx;
	struct gagg_env env;
	enum gagg_rx r;
	u32 calls = 0;

	env_of(h, p->shard, &ctx, &env);
	do {
		r = gagg_shard_rx(&in, &env, m, body);
		if (r == GAGG_RX_ADD)
			chunks_add(h, &in, body);
		if (r == GAGG_RX_PLACE)
			chunks_place(h, &in, body);
		if (r == GAGG_RX_ADD || r == GAGG_RX_PLACE)
			gagg_shard_commit(&in);
		if (r == GAGG_RX_DROP && ours)
			check_drop(h, m, in.todo.drop);
		drain(h, p->shard);
		fuzz_assert(++calls < CALLS_MAX);
	} while (r == GAGG_RX_AGAIN);
}

/* @ours: a host sent it */
void host_receive(struct host *h, const struct packet *p, bool ours)
{
	u32 len = GAGG_WIRE_HDRLEN + p->len;
	struct gagg_msg m;
	u8 *raw = malloc(len);		/* of its own, to see what is read behind it */

	if (!raw)
		exit(0);
	memcpy(raw, p->hdr, GAGG_WIRE_HDRLEN);
	memcpy(raw + GAGG_WIRE_HDRLEN, p->body, p->len);
	if (!gagg_wire_parse(raw, len, &m)) {
		if (!gagg_wire_joins(&m))
			rx(h, p, &m, raw + GAGG_WIRE_HDRLEN, ours);
	} else {
		fuzz_assert(!ours);
	}
	free(raw);
}

/* --- time -------------------------------------------------------------- */

u64 host_deadline(const struct host *h)
{
	u64 at = GAGG_NEVER;
	u32 s, c;

	for (s = 0; s < h->g.shards; s++) {
		at = gagg_min64(at, gagg_shard_deadline(h->sh[s], &h->g));
		for (c = 0; c < HOSTS_CHANS; c++)
			if (h->c[c].core[s] && !h->stopped)
				at = gagg_min64(at, gagg_chan_deadline(h->c[c].core[s]));
	}
	return at;
}

void host_timers(struct host *h)
{
	struct env_ctx ctx;
	struct gagg_env env;
	u32 s, c;

	for (s = 0; s < h->g.shards; s++) {
		env_of(h, s, &ctx, &env);
		gagg_shard_timer(h->sh[s], &h->g, &env, h->w->now);
		drain(h, s);
		for (c = 0; c < HOSTS_CHANS; c++) {
			if (!h->c[c].core[s])
				continue;
			gagg_chan_timer(h->sh[s], &h->g, h->c[c].core[s], h->w->now);
			drain(h, s);
		}
		host_batch(h, s);
	}
}

/* --- from now on nothing is lost --------------------------------------- */

static bool step_trainers(struct host *h)
{
	bool all = calls_finish(h);
	u32 s;

	for (s = 0; s < h->g.shards; s++)
		host_batch(h, s);
	return all;
}

static void deliver_all(struct hosts *w)
{
	u32 n = w->nflight, i, s;
	struct packet p;

	for (i = 0; i < n && w->nflight; i++) {
		p = *arrive(w, 0);
		host_receive(&w->host[p.to], &p, true);
	}
	for (i = 0; i < w->nodes; i++)
		for (s = 0; s < w->host[i].g.shards; s++)
			host_batch(&w->host[i], s);
}

/* Where ranks disagree or an insider has spoken, it may be that some wait for
 * ever; what is published on the way must be right.
 */
void hosts_finish(struct hosts *w)
{
	bool all, must = !w->insiders && !w->disagree;
	u32 i, turns, idle = 0, epoch = 0;
	u64 at;

	for (i = 0; i < w->nodes; i++)
		epoch = w->host[i].epoch > epoch ? w->host[i].epoch : epoch;
	for (i = 0; i < w->nodes; i++)
		if (w->host[i].epoch < epoch)
			host_restart(&w->host[i], epoch);
	for (turns = 0; turns < (must ? CALLS_MAX : 20); turns++) {
		all = true;
		for (i = 0; i < w->nodes; i++)
			all &= step_trainers(&w->host[i]);
		if (all)
			return;
		if (w->nflight) {
			w->now += 50 * GAGG_USEC;
			deliver_all(w);
		}
		at = GAGG_NEVER;
		for (i = 0; i < w->nodes; i++)
			at = gagg_min64(at, host_deadline(&w->host[i]));
		if (at == GAGG_NEVER && !w->nflight) {
			/* what was done in this turn lets ranks call something else */
			if (idle++ <= GAGG_OPS)
				continue;
			if (!must)
				return;
			fuzz_fail("stuck: nothing will happen");
		}
		idle = 0;
		if (!w->nflight)
			w->now = gagg_max64(w->now, at);
		for (i = 0; i < w->nodes; i++)
			if (host_deadline(&w->host[i]) <= w->now)
				host_timers(&w->host[i]);
	}
	if (must)
		fuzz_fail("stuck: %u turns were not enough", turns);
}
