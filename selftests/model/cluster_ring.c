// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks of a ring: what trainers contribute, and what is published.
 */
#include "cluster_int.h"

static void check_sum(u32 n, u32 c, u64 v, s32 is, const char *when)
{
	struct gagg_rdesc want;
	s32 sum = sum_of(cur->node[n].epoch, c, v, &want);

	if (!(want.flags & ~GAGG_C_OVERFLOW) && is != sum)
		fail("node %u channel %u chunk %llu: %d %s, not %d", n, c,
		     (unsigned long long)v, is, when, sum);
}

/* the last chunk that a trainer has filled in a slot */
static u64 filled_in(u32 n, u32 c, u32 l, u32 slot)
{
	u64 v = cur->node[n].part[c].filled[l] - 1;

	while (v % su.ring != slot)
		v--;
	return v;
}

/* what a trainer's memory has there */
static s32 page_of(u32 n, u32 c, u32 l, u32 slot)
{
	return lane_of(cur->node[n].epoch, c, chan_of(n, c)->local[l].rank,
		       filled_in(n, c, l, slot));
}

/* a home has come to a decision */
static void decide(u32 n, u32 c, u64 v, const struct gagg_publish *p)
{
	u64 bits = GAGG_CHAN_AT(chan_of(n, c), off_late, struct gagg_late)[p->slot].bits;
	/* raw lanes need all */
	u32 all = gagg_weight64(su.members[c]), least = su.raw ? all : geom[n].sync.arg[0];

	if (cur->decided[v] || (bits & ~su.members[c]) ||
	    gagg_weight64(bits) < gagg_min64(least, all))
		fail("home %u chunk %llu: %llx after %llx", n, (unsigned long long)v,
		     (unsigned long long)bits, (unsigned long long)cur->decided[v]);
	cur->decided[v] = bits;
}

static void check_publish(u32 n, u32 c, u64 v, s32 is, const struct gagg_publish *p)
{
	struct gagg_chan *ch = chan_of(n, c);
	struct gagg_rdesc want;
	u32 l;

	sum_of(cur->node[n].epoch, c, v, &want);
	if (p->contributors != want.contributors)
		fail("node %u chunk %llu: %u contributors", n, (unsigned long long)v,
		     p->contributors);
	for (l = 0; l < ch->nlocals && (p->flags & GAGG_C_NORESULT); l++)
		if (!(su.kind[ch->local[l].rank][v] & K_NORESULT))
			fail("node %u chunk %llu: result withheld", n, (unsigned long long)v);
	if (p->exp != want.exp || p->want != want.want ||
	    (p->flags & ~GAGG_C_NORESULT) != want.flags ||
	    (want.flags == GAGG_C_NONFINITE && p->nonfinite != want.nonfinite))
		fail("node %u chunk %llu: exp %u want %u flags %x", n, (unsigned long long)v,
		     p->exp, p->want, p->flags);
	if (!(p->flags & GAGG_C_NORESULT))
		check_sum(n, c, v, is, "published");
}

static void on_publish(u32 n, u32 c, const struct gagg_publish *p)
{
	struct part *part = &cur->node[n].part[c];
	struct gagg_chan *ch = chan_of(n, c);
	u64 v = (u64)(p->round - 1) * su.ring + p->slot;
	bool hold = p->hold == GAGG_HOLD_PUT;
	s32 *res = hold ? &part->held[p->slot] : &part->result[p->slot];
	const s32 *src = p->hold == GAGG_HOLD_TAKE ? &part->held[p->slot] :
			 p->from_acc ? &part->acc[p->slot & (su.window - 1)] :
			 p->placed ? res : NULL;
	u32 l;

	if (!hold && !reads_all(n, c, p->slot))
		fail("node %u: slot %u overwritten unread", n, p->slot);
	if (v >= (u64)su.ring * su.rounds || (!hold &&
	    part->holds[p->slot] != (v < su.ring ? 0 : v + 1 - su.ring))) {
		fail("node %u: slot %u has %llu, then round %u", n, p->slot,
		     (unsigned long long)part->holds[p->slot], p->round);
		return;
	}
	if (hold)
		decide(n, c, v, p);
	for (l = 0; l < ch->nlocals; l++) {
		s32 q;

		if (!(p->locals & (1U << l)))
			continue;
		q = page_of(n, c, l, p->slot);
		gagg_reduce_chunk(p->laneop, res, src, &q, p->lanes,
				  p->raw ? 0 : p->exp - gagg_chan_pushed(ch, p->slot, l)->exp);
		src = res;
	}
	if (src && src != res)
		*res = *src;
	if (!hold)
		part->holds[p->slot] = v + 1;
	check_publish(n, c, v, *res, p);
}

static void on_op_done(u32 n, u32 c, u32 local, u64 number)
{
	struct part *p = &cur->node[n].part[c];
	u64 v, end = number * (su.ring * su.rounds / su.ops);

	if (number <= p->ops_done[local] || number > su.ops)
		fail("node %u: op %llu done after %llu", n, (unsigned long long)number,
		     (unsigned long long)p->ops_done[local]);
	for (v = 0; v < end; v++)
		if (p->holds[v % su.ring] <= v)
			fail("node %u: op %llu done without chunk %llu", n,
			     (unsigned long long)number, (unsigned long long)v);
	p->ops_done[local] = number;
}

void chunks_act(u32 n, const struct gagg_act *a)
{
	switch (a->type) {
	case GAGG_ACT_PUBLISH:
		on_publish(n, a->channel, &a->pub);
		break;
	case GAGG_ACT_OP_DONE:
		on_op_done(n, a->channel, a->local, a->number);
		break;
	default:
		fail("node %u: action %u", n, a->type);
	}
}

s32 chunks_lane(u32 n, const struct gagg_act *a)
{
	const struct part *p = &cur->node[n].part[a->channel];

	if (a->type == GAGG_ACT_SEND_CONTRIB)
		return page_of(n, a->channel, a->local, a->m.chunk);
	/* where a home's results lie */
	return geom[n].quorum ? p->held[a->m.chunk] : p->result[a->m.chunk];
}

u64 chunks_filled(u32 n, const struct gagg_chan *ch, u32 local)
{
	return cur->node[n].part[ch->id].filled[local];
}

struct gagg_cdesc chunks_desc(u32 n, const struct gagg_chan *ch, u32 local, u32 slot)
{
	return desc_of(ch->local[local].rank, filled_in(n, ch->id, local, slot));
}

void chunks_check(u32 n, u32 c)
{
	const struct part *p = &cur->node[n].part[c];
	u64 per_op = su.ring * su.rounds / su.ops, v = 0;
	u32 l;

	while (v < (u64)su.ring * su.rounds && p->holds[v % su.ring] > v)
		v++;
	for (l = 0; l < chan_of(n, c)->nlocals; l++)
		if (p->ops_done[l] != v / per_op)
			fail("node %u: %llu chunks, %llu ops done", n, (unsigned long long)v,
			     (unsigned long long)p->ops_done[l]);
}

static void check_write(u32 n, u32 c, u32 slot)
{
	if (!reads_all(n, c, slot))
		fail("node %u: slot %u written over unread", n, slot);
}

void chunks_add(u32 n, const struct gagg_todo *todo, const void *lanes)
{
	struct part *p = &cur->node[n].part[todo->m.channel];
	s32 *acc = &p->acc[todo->acc];

	if (todo->to_result)
		check_write(n, todo->m.channel, todo->slot);
	gagg_reduce_chunk(todo->laneop, todo->to_result ? &p->result[todo->slot] : acc,
			  todo->first ? NULL : acc, lanes, todo->lanes, todo->shift);
}

void chunks_place(u32 n, const struct gagg_todo *todo, const void *lanes)
{
	check_write(n, todo->m.channel, todo->slot);
	memcpy(&cur->node[n].part[todo->m.channel].result[todo->slot], lanes, 4);
}

bool chunks_may_drop(const struct gagg_msg *m, enum gagg_drop why)
{
	(void)m, (void)why;
	return false;
}

void chunks_begin(u32 n, u32 c)
{
	struct gagg_chan *ch = chan_of(n, c);
	u32 l, k;

	for (l = 0; l < ch->nlocals; l++)
		for (k = 0; k < su.ops; k++)
			gagg_ring_submit(ch, l, &(struct gagg_op){
				.sig = (u32)GAGG_K_ALLREDUCE << 28 | k, .last_lanes = 1,
				.flags = su.raw ? GAGG_OP_RAW : 0,
			}, su.ring * su.rounds / su.ops);
}

/* the next chunk to fill has been read in its last round */
static bool may_fill(u32 n, u32 c, u32 l)
{
	const struct part *p = &cur->node[n].part[c];
	u64 v = p->filled[l];

	return v < (u64)su.ring * su.rounds &&
	       p->holds[v % su.ring] == (v < su.ring ? 0 : v + 1 - su.ring);
}

static void fill_one(u32 n, u32 c, u32 l)
{
	struct part *p = &cur->node[n].part[c];
	u32 rank = chan_of(n, c)->local[l].rank;
	u64 v = p->filled[l]++;

	if (v >= su.ring) {
		u64 old = v - su.ring;

		if (p->holds[old % su.ring] != old + 1)
			fail("node %u: chunk %llu is gone", n, (unsigned long long)old);
		if (!(su.kind[rank][old] & K_NORESULT))
			check_sum(n, c, old, p->result[old % su.ring], "read");
		p->read[l] = old + 1;
	}
}

u32 chunks_fillable(u32 n, u32 c, u32 l)
{
	return may_fill(n, c, l) ? su.ring : 0;
}

void chunks_fill(u32 n, u32 c, u32 l, u32 count)
{
	while (count-- && may_fill(n, c, l))
		fill_one(n, c, l);
}

bool chunks_done(u32 n, u32 c)
{
	const struct part *p = &cur->node[n].part[c];
	u32 l, i;

	for (l = 0; l < chan_of(n, c)->nlocals; l++) {
		if (p->ops_done[l] < su.ops)
			return false;
		for (i = 0; i < su.ring; i++)
			if (p->holds[i] != (u64)su.ring * (su.rounds - 1) + i + 1)
				return false;
	}
	return true;
}
