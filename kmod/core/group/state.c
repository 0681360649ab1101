// SPDX-License-Identifier: GPL-2.0
#include "group/state.h"

enum gagg_group_state gagg_state_group(const struct gagg_ioc_status *st)
{
	if (st->phase == GAGG_PHASE_RUNNING)
		return GAGG_GS_RUNNING;
	if (st->mismatch)
		return GAGG_GS_MISMATCH;
	return st->blocked ? GAGG_GS_BLOCKED : GAGG_GS_WAITING;
}

enum gagg_member_state gagg_state_member(const struct gagg_ioc_status *st, u32 rank,
					 bool mismatch, bool blocked)
{
	if (mismatch)
		return GAGG_MS_MISMATCH;
	if (!(st->heard & GAGG_BIT(rank)))
		return GAGG_MS_UNHEARD;
	if (blocked)
		return GAGG_MS_BLOCKED;
	if (st->phase == GAGG_PHASE_RUNNING)
		return GAGG_MS_RUNNING;
	return st->attached & GAGG_BIT(rank) ? GAGG_MS_ATTACHED : GAGG_MS_HEARD;
}

void gagg_state_reach(const struct gagg_join *j, const struct gagg_geom *g, u32 node, u64 now,
		      struct gagg_reach *r)
{
	const struct gagg_peer *peer = &j->peer[node];

	memset(r, 0, sizeof(*r));
	if (node == g->self)
		return;
	r->other = true;
	r->blocked = gagg_join_blocked(j, g, node, now, &r->on);
	r->mismatch = peer->mismatch;
	r->heard = peer->heard != 0;
	/* another CPU may have heard it since */
	if (r->heard && now > peer->heard)
		r->heard_ms = (u32)((now - peer->heard) / GAGG_MSEC);
}
