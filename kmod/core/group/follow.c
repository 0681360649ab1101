// SPDX-License-Identifier: GPL-2.0
#include "group/follow.h"

u32 gagg_due_types(const struct gagg_due *due)
{
	u32 t, types = 0;

	for (t = 0; t < GAGG_JOIN_TYPES; t++)
		types |= (u32)!!due->nodes[t] << t;
	return types;
}

u32 gagg_due_collect(struct gagg_due *due, struct gagg_join *j)
{
	u32 i, types = 0;

	for (i = 0; i < j->nacts; i++) {
		due->nodes[j->act[i].type] |= GAGG_BIT(j->act[i].node);
		types |= 1U << j->act[i].type;
	}
	j->nacts = 0;
	return types;
}

u32 gagg_due_take(struct gagg_due *due, u32 types, struct gagg_due *taken)
{
	u32 t;

	for (t = 0; t < GAGG_JOIN_TYPES; t++) {
		taken->nodes[t] = types & 1U << t ? due->nodes[t] : 0;
		due->nodes[t] &= ~taken->nodes[t];
	}
	return gagg_due_types(taken);
}

u8 gagg_due_next(struct gagg_due *taken, u32 *node)
{
	static const u8 order[] = {
		GAGG_JOIN_SEND_ABORT, GAGG_JOIN_SEND_HELLO, GAGG_JOIN_SEND_START,
		GAGG_JOIN_SEND_WIDE,
	};
	u32 i;

	for (i = 0; i < sizeof(order); i++) {
		u64 *nodes = &taken->nodes[order[i]];

		if (!*nodes)
			continue;
		*node = gagg_lowest(*nodes);
		*nodes &= *nodes - 1;
		return order[i];
	}
	return GAGG_JOIN_TYPES;
}

void gagg_follow(const struct gagg_join *j, const struct gagg_geom *g, u64 runs, bool dead,
		 struct gagg_step *step)
{
	bool running = j->phase == GAGG_PHASE_RUNNING;

	memset(step, 0, sizeof(*step));
	step->over = runs && (!running || j->epoch != runs);
	step->end = j->end;
	if (!runs && !running) {
		step->never = g->ranks_of[g->self] & ~(dead ? 0 : j->attached);
		step->end.reason = dead ? GAGG_R_DELETED : j->end.reason;
	}
	if (running && j->epoch != runs && !dead) {
		step->epoch = j->epoch;
		step->cookie = j->cookie;
		step->lanes = j->lanes;
	}
}

void gagg_follow_hear(struct gagg_join *j, const struct gagg_shard *sh)
{
	gagg_join_hear(j, sh->index, sh->epoch, sh->heard, sh->wide);
}

void gagg_follow_timer(struct gagg_join *j, const struct gagg_geom *g, bool unfit, u64 random,
		       u64 now)
{
	const struct gagg_end end = gagg_end_here(g, GAGG_R_MTU);

	if (unfit)
		gagg_join_end(j, g, &end, now);
	gagg_join_timer(j, g, random, now);
}

void gagg_follow_last_words(const struct gagg_join *j, struct gagg_due *taken)
{
	u64 hello = taken->nodes[GAGG_JOIN_SEND_HELLO], abort = taken->nodes[GAGG_JOIN_SEND_ABORT];

	memset(taken, 0, sizeof(*taken));
	taken->nodes[GAGG_JOIN_SEND_ABORT] = abort | j->end_wait;
	taken->nodes[GAGG_JOIN_SEND_HELLO] = hello;
}
