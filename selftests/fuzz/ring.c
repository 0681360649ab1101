// SPDX-License-Identifier: GPL-2.0
/*
 * A ring: what ranks call, and what the module does with its lanes.
 */
#include "ring.h"

static struct calls calls;

void calls_init(struct hosts *w, struct gagg_geom *g, u8 b, u8 c, struct input *in)
{
	(void)in;
	memset(&calls, 0, sizeof(calls));
	w->calls = &calls;
	calls.exps = c >> 2 & 3;
	calls.op_flags = c & 16 ? GAGG_OP_RAW : 0;
	calls.laneop = GAGG_LANEOP(b & 64 && c & 16 ? GAGG_LANE_S64 : GAGG_LANE_S32, GAGG_OP_ADD);
	if (b & 64 && !(c & 16))
		calls.laneop = GAGG_LANEOP(c & 4 ? GAGG_LANE_S8 : GAGG_LANE_S16, GAGG_OP_ADD);
	g->wire = (u8)gagg_lane_narrow(calls.laneop);
	calls.zeros = b & 32 ? 255 : c & 32 ? 80 : 0;
	calls.nonfinite = c & 64 ? 20 : 0;
	calls.noresult = c & 128 ? 100 : 0;
}

struct chunks *chunks_new(const struct host *h, u32 c)
{
	struct chunks *k = hosts_zalloc(sizeof(*k));
	const struct gagg_geom *g = &h->g;
	u32 s, l;

	k->result = hosts_zalloc(g->ring * HOSTS_LANES * 4);
	k->shadow = hosts_zalloc(g->ring * HOSTS_LANES * 4);
	k->lanes = hosts_zalloc(g->ring * sizeof(*k->lanes));
	k->holds = hosts_zalloc(g->ring * sizeof(*k->holds));
	for (s = 0; s < g->shards; s++)
		k->acc[s] = hosts_zalloc(g->window * HOSTS_LANES * 4 << g->wire);
	for (l = 0; l < h->c[c].core[0]->nlocals; l++) {
		k->trainer[l].desc = hosts_zalloc(g->ring * sizeof(*k->trainer[l].desc));
		k->trainer[l].contrib = hosts_zalloc(g->ring * HOSTS_LANES * 4);
	}
	return k;
}

void chunks_free(struct chunks *k)
{
	u32 s, l;

	for (l = 0; l < GAGG_LOCALS; l++) {
		free(k->trainer[l].desc);
		free(k->trainer[l].contrib);
	}
	for (s = 0; s < HOSTS_SHARDS; s++)
		free(k->acc[s]);
	free(k->result);
	free(k->shadow);
	free(k->lanes);
	free(k->holds);
	free(k);
}

const void *chunks_block(const struct host *h, u32 c, u32 i, size_t *bytes)
{
	const struct chunks *k = h->c[c].chunks;

	if (i < h->g.shards) {
		*bytes = h->g.window * HOSTS_LANES * 4 << h->g.wire;
		return k->acc[i];
	}
	*bytes = h->g.ring * HOSTS_LANES * 4;
	return i == h->g.shards ? k->result : NULL;
}

u64 chunks_filled(const struct host *h, u32 c, u32 l)
{
	return h->c[c].chunks->trainer[l].filled;
}

struct gagg_cdesc chunks_desc(const struct host *h, u32 c, u32 l, u32 slot)
{
	return h->c[c].chunks->trainer[l].desc[slot];
}

const s32 *chunks_lanes(struct host *h, const struct gagg_act *a)
{
	struct chunks *k = h->c[a->channel].chunks;
	s32 *from = a->type == GAGG_ACT_SEND_CONTRIB ? k->trainer[a->local].contrib : k->result;

	return &from[a->m.chunk * HOSTS_LANES];
}

/* --- what the core has decided ----------------------------------------- */

static s32 *acc_at(const struct host *h, struct chunks *k, u32 s, u32 i)
{
	return &k->acc[s][(i * HOSTS_LANES) << h->g.wire];
}

static void on_publish(struct host *h, u32 c, u32 s, const struct gagg_publish *p)
{
	struct chunks *k = h->c[c].chunks;
	struct gagg_chan *ch = h->c[c].core[s];
	s32 *res = &k->result[p->slot * HOSTS_LANES];
	u64 v = (u64)(p->round - 1) * h->g.ring + p->slot;
	s32 *acc = acc_at(h, k, s, p->slot & (h->g.window - 1));
	struct gagg_lanes lanes = { .result = res, .acc = acc };
	u32 l;

	check_unread(h, c, p->slot);
	if (k->holds[p->slot] != (v < h->g.ring ? 0 : v + 1 - h->g.ring))
		fuzz_fail("host %u: slot %u has %llu, then round %u", h->g.self, p->slot,
			  (unsigned long long)k->holds[p->slot], p->round);
	for (l = 0; l < ch->nlocals; l++) {
		lanes.local[l] = &k->trainer[l].contrib[p->slot * HOSTS_LANES];
		fuzz_assert(!(p->locals & (1U << l)) || p->raw ||
			    p->exp >= gagg_chan_pushed(ch, p->slot, l)->exp);
	}
	if (p->lanes)
		gagg_publish_lanes(p, ch, &lanes, &gagg_loops);
	k->holds[p->slot] = v + 1;
	k->lanes[p->slot] = p->lanes;
	memcpy(&k->shadow[p->slot * HOSTS_LANES], res, HOSTS_LANES * 4);
	check_publish(h, c, s, v, p);
}

/* an op is done in shard s when its chunks there are */
static void on_op_done(struct host *h, u32 c, u32 s, u32 l, u64 number)
{
	const struct plan *plan = &h->w->calls->plan[h->epoch][c];
	struct chunks *k = h->c[c].chunks;
	struct trainer *t = &k->trainer[l];
	u64 v;

	if (number <= t->done_in[s] || number > t->next_op)
		fuzz_fail("host %u: op %llu of %u done after %llu", h->g.self, (unsigned long long)number,
			  t->next_op, (unsigned long long)t->done_in[s]);
	for (v = t->done_in[s] ? plan->op[t->done_in[s] - 1].end : 0;
	     v < plan->op[number - 1].end; v++)
		if (gagg_geom_shard(&h->g, h->c[c].core[s]->nhomes, v % h->g.ring) == s &&
		    k->holds[v % h->g.ring] <= v)
			fuzz_fail("host %u: op %llu done without chunk %llu", h->g.self,
				  (unsigned long long)number, (unsigned long long)v);
	t->done_in[s] = number;
}

void chunks_act(struct host *h, u32 s, const struct gagg_act *a)
{
	if (a->type == GAGG_ACT_PUBLISH)
		on_publish(h, a->channel, s, &a->pub);
	else if (a->type == GAGG_ACT_OP_DONE)
		on_op_done(h, a->channel, s, a->local, a->number);
}

void chunks_add(struct host *h, const struct gagg_arrival *in, const void *lanes)
{
	const struct gagg_todo *todo = &in->todo;
	struct chunks *k = h->c[in->vis.ch->id].chunks;
	s32 *acc, *dst;

	fuzz_assert(todo->slot < h->g.ring && todo->acc < h->g.window);
	fuzz_assert(todo->area == GAGG_AREA_ACC && !todo->alone);
	fuzz_assert(todo->lanes <= HOSTS_LANES && todo->lanes * 4U == todo->m.len);
	acc = acc_at(h, k, in->vis.sh->index, todo->acc);
	dst = todo->to_result ? &k->result[todo->slot * HOSTS_LANES] : acc;
	if (todo->to_result)
		check_unread(h, in->vis.ch->id, todo->slot);
	gagg_reduce_chunk(todo->laneop, dst, todo->first ? NULL : acc, lanes, todo->lanes,
			  todo->shift);
}

void chunks_place(struct host *h, const struct gagg_arrival *in, const void *lanes)
{
	const struct gagg_todo *todo = &in->todo;
	u16 id = in->vis.ch->id;

	fuzz_assert(todo->slot < h->g.ring);
	fuzz_assert(todo->area == GAGG_AREA_RESULT && !todo->alone);
	fuzz_assert(todo->lanes <= HOSTS_LANES && todo->lanes * 4U == todo->m.len);
	check_unread(h, id, todo->slot);
	memcpy(&h->c[id].chunks->result[todo->slot * HOSTS_LANES], lanes, todo->lanes * 4);
}

bool chunks_may_drop(const struct host *h, const struct gagg_msg *m, enum gagg_drop why)
{
	(void)m;
	return why == GAGG_DROP_OP && h->w->disagree;
}

/* --- trainers ---------------------------------------------------------- */

static bool plan_next(struct host *h, u32 c, u32 number, u8 shape)
{
	struct plan *plan = &h->w->calls->plan[h->epoch][c];

	if (number < plan->n)
		return true;
	if (plan->n == RING_OPS || plan->total > 3ULL * h->g.ring)
		return false;
	/* a few chunks, or about as many as there are places */
	plan->total += shape & 0x80 ? h->g.window + (shape >> 4 & 7) : 1 + (shape >> 4 & 7);
	plan->op[plan->n].end = plan->total;
	plan->op[plan->n].last = (shape & 15) % (HOSTS_LANES + 1);
	if (ring_wide(h->w))
		plan->op[plan->n].last &= ~1;
	plan->op[plan->n].sig = 0x10000000 + plan->n;
	plan->n++;
	return true;
}

static void rank_submit(struct host *h, u32 c, u32 l, u8 shape, bool disagree)
{
	struct trainer *t = &h->c[c].chunks->trainer[l];
	const struct plan *plan = &h->w->calls->plan[h->epoch][c];
	struct gagg_op what = {
		.laneop = h->w->calls->laneop, .flags = h->w->calls->op_flags,
	};
	u32 s, op = t->next_op;
	u64 start;

	if (h->stopped || !plan_next(h, c, op, shape))
		return;
	for (s = 0; s < h->g.shards; s++) {
		const struct gagg_local *lo = &h->c[c].core[s]->local[l];

		if (lo->numbers - lo->finished >= GAGG_OPS)
			return;
	}
	start = op ? plan->op[op - 1].end : 0;
	what.sig = plan->op[op].sig;
	what.last_lanes = plan->op[op].last;
	if (disagree) {
		h->w->disagree = true;
		what.sig ^= 0x01000000;
	}
	for (s = 0; s < h->g.shards; s++)
		fuzz_assert(gagg_ring_submit(h->c[c].core[s], l, &what,
					     plan->op[op].end - start) == op + 1);
	t->next_op++;
}

static void rank_fill(struct host *h, u32 c, u32 l, u64 chunks)
{
	struct chunks *k = h->c[c].chunks;
	struct trainer *t = &k->trainer[l];
	u64 end = h->w->calls->plan[h->epoch][c].total;

	for (; chunks && t->filled < end && t->filled < t->read + h->g.ring; chunks--) {
		u32 slot = (u32)(t->filled % h->g.ring);

		t->desc[slot] = ring_contribution(h->w, h->epoch, h->c[c].core[0]->local[l].rank,
						 c, t->filled, &t->contrib[slot * HOSTS_LANES]);
		t->filled++;
	}
}

static void rank_read(struct host *h, u32 c, u32 l)
{
	struct chunks *k = h->c[c].chunks;
	struct trainer *t = &k->trainer[l];

	while (k->holds[t->read % h->g.ring] == t->read + 1) {
		check_read(h, c, t->read);
		t->read++;
	}
}

/* what a rank does */
enum deed { SUBMIT, FILL, READ, ALL, DISAGREE };

static void train(struct hosts *w, struct input *in, enum deed deed)
{
	u8 who = take8(in), shape = deed == READ ? 0 : take8(in);
	u32 rank = who % w->ranks, c = who >> 7, s;
	struct host *h = &w->host[w->host[0].g.node_of[rank]];
	int l = h->c[c].chunks ? gagg_chan_local(h->c[c].core[0], rank) : -1;

	if (l < 0)
		return;
	if (deed == READ || deed == ALL)
		rank_read(h, c, (u32)l);
	if (deed == SUBMIT || deed == ALL || deed == DISAGREE)
		rank_submit(h, c, (u32)l, shape, deed == DISAGREE);
	if (deed == FILL || deed == ALL)
		rank_fill(h, c, (u32)l, deed == ALL ? GAGG_NEVER : 1ULL + shape);
	for (s = 0; (who & 0x40) && s < h->g.shards; s++)
		host_batch(h, s);
	check_state(h);
}

void calls_train(struct hosts *w, struct input *in, u8 op)
{
	switch (op & 3) {
	case 0: case 1:
		train(w, in, ALL);
		break;
	case 2:
		train(w, in, op & 0x10 ? SUBMIT : FILL);
		break;
	case 3:
		train(w, in, op & 0x80 && op & 0x40 ? DISAGREE : READ);
		break;
	}
}

bool calls_finish(struct host *h)
{
	bool all = true;
	u32 c, l, s, i;

	for (c = 0; c < HOSTS_CHANS; c++) {
		const struct plan *plan = &h->w->calls->plan[h->epoch][c];

		for (l = 0; h->c[c].chunks && l < h->c[c].core[0]->nlocals; l++) {
			struct trainer *t = &h->c[c].chunks->trainer[l];

			rank_read(h, c, l);
			for (i = t->next_op; i < plan->n; i++)
				rank_submit(h, c, l, 0, false);
			rank_fill(h, c, l, GAGG_NEVER);
			all &= t->read == plan->total;
			for (s = 0; s < h->g.shards; s++)
				all &= t->done_in[s] == plan->n;
		}
	}
	return all;
}

/* --- what no host has sent --------------------------------------------- */

void calls_compose(const struct hosts *w, const struct host *h, u32 s, u8 round,
		   struct gagg_msg *m)
{
	struct gagg_chan *ch = h->c[m->channel].core[s];

	m->sig = w->calls->plan[h->epoch][m->channel].op[0].sig;
	m->laneop = w->calls->laneop;
	m->exp = (u8)(100 + (round >> 4));
	if (ch)
		m->round = *gagg_chan_done(ch, m->chunk) + (round & 3);
	m->flags = (w->calls->op_flags & GAGG_OP_RAW ? GAGG_WF_RAW : 0) |
		   (round & 4 ? GAGG_WF_ZERO : 0) | (round & 8 ? GAGG_WF_NONFINITE : 0);
	m->aux = m->type == GAGG_T_RESEND ? gagg_lowest(h->g.ranks_of[h->g.self]) : w->ranks;
}

void calls_own_lanes(const struct hosts *w, struct packet *p)
{
	u32 rank;

	/*
	 * What is left carries into no other host's half of a lane of int64: both
	 * halves are this host's, or it has one rank, the only one to add to its half.
	 */
	for (rank = 0; rank < w->ranks; rank++)
		if (w->host[0].g.node_of[rank] != p->from)
			memset(p->body + 4 * rank, 0, 4);
}
