/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls and actions of the core in the form that a trace has (trace.h). The module writes it;
 * selftests/vm/replay.c includes this header as well, and compares.
 */
#ifndef GAGG_TRACED_H
#define GAGG_TRACED_H

#include "core/core.h"

/* the datagram that gagg_shard_rx() gets */
struct gagg_traced_rx {
	struct gagg_msg m;
	const void *body;
	u64 now;
	u8 shard;
	u8 node;
	u8 ours;	/* it has the epoch's cookie */
	u8 ce;
};

/* length of the body that the core reads */
static inline u32 gagg_traced_len(const struct gagg_msg *m)
{
	return m->type == GAGG_T_ACK ? sizeof(struct gagg_ack) :
	       m->type == GAGG_T_OPEN ? sizeof(struct gagg_open) : 0;
}

/**
 * struct gagg_traced_act - what is in a struct gagg_act, without its body and
 *	what all actions of an epoch share
 * @nodes:	SEND_RESULT: nodes; OP_DONE: number; OPEN: members
 * @epoch:	of the message, as all that follow
 * @sig:	DESYNC: sig
 * @slot:	chunk of the message; PUBLISH, FOLD, ADD_LOCAL, READ: slot; DESYNC: call
 * @round:	also of PUBLISH; READ: fresh; DESYNC: other_call
 * @pn:		DESYNC: other_sig
 * @aux:	PUBLISH: contributors | nonfinite << 16 | shift << 24; DESYNC: other
 * @locals:	PUBLISH: locals | counted << 16
 * @src:	DESYNC: rank
 * @flags:	also of PUBLISH
 * @run:	of the message
 * @lanes:	also of PUBLISH
 * @weight:	of the message
 * @type:	of the message
 * @laneop:	also of PUBLISH
 * @exp:	also of PUBLISH
 * @want:	also of PUBLISH
 * @from:	PUBLISH: from_acc | placed << 1 | raw << 2 | keep << 3; ADD_LOCAL,
 *		READ: beside | first << 1 | placed << 2
 */
struct gagg_traced_act {
	u64 nodes;
	u32 epoch;
	u32 sig;
	u32 slot;
	u32 round;
	u32 pn;
	u32 aux;
	u32 locals;
	u16 src;
	u16 flags;
	u16 run;
	u16 lanes;
	u16 weight;
	u8 type;
	u8 laneop;
	u8 exp;
	u8 want;
	u8 from;
};

static inline void gagg_traced_msg(const struct gagg_msg *m, struct gagg_traced_act *t)
{
	t->epoch = m->epoch;
	t->sig = m->sig;
	t->slot = m->chunk;
	t->round = m->round;
	t->pn = m->pn;
	t->aux = m->aux;
	t->src = m->src;
	t->flags = m->flags;
	t->run = m->run;
	t->lanes = m->lanes;
	t->weight = m->weight;
	t->type = m->type;
	t->laneop = m->laneop;
	t->exp = m->exp;
	t->want = m->want;
}

static inline void gagg_traced_publish(const struct gagg_publish *p,
				       struct gagg_traced_act *t)
{
	t->slot = p->slot;
	t->round = p->round;
	t->locals = p->locals | (u32)p->counted << 16;
	t->lanes = p->lanes;
	t->laneop = p->laneop;
	t->exp = p->exp;
	t->want = p->want;
	t->flags = p->flags;
	t->aux = p->contributors | (u32)p->nonfinite << 16 | (u32)p->shift << 24;
	t->from = (u8)(p->from_acc | p->placed << 1 | p->raw << 2 | p->hold << 3);
}

static inline void gagg_traced_act(const struct gagg_act *a, struct gagg_traced_act *t)
{
	memset(t, 0, sizeof(*t));
	switch (a->type) {
	case GAGG_ACT_PUBLISH:
		gagg_traced_publish(&a->pub, t);
		break;
	case GAGG_ACT_FOLD:
	case GAGG_ACT_ADD_LOCAL:
	case GAGG_ACT_READ:
		t->slot = a->keep.slot;
		t->round = a->keep.fresh;
		t->from = (u8)(a->keep.beside | a->keep.first << 1 | a->keep.placed << 2);
		break;
	case GAGG_ACT_OP_DONE:
		t->nodes = a->number;
		break;
	case GAGG_ACT_OPEN:
		t->nodes = a->members;
		break;
	case GAGG_ACT_DESYNC:
		t->src = a->end.rank;
		t->aux = a->end.other;
		t->sig = a->end.sig;
		t->pn = a->end.other_sig;
		t->slot = a->end.call;
		t->round = a->end.other_call;
		break;
	default:
		t->nodes = a->nodes;
		gagg_traced_msg(&a->m, t);
	}
}

#endif
