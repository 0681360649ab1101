/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states of a session, and what they allow.
 *
 * A session begins as bound: it has a rank of a group, or none yet. It attaches, and is running
 * when the epoch has begun. It is ended when that epoch is over, or will never be, and keeps its
 * memory until it detaches or attaches again.
 */
#ifndef GAGG_CORE_SESSION_H
#define GAGG_CORE_SESSION_H

#include "ledger.h"

enum gagg_session_state {
	GAGG_S_BOUND,
	GAGG_S_ATTACHED,
	GAGG_S_RUNNING,
	GAGG_S_ENDED,
};

/* Does an epoch wait for the rank, or run with it? */
static inline bool gagg_state_is_attached(enum gagg_session_state state)
{
	return state == GAGG_S_ATTACHED || state == GAGG_S_RUNNING;
}

/* May the rank make calls that require an epoch? NOT; IDLE before one, STOPPED after it. */
static inline enum gagg_refusal gagg_state_runs(enum gagg_session_state state)
{
	if (state == GAGG_S_RUNNING)
		return GAGG_REFUSE_NOT;
	return state == GAGG_S_ENDED ? GAGG_REFUSE_STOPPED : GAGG_REFUSE_IDLE;
}

#endif
