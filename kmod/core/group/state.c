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
