/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How rounds end: with the contributions of all members, or with those of a quorum (quorum.c).
 * The rest of the ring does not know which.
 */
#ifndef GAGG_CORE_RING_ROUND_H
#define GAGG_CORE_RING_ROUND_H

#include "ring/quorum.h"

/* what is known of the open round before a contribution to it is counted */
enum gagg_then {
	GAGG_THEN_OPEN,		/* it will not be complete with that one */
	GAGG_THEN_COMPLETE,	/* it will, unless that one voids the sum */
	GAGG_THEN_UNKNOWN,	/* its members, or what it is of, decide when it is counted */
};

/**
 * struct gagg_round_ops - a way in which rounds end
 * @late:	bytes of a slot for contributions that come late
 * @pub:	bytes of a slot for the round that is published here; 0: it is the one that is done
 * @init:	of a channel
 * @pushed:	a contribution came, to the open round or to the one before
 * @is_late:	did it come to a round that is over? Then it is answered
 * @foreseen:	what will the open round be when its contributors are @bits?
 * @counted:	a contribution of @rank to the open round was counted
 * @voided:	those that are summed up are to be asked again
 * @complete:	is the open round complete with the contributors @bits?
 * @announce:	a home publishes a result of the contributors @bits: which local ranks are in it,
 *		and is it held?
 * @published:	the home has announced what was the open round
 * @name:	enters into the header of a result which ranks are in it
 * @heard:	a worker publishes the result that @m is of: which ranks are in it?
 * @early:	verdict on a result whose round some local rank has not pushed
 */
struct gagg_round_ops {
	u32 late;
	u32 pub;
	void (*init)(const struct gagg_geom *g, struct gagg_chan *ch);
	void (*pushed)(const struct gagg_visit *vis, const struct gagg_msg *m);
	bool (*is_late)(const struct gagg_visit *vis, const struct gagg_msg *m);
	enum gagg_then (*foreseen)(const struct gagg_chan *ch, u64 bits);
	void (*counted)(const struct gagg_visit *vis, struct gagg_acc *a, u32 rank);
	void (*voided)(struct gagg_acc *a);
	bool (*complete)(const struct gagg_visit *vis, const struct gagg_acc *a, u64 bits);
	void (*announce)(const struct gagg_chan *ch, u64 bits, struct gagg_publish *pub);
	void (*published)(const struct gagg_visit *vis, const struct gagg_acc *a);
	void (*name)(struct gagg_chan *ch, u32 slot, struct gagg_msg *m);
	void (*heard)(const struct gagg_chan *ch, const struct gagg_msg *m,
		      struct gagg_publish *pub);
	enum gagg_rx (*early)(struct gagg_arrival *in);
};

static inline enum gagg_then gagg_quorum_foreseen(const struct gagg_chan *ch, u64 bits)
{
	(void)ch;
	(void)bits;
	return GAGG_THEN_UNKNOWN;
}

/* they were noted when they were counted */
static inline void gagg_quorum_voided(struct gagg_acc *a)
{
	(void)a;
}

/* R21: it is sent again when the ranks have pushed */
static inline enum gagg_rx gagg_quorum_early(struct gagg_arrival *in)
{
	(void)in;
	return GAGG_RX_OK;
}

static inline void gagg_all_init(const struct gagg_geom *g, struct gagg_chan *ch)
{
	(void)g;
	ch->limit = GAGG_NEVER;
}

static inline void gagg_all_pushed(const struct gagg_visit *vis, const struct gagg_msg *m)
{
	(void)vis;
	(void)m;
}

/* the round was over only with this contribution: it came twice (R9) */
static inline bool gagg_all_is_late(const struct gagg_visit *vis, const struct gagg_msg *m)
{
	(void)vis;
	(void)m;
	return false;
}

static inline enum gagg_then gagg_all_foreseen(const struct gagg_chan *ch, u64 bits)
{
	return bits == ch->members ? GAGG_THEN_COMPLETE : GAGG_THEN_OPEN;
}

static inline void gagg_all_counted(const struct gagg_visit *vis, struct gagg_acc *a, u32 rank)
{
	(void)vis;
	(void)a;
	(void)rank;
}

static inline void gagg_all_voided(struct gagg_acc *a)
{
	a->seen |= a->summed;
}

static inline bool gagg_all_complete(const struct gagg_visit *vis, const struct gagg_acc *a,
				     u64 bits)
{
	(void)a;
	return bits == vis->ch->members;
}

static inline void gagg_all_announce(const struct gagg_chan *ch, u64 bits,
				     struct gagg_publish *pub)
{
	(void)bits;
	pub->counted = (u16)(GAGG_BIT(ch->nlocals) - 1);
}

/*
 * PUBLISH reads the exponents of the local contributions when the queue is drained:
 * gagg_ring_taken() leaves them in place and clears only the state, and no push can come
 * between.
 */
static inline void gagg_all_published(const struct gagg_visit *vis, const struct gagg_acc *a)
{
	gagg_ring_taken(vis, a->slot, a->round);
}

/* no rank is left out: their number says it all */
static inline void gagg_all_name(struct gagg_chan *ch, u32 slot, struct gagg_msg *m)
{
	(void)ch;
	(void)slot;
	(void)m;
}

static inline void gagg_all_heard(const struct gagg_chan *ch, const struct gagg_msg *m,
				  struct gagg_publish *pub)
{
	pub->contributors = (u8)m->aux;
	gagg_all_announce(ch, ch->members, pub);
}

/* there is no such result before all have pushed */
static inline enum gagg_rx gagg_all_early(struct gagg_arrival *in)
{
	return gagg_drop(in, GAGG_DROP_ROUND);
}

static const struct gagg_round_ops gagg_all_ops = {
	.init = gagg_all_init,
	.pushed = gagg_all_pushed,
	.is_late = gagg_all_is_late,
	.foreseen = gagg_all_foreseen,
	.counted = gagg_all_counted,
	.voided = gagg_all_voided,
	.complete = gagg_all_complete,
	.announce = gagg_all_announce,
	.published = gagg_all_published,
	.name = gagg_all_name,
	.heard = gagg_all_heard,
	.early = gagg_all_early,
};

static const struct gagg_round_ops gagg_quorum_ops = {
	.late = sizeof(struct gagg_late),
	.pub = sizeof(u32),
	.init = gagg_quorum_init,
	.pushed = gagg_quorum_pushed,
	.is_late = gagg_quorum_is_late,
	.foreseen = gagg_quorum_foreseen,
	.counted = gagg_quorum_counted,
	.voided = gagg_quorum_voided,
	.complete = gagg_quorum_complete,
	.announce = gagg_quorum_announce,
	.published = gagg_quorum_published,
	.name = gagg_quorum_name,
	.heard = gagg_quorum_heard,
	.early = gagg_quorum_early,
};

/* Calls @op of the group's rounds: a branch and a direct call, as gagg_kind() does (kind.h) */
#define gagg_round(g, op, ...)	((g)->quorum ? gagg_quorum_ops.op(__VA_ARGS__) : \
					       gagg_all_ops.op(__VA_ARGS__))

#endif
