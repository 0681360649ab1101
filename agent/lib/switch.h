/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * When does a replica take the result of the all-reduce in flight (hpsgd)?
 *
 * Claim: all ranks take it at the same clock (number of steps). Otherwise they would start the next
 * one with different sums of updates, and one of them not at all.
 * 1. "Is it complete?" has different answers on different ranks. So a rank on which it is complete
 *    makes an offer: the clock that it will not pass before it knows the offers of the others.
 * 2. The largest offer is apply_at. No rank has passed it, since each rank is at its own offer at
 *    most; and every rank will come to it.
 *
 * An offer is the next clock, so a rank goes on computing while offers are exchanged; but it makes
 * no more than @bound steps after the start of the all-reduce. Clocks are counted from there.
 *
 * Pure: completion is an argument, and the decision is the result.
 */
#ifndef GAGG_SWITCH_H
#define GAGG_SWITCH_H

#include <stdbool.h>
#include <stdint.h>

enum switch_phase {
	SWITCH_IDLE,		/* nothing is under way */
	SWITCH_FLYING,		/* the all-reduce of updates is */
	SWITCH_OFFERED,		/* it is complete here; offers are under way */
	SWITCH_AGREED,		/* the clock is known */
};

/**
 * struct hp_switch - see above
 * @phase: enum switch_phase
 * @bound: most steps during one all-reduce, at least 1
 * @clock: steps since it was started
 * @at: own offer; AGREED: the largest
 */
struct hp_switch {
	enum switch_phase phase;
	int32_t bound;
	int32_t clock;
	int32_t at;
};

/* The all-reduce is started, now. */
static inline void switch_start(struct hp_switch *s)
{
	s->phase = SWITCH_FLYING;
	s->clock = 0;
}

/* A step was made. */
static inline void switch_tick(struct hp_switch *s)
{
	s->clock++;
}

/* Must the rank wait for the operation in flight before its next step? */
static inline bool switch_must_wait(const struct hp_switch *s)
{
	return (s->phase == SWITCH_FLYING && s->clock >= s->bound) ||
	       (s->phase == SWITCH_OFFERED && s->clock >= s->at);
}

/* The all-reduce is complete on this rank. Returns the offer to make. */
static inline int32_t switch_offer(struct hp_switch *s)
{
	s->phase = SWITCH_OFFERED;
	s->at = s->clock < s->bound ? s->clock + 1 : s->bound;
	return s->at;
}

/* The largest offer is known. */
static inline void switch_agree(struct hp_switch *s, int32_t at)
{
	s->phase = SWITCH_AGREED;
	s->at = at;
}

/* Is the result taken now? */
static inline bool switch_applies(const struct hp_switch *s)
{
	return s->phase == SWITCH_IDLE || (s->phase == SWITCH_AGREED && s->clock >= s->at);
}

#endif
