// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/join*.c kmod/core/wire.c; libs: -DGAGG_NODES=4 -DGAGG_RANKS=8 */
/*
 * Membership: up to four nodes with the join object. The input is a shape and
 * a schedule: trainers come and go, nodes are made anew, datagrams arrive, are
 * lost, come twice and late, time passes, and others send in a node's name.
 *
 * What holds at every step, whatever is sent:
 *	- the queue of actions is as short as join.h says; what is sent parses
 *	- a node ends what it has started, for a rank and reason that exist; then
 *	  no rank is attached
 *	- a forged datagram that names no secret changes nothing that counts
 * unless a forged datagram named a secret, an instance id or a cookie, also:
 *	- nodes that run, run one epoch, cookie and list of instances
 *	- a node starts with all its workers attached, under its own name, and an
 *	  epoch above all that this instance has run
 */
#include "fuzz.h"
#include "group/join.h"

#define RANKS		8
#define FLIGHT		128
#define STEPS_MAX	500

struct datagram {
	u8 from, to;
	struct gagg_msg m;
	union gagg_join_body body;
};

static struct node {
	struct gagg_geom g;
	struct gagg_join j;
	bool up, runs;
	u64 highest;		/* epoch that this instance has run */
} node[GAGG_NODES];

static struct datagram pool[FLIGHT];
static u8 flight[FLIGHT];	/* a permutation of the pool: under way, oldest first, and free */
static u64 now, drawn;
static u32 nodes, nflight;
static bool betrayed;		/* the forger has known a secret */

static struct datagram *under_way(u32 i)
{
	return &pool[flight[i]];
}

static struct datagram *leave(void)
{
	return &pool[flight[nflight++]];
}

/* valid until the next one leaves */
static struct datagram *arrive(u32 i)
{
	u8 which = flight[i];

	memmove(&flight[i], &flight[i + 1], --nflight - i);
	flight[nflight] = which;
	return &pool[which];
}

/* instance ids and cookies: nothing else looks like one */
static u64 draw(void)
{
	return 0x5ec7e75eULL << 32 | (u32)gagg_mix64(++drawn, 1);
}

static bool is_secret(u64 v)
{
	return v >> 32 == 0x5ec7e75e;
}

/* --- what must hold ---------------------------------------------------- */

static void check_agree(void)
{
	const struct node *first = NULL;
	u32 i;

	for (i = 0; i < nodes && !betrayed; i++) {
		const struct node *n = &node[i];

		if (!n->up || n->j.phase != GAGG_PHASE_RUNNING)
			continue;
		if (!first)
			first = n;
		if (n->j.epoch != first->j.epoch || n->j.cookie != first->j.cookie ||
		    memcmp(n->j.start_instance, first->j.start_instance, 8 * nodes))
			fuzz_fail("nodes %u and %u run epochs %llu and %llu", first->g.self,
				  n->g.self, first->j.epoch, n->j.epoch);
	}
}

static void check_start(struct node *n, u64 epoch)
{
	u64 own = n->g.ranks_of[n->g.self] & n->g.workers;

	fuzz_assert(!n->runs && n->j.phase == GAGG_PHASE_RUNNING);
	fuzz_assert(!(own & ~n->j.attached));
	fuzz_assert(n->j.start_instance[n->g.self] == n->j.instance);
	if (!betrayed)
		fuzz_assert(epoch > n->highest);
	n->runs = true;
	n->highest = epoch;
}

static void check_end(struct node *n)
{
	const struct gagg_end *e = &n->j.end;

	fuzz_assert(n->runs && n->j.phase == GAGG_PHASE_IDLE);
	fuzz_assert(e->reason > GAGG_R_NONE && e->reason < GAGG_R_COUNT);
	fuzz_assert(e->rank < GAGG_RANKS && e->other < GAGG_RANKS);
	fuzz_assert(!n->j.attached);
	n->runs = false;
}

static void say(struct node *n, u32 to, u8 type)
{
	u8 raw[GAGG_WIRE_HDRLEN];
	struct gagg_word w;
	struct gagg_msg again;
	struct datagram *d;

	fuzz_assert(to < nodes && to != n->g.self);
	if (nflight == FLIGHT)
		arrive(0);
	d = leave();
	memset(d, 0, sizeof(*d));
	d->from = n->g.self;
	d->to = (u8)to;
	gagg_join_say(&n->j, &n->g, type, to, &w);
	fuzz_assert(w.len <= w.m.len && w.m.len <= sizeof(d->body));
	d->m = w.m;
	memcpy(&d->body, &w.body, sizeof(w.body));
	gagg_wire_build(raw, &d->m);
	fuzz_assert(!gagg_wire_parse(raw, GAGG_WIRE_HDRLEN + w.m.len, &again));
}

static void drain(struct node *n)
{
	u32 i, seen[GAGG_JOIN_TYPES][GAGG_NODES] = { { 0 } }, epochs = 0;

	fuzz_assert(n->j.nacts <= 3 * (nodes - 1) + 2);
	for (i = 0; i < n->j.nacts; i++) {
		const struct gagg_join_act *a = &n->j.act[i];

		fuzz_assert(a->type < GAGG_JOIN_TYPES && a->node < nodes);
		if (a->type == GAGG_JOIN_EPOCH_START) {
			fuzz_assert(!epochs++);
			check_start(n, a->epoch);
		} else if (a->type == GAGG_JOIN_EPOCH_END) {
			fuzz_assert(!epochs++);
			check_end(n);
		} else {
			fuzz_assert(!seen[a->type][a->node]++);
		}
	}
	/* when all is done: datagrams say what is true then */
	for (i = 0; i < n->j.nacts; i++)
		if (n->j.act[i].type <= GAGG_JOIN_SEND_WIDE)
			say(n, n->j.act[i].node, n->j.act[i].type);
	n->j.nacts = 0;
	fuzz_assert(!(n->j.attached & ~n->g.ranks_of[n->g.self]));
	fuzz_assert(n->runs == (n->j.phase == GAGG_PHASE_RUNNING));
	check_agree();
}

/* --- what may happen --------------------------------------------------- */

static void boot(struct node *n)
{
	u32 i, digest[GAGG_DG_COUNT];

	for (i = 0; i < GAGG_DG_COUNT; i++)
		digest[i] = i;
	gagg_join_init(&n->j, &n->g, digest, draw());
	n->j.enabled = 1;
	n->up = true;
	n->runs = false;
	n->highest = 0;
}

static void init(struct input *in)
{
	struct gagg_geom g = { .group = 9, .dead_after = 5 * GAGG_SEC,
			       .shards = 1, .lanes = 64 };
	u8 a = take8(in);
	u32 i, per_node = 1 + (a >> 2 & 1);

	memset(node, 0, sizeof(node));
	now = 0;
	drawn = 0;
	nflight = 0;
	for (i = 0; i < FLIGHT; i++)
		flight[i] = (u8)i;
	betrayed = false;
	nodes = 2 + a % 3;
	g.nodes = (u8)nodes;
	memset(g.node_of, 0xff, sizeof(g.node_of));
	for (i = 0; i < nodes * per_node; i++) {
		g.node_of[i] = (u8)(i / per_node);
		g.ranks_of[i / per_node] |= GAGG_BIT(i);
		if (!(a & 8) || i / per_node < nodes - 1)
			g.workers |= GAGG_BIT(i);
	}
	for (i = 0; i < nodes; i++) {
		node[i].g = g;
		node[i].g.self = (u8)i;
		boot(&node[i]);
		/* most schedules begin where all are there */
		if (!(a & 16))
			gagg_join_attach(&node[i].j, &g, gagg_lowest(g.ranks_of[i]), now);
		drain(&node[i]);
	}
}

static void receive(const struct datagram *d)
{
	struct node *n = &node[d->to];
	struct gagg_join_dgram in = { .node = d->from, .m = &d->m, .now = now };
	u8 *body;

	if (!n->up)
		return;
	/* of its own, to see what is read behind it */
	body = malloc(d->m.len ? d->m.len : 1);
	if (!body)
		exit(0);
	memcpy(body, &d->body, d->m.len);
	in.body = body;
	in.random = draw();
	gagg_join_rx(&n->j, &n->g, &in);
	free(body);
	drain(n);
}

static void deliver(u8 which, bool keep)
{
	struct datagram d;

	if (!nflight)
		return;
	which %= nflight;
	d = keep ? *under_way(which) : *arrive(which);
	receive(&d);
}

static void timers(u32 mask)
{
	u32 i;

	for (i = 0; i < nodes; i++)
		if (node[i].up && (mask & 1U << i) &&
		    gagg_join_deadline(&node[i].j, &node[i].g) <= now) {
			gagg_join_timer(&node[i].j, &node[i].g, draw(), now);
			drain(&node[i]);
		}
}

static void pass_time(u8 how)
{
	static const u64 steps[] = {
		0, GAGG_MSEC, 50 * GAGG_MSEC, 100 * GAGG_MSEC, 1000 * GAGG_MSEC,
		1250 * GAGG_MSEC, 4900 * GAGG_MSEC, 5100 * GAGG_MSEC,
	};

	now += steps[how & 7];
	timers(how >> 4 ? how >> 4 : ~0U);
}

static void come_and_go(u8 who, u8 what)
{
	struct node *n = &node[who % nodes];
	u64 ranks = n->g.ranks_of[n->g.self];
	struct gagg_end end = { .reason = GAGG_R_ADMIN };
	u32 rank;

	if ((who & 0x80) && (ranks & (ranks - 1)))
		ranks &= ranks - 1;
	rank = gagg_lowest(ranks);
	switch (what & 7) {
	case 0: case 1: case 2: case 3:
		if (n->up)
			gagg_join_attach(&n->j, &n->g, rank, now);
		break;
	case 4: case 5:
		if (n->up)
			gagg_join_leave(&n->j, &n->g, rank, what & 1 ? GAGG_R_BYE : GAGG_R_DIED,
					now);
		break;
	case 6:
		if (n->up)
			gagg_join_end(&n->j, &n->g, &end, now);
		break;
	case 7:			/* its group is deleted, or made anew */
		n->up = false;
		if (what & 0x10)
			boot(n);
		break;
	}
	if (n->up)
		drain(n);
}

/* a secret in any word that a receiver compares with one */
static bool names_secret(const struct datagram *d)
{
	u32 i;

	for (i = 0; i < sizeof(d->body) / 8; i++)
		if (is_secret(le64_to_cpu(d->body.word[i])))
			return true;
	return is_secret(d->m.cookie);
}

static void compose(struct input *in, struct datagram *d)
{
	static const u8 types[] = { GAGG_T_HELLO, GAGG_T_START, GAGG_T_ABORT, GAGG_T_ACK };
	const struct node *to = &node[d->to], *from = &node[d->from];
	u8 type = take8(in);

	d->m.run = 1;
	d->m.group = 9;
	d->m.type = types[type & 3];
	d->m.epoch = (u32)to->j.epoch + (type >> 2 & 3);
	d->m.pn = take8(in);
	d->m.aux = take8(in);
	if (type & 0x40)		/* all that can be known of the receiver */
		d->m.cookie = to->j.cookie;
	switch (d->m.type) {
	case GAGG_T_HELLO:
		d->m.len = sizeof(d->body.hello);
		d->body.hello.instance = cpu_to_le64(type & 0x10 ? from->j.instance : take64(in));
		d->body.hello.echo = cpu_to_le64(type & 0x20 ? to->j.instance : take8(in));
		d->body.hello.attached = cpu_to_le64(take8(in));
		d->body.hello.ver_min = GAGG_WIRE_VERSION;
		d->body.hello.ver_max = GAGG_WIRE_VERSION;
		d->body.hello.phase = type >> 7;
		d->body.hello.flags = take8(in);
		break;
	case GAGG_T_START:
		d->m.len = 16 + 8 * nodes;
		d->body.start.cookie = cpu_to_le64(take8(in));
		d->body.start.nodes = cpu_to_le32(nodes);
		if (type & 0x10)
			d->body.start.instance[0] = cpu_to_le64(node[0].j.instance);
		if (type & 0x20)
			d->body.start.instance[d->to] = cpu_to_le64(to->j.instance);
		break;
	case GAGG_T_ABORT:
		d->m.len = sizeof(d->body.abort);
		d->body.abort.reason = cpu_to_le32(take8(in));
		d->body.abort.rank = cpu_to_le16(take8(in));
		d->body.abort.other = cpu_to_le16(take8(in));
		break;
	}
}

static void forge(struct input *in)
{
	u8 who = take8(in), what = take8(in), times = what & 7;
	struct datagram d = { .to = who % nodes };
	const struct gagg_join *is;
	struct gagg_join was;
	struct gagg_msg again;
	u8 raw[GAGG_WIRE_HDRLEN];
	u32 len, i;

	d.from = (u8)((d.to + 1 + (who >> 4) % (nodes - 1)) % nodes);
	if ((what & 0x80) && nflight)
		d = *under_way(take8(in) % nflight);
	else
		compose(in, &d);
	len = d.m.len;
	gagg_wire_build(raw, &d.m);
	while (times--) {
		u16 at = take16(in) & 0x3ff;
		u8 with = take8(in);

		if (at < sizeof(raw))
			raw[at] = with;
		else if (at < sizeof(raw) + sizeof(d.body))
			((u8 *)&d.body)[at - sizeof(raw)] = with;
		else
			len = with * 8U <= sizeof(d.body) ? with * 8U : len;
	}
	if (gagg_wire_parse(raw, GAGG_WIRE_HDRLEN + len, &again))
		return;
	d.m = again;
	if (names_secret(&d)) {
		betrayed = true;
		receive(&d);
		return;
	}
	was = node[d.to].j;
	receive(&d);
	is = &node[d.to].j;
	/* nothing is believed of it: at most a doubt, and an answer */
	fuzz_assert(is->phase == was.phase && is->epoch == was.epoch && is->top == was.top &&
		    is->cookie == was.cookie && is->attached == was.attached);
	for (i = 0; i < nodes; i++)
		fuzz_assert(is->peer[i].instance == was.peer[i].instance &&
			    is->peer[i].attached == was.peer[i].attached &&
			    is->peer[i].heard == was.peer[i].heard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	u32 steps, i;
	u8 op;

	init(&in);
	for (steps = 0; in.left && steps < STEPS_MAX; steps++) {
		op = take8(&in);
		switch (op & 7) {
		case 0: case 1:
			deliver(take8(&in), op & 0x80);
			break;
		case 2:
			for (i = nflight; i; i--)
				deliver(0, op & 0x80 && i & 1);
			break;
		case 3:
			if (nflight)
				nflight -= op & 0x80 ? nflight : 1;
			break;
		case 4:
			pass_time(take8(&in));
			break;
		case 5:
			op = take8(&in);
			come_and_go(op, take8(&in));
			break;
		case 6:
			forge(&in);
			break;
		case 7:		/* a usual second: what is said is heard */
			for (i = 0; i < 8; i++) {
				u32 n = nflight;

				while (n--)
					deliver(0, false);
				now += 50 * GAGG_MSEC;
				timers(~0U);
			}
			break;
		}
	}
	return 0;
}
