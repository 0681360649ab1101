// SPDX-License-Identifier: GPL-2.0
/*
 * Chunks of a store: what ranks update and read, and what they may see.
 *
 * Every rank has a script: at every su.ops-th clock, not the same for all, a read of all chunks, at
 * each an update of them, in the end the last update, which is empty, and a read of all. It waits
 * for its reads, and for an update before the next one. With copies
 *
 *	ako	updates go where the mode sends them; reads are of the own copy
 *	pull	updates are of the own copy, reads of the peer's
 *	push	updates are of the peer's copy, reads of the own one
 *
 * and the read in the end is of the next rank's.
 *
 * A lane counts: two bits for each update of each rank, which are one when it is in.
 */
#include <linux/gagg_peer.h>
#include "cluster_int.h"

static struct part *part_of(u32 n, u32 c)
{
	return &cur->node[n].part[c];
}

/* replicas are whole: of gossip-pull, or of those that push */
static bool is_whole(void)
{
	return gagg_sync_get(geom[0].sync.mode)->whole;
}

static bool is_pull(void)
{
	return is_whole() && !strncmp(su.sync, "gossip-pull", 11);
}

static bool is_push(void)
{
	return is_whole() && !is_pull();
}

/* --- the script -------------------------------------------------------- */

enum kind { READ, UPDATE, LAST, END };

struct call {
	enum kind kind;
	u32 clock;	/* updates before it, the last one not counted */
};

static struct call call_of(u32 rank, u32 number)
{
	u32 clock;

	for (clock = 0; clock < su.rounds; clock++) {
		if (!((clock + rank) % su.ops) && !number--)
			return (struct call){ READ, clock };
		if (!number--)
			return (struct call){ UPDATE, clock };
	}
	return (struct call){ number ? END : LAST, su.rounds };
}

static bool is_read(const struct call *call)
{
	return call->kind == READ || call->kind == END;
}

/* the call after those that a rank has made; END again: there are no more */
static struct call next_call(u32 n, u32 c, u32 l)
{
	return call_of(chan_of(n, c)->local[l].rank, part_of(n, c)->calls[l]);
}

static bool made_all(u32 n, u32 c, u32 l)
{
	u32 calls = part_of(n, c)->calls[l];

	return calls && call_of(chan_of(n, c)->local[l].rank, calls - 1).kind == END;
}

/* updates that a rank has begun, without the last */
static u32 begun(u32 c, u32 rank)
{
	u32 n = geom[0].node_of[rank];

	return has_chan(n, c) ?
		next_call(n, c, (u32)gagg_chan_local(chan_of(n, c), rank)).clock : 0;
}

static u32 owner_of(u32 n, u32 c)
{
	return gagg_lowest(geom[0].ranks_of[n] & su.members[c]);
}

/* the rank whose copy is updated, or read, at a clock */
static u32 owner_at(u32 c, u32 rank, u32 clock, bool read)
{
	if (read ? is_pull() : is_push())
		return gagg_peer_to(su.members[c], rank, clock);
	return rank;
}

/* the same of a call */
static u32 copy_of(u32 c, u32 rank, const struct call *call)
{
	u64 behind = su.members[c] & ~(GAGG_BIT(rank + 1) - 1);

	if (call->kind == END)
		return gagg_lowest(behind ? behind : su.members[c]);
	return owner_at(c, rank, call->clock, is_read(call));
}

static bool is_zero(u32 rank, u32 stamp, u32 slot)
{
	return (su.kind[rank][stamp * su.ring + slot] & 7) >= K_ZERO;
}

static s32 lane_at(u32 rank, u32 stamp)
{
	return 1 << 2 * (rank * C_ROUNDS + stamp);
}

/* that update brings something to that chunk of host @n */
static bool brings(u32 n, u32 c, u32 rank, u32 stamp, u32 slot)
{
	const struct gagg_chan *ch = chan_of(n, c);
	u32 to = owner_of(n, c), parts = geom[0].sync.arg[0];

	if (is_zero(rank, stamp, slot))
		return false;
	if (!geom[0].copies)
		return gagg_geom_home(&geom[0], ch->nhomes, slot) == ch->self_home;
	if (is_whole())
		return to == owner_at(c, rank, stamp, false);
	return to != rank && (to + stamp) % parts == slot % parts;
}

void chunks_begin(u32 n, u32 c)
{
	(void)n, (void)c;
}

u32 chunks_fillable(u32 n, u32 c, u32 l)
{
	const struct part *p = part_of(n, c);
	struct call call = next_call(n, c, l);

	/* a read waits for no update before it */
	return !made_all(n, c, l) && p->over[l] + is_read(&call) >= p->calls[l];
}

void chunks_fill(u32 n, u32 c, u32 l, u32 count)
{
	static const u8 flags[] = {
		[READ] = GAGG_OP_READ, [LAST] = GAGG_OP_LAST, [END] = GAGG_OP_READ,
	};
	struct gagg_chan *ch = chan_of(n, c);

	while (count-- && chunks_fillable(n, c, l)) {
		struct call call = next_call(n, c, l);
		u32 copy = copy_of(c, ch->local[l].rank, &call);
		const struct gagg_op what = {
			.end = call.kind == LAST ? 0 : su.ring, .flags = flags[call.kind],
			.copy = (u16)gagg_chan_home(ch, geom[n].node_of[copy]),
		};

		if (gagg_store_submit(ch, l, &what) != ++part_of(n, c)->calls[l])
			fail("node %u: call %u is another op", n, part_of(n, c)->calls[l]);
	}
}

bool chunks_done(u32 n, u32 c)
{
	const struct part *p = part_of(n, c);
	u32 l;

	for (l = 0; l < chan_of(n, c)->nlocals; l++)
		if (!made_all(n, c, l) || p->over[l] < p->calls[l])
			return false;
	return true;
}

/* --- what the core asks ------------------------------------------------ */

/* of the update that a trainer's memory holds */
static u32 stamp_in(u32 n, u32 c, u32 l)
{
	return next_call(n, c, l).clock - 1;
}

u64 chunks_filled(u32 n, const struct gagg_chan *ch, u32 local)
{
	(void)n, (void)ch, (void)local;
	return 0;
}

struct gagg_cdesc chunks_desc(u32 n, const struct gagg_chan *ch, u32 local, u32 slot)
{
	struct gagg_cdesc d = { 0 };

	if (is_zero(ch->local[local].rank, stamp_in(n, ch->id, local), slot))
		d.flags = GAGG_C_ZERO;
	return d;
}

s32 chunks_lane(u32 n, const struct gagg_act *a)
{
	u32 stamp;

	if (a->type == GAGG_ACT_SEND_RESULT)
		return part_of(n, a->channel)->chunk[a->m.chunk];
	stamp = stamp_in(n, a->channel, a->local);
	if (a->m.round != stamp + 1)
		fail("node %u: round %u of chunk %u, where there is stamp %u", n, a->m.round,
		     a->m.chunk, stamp);
	return lane_at(chan_of(n, a->channel)->local[a->local].rank, stamp);
}

/* --- what may be seen -------------------------------------------------- */

/* chunk @slot of host @n: of a rank its first k updates, *least <= k <= *most; which k
 * there are
 */
static bool explained(u32 n, u32 c, u32 slot, s32 lane, u32 rank, u32 *least, u32 *most)
{
	u32 is = (u32)lane >> 2 * rank * C_ROUNDS & ((1U << 2 * C_ROUNDS) - 1);
	u32 sum = 0, k, from = *least, to = *most;
	bool found = false;

	for (k = 0; k <= to; k++) {
		if (k >= from && sum == is) {
			*least = found ? *least : k;
			*most = k;
			found = true;
		}
		if (k < su.rounds && brings(n, c, rank, k, slot))
			sum += 1U << 2 * k;
	}
	return found;
}

/* clocks of other ranks that a reader may lack; ~0: any number */
static u32 lag(void)
{
	const struct gagg_geom *g = &geom[0];

	if (g->copies)
		return is_whole() ? ~0U : g->sync.arg[0] + g->sync.arg[1];
	/* a rank that is never passed over lacks one update of each, at most */
	return g->ordered ? 1 : gagg_sync_bound(&g->sync);
}

static void check_chunk(u32 n, u32 c, u32 slot)
{
	const struct part *p = part_of(n, c);
	s32 lane = p->chunk[slot] + (p->open & (1U << slot) ? p->beside[slot] : 0);
	u64 left;

	for (left = su.members[c]; left; left &= left - 1) {
		u32 rank = gagg_lowest(left), least = 0, most = begun(c, rank);

		if (!explained(n, c, slot, lane, rank, &least, &most))
			fail("node %u: chunk %u has %x, where rank %u has made %u updates", n,
			     slot, (u32)lane, rank, begun(c, rank));
	}
}

/* updates of @rank that a read of @self must show, and may */
static void bounds(u32 c, u32 self, const struct call *call, u32 fresh, u32 rank, u32 *least,
		   u32 *most)
{
	u32 clock = call->clock;

	*most = begun(c, rank);
	if (geom[0].snapshot && call->kind != END && *most > clock)
		*most = clock;
	*least = call->kind == END ? su.rounds : lag() < clock ? clock - lag() : 0;
	if (fresh <= su.rounds && fresh > *least)
		*least = fresh;
	/* the rank that chose this one a clock ago has sent that */
	if (is_push() && clock && call->kind != END && clock > *least &&
	    rank == gagg_peer_from(su.members[c], self, clock - 1))
		*least = clock;
	if (rank == self)
		*least = *most = clock;
}

static u32 home_of(u32 c, u32 self, const struct call *call, u32 slot)
{
	const struct gagg_chan *ch = chan_of(0, c);

	if (geom[0].copies)
		return geom[0].node_of[copy_of(c, self, call)];
	return ch->home[gagg_geom_home(&geom[0], ch->nhomes, slot)];
}

static void check_read(u32 n, u32 c, u32 l, u32 slot, u32 fresh)
{
	struct part *p = part_of(n, c);
	u32 self = chan_of(n, c)->local[l].rank, calls = p->calls[l];
	struct call call = call_of(self, calls - 1);
	u64 left;

	if (!is_read(&call) || p->over[l] == calls || (p->come[l] & (1U << slot))) {
		fail("node %u: chunk %u of call %u is there, and not awaited", n, slot, calls);
		return;
	}
	p->come[l] |= 1U << slot;
	for (left = su.members[c]; left; left &= left - 1) {
		u32 rank = gagg_lowest(left), least, most;

		bounds(c, self, &call, fresh, rank, &least, &most);
		if (least > most || !explained(home_of(c, self, &call, slot), c, slot,
					       p->copy[l][slot], rank, &least, &most))
			fail("rank %u at clock %u: chunk %u is %x: of rank %u not the first %u to %u",
			     self, call.clock, slot, (u32)p->copy[l][slot], rank, least, most);
	}
}

/* there is a number of updates of each rank that all chunks of a copy show */
static void check_whole(u32 n, u32 c, u32 l, const struct call *call)
{
	u32 owner = copy_of(c, chan_of(n, c)->local[l].rank, call), slot;
	u64 left;

	for (left = su.members[c]; left; left &= left - 1) {
		u32 rank = gagg_lowest(left), least = 0, most = begun(c, rank);

		for (slot = 0; slot < su.ring; slot++)
			if (!explained(geom[0].node_of[owner], c, slot,
				       part_of(n, c)->copy[l][slot], rank, &least, &most))
				fail("node %u: the copy of rank %u is a mixture", n, owner);
	}
}

/* an update that is over is wherever it is to be */
static void check_added(u32 c, u32 rank, u32 stamp)
{
	u32 n, slot;

	for (n = 0; n < su.nodes; n++)
		for (slot = 0; chan_of(n, c)->self_home != 0xff && slot < su.ring; slot++) {
			const struct part *p = part_of(n, c);
			s32 lane = p->chunk[slot] |
				   (p->open & (1U << slot) ? p->beside[slot] : 0);

			if (brings(n, c, rank, stamp, slot) && !(lane & lane_at(rank, stamp)))
				fail("update %u of rank %u is over without chunk %u of node %u",
				     stamp, rank, slot, n);
		}
}

/* --- what it does ------------------------------------------------------ */

static void add(u32 n, u32 c, u32 slot, bool beside, bool first, s32 lane)
{
	struct part *p = part_of(n, c);
	u32 bit = 1U << slot;

	if (beside && first != !(p->open & bit))
		fail("node %u: beside chunk %u lies %s", n, slot, first ? "more" : "nothing");
	if (!beside) {
		p->chunk[slot] += lane;
		return;
	}
	p->beside[slot] = first ? lane : p->beside[slot] + lane;
	p->open |= bit;
}

static void fold(u32 n, u32 c, u32 slot)
{
	struct part *p = part_of(n, c);

	if (!(p->open & (1U << slot)))
		fail("node %u: nothing lies beside chunk %u", n, slot);
	p->chunk[slot] += p->beside[slot];
	p->beside[slot] = 0;
	p->open &= ~(1U << slot);
}

static void read_over(u32 n, u32 c, u32 l, const struct call *call)
{
	struct part *p = part_of(n, c);

	if (p->come[l] != (1U << su.ring) - 1)
		fail("node %u: a read is over with chunks %x", n, p->come[l]);
	if (is_whole())
		check_whole(n, c, l, call);
	p->come[l] = 0;
	memset(p->copy[l], 0, sizeof(p->copy[l]));
}

static void on_op_done(u32 n, u32 c, u32 l, u64 number)
{
	u32 rank = chan_of(n, c)->local[l].rank;
	struct part *p = part_of(n, c);

	if (number <= p->over[l] || number > p->calls[l]) {
		fail("node %u: op %llu done after %u of %u", n, (unsigned long long)number,
		     p->over[l], p->calls[l]);
		return;
	}
	while (p->over[l] < number) {
		struct call call = call_of(rank, p->over[l]++);

		if (is_read(&call))
			read_over(n, c, l, &call);
		else if (call.kind == UPDATE)
			check_added(c, rank, call.clock);
	}
}

void chunks_act(u32 n, const struct gagg_act *a)
{
	u32 c = a->channel, l = a->local, slot = a->keep.slot;

	switch (a->type) {
	case GAGG_ACT_FOLD:
		fold(n, c, slot);
		break;
	case GAGG_ACT_ADD_LOCAL:
		add(n, c, slot, a->keep.beside, a->keep.first,
		    lane_at(chan_of(n, c)->local[l].rank, stamp_in(n, c, l)));
		break;
	case GAGG_ACT_READ:
		if (!a->keep.placed)
			part_of(n, c)->copy[l][slot] = part_of(n, c)->chunk[slot];
		check_read(n, c, l, slot, a->keep.fresh);
		break;
	case GAGG_ACT_OP_DONE:
		on_op_done(n, c, l, a->number);
		break;
	default:
		fail("node %u: action %u", n, a->type);
	}
}

void chunks_add(u32 n, const struct gagg_todo *todo, const void *lanes)
{
	s32 lane;

	memcpy(&lane, lanes, 4);
	add(n, todo->m.channel, todo->slot, todo->area == GAGG_AREA_BESIDE, todo->first, lane);
}

void chunks_place(u32 n, const struct gagg_todo *todo, const void *lanes)
{
	memcpy(&part_of(n, todo->m.channel)->copy[todo->local][todo->slot], lanes, 4);
}

/* a request that was overtaken, or for which there was no room */
bool chunks_may_drop(const struct gagg_msg *m, enum gagg_drop why)
{
	return m->type == GAGG_T_PULL && (why == GAGG_DROP_ROUND || why == GAGG_DROP_WINDOW);
}

void chunks_check(u32 n, u32 c)
{
	u32 slot;

	for (slot = 0; chan_of(n, c)->self_home != 0xff && slot < su.ring; slot++)
		check_chunk(n, c, slot);
}
