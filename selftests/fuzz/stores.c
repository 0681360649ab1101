// SPDX-License-Identifier: GPL-2.0
/*
 * A store: what ranks call, and what the module does with its lanes.
 */
#include "stores.h"
#include "agent/conf/sync_text.h"

static struct calls calls;

static const struct mode modes[] = {
	{ "asp", ~0U, false, COPIES_NONE, 0 },
	{ "ssp:0", 0, true, COPIES_NONE, 0 },
	{ "ssp:1", 1, false, COPIES_NONE, 0 },
	{ "ssp:2", 2, false, COPIES_NONE, 0 },
	{ "dssp:0:0", 0, true, COPIES_NONE, 0 },
	{ "dssp:1:3", 3, false, COPIES_NONE, 0 },
	{ "dssp-literal:1:3", ~0U, false, COPIES_NONE, 0 },
	{ "r2sp:80:0", 1, false, COPIES_NONE, 0 },
	{ "r2sp:0:0", 1, false, COPIES_NONE, 0 },
	/* a worker that is passed over lags behind as long as it likes */
	{ "r2sp:80:2", ~0U, false, COPIES_NONE, 0 },
	/* P + S clocks behind it has what was sent, see sync/ako.c */
	{ "ako:1:0", 1, false, COPIES_AKO, 1 },
	{ "ako:2:1", 3, false, COPIES_AKO, 2 },
	{ "ako:3:0", 3, false, COPIES_AKO, 3 },
	{ "gossip-pull:1", ~0U, false, COPIES_PULL, 0 },
	{ "gossip-push:1:0", ~0U, false, COPIES_PUSH, 0 },
	{ "gossip-push:1:2", ~0U, false, COPIES_PUSH, 2 },
	{ "push-sum:1", ~0U, false, COPIES_PUSH, 0 },
	{ "gossip-pair:1", ~0U, false, COPIES_PAIR, 0 },
};

void calls_init(struct hosts *w, struct gagg_geom *g, u8 b, u8 c, struct input *in)
{
	const struct mode *mode = &modes[take8(in) % (sizeof(modes) / sizeof(modes[0]))];
	struct gagg_sync_param p;

	memset(&calls, 0, sizeof(calls));
	w->calls = &calls;
	calls.mode = mode;
	calls.zeros = b & 32 ? 255 : c & 32 ? 80 : 0;
	if (!sync_text_parse(mode->text, &p, NULL, 0))
		fuzz_fail("%s is no mode", mode->text);
	gagg_sync_apply(g, &p);
	g->wide = !!(c & 64);
	if (mode->copies != COPIES_NONE)
		copies_shape(g, gagg_sync_get(p.mode)->whole);
}

bool stores_update(const struct host *h, u32 c, u32 rank, u32 stamp, u32 slot, s32 *lanes)
{
	u64 x = gagg_mix64(gagg_mix64(slot, h->epoch * 16 + c * 8 + rank), stamp);

	memset(lanes, 0, HOSTS_LANES * 4);
	lanes[bits_at(h, rank)] = (s32)(1U << stamp | (h->g.wide ? STORES_CARRY : 0));
	lanes[values_at(h, rank)] = (s32)(x >> 32);
	return (u8)x >= h->w->calls->zeros;
}

struct chunks *chunks_new(const struct host *h, u32 c)
{
	struct chunks *k = hosts_zalloc(sizeof(*k));
	u32 ring = h->g.ring, l;

	k->kept = hosts_zalloc(ring * HOSTS_LANES * 4);
	k->beside = hosts_zalloc(ring * HOSTS_LANES * 4);
	k->open = hosts_zalloc(ring);
	/* the first update of a clock is stored, not added */
	memset(k->beside, 0xee, ring * HOSTS_LANES * 4);
	for (l = 0; l < h->c[c].core[0]->nlocals; l++) {
		k->user[l].push = hosts_zalloc(ring * HOSTS_LANES * 4);
		k->user[l].stamp = hosts_zalloc(ring * sizeof(u32));
		k->user[l].copy = hosts_zalloc(ring * HOSTS_LANES * 4);
		k->user[l].reads = hosts_zalloc(h->g.nodes * ring * sizeof(u32));
	}
	return k;
}

void chunks_free(struct chunks *k)
{
	u32 l;

	for (l = 0; l < GAGG_LOCALS; l++) {
		free(k->user[l].push);
		free(k->user[l].stamp);
		free(k->user[l].copy);
		free(k->user[l].reads);
	}
	free(k->kept);
	free(k->beside);
	free(k->open);
	free(k);
}

const void *chunks_block(const struct host *h, u32 c, u32 i, size_t *bytes)
{
	const struct chunks *k = h->c[c].chunks;

	*bytes = h->g.ring * HOSTS_LANES * 4;
	if (i < 2)
		return i ? k->beside : k->kept;
	return i - 2 < GAGG_LOCALS ? k->user[i - 2].copy : NULL;
}

u64 chunks_filled(const struct host *h, u32 c, u32 l)
{
	(void)h;
	(void)c;
	(void)l;
	return 0;
}

struct gagg_cdesc chunks_desc(const struct host *h, u32 c, u32 l, u32 slot)
{
	u32 rank = h->c[c].core[0]->local[l].rank;
	struct gagg_cdesc d = { .exp = (u8)slot, .want = 200, .flags = GAGG_C_NONFINITE };
	s32 lanes[HOSTS_LANES];

	/* what the kernel must not take from a trainer is set as well */
	if (!stores_update(h, c, rank, h->c[c].chunks->user[l].stamp[slot], slot, lanes))
		d.flags |= GAGG_C_ZERO;
	return d;
}

const s32 *chunks_lanes(struct host *h, const struct gagg_act *a)
{
	struct chunks *k = h->c[a->channel].chunks;
	const struct user *u = &k->user[a->local];

	if (a->type == GAGG_ACT_SEND_RESULT)
		return &k->kept[a->m.chunk * HOSTS_LANES];
	if (u->stamp[a->m.chunk] + 1 != a->m.round)
		fuzz_fail("host %u: round %u of chunk %u, where the trainer has stamp %u",
			  h->g.self, a->m.round, a->m.chunk, u->stamp[a->m.chunk]);
	return &u->push[a->m.chunk * HOSTS_LANES];
}

/* --- what the core has decided ----------------------------------------- */

static void sum(const struct host *h, s32 *to, const s32 *from, bool store)
{
	gagg_reduce_chunk(gagg_store_laneop(&h->g), to, store ? NULL : to, from, HOSTS_LANES, 0);
}

static void add(struct host *h, u32 c, u32 slot, bool beside, bool first, const s32 *lanes)
{
	struct chunks *k = h->c[c].chunks;

	fuzz_assert(h->c[c].core[0]->self_home != 0xff);
	fuzz_assert(beside == calls.mode->exact);
	if (beside)
		fuzz_assert(first == !k->open[slot]);
	sum(h, beside ? &k->beside[slot * HOSTS_LANES] : &k->kept[slot * HOSTS_LANES], lanes,
	    beside && first);
	k->open[slot] |= beside;
	check_kept(h, c, slot);
}

static void fold(struct host *h, u32 c, u32 slot)
{
	struct chunks *k = h->c[c].chunks;

	fuzz_assert(k->open[slot]);
	sum(h, &k->kept[slot * HOSTS_LANES], &k->beside[slot * HOSTS_LANES], false);
	k->open[slot] = 0;
}

/* the read that the next copy of a chunk from @node is of, or NULL */
static const struct call *next_read(const struct host *h, u32 c, u32 l, u32 node, u32 slot)
{
	const struct work *work = work_of(h, c, h->c[c].core[0]->local[l].rank);
	u32 skip = h->c[c].chunks->user[l].reads[node * h->g.ring + slot], i;

	for (i = 0; i < work->n; i++)
		if (reads_from(h, &work->call[i], node, slot) && !skip--)
			return &work->call[i];
	return NULL;
}

static void copy_came(struct host *h, u32 c, u32 l, const struct gagg_keep *keep)
{
	struct user *u = &h->c[c].chunks->user[l];
	u32 node = keep->placed ? u->placed : h->g.self;
	const struct call *call = next_read(h, c, l, node, keep->slot);
	size_t at = keep->slot * HOSTS_LANES;

	if (!call)
		fuzz_fail("host %u: chunk %u of host %u is there, and nobody reads it", h->g.self,
			  keep->slot, node);
	if (!keep->placed)
		memcpy(&u->copy[at], &h->c[c].chunks->kept[at], HOSTS_LANES * 4);
	u->reads[node * h->g.ring + keep->slot]++;
	check_copy(h, c, l, node, keep->slot, keep->fresh, call);
}

/* ops are done one after the other, in each shard */
static void ops_done(struct host *h, u32 c, u32 s, u32 l, u64 number)
{
	struct work *work = work_of(h, c, h->c[c].core[0]->local[l].rank);

	if (number <= work->done_in[s] || number > work->n)
		fuzz_fail("host %u: op %llu of %u done after %u", h->g.self,
			  (unsigned long long)number, work->n, work->done_in[s]);
	while (work->done_in[s] < number)
		check_done(h, c, l, s, &work->call[work->done_in[s]++]);
}

void chunks_act(struct host *h, u32 s, const struct gagg_act *a)
{
	u32 c = a->channel, slot = a->keep.slot;

	switch (a->type) {
	case GAGG_ACT_FOLD:
		fold(h, c, slot);
		break;
	case GAGG_ACT_ADD_LOCAL:
		add(h, c, slot, a->keep.beside, a->keep.first,
		    &h->c[c].chunks->user[a->local].push[slot * HOSTS_LANES]);
		break;
	case GAGG_ACT_READ:
		copy_came(h, c, a->local, &a->keep);
		break;
	case GAGG_ACT_OP_DONE:
		ops_done(h, c, s, a->local, a->number);
		break;
	}
}

void chunks_add(struct host *h, const struct gagg_arrival *in, const void *lanes)
{
	const struct gagg_todo *todo = &in->todo;

	fuzz_assert(todo->slot < h->g.ring && todo->lanes == HOSTS_LANES &&
		    todo->laneop == gagg_store_laneop(&h->g) && !todo->to_result && !todo->shift);
	fuzz_assert(todo->alone &&
		    (todo->area == GAGG_AREA_BESIDE || todo->area == GAGG_AREA_RESULT));
	add(h, in->vis.ch->id, todo->slot, todo->area == GAGG_AREA_BESIDE, todo->first, lanes);
}

void chunks_place(struct host *h, const struct gagg_arrival *in, const void *lanes)
{
	const struct gagg_todo *todo = &in->todo;
	struct user *u;

	fuzz_assert(todo->slot < h->g.ring && todo->lanes == HOSTS_LANES);
	fuzz_assert(todo->local < in->vis.ch->nlocals);
	fuzz_assert(todo->area == GAGG_AREA_COPY && todo->alone);
	u = &h->c[in->vis.ch->id].chunks->user[todo->local];
	u->placed = (u8)in->node;
	memcpy(&u->copy[todo->slot * HOSTS_LANES], lanes, HOSTS_LANES * 4);
}

/* PULLs that have been overtaken, or for which there was no room before a batch */
bool chunks_may_drop(const struct host *h, const struct gagg_msg *m, enum gagg_drop why)
{
	(void)h;
	return m->type == GAGG_T_PULL && (why == GAGG_DROP_ROUND || why == GAGG_DROP_WINDOW);
}

/* --- workers ----------------------------------------------------------- */

/* lanes stay as they are until the update is done */
static bool still_sent(const struct host *h, const struct work *work, u32 first, u32 chunks)
{
	u32 s, i;

	for (s = 0; s < h->g.shards; s++)
		for (i = work->done_in[s]; i < work->n; i++) {
			const struct call *call = &work->call[i];

			if (!(call->flags & GAGG_OP_READ) && call->first < first + chunks &&
			    first < call->first + call->chunks)
				return true;
		}
	return false;
}

static bool may_call(const struct host *h, u32 c, u32 l, const struct work *work, u8 flags)
{
	u32 s;

	for (s = 0; s < h->g.shards; s++) {
		const struct gagg_local *lo = &h->c[c].core[s]->local[l];

		if (lo->numbers - lo->finished >= GAGG_OPS)
			return false;
	}
	if (flags & GAGG_OP_READ)
		return true;
	return !work->ended && (work->updates < STORES_UPDATES || (flags & GAGG_OP_LAST));
}

static void fill(struct host *h, u32 c, u32 l, const struct call *call)
{
	struct user *u = &h->c[c].chunks->user[l];
	u32 rank = h->c[c].core[0]->local[l].rank, slot;

	for (slot = call->first; slot < call->first + call->chunks; slot++) {
		u->stamp[slot] = call->updates;
		stores_update(h, c, rank, call->updates, slot, &u->push[slot * HOSTS_LANES]);
	}
}

/* which copy a call means, as the module is told */
static void say_whose(const struct host *h, u32 c, struct gagg_ioc_submit *arg, u8 copy)
{
	if (!is_copies(h) ||
	    (h->w->calls->mode->copies == COPIES_AKO && arg->kind == GAGG_K_UPDATE))
		return;
	if (copy == h->g.self) {
		arg->flags |= GAGG_SUBMIT_OWN;
		return;
	}
	arg->flags |= GAGG_SUBMIT_PEER;
	arg->root = (u16)gagg_lowest(h->g.ranks_of[copy] & h->w->members[c]);
}

/* false: not now */
static bool rank_call(struct host *h, u32 c, u32 l, u8 flags, u8 copy, u32 first, u32 chunks)
{
	struct work *work = work_of(h, c, h->c[c].core[0]->local[l].rank);
	struct call *call = &work->call[work->n];
	bool read = flags & GAGG_OP_READ;
	struct gagg_ioc_submit arg = {
		.kind = read ? GAGG_K_READ : GAGG_K_UPDATE,
		.flags = (flags & GAGG_OP_LAST ? GAGG_SUBMIT_LAST : 0) |
			 (flags & GAGG_OP_FENCE ? GAGG_SUBMIT_FENCE : 0),
		.count = first,
		.chunks = chunks,
	};
	u32 s;

	if (!may_call(h, c, l, work, flags) || (!read && still_sent(h, work, first, chunks)))
		return false;
	*call = (struct call) { first, chunks, work->updates, flags, work->ended, copy };
	if (!read)
		fill(h, c, l, call);
	say_whose(h, c, &arg, copy);
	work->n++;
	work->holds = read && (work->holds || copies_whole(h, call));
	work->updates += !read;
	work->ended |= flags & GAGG_OP_LAST;
	fuzz_assert(gagg_store_may_submit(&h->g, &arg));
	for (s = 0; s < h->g.shards; s++)
		fuzz_assert(gagg_store_submit_arg(&h->g, h->c[c].core[s], l, &arg) == work->n);
	return true;
}

/* most ops are of all the store, or of a few chunks */
void calls_train(struct hosts *w, struct input *in, u8 op)
{
	static const u8 what[] = { 0, GAGG_OP_READ, 0, GAGG_OP_READ };
	u8 who = take8(in), range = take8(in), flags = what[op & 3], copy = 0;
	u32 rank = who % w->ranks, c = who >> 7, first, chunks, s;
	struct host *h = &w->host[w->host[0].g.node_of[rank]];
	int l = h->c[c].chunks ? gagg_chan_local(h->c[c].core[0], rank) : -1;

	if (l < 0)
		return;
	first = (range & 15) * (h->g.ring / 16);
	chunks = range & 16 ? h->g.ring - first : 1 + (range >> 5);
	if (chunks > h->g.ring - first)
		chunks = h->g.ring - first;
	if ((op & 3) == 2 && (op & 0x10))
		chunks = 0;
	/* one in eight: an input in which all have finished says little */
	if ((op & 3) == 2 && (op & 0xe0) == 0xe0)
		flags |= GAGG_OP_LAST;
	if ((op & 3) == 3)
		flags |= GAGG_OP_FENCE;
	/* the last two are those of the end */
	if (work_of(h, c, rank)->n < STORES_OPS - 2 &&
	    (!is_copies(h) || copies_call(h, c, rank, flags, op >> 4, &copy)))
		rank_call(h, c, (u32)l, flags, copy, first, chunks);
	for (s = 0; (who & 0x40) && s < h->g.shards; s++)
		host_batch(h, s);
	check_state(h);
}

/* its last op has shown it the end of the store */
static bool has_read_all(const struct host *h, const struct work *work)
{
	const struct call *last = work->n ? &work->call[work->n - 1] : NULL;

	return last && last->ended && last->chunks == h->g.ring;
}

/* all make their last update and read what is there then */
bool calls_finish(struct host *h)
{
	bool all = true;
	u32 c, l, s;

	for (c = 0; c < HOSTS_CHANS; c++) {
		for (l = 0; h->c[c].chunks && l < h->c[c].core[0]->nlocals; l++) {
			struct work *work = work_of(h, c, h->c[c].core[0]->local[l].rank);

			if (!work->ended)
				rank_call(h, c, l, GAGG_OP_LAST, (u8)h->g.self, 0, 0);
			if (work->ended && !has_read_all(h, work))
				rank_call(h, c, l, GAGG_OP_READ, copies_next(h, c), 0,
					  h->g.ring);
			all &= has_read_all(h, work);
			for (s = 0; s < h->g.shards; s++)
				all &= work->done_in[s] == work->n;
		}
	}
	return all;
}

/* --- what no host has sent --------------------------------------------- */

void calls_compose(const struct hosts *w, const struct host *h, u32 s, u8 round,
		   struct gagg_msg *m)
{
	const struct work *from = work_of(h, m->channel, m->src % w->ranks);
	u32 rank = gagg_lowest(h->g.ranks_of[h->g.self]);

	(void)s;
	m->flags = GAGG_WF_RAW | (round & 8 ? GAGG_WF_ZERO : 0);
	m->laneop = gagg_store_laneop(&h->g);
	if (round >> 6 == 3)
		m->laneop ^= GAGG_LANEOP(GAGG_LANE_S32 ^ GAGG_LANE_S64, 0);
	else if (round >> 6 == 2)
		m->lanes--;		/* with int64: half a lane */
	m->round = from->updates + (round & 3);
	m->number = from->n + (round >> 2 & 1);
	m->aux = round >> 4 & 3;
	if (m->type == GAGG_T_RESULT) {
		m->number = work_of(h, m->channel, rank)->n - (round >> 2 & 1);
		m->aux = rank;
	}
}

void calls_own_lanes(const struct hosts *w, struct packet *p)
{
	const struct host *h = &w->host[0];
	u32 rank;

	for (rank = 0; rank < HOSTS_RANKS; rank++) {
		if (rank < w->ranks && h->g.node_of[rank] == p->from)
			continue;
		memset(p->body + 4 * bits_at(h, rank), 0, 4);
		memset(p->body + 4 * values_at(h, rank), 0, 4);
	}
}
