/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * When does a replica take the result of the all-reduce that is under way
 * (hpsgd)?
 *
 * All ranks must do so at the same clock (number of steps), or they would start
 * the next one with different sums of updates in it, and one of them not at all.
 * "Is it complete?" has another answer on each rank. So a rank that has seen it
 * complete makes an offer: the clock that it will not pass before it knows what
 * the others offer. The largest offer is apply_at: nobody has passed it, since
 * each rank is at its own offer at most, and everybody will come to it.
 *
 * An offer is the next clock, so a rank goes on computing while offers are
 * exchanged; but never more than @bound steps after the start of the all-reduce.
 * Clocks are counted from there.
 *
 * Pure: what is complete is an argument, what is to be done the result.
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

/* Must what is under way be waited for, before the next step? */
static inline bool switch_must_wait(const struct hp_switch *s)
{
	return (s->phase == SWITCH_FLYING && s->clock >= s->bound) ||
	       (s->phase == SWITCH_OFFERED && s->clock >= s->at);
}

/* The all-reduce is complete here. Returns the offer to be made. */
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

/* Is it now that the result is taken? */
static inline bool switch_applies(const struct hp_switch *s)
{
	return s->phase == SWITCH_IDLE || (s->phase == SWITCH_AGREED && s->clock >= s->at);
}

#endif
