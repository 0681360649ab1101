// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/join*.c kmod/core/group/follow.c; libs: */
/*
 * Several nodes run the join object over a network that loses, repeats, reorders
 * and delays, while trainers come and go and nodes restart; all from one seed.
 * A node says what it queued some time later, as the module does. What fits the MTUs of
 * nodes differs, and changes.
 *
 * At every step:
 *	agree	 nodes that run, run one epoch, cookie and list of instances, of as many
 *		 lanes
 *	whole	 a node starts an epoch only with all its workers attached, of no more
 *		 lanes than it can send, names itself by its instance, and only grows its
 *		 epoch
 *	reason	 an epoch ends for a reason that has happened: the rank left, or
 *		 the node has another instance than the epoch's list
 *	storm	 a chain of datagrams, each caused at once by the one before,
 *		 is short; the queue of actions never fills
 * Then the network is fair (old datagrams still arrive):
 *	over	 soon nobody runs an epoch that a rank has left or a node lost
 *	start	 soon all run, and go on, at two HELLOs per second and pair, and those that
 *		 chunks pass is shown with: a question, its answer, one on each shard
 *
 *	model_join [--seed N] [--runs N]	SEED in the environment works, too
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "group/follow.h"

#define NODES		4
#define RANKS		6
#define FLIGHT		512
#define PAST		64	/* datagrams that the network may bring up again */
#define CHAIN		30	/* several nodes may restart in the course of one */
#define EPOCHS		4096

struct datagram {
	u64 at;
	u32 depth;		/* how many caused it, at once; repetitions begin anew */
	u8 from, to, shard;
	struct gagg_msg m;
	union gagg_join_body body;
};

struct node {
	struct gagg_geom g;
	struct gagg_join j;
	bool up;
	struct gagg_due due;
	u32 depth[NODES];	/* of what is to be said */
	u64 speak_at;
	u64 highest;		/* epoch run by this instance */
	bool runs;		/* as told by actions */
};

static struct node nodes[NODES];
static struct datagram flight[FLIGHT], past[PAST];
static u32 nnodes, nflight, npast, hellos;
static u64 rng, limits, now, workers, dead_after;
static u64 left_mask[EPOCHS];	/* ranks that left an epoch, by epoch % EPOCHS */
static u64 broken[EPOCHS];	/* cookies of epochs that a node has ended or lost */
static u32 nbroken;
static bool fair, any_reason, limited;
static char failure[256];

static u64 rnd64(void)
{
	u64 z = rng += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static u32 rnd(u32 n)
{
	return (u32)(rnd64() % n);
}

/* dice of their own: schedules without limits are what they would be */
static u32 rnd_limit(u32 n)
{
	return (u32)((limits = limits * 6364136223846793005 + 1442695040888963407) >> 33) % n;
}

__attribute__((format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	va_list ap;

	if (failure[0])
		return;
	va_start(ap, fmt);
	vsnprintf(failure, sizeof(failure), fmt, ap);
	va_end(ap);
}

static bool is_broken(u64 cookie)
{
	u32 i;

	for (i = 0; i < nbroken; i++)
		if (broken[i] == cookie)
			return true;
	return false;
}

static void set_broken(u64 cookie)
{
	if (cookie && nbroken < EPOCHS && !is_broken(cookie))
		broken[nbroken++] = cookie;
}

static void check_agree(void)
{
	const struct node *first = NULL;
	u32 i;

	for (i = 0; i < nnodes; i++) {
		const struct node *n = &nodes[i];

		if (!n->up || n->j.phase != GAGG_PHASE_RUNNING)
			continue;
		if (!first)
			first = n;
		if (n->j.epoch != first->j.epoch || n->j.cookie != first->j.cookie ||
		    memcmp(n->j.start_instance, first->j.start_instance, 8 * nnodes))
			fail("agree: nodes %u and %u run epochs %llu and %llu",
			     first->g.self, n->g.self, first->j.epoch, n->j.epoch);
		if (n->j.lanes != first->j.lanes)
			fail("agree: nodes %u and %u have %u and %u lanes",
			     first->g.self, n->g.self, first->j.lanes, n->j.lanes);
	}
}

static void check_start(struct node *n, u64 epoch)
{
	u64 own = n->g.ranks_of[n->g.self] & workers;

	if (n->runs || epoch <= n->highest)
		fail("whole: node %u starts %llu after %llu", n->g.self, epoch, n->highest);
	if (own & ~n->j.attached)
		fail("whole: node %u starts %llu without all ranks", n->g.self, epoch);
	if (n->j.lanes > n->j.limit || n->j.lanes < 8 || n->j.lanes % 8)
		fail("whole: node %u starts %llu with %u lanes", n->g.self, epoch, n->j.lanes);
	if (n->j.start_instance[n->g.self] != n->j.instance)
		fail("whole: node %u starts under another's name", n->g.self);
	n->runs = true;
	n->highest = epoch;
}

static void check_end(struct node *n)
{
	const struct gagg_end *e = &n->j.end;
	u32 other = n->g.node_of[e->rank];

	if (!n->runs)
		fail("whole: node %u ends what it does not run", n->g.self);
	n->runs = false;
	if (n->j.attached)
		fail("whole: ranks of node %u are attached after the end", n->g.self);
	if (any_reason)
		return;
	switch (e->reason) {
	case GAGG_R_BYE:
	case GAGG_R_DIED:
		if (!(left_mask[n->j.epoch % EPOCHS] & GAGG_BIT(e->rank)))
			fail("reason: rank %u has not left epoch %llu", e->rank, n->j.epoch);
		break;
	case GAGG_R_RESTART:
		if (nodes[other].up &&
		    nodes[other].j.instance == n->j.start_instance[other])
			fail("reason: node %u has not restarted", other);
		break;
	case GAGG_R_SILENT:
	case GAGG_R_BLOCKED:
		if (fair)
			fail("reason: node %u is not silent or blocked", other);
		break;
	case GAGG_R_ADMIN:
		break;
	case GAGG_R_MTU:
		if (fair)
			fail("reason: what fits node %u has not changed", other);
		break;
	default:
		fail("reason: %u", e->reason);
	}
}

/* take what the object wants; @depth: of the datagram that caused it, @to its
 * sender
 */
static void drain(struct node *n, u32 depth, u32 to)
{
	u32 i;

	if (n->j.nacts > GAGG_JOIN_ACTS - 8)
		fail("storm: %u actions", n->j.nacts);
	for (i = 0; i < n->j.nacts; i++) {
		const struct gagg_join_act *a = &n->j.act[i];

		if (a->type == GAGG_JOIN_EPOCH_START) {
			check_start(n, a->epoch);
		} else if (a->type == GAGG_JOIN_EPOCH_END) {
			check_end(n);
		} else if (a->type != GAGG_JOIN_NOTIFY) {
			n->depth[a->node] = a->node == to ? depth : 0;
		}
	}
	if (n->j.nacts && n->speak_at == GAGG_NEVER)
		n->speak_at = now + rnd(rnd(8) ? 50000 : 5000000);
	gagg_due_collect(&n->due, &n->j);
	set_broken(n->j.last_cookie);
	check_agree();
}

static void send(struct node *n, u32 to, u32 shard, const struct gagg_word *w)
{
	struct datagram d;
	u32 i;

	memset(&d, 0, sizeof(d));
	d.from = n->g.self;
	d.to = (u8)to;
	d.shard = (u8)shard;
	d.depth = n->depth[to] + 1;
	if (d.depth > CHAIN)
		fail("storm: a chain of %u datagrams", d.depth);
	d.m = w->m;
	memcpy(&d.body, &w->body, sizeof(w->body));
	/* only acceptance counts: nobody has to be through */
	if (d.m.type == GAGG_T_HELLO && !n->g.shards)
		d.body.hello.flags |= GAGG_HELLO_THROUGH;
	i = npast < PAST ? npast++ : rnd(PAST);
	past[i] = d;
	past[i].depth = 0;
	if (!fair && !rnd(4))
		return;
	d.at = now + 10000 + rnd(fair || rnd(4) ? 2000000 : 400000000);
	if (nflight < FLIGHT)
		flight[nflight++] = d;
	else if (fair)
		fail("storm: %u datagrams under way", nflight);
}

static void speak(struct node *n)
{
	struct gagg_due taken;
	struct gagg_word w;
	u32 to, left;
	u8 type;

	n->speak_at = GAGG_NEVER;
	gagg_due_take(&n->due, GAGG_DUE_SAY, &taken);
	while ((type = gagg_due_next(&taken, &to)) != GAGG_JOIN_TYPES) {
		gagg_join_say(&n->j, &n->g, type, to, &w);
		hellos += type == GAGG_JOIN_SEND_HELLO;
		for (left = w.shards; left; left &= left - 1)
			send(n, to, gagg_lowest(left), &w);
		if (type == GAGG_JOIN_SEND_WIDE && rnd(2))
			gagg_join_sent(&n->j, to);
	}
}

static void deliver(const struct datagram *d)
{
	struct gagg_join_dgram in = {
		.node = d->from,
		.shard = d->shard,
		.m = &d->m,
		.body = &d->body,
		.now = now,
	};
	struct node *n = &nodes[d->to];

	if (!n->up)
		return;
	in.random = rnd64();
	gagg_join_rx(&n->j, &n->g, &in);
	drain(n, d->depth, d->from);
}

static void boot(u32 i)
{
	struct node *n = &nodes[i];
	u32 digest[GAGG_DG_COUNT] = { 1, 2, 3 };

	gagg_join_init(&n->j, &n->g, digest, rnd64() | 1);
	n->j.pn = rnd(2) ? 0xfffffff0 : 0;
	n->up = true;
	n->runs = false;
	n->highest = 0;
	n->speak_at = GAGG_NEVER;
	memset(&n->due, 0, sizeof(n->due));
	n->j.enabled = 1;
	if (limited && rnd_limit(2)) {
		gagg_join_limit(&n->j, &n->g, rnd_limit(400), now);
		drain(n, 0, NODES);
	}
}

static void crash(u32 i)
{
	if (nodes[i].runs)
		set_broken(nodes[i].j.cookie);
	nodes[i].up = false;
	nodes[i].runs = false;
}

static void attach(u32 rank)
{
	struct node *n = &nodes[nodes[0].g.node_of[rank]];

	if (!n->up || n->runs || (n->j.attached & GAGG_BIT(rank)))
		return;
	gagg_join_attach(&n->j, &n->g, rank, now);
	drain(n, 0, NODES);
}

static void leave(u32 rank)
{
	struct node *n = &nodes[nodes[0].g.node_of[rank]];
	u64 top = nodes[0].j.top;
	u32 i;

	if (!n->up || !(n->j.attached & GAGG_BIT(rank)))
		return;
	/* a coordinator that is new learns of the last epoch from those that refused it */
	for (i = 0; limited && i < nnodes; i++)
		top = gagg_max64(top, nodes[i].j.top);
	/* an epoch that is on its way here counts as left as well */
	for (i = 0; i < 4; i++) {
		left_mask[(n->j.epoch + i) % EPOCHS] |= GAGG_BIT(rank);
		left_mask[(top + i) % EPOCHS] |= GAGG_BIT(rank);
	}
	gagg_join_leave(&n->j, &n->g, rank, rnd(2) ? GAGG_R_DIED : GAGG_R_BYE, now);
	drain(n, 0, NODES);
}

static void end(u32 i)
{
	struct gagg_end why = { .reason = GAGG_R_ADMIN };

	if (!nodes[i].up)
		return;
	gagg_join_end(&nodes[i].j, &nodes[i].g, &why, now);
	drain(&nodes[i], 0, NODES);
}

/* its MTU has */
static void change_limit(struct node *n)
{
	gagg_join_limit(&n->j, &n->g, rnd_limit(2) ? rnd_limit(400) : 344, now);
	drain(n, 0, NODES);
}

/* go to @until, in the order of time */
static void run(u64 until)
{
	while (!failure[0]) {
		u64 at = until;
		u32 i, what = 0, which = 0;

		for (i = 0; i < nflight; i++)
			if (flight[i].at < at)
				at = flight[i].at, what = 1, which = i;
		for (i = 0; i < nnodes; i++) {
			struct node *n = &nodes[i];
			u64 d = n->up ? gagg_join_deadline(&n->j, &n->g) : GAGG_NEVER;

			if (n->up && n->speak_at < at)
				at = n->speak_at, what = 2, which = i;
			if (d < at)
				at = d, what = 3, which = i;
		}
		now = gagg_max64(now, at);
		if (what == 0)
			return;
		if (what == 1) {
			struct datagram d = flight[which];

			flight[which] = flight[--nflight];
			deliver(&d);
		} else if (what == 2) {
			speak(&nodes[which]);
		} else {
			now += rnd(1000000);
			gagg_join_timer(&nodes[which].j, &nodes[which].g, rnd64(), now);
			drain(&nodes[which], 0, NODES);
			if (gagg_join_deadline(&nodes[which].j, &nodes[which].g) <= now)
				fail("storm: the timer of node %u is always due", which);
		}
	}
}

/* ranks 0.. over nodes 0.. in order, every node has one; the last node may have
 * no worker
 */
static void make(void)
{
	struct gagg_geom g;
	u32 i, r;

	memset(&g, 0, sizeof(g));
	memset(nodes, 0, sizeof(nodes));
	memset(left_mask, 0, sizeof(left_mask));
	nbroken = 0;
	memset(g.node_of, 0xff, sizeof(g.node_of));
	nnodes = 1 + rnd(NODES);
	dead_after = (1 + rnd(rnd(2) ? 5 : 20)) * GAGG_SEC;
	g.group = 7;
	g.nodes = (u8)nnodes;
	g.dead_after = dead_after;
	g.lanes = 344;
	/* without shards nothing has to be shown */
	g.shards = (u16)(rnd(4) ? 0 : 1 + rnd(2));
	for (r = 0; r < RANKS; r++) {
		i = r < nnodes ? r : rnd(nnodes);
		g.node_of[r] = (u8)i;
		g.ranks_of[i] |= GAGG_BIT(r);
	}
	workers = GAGG_BIT(RANKS) - 1;
	if (nnodes > 1 && !rnd(3))
		workers &= ~g.ranks_of[nnodes - 1];
	g.workers = workers;
	g.aggregators = GAGG_BIT(nnodes) - 1;
	now = 1000;
	nflight = 0;
	npast = 0;
	fair = false;
	for (i = 0; i < nnodes; i++) {
		nodes[i].g = g;
		nodes[i].g.self = (u8)i;
		boot(i);
	}
	/* one node knows that there were many epochs */
	nodes[rnd(nnodes)].j.epoch = rnd(2) ? 0xfffffffc : 0;
	nodes[0].j.top = nodes[0].j.epoch;
}

static void attach_all(void)
{
	u32 r;

	for (r = 0; r < RANKS; r++)
		if (workers & GAGG_BIT(r))
			attach(r);
}

static void chaos(u32 steps)
{
	/* some schedules are rough, others only now and then so */
	u32 calm = 20 + rnd(200);

	while (steps-- && !failure[0]) {
		u32 i = rnd(nnodes);

		run(now + rnd(rnd(4) ? 5000000 : 500000000));
		if (limited && nodes[i].up && !rnd_limit(20))
			change_limit(&nodes[i]);
		switch (rnd(calm)) {
		case 0:
			crash(i);
			break;
		case 1:
			leave(rnd(RANKS));
			break;
		case 2:
			end(i);
			break;
		case 3: /* back before anybody noticed */
			crash(i);
			boot(i);
			break;
		case 4:
		case 5:
			boot(i = nodes[i].up ? nnodes - 1 : i);
			break;
		default:
			if (npast && !rnd(3))
				deliver(&past[rnd(npast)]);
			if (!rnd(3))
				attach(rnd(RANKS));
			if (!rnd(8))
				attach_all();
			for (i = 0; i < nnodes; i++)
				if (!nodes[i].up && !rnd(10))
					boot(i);
		}
	}
}

static void settle(u64 time)
{
	u64 until = now + time;
	u32 i;

	while (now < until && !failure[0]) {
		run(gagg_min64(until, now + 20 * GAGG_MSEC));
		/* what was sent in the past, a little of it */
		if (npast && !rnd(50)) {
			i = rnd(npast);
			deliver(&past[i]);
		}
	}
}

static void check_fair(void)
{
	u64 quiet = 20 * GAGG_SEC, known = 0, epoch;
	u32 i, r, bound, shown;

	fair = true;
	any_reason = true;
	for (i = 0; i < nnodes; i++)
		if (!nodes[i].up)
			boot(i);
	settle(2 * dead_after + 4 * GAGG_SEC);
	for (i = 0; i < nnodes; i++)
		if (nodes[i].runs && is_broken(nodes[i].j.cookie))
			fail("over: node %u still runs %llu", i, nodes[i].j.epoch);
	any_reason = false;
	for (i = 0; i < nnodes; i++)
		known = gagg_max64(known, nodes[i].j.epoch);
	for (r = 0; r < 400 && !failure[0]; r++) {
		attach_all();
		settle(10 * GAGG_MSEC);
	}
	epoch = nodes[0].j.epoch;
	for (i = 0; i < nnodes; i++)
		if (!nodes[i].runs || nodes[i].j.epoch != epoch)
			fail("start: node %u does not run %llu (its epoch: %llu)",
			     i, epoch, nodes[i].j.epoch);
	if (epoch < known)
		fail("start: epoch %llu is less than one that was known", epoch);
	npast = 0;
	run(now + GAGG_SEC);
	hellos = 0;
	run(now + quiet);
	for (i = 0; i < nnodes; i++)
		if (!nodes[i].runs || nodes[i].j.epoch != epoch)
			fail("start: node %u has not gone on with %llu", i, epoch);
	/* asked up to six times before the first answer is there */
	shown = (u32)(quiet / (dead_after / 32 * 22) + 1) * (2 + nodes[0].g.shards) * 6;
	bound = ((u32)(quiet / gagg_min64(GAGG_SEC, dead_after / 4) + 1) + shown) * nnodes *
		(nnodes - 1);
	if (hellos > bound)
		fail("storm: %u HELLOs, at most %u", hellos, bound);
}

static bool one(u64 seed)
{
	rng = seed;
	limits = ~seed;
	limited = rnd_limit(3) == 0;
	failure[0] = 0;
	any_reason = false;
	make();
	chaos(200 + rnd(600));
	if (!failure[0])
		check_fair();
	return !failure[0];
}

int main(int argc, char **argv)
{
	const char *env = getenv("SEED");
	u64 seed = 1, runs = 0, i;

	if (env)
		seed = strtoull(env, NULL, 0);
	for (i = 1; i + 1 < (u64)argc; i += 2) {
		if (!strcmp(argv[i], "--seed")) {
			seed = strtoull(argv[i + 1], NULL, 0);
			env = argv[i + 1];
		} else if (!strcmp(argv[i], "--runs")) {
			runs = strtoull(argv[i + 1], NULL, 0);
		}
	}
	/* a named seed is to be repeated */
	if (!runs)
		runs = env ? 1 : 12000;
	printf("TAP version 13\n1..1\n");
	for (i = 0; i < runs; i++) {
		if (one(seed + i))
			continue;
		printf("# seed %llu: %s (time %llu ms, %u nodes)\n", seed + i, failure,
		       now / GAGG_MSEC, nnodes);
		printf("not ok 1 - join over %llu schedules\n", runs);
		return 1;
	}
	printf("ok 1 - join over %llu schedules\n", runs);
	return 0;
}
