// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of a channel: shape, cursors, ops.
 */
#include "kind.h"
#include "ring/internal.h"
#include "store/internal.h"

/* the nodes that are homes of a channel: all aggregators for channel 0, else
 * those that have a member, else all. Of copies: all that have a member.
 */
static u64 home_nodes(const struct gagg_geom *g, u16 id, u64 members)
{
	u64 may = g->copies ? ~0ULL : g->aggregators, own = 0;
	u32 n;

	for (n = 0; n < g->nodes; n++)
		if ((may & GAGG_BIT(n)) && (g->ranks_of[n] & members))
			own |= GAGG_BIT(n);
	return (id || g->copies) && own ? own : g->aggregators;
}

struct shape {
	u32 nlocals;
	u32 nhomes;
	bool is_home;
	u32 way;
	u32 gaps;
	u32 lack;
	u32 done;
	u32 pushed;
	u32 res;
	u32 acc;
	u32 publog;
	u32 parked;
	u32 pub;
	u32 late;
	u32 store;
	u64 bytes;
};

static void shape_of(const struct gagg_geom *g, u16 id, u64 members, struct shape *s)
{
	u64 homes = home_nodes(g, id, members);
	u64 at = (sizeof(struct gagg_chan) + 7) & ~7ULL;

	memset(s, 0, sizeof(*s));
	s->nlocals = gagg_weight64(members & g->ranks_of[g->self]);
	if (s->nlocals > GAGG_LOCALS)
		s->nlocals = GAGG_LOCALS;
	s->nhomes = gagg_weight64(homes);
	s->is_home = homes & GAGG_BIT(g->self);
	s->store = (u32)at;
	if (g->store) {
		s->bytes = at + gagg_store_bytes(g, members, s->nlocals, s->nhomes,
						 s->is_home);
		return;
	}
	s->way = (u32)at;
	at += (u64)s->nlocals * s->nhomes * sizeof(struct gagg_way);
	s->gaps = (u32)at;
	at += (u64)s->nhomes * sizeof(struct gagg_gaps);
	s->lack = (u32)at;
	at += (u64)s->nhomes * sizeof(struct gagg_lack);
	s->res = (u32)at;
	at += s->is_home ? (u64)g->ring * sizeof(struct gagg_res) : 0;
	s->acc = (u32)at;
	at += s->is_home ? (u64)g->window * sizeof(struct gagg_acc) : 0;
	s->late = (u32)at;
	at += s->is_home && g->quorum ? (u64)g->ring * sizeof(struct gagg_late) : 0;
	s->parked = (u32)at;
	at += s->is_home ? (u64)g->nodes * gagg_repair_words(g) * sizeof(u64) : 0;
	s->done = (u32)at;
	at += (u64)g->ring * sizeof(u32);
	s->pushed = (u32)at;
	at += (u64)g->ring * s->nlocals * sizeof(struct gagg_pushed);
	s->publog = (u32)at;
	at += s->is_home ? (u64)g->window * sizeof(u32) : 0;
	s->pub = g->quorum ? (u32)at : s->done;
	at += s->is_home && g->quorum ? (u64)g->ring * sizeof(u32) : 0;
	s->bytes = (at + 7) & ~7ULL;
}

u64 gagg_chan_bytes(const struct gagg_geom *g, u64 members)
{
	struct shape s, t;

	/* channel 0 and others may have different homes: the larger one */
	shape_of(g, 0, members, &s);
	shape_of(g, 1, members, &t);
	return gagg_max64(s.bytes, t.bytes);
}

static void init_home(const struct gagg_geom *g, struct gagg_chan *ch, u32 h)
{
	struct gagg_cur *c = &ch->home_base[h];
	u32 l;

	ch->home_rpn[h] = 1;
	gagg_chan_gaps(ch, h)->at = GAGG_NEVER;
	c->slot = gagg_geom_first(g, ch->nhomes, h, ch->shard, 0);
	c->round = 1;
	/* a home without a chunk in this shard never holds anything up */
	c->v = c->slot < g->ring ? c->slot : GAGG_NEVER;
	for (l = 0; l < ch->nlocals; l++) {
		gagg_chan_way(ch, l, h)->next = *c;
		gagg_chan_way(ch, l, h)->again = *c;
	}
}

static void update_base(struct gagg_chan *ch)
{
	u32 h;

	ch->base = GAGG_NEVER;
	for (h = 0; h < ch->nhomes; h++)
		ch->base = gagg_min64(ch->base, ch->home_base[h].v);
}

struct gagg_chan *gagg_chan_init(void *mem, const struct gagg_geom *g, u32 shard,
				 u16 id, u64 members)
{
	struct gagg_chan *ch = mem;
	u64 homes = home_nodes(g, id, members);
	u64 locals = members & g->ranks_of[g->self];
	u64 weight = 0, left;
	struct shape s;
	u32 n;

	shape_of(g, id, members, &s);
	ch->members = members;
	ch->id = id;
	ch->shard = (u8)shard;
	ch->rpn = 1;
	ch->query_at = GAGG_NEVER;
	ch->pull_at = GAGG_NEVER;
	ch->poll_at = GAGG_NEVER;
	ch->due_at = GAGG_NEVER;
	ch->repair_at = GAGG_NEVER;
	gagg_quorum_init(g, ch);
	ch->poll_wait = GAGG_POLL_WAIT_MIN;
	ch->off_way = s.way;
	ch->off_gaps = s.gaps;
	ch->off_lack = s.lack;
	ch->off_done = s.done;
	ch->off_pushed = s.pushed;
	ch->off_res = s.res;
	ch->off_acc = s.acc;
	ch->off_publog = s.publog;
	ch->off_parked = s.parked;
	ch->off_pub = s.pub;
	ch->off_late = s.late;
	ch->off_store = s.store;
	ch->self_home = 0xff;

	for (left = locals; left && ch->nlocals < GAGG_LOCALS; left &= left - 1)
		ch->local[ch->nlocals++].rank = (u8)gagg_lowest(left);
	for (left = members; left; left &= left - 1)
		weight += g->weight[gagg_lowest(left)];
	while (GAGG_BIT(ch->headroom) < weight)
		ch->headroom++;
	for (n = 0; n < g->nodes; n++) {
		if (homes & GAGG_BIT(n)) {
			if (n == g->self)
				ch->self_home = ch->nhomes;
			ch->home[ch->nhomes++] = (u8)n;
		}
		if (n != g->self && (g->ranks_of[n] & members))
			ch->member_nodes |= GAGG_BIT(n);
	}
	ch->spread = g->copies ? 1 : ch->nhomes;
	ch->store = g->store;
	if (g->store) {
		ch->base = GAGG_NEVER;
		gagg_store_init(g, ch);
		return ch;
	}
	for (n = 0; n < ch->nhomes; n++)
		init_home(g, ch, n);
	update_base(ch);
	return ch;
}

void gagg_cur_next(const struct gagg_geom *g, const struct gagg_chan *ch, struct gagg_cur *c)
{
	u32 next = c->slot + 1;

	/* most often in the same stripe */
	if (next % g->stripe == 0 || next >= g->ring)
		next = gagg_geom_next(g, ch->nhomes, c->slot);
	if (next < g->ring) {
		c->v += next - c->slot;
	} else {
		next = gagg_geom_first(g, ch->nhomes,
				       gagg_geom_home(g, ch->nhomes, c->slot), ch->shard, 0);
		c->v += g->ring - c->slot + next;
		c->round++;
	}
	c->slot = next;
}

int gagg_chan_local(const struct gagg_chan *ch, u32 rank)
{
	u32 l;

	for (l = 0; l < ch->nlocals; l++)
		if (ch->local[l].rank == rank)
			return (int)l;
	return -1;
}

int gagg_chan_home(const struct gagg_chan *ch, u32 node)
{
	u32 h;

	for (h = 0; h < ch->nhomes; h++)
		if (ch->home[h] == node)
			return (int)h;
	return -1;
}

u64 gagg_chan_submit(struct gagg_chan *ch, u32 local, u32 sig, u8 laneop, u8 flags,
		     u16 last_lanes, u64 chunks)
{
	struct gagg_local *lo = &ch->local[local];
	struct gagg_op *op;

	if (lo->numbers - lo->finished >= GAGG_OPS)
		return 0;
	op = &lo->op[++lo->numbers % GAGG_OPS];
	op->start = lo->issued;
	lo->issued += chunks;
	op->end = lo->issued;
	op->number = lo->numbers;
	op->sig = sig;
	op->call = 0;
	op->last_lanes = last_lanes;
	op->laneop = laneop;
	op->flags = flags;
	return op->number;
}

bool gagg_chan_may_submit(const struct gagg_geom *g, const struct gagg_ioc_submit *arg)
{
	bool barrier = arg->kind == GAGG_K_BARRIER;

	if ((arg->flags & ~GAGG_SUBMIT_RAW) || arg->reserved)
		return false;
	if (arg->kind < GAGG_K_ALLREDUCE || arg->kind > GAGG_K_EXPONENTS)
		return false;
	if (!gagg_chan_takes(g, arg->laneop, arg->last_lanes, arg->flags & GAGG_SUBMIT_RAW) ||
	    arg->dtype > 15)
		return false;
	if (barrier ? arg->last_lanes != 0 : !arg->last_lanes || arg->last_lanes > g->lanes)
		return false;
	/* a barrier has no lanes in any chunk */
	if (!arg->chunks || (barrier && arg->chunks != 1))
		return false;
	return arg->chunks <= GAGG_VIRTUAL_MAX && arg->count <= GAGG_VIRTUAL_MAX;
}

u64 gagg_chan_submit_arg(struct gagg_chan *ch, u32 local, const struct gagg_ioc_submit *arg)
{
	u32 sig = gagg_sig(arg->kind, arg->dtype, arg->laneop, arg->root, arg->count);

	u64 number = gagg_chan_submit(ch, local, sig, arg->laneop,
				      arg->flags & GAGG_SUBMIT_RAW ? GAGG_OP_RAW : 0,
				      (u16)arg->last_lanes, arg->chunks);

	if (number)
		ch->local[local].op[number % GAGG_OPS].call = gagg_call(arg->root, arg->count);
	return number;
}

const struct gagg_op *gagg_chan_op(const struct gagg_chan *ch, u32 local, u64 v)
{
	const struct gagg_local *lo = &ch->local[local];
	u64 k;

	for (k = lo->finished + 1; k <= lo->numbers; k++)
		if (v < lo->op[k % GAGG_OPS].end)
			return &lo->op[k % GAGG_OPS];
	return NULL;
}

void gagg_chan_finish(struct gagg_shard *sh, struct gagg_chan *ch)
{
	struct gagg_act *a;
	u32 l;

	for (l = 0; l < ch->nlocals; l++) {
		struct gagg_local *lo = &ch->local[l];
		u64 was = lo->finished;

		while (lo->finished < lo->numbers &&
		       lo->op[(lo->finished + 1) % GAGG_OPS].end <= ch->base)
			lo->finished++;
		if (lo->finished == was)
			continue;
		a = gagg_shard_emit(sh, GAGG_ACT_OP_DONE, ch->id);
		a->local = (u8)l;
		a->number = lo->finished;
	}
}

void gagg_chan_watch(const struct gagg_shard *sh, struct gagg_chan *ch, u64 now)
{
	u64 wait = GAGG_PATH_RTO_MIN, stuck = wait;
	u8 home = 0xff;
	u32 h;

	for (h = 0; h < ch->nhomes; h++)
		if (ch->home_base[h].v == ch->base && h != ch->self_home)
			home = (u8)h;
	ch->moved = 0;
	/* results of a burst move the base in the same moment: nothing else has changed */
	if (ch->watched_at == now && ch->watched == home && ch->query_at != GAGG_NEVER)
		return;
	if (home != 0xff) {
		const struct gagg_path *p = &sh->path[ch->home[home]];

		wait = gagg_path_quiet(p);
		stuck = gagg_path_rto(p);
	}
	ch->watched_at = now;
	ch->watched = home;
	ch->query_wait = (u32)wait;
	ch->query_at = now + wait;
	ch->stuck_at = now + stuck;
}

void gagg_chan_taken(struct gagg_shard *sh, const struct gagg_geom *g,
		     struct gagg_chan *ch, u32 slot, u32 round, u64 now)
{
	u32 h = gagg_geom_home(g, ch->nhomes, slot);
	struct gagg_cur *b = &ch->home_base[h];
	u64 was = b->v;
	u32 l;

	*gagg_chan_done(ch, slot) = round;
	for (l = 0; l < ch->nlocals; l++) {
		struct gagg_pushed *p = gagg_chan_pushed(ch, slot, l);

		if (p->state & GAGG_AGAIN)
			gagg_chan_way(ch, l, h)->nagain--;
		p->state = 0;
	}
	if (b->slot != slot)
		return;
	while (*gagg_chan_done(ch, b->slot) == b->round)
		gagg_cur_next(g, ch, b);
	ch->moved |= GAGG_BIT(h);
	/* the base is another home's lowest chunk */
	if (was != ch->base)
		return;
	update_base(ch);
	if (ch->query_at != GAGG_NEVER)
		gagg_chan_watch(sh, ch, now);
	gagg_chan_finish(sh, ch);
}

bool gagg_chan_refill(struct gagg_shard *sh, const struct gagg_geom *g,
		      const struct gagg_env *env, struct gagg_chan *ch, u64 now)
{
	return sh->running && gagg_kind(ch->store, refill, sh, g, env, ch, now);
}

bool gagg_chan_timer(struct gagg_shard *sh, const struct gagg_geom *g,
		     struct gagg_chan *ch, u64 now)
{
	if (sh->running)
		gagg_kind(ch->store, timer, sh, g, ch, now);
	return sh->running;
}

u64 gagg_chan_deadline(struct gagg_chan *ch)
{
	return gagg_kind(ch->store, deadline, ch);
}

u64 gagg_chan_missing(const struct gagg_geom *g, struct gagg_chan *ch, u32 local, u64 number)
{
	const struct gagg_local *lo = &ch->local[local];

	if (number <= lo->finished || number > lo->numbers)
		return 0;
	return gagg_kind(ch->store, missing, g, ch, &lo->op[number % GAGG_OPS]);
}
