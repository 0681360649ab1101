// SPDX-License-Identifier: GPL-2.0
#include "group/digest.h"
#include "group/state.h"

static enum gagg_group_state state_of_group(const struct gagg_ioc_status *st)
{
	if (st->phase == GAGG_PHASE_RUNNING)
		return GAGG_GS_RUNNING;
	if (st->mismatch)
		return GAGG_GS_MISMATCH;
	return st->blocked ? GAGG_GS_BLOCKED : GAGG_GS_WAITING;
}

static void state_group_fact(struct gagg_group_facts *f, u32 attr, u32 value)
{
	f->number[attr] = value;
	f->set |= GAGG_BIT(attr);
}

void gagg_facts_group(struct gagg_group_facts *f, const struct gagg_geom *g,
		      const struct gagg_ioc_status *st, u32 mtu)
{
	u32 lanes = st ? st->lanes : g->room;

	*f = (struct gagg_group_facts){ .epoch = st ? st->epoch : 0 };
	state_group_fact(f, GAGG_GA_STATE, st ? state_of_group(st) : GAGG_GS_INCOMPLETE);
	state_group_fact(f, GAGG_GA_REASON, st ? st->reason : 0);
	state_group_fact(f, GAGG_GA_REASON_RANK, st ? st->rank : 0);
	state_group_fact(f, GAGG_GA_LANES_NOW, lanes);
	state_group_fact(f, GAGG_GA_MTU_NEEDED, gagg_wire_needs(lanes, g->v6));
	if (mtu)
		state_group_fact(f, GAGG_GA_MTU, mtu);
	if (st && st->mismatch)
		f->mismatch = gagg_digest_name(st->mismatch - 1);
}

static void state_fact(struct gagg_facts *f, u32 attr, u32 value)
{
	f->number[attr] = value;
	f->set |= GAGG_BIT(attr);
}

void gagg_facts_mismatch(struct gagg_facts *f, const struct gagg_mismatch *bad)
{
	u32 digest = bad->field - 1;

	if (!bad->field)
		return;
	f->mismatch = gagg_digest_name(digest);
	if (!gagg_digest_is_number(digest))
		return;
	state_fact(f, GAGG_MA_MISMATCH_HERE, bad->here);
	state_fact(f, GAGG_MA_MISMATCH_THERE, bad->there);
}

void gagg_facts_host(struct gagg_facts *f, const struct gagg_join *j, const struct gagg_geom *g,
		     u32 node, u64 now)
{
	const struct gagg_peer *peer = &j->peer[node];
	/* another CPU may have heard it since */
	u64 ago = now > peer->heard ? now - peer->heard : 0;
	struct gagg_blocked on;

	if (node == g->self)
		return;
	f->other = true;
	f->blocked = gagg_join_blocked(j, g, node, now, &on);
	if (on.in)
		state_fact(f, GAGG_MA_BLOCKED_IN, on.in);
	if (on.out)
		state_fact(f, GAGG_MA_BLOCKED_OUT, on.out);
	gagg_facts_mismatch(f, &peer->mismatch);
	if (peer->heard)
		state_fact(f, GAGG_MA_HEARD, (u32)(ago / GAGG_MSEC));
}

void gagg_facts_path(struct gagg_facts *f, const struct gagg_path *path)
{
	if (!f->other)
		return;
	state_fact(f, GAGG_MA_CWND, path->cwnd);
	if (path->srtt)
		state_fact(f, GAGG_MA_RTT, (u32)(path->srtt / GAGG_USEC));
}

void gagg_facts_times(struct gagg_facts *f, const struct gagg_times *times, u64 now)
{
	f->timed = gagg_times_show(times, &f->times, now);
}

static enum gagg_member_state state_of(const struct gagg_facts *f,
				       const struct gagg_ioc_status *st, u32 rank)
{
	if (f->mismatch)
		return GAGG_MS_MISMATCH;
	if (!(st->heard & GAGG_BIT(rank)))
		return GAGG_MS_UNHEARD;
	if (f->blocked)
		return GAGG_MS_BLOCKED;
	if (st->phase == GAGG_PHASE_RUNNING)
		return GAGG_MS_RUNNING;
	return st->attached & GAGG_BIT(rank) ? GAGG_MS_ATTACHED : GAGG_MS_HEARD;
}

void gagg_facts_state(struct gagg_facts *f, const struct gagg_ioc_status *st, u32 rank)
{
	state_fact(f, GAGG_MA_STATE, state_of(f, st, rank));
}
