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

	return e->h->c[ch->id].trainer[local].filled;
}

static struct gagg_cdesc env_desc(void *ctx, struct gagg_chan *ch, u32 local, u32 slot)
{
	struct env_ctx *e = ctx;

	fuzz_assert(slot < e->h->g.ring);
	return e->h->c[ch->id].trainer[local].desc[slot];
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

static void on_publish(struct host *h, u32 c, u32 s, const struct gagg_publish *p)
{
	struct part *k = &h->c[c];
	struct gagg_chan *ch = k->core[s];
	s32 *res = &k->result[p->slot * HOSTS_LANES];
	u64 v = (u64)(p->round - 1) * h->g.ring + p->slot;
	const void *src = p->from_acc ? &k->acc[s][(p->slot & (h->g.window - 1)) * HOSTS_LANES] :
			  p->placed ? res : NULL;
	u32 l;

	check_unread(h, c, p->slot);
	if (k->holds[p->slot] != (v < h->g.ring ? 0 : v + 1 - h->g.ring))
		fuzz_fail("host %u: slot %u has %llu, then round %u", h->g.self, p->slot,
			  (unsigned long long)k->holds[p->slot], p->round);
	for (l = 0; l < ch->nlocals; l++) {
		const s32 *q = &k->trainer[l].contrib[p->slot * HOSTS_LANES];
		u32 exp = gagg_chan_pushed(ch, p->slot, l)->exp;

		if (!(p->locals & (1U << l)))
			continue;
		fuzz_assert(p->raw || p->exp >= exp);
		gagg_reduce_chunk(p->laneop, res, src, q, p->lanes, p->raw ? 0 : p->exp - exp);
		src = res;
	}
	if (src && src != res)
		memcpy(res, src, p->lanes * 4);
	k->holds[p->slot] = v + 1;
	k->lanes[p->slot] = p->lanes;
	memcpy(&k->shadow[p->slot * HOSTS_LANES], res, HOSTS_LANES * 4);
	check_publish(h, c, s, v, p);
}

/* an op is done in shard s when its chunks there are */
static void on_op_done(struct host *h, u32 c, u32 s, u32 l, u64 number)
{
	const struct plan *plan = &h->w->plan[h->epoch][c];
	struct part *k = &h->c[c];
	struct trainer *t = &k->trainer[l];
	u64 v;

	if (number <= t->done_in[s] || number > t->next_op)
		fuzz_fail("host %u: op %llu of %u done after %llu", h->g.self, (unsigned long long)number,
			  t->next_op, (unsigned long long)t->done_in[s]);
	for (v = t->done_in[s] ? plan->op[t->done_in[s] - 1].end : 0;
	     v < plan->op[number - 1].end; v++)
		if (gagg_geom_shard(&h->g, k->core[s]->nhomes, v % h->g.ring) == s &&
		    k->holds[v % h->g.ring] <= v)
			fuzz_fail("host %u: op %llu done without chunk %llu", h->g.self,
				  (unsigned long long)number, (unsigned long long)v);
	t->done_in[s] = number;
}

static void on_open(struct host *h, const struct gagg_act *a)
{
	if (a->m.channel || a->channel >= HOSTS_CHANS || h->c[a->channel].result)
		return;
	if (!h->w->insiders)
		fuzz_assert(a->members == h->w->members[a->channel]);
	host_open(h, a->channel, a->members);
}

static void act(struct host *h, u32 s, const struct gagg_act *a)
{
	struct part *k = &h->c[a->channel < HOSTS_CHANS ? a->channel : 0];
	u64 left;

	check_action(h, s, a);
	switch (a->type) {
	case GAGG_ACT_SEND_CONTRIB:
		put(h, a->node, s, &a->m, &k->trainer[a->local].contrib[a->m.chunk * HOSTS_LANES],
		    a->m.lanes * 4);
		break;
	case GAGG_ACT_SEND_RESULT:
		for (left = a->nodes; left; left &= left - 1)
			put(h, gagg_lowest(left), s, &a->m, &k->result[a->m.chunk * HOSTS_LANES],
			    a->m.lanes * 4);
		break;
	case GAGG_ACT_SEND_CTRL:
		put(h, a->node, s, &a->m, &a->ack, a->m.len);
		break;
	case GAGG_ACT_PUBLISH:
		on_publish(h, a->channel, s, &a->pub);
		break;
	case GAGG_ACT_OP_DONE:
		on_op_done(h, a->channel, s, a->local, a->number);
		break;
	case GAGG_ACT_OPEN:
		on_open(h, a);
		break;
	case GAGG_ACT_DESYNC:
		h->stopped = true;
		break;
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

static void add(struct host *h, u32 s, const struct gagg_todo *todo, const void *lanes)
{
	struct part *k = &h->c[todo->chan->id];
	s32 *acc, *dst;

	fuzz_assert(todo->slot < h->g.ring && todo->acc < h->g.window);
	fuzz_assert(todo->lanes <= HOSTS_LANES && todo->lanes * 4U == todo->m.len);
	acc = &k->acc[s][todo->acc * HOSTS_LANES];
	dst = todo->to_result ? &k->result[todo->slot * HOSTS_LANES] : acc;
	if (todo->to_result)
		check_unread(h, todo->chan->id, todo->slot);
	gagg_reduce_chunk(todo->laneop, dst, todo->store ? NULL : acc, lanes, todo->lanes,
			  todo->shift);
}

static void place(struct host *h, const struct gagg_todo *todo, const void *lanes)
{
	fuzz_assert(todo->slot < h->g.ring);
	fuzz_assert(todo->lanes <= HOSTS_LANES && todo->lanes * 4U == todo->m.len);
	check_unread(h, todo->chan->id, todo->slot);
	memcpy(&h->c[todo->chan->id].result[todo->slot * HOSTS_LANES], lanes, todo->lanes * 4);
}

/* a host that is itself honest is dropped for few reasons */
static void check_drop(const struct host *h, const struct gagg_msg *m, enum gagg_drop why)
{
	if (h->w->insiders || why == GAGG_DROP_EPOCH ||
	    (why == GAGG_DROP_CHANNEL && m->channel == 1 && !h->c[1].result) ||
	    (why == GAGG_DROP_OP && h->w->disagree))
		return;
	fuzz_fail("host %u dropped type %u: %u", h->g.self, m->type, why);
}

static void rx(struct host *h, const struct packet *p, struct gagg_msg *m, const void *body,
	       bool ours)
{
	struct gagg_shard *sh = h->sh[p->shard];
	struct gagg_todo todo;
	struct env_ctx ctx;
	struct gagg_env env;
	enum gagg_rx r;
	u32 calls = 0;

	env_of(h, p->shard, &ctx, &env);
	do {
		r = gagg_shard_rx(sh, &h->g, &env, p->from, m, body, false, h->w->now, &todo);
		if (r == GAGG_RX_ADD)
			add(h, p->shard, &todo, body);
		if (r == GAGG_RX_PLACE)
			place(h, &todo, body);
		if (r == GAGG_RX_ADD || r == GAGG_RX_PLACE)
			gagg_shard_commit(sh, &h->g, &todo, h->w->now);
		if (r == GAGG_RX_DROP && ours)
			check_drop(h, m, todo.drop);
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
		if (m.type != GAGG_T_HELLO && m.type != GAGG_T_START && m.type != GAGG_T_ABORT)
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

/* --- trainers ---------------------------------------------------------- */

static bool plan_next(struct host *h, u32 c, u32 number, u8 shape)
{
	struct plan *plan = &h->w->plan[h->epoch][c];

	if (number < plan->n)
		return true;
	if (plan->n == HOSTS_OPS || plan->total > 3ULL * h->g.ring)
		return false;
	/* a few chunks, or about as many as there are places */
	plan->total += shape & 0x80 ? h->g.window + (shape >> 4 & 7) : 1 + (shape >> 4 & 7);
	plan->op[plan->n].end = plan->total;
	plan->op[plan->n].last = (shape & 15) % (HOSTS_LANES + 1);
	plan->op[plan->n].sig = 0x10000000 + plan->n;
	plan->n++;
	return true;
}

void rank_submit(struct host *h, u32 c, u32 l, u8 shape, bool disagree)
{
	struct trainer *t = &h->c[c].trainer[l];
	const struct plan *plan = &h->w->plan[h->epoch][c];
	u32 s, sig, op = t->next_op;
	u64 start;

	if (h->stopped || !plan_next(h, c, op, shape))
		return;
	for (s = 0; s < h->g.shards; s++) {
		const struct gagg_local *lo = &h->c[c].core[s]->local[l];

		if (lo->numbers - lo->finished >= GAGG_OPS)
			return;
	}
	start = op ? plan->op[op - 1].end : 0;
	sig = plan->op[op].sig;
	if (disagree) {
		h->w->disagree = true;
		sig ^= 0x01000000;
	}
	for (s = 0; s < h->g.shards; s++)
		fuzz_assert(gagg_chan_submit(h->c[c].core[s], l, sig,
					     GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD),
					     h->w->op_flags, plan->op[op].last,
					     plan->op[op].end - start) == op + 1);
	t->next_op++;
}

void rank_fill(struct host *h, u32 c, u32 l, u64 chunks)
{
	struct part *k = &h->c[c];
	struct trainer *t = &k->trainer[l];
	u64 end = h->w->plan[h->epoch][c].total;

	for (; chunks && t->filled < end && t->filled < t->read + h->g.ring; chunks--) {
		u32 slot = (u32)(t->filled % h->g.ring);

		t->desc[slot] = hosts_contribution(h->w, h->epoch, k->core[0]->local[l].rank, c,
						   t->filled, &t->contrib[slot * HOSTS_LANES]);
		t->filled++;
	}
}

void rank_read(struct host *h, u32 c, u32 l)
{
	struct part *k = &h->c[c];
	struct trainer *t = &k->trainer[l];

	while (k->holds[t->read % h->g.ring] == t->read + 1) {
		check_read(h, c, t->read);
		t->read++;
	}
}

/* --- from now on nothing is lost --------------------------------------- */

static bool step_trainers(struct host *h)
{
	bool all = true;
	u32 c, l, s, i;

	for (c = 0; c < HOSTS_CHANS; c++) {
		const struct plan *plan = &h->w->plan[h->epoch][c];

		for (l = 0; h->c[c].result && l < h->c[c].core[0]->nlocals; l++) {
			struct trainer *t = &h->c[c].trainer[l];

			rank_read(h, c, l);
			for (i = t->next_op; i < plan->n; i++)
				rank_submit(h, c, l, 0, false);
			rank_fill(h, c, l, GAGG_NEVER);
			all &= t->read == plan->total;
			for (s = 0; s < h->g.shards; s++)
				all &= t->done_in[s] == plan->n;
		}
	}
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
	u32 i, turns, epoch = 0;
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
			if (!must)
				return;
			fuzz_fail("stuck: nothing will happen");
		}
		if (!w->nflight)
			w->now = gagg_max64(w->now, at);
		for (i = 0; i < w->nodes; i++)
			if (host_deadline(&w->host[i]) <= w->now)
				host_timers(&w->host[i]);
	}
	if (must)
		fuzz_fail("stuck: %u turns were not enough", turns);
}
