// SPDX-License-Identifier: GPL-2.0
/*
 * The path that may do more than the real one, see cluster.h. A datagram is
 * known by a number made of what it carries.
 */
#include "cluster_int.h"

#define RUN_MAX		C_SLOTS

u32 transmissions;

/* of a store: a tick. RUN_MAX is enough for both */
static u32 least_run(void)
{
	return geom[0].store ? 0 : 1;
}

static u32 id_of(const struct gagg_sent *s)
{
	u32 v = (s->channel * C_ROUNDS + s->round - 1) * GAGG_LOCALS + s->local;

	/* slots in a row have numbers in a row, as the core expects of those of a run */
	return (v * RUN_MAX + s->run - least_run()) * C_SLOTS + s->slot;
}

/* on the way to @peer */
static void sent_of(u32 node, u32 peer, u32 id, struct gagg_sent *s)
{
	memset(s, 0, sizeof(*s));
	s->slot = id % C_SLOTS;
	s->run = (u16)(id / C_SLOTS % RUN_MAX + least_run());
	s->local = (u8)(id / C_SLOTS / RUN_MAX % GAGG_LOCALS);
	s->round = id / C_SLOTS / RUN_MAX / GAGG_LOCALS % C_ROUNDS + 1;
	s->channel = (u16)(id / RUN_MAX / GAGG_LOCALS / C_SLOTS / C_ROUNDS);
	if (geom[0].store)
		s->home = (u8)gagg_chan_home(chan_of(node, s->channel), peer);
}

_Static_assert(C_CHANS * C_ROUNDS * C_SLOTS * GAGG_LOCALS * RUN_MAX <= 64, "a bit for each");

/* node and peer of a path are kept in fields that the core does not look at */
static u64 *flying(const struct gagg_path *p)
{
	return &cur->node[p->una].flying[p->scan];
}

static u64 *arrived(const struct gagg_path *p)
{
	return &cur->node[p->una].arrived[p->scan];
}

void gagg_path_init(struct gagg_path *p, u32 cwnd_max)
{
	p->cwnd_max = cwnd_max;
	p->cwnd = GAGG_PATH_CWND_MIN;	/* what it says of the lead is beyond the rings here */
	p->rto_at = 1;	/* always due */
}

u32 gagg_path_room(const struct gagg_path *p)
{
	u32 n = gagg_weight64(*flying(p));

	return n < p->cwnd_max ? p->cwnd_max - n : 0;
}

u32 gagg_path_send(struct gagg_path *p, const struct gagg_sent *what, u64 now)
{
	(void)now;
	if (what->run - least_run() >= RUN_MAX || what->round > C_ROUNDS)
		fail("run %u of round %u", what->run, what->round);
	*flying(p) |= GAGG_BIT(id_of(what));
	transmissions++;
	return id_of(what) + 1;
}

void gagg_path_send_run(struct gagg_path *p, const struct gagg_sent *what, u32 n, u64 now)
{
	struct gagg_sent s = *what;

	for (; n; n--, s.slot++)
		gagg_path_send(p, &s, now);
}

bool gagg_path_rx(struct gagg_path *p, u32 pn, bool ce)
{
	u64 bit = GAGG_BIT(pn - 1), was = *arrived(p);

	(void)ce;
	p->ack_due = 1;
	*arrived(p) |= bit;
	return !(was & bit);
}

u32 gagg_path_ack_build(struct gagg_path *p, struct gagg_ack *ack)
{
	ack->map[0] = cpu_to_le64(*arrived(p));
	p->ack_due = 0;
	return 0;
}

void gagg_path_ack(struct gagg_path *p, const struct gagg_receipt *r,
		   void (*acked)(void *ctx, const struct gagg_sent *s), void *ctx)
{
	u64 left = le64_to_cpu(r->ack->map[0]) & *flying(p);
	struct gagg_sent s;

	*flying(p) &= ~left;
	for (; left; left &= left - 1) {
		sent_of(p->una, p->scan, gagg_lowest(left), &s);
		acked(ctx, &s);
	}
}

void gagg_path_forget(struct gagg_path *p, bool (*over)(void *ctx, const struct gagg_sent *s),
		      void *ctx)
{
	u64 left = *flying(p);
	struct gagg_sent s;

	for (; left; left &= left - 1) {
		sent_of(p->una, p->scan, gagg_lowest(left), &s);
		if (over(ctx, &s))
			*flying(p) &= ~(left & -left);
	}
}

void gagg_path_timer(struct gagg_path *p, u64 now)
{
	(void)now;
	if (p->una == giving_up.node && p->scan == giving_up.peer)
		*flying(p) &= ~giving_up.ids;
}

bool gagg_path_lost(struct gagg_path *p, struct gagg_sent *what)
{
	if (p->una != giving_up.node || p->scan != giving_up.peer || !giving_up.ids)
		return false;
	sent_of(p->una, p->scan, gagg_lowest(giving_up.ids), what);
	giving_up.ids &= giving_up.ids - 1;
	return true;
}

u64 gagg_cwnd_repair_at(const struct gagg_path *p)
{
	(void)p;
	return 0;
}

void gagg_cwnd_repair(struct gagg_path *p, u64 now)
{
	(void)p, (void)now;
}

void gagg_cwnd_results_lost(struct gagg_path *p, u32 n, u64 now)
{
	(void)p, (void)n, (void)now;
}

void gagg_cwnd_undo(struct gagg_path *p)
{
	(void)p;
}

u64 gagg_cwnd_result_at(struct gagg_path *p, u64 now)
{
	(void)p, (void)now;
	return 0;
}

void gagg_cwnd_result(struct gagg_path *p, u64 now)
{
	(void)p, (void)now;
}

void gagg_path_heard(struct gagg_path *p, u64 now)
{
	(void)p, (void)now;
}

void gagg_path_hint(struct gagg_path *p, u64 rto)
{
	(void)p, (void)rto;
}

u64 gagg_path_quiet(const struct gagg_path *p)
{
	return gagg_path_rto(p);
}

u64 gagg_path_rto(const struct gagg_path *p)
{
	(void)p;
	return GAGG_MSEC;
}
