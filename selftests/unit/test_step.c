// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/layout.c kmod/core/front.c kmod/core/site.c kmod/core/table.c kmod/core/group/follow.c kmod/core/group/join*.c kmod/core/group/digest.c kmod/core/group/roster.c kmod/core/group/param.c; libs: */
/*
 * Steps are taken: what a host is asked for, in which order, when an epoch begins or ends, and whom
 * the join object calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "join_net.h"
#include "core.h"
#include "said.h"


struct gagg_host {
	char name;
};

#include "group/addr.h"
#include "step.h"

static struct gagg_shard *shard[SHARDS];
static struct gagg_site site;
static struct gagg_done done;
static void *const blocks[] = { &done };
static enum gagg_session_state states[GAGG_RANKS];
static struct gagg_due due;
static struct gagg_table table;
static bool joined, all, one, memory;
static struct gagg_stats stats[SHARDS];
static enum gagg_fate sends[SHARDS];	/* what becomes of datagrams, by shard */
static bool is_said[SHARDS];		/* a HELLO as long as a chunk was sent a moment ago */
static bool is_said_short;		/* the same of any other */
static u64 counted;			/* of shard 0, when the last one was sent */
static u32 mtus[GAGG_TO_ALL + 1];
static u16 hello_flags;			/* of the last one that was sent */
static u64 epoch, epochs;
static struct gagg_hosted x;
static struct gagg_step step;

static void epoch_lock_join(const struct gagg_host *h)
{
	assert_int_equal(h->name, 'a');
	assert_false(joined);
	joined = true;
}

static void epoch_unlock_join(const struct gagg_host *h)
{
	(void)h;
	assert_true(joined);
	joined = false;
}

static void epoch_lock_shard(const struct gagg_host *h, u32 s)
{
	(void)h;
	assert_false(one || all || joined);
	one = true;
	(void)s;
}

static void epoch_unlock_shard(const struct gagg_host *h, u32 s)
{
	(void)h;
	(void)s;
	assert_true(one && !joined);
	one = false;
}

static void epoch_lock(const struct gagg_host *h)
{
	(void)h;
	assert_false(one || all || joined);
	all = true;
	say("lock ");
}

static void epoch_unlock(const struct gagg_host *h)
{
	(void)h;
	assert_true(all);
	all = false;
	say("unlock ");
}

static struct gagg_shard *epoch_shard(const struct gagg_host *h, u32 s)
{
	(void)h;
	assert_true(all || one);
	if (one)
		say("shard%u ", s);
	return shard[s];
}

static u64 epoch_now_ns(void)
{
	return now;
}

static u64 epoch_random(void)
{
	return 4711;
}

static struct gagg_stats *epoch_stats(const struct gagg_host *h, u32 s)
{
	(void)h;
	assert_true(one);
	return &stats[s];
}

static void epoch_tell_unfit(const struct gagg_host *h)
{
	(void)h;
	assert_false(one || all || joined);
	say("unfit ");
}

static void epoch_call(const struct gagg_host *h, u32 types)
{
	(void)h;
	assert_true(joined);
	say("call%x ", types);
}

static bool epoch_is_said(const struct gagg_host *h, u32 s, u32 node, bool wide)
{
	(void)h;
	assert_false(one || all || joined);
	if (is_said_short || is_said[s])
		say("said%u-%u-%u ", s, node, wide);
	return wide ? is_said[s] : is_said_short;
}

static enum gagg_fate epoch_send(const struct gagg_host *h, u32 s, u32 node,
				 const struct gagg_word *w)
{
	(void)h;
	assert_false(one || all || joined);
	say("%s%u-%u ", w->m.type == GAGG_T_ABORT ? "abort" : w->m.type == GAGG_T_START ? "start" :
	    w->m.len > w->len ? "wide" : "hello", s, node);
	if (w->m.type == GAGG_T_HELLO && w->m.len == w->len)
		hello_flags = w->body.hello.flags;
	counted = stats[0].tx_datagrams;
	return sends[s];
}

static u32 epoch_mtu(const struct gagg_host *h, u32 node)
{
	(void)h;
	assert_false(one || all || joined);
	assert_in_range(node, 0, GAGG_TO_ALL);
	say(node == GAGG_TO_ALL ? "mtu " : "mtu%u ", node);
	return mtus[node];
}

static int epoch_channel(const struct gagg_host *h, struct gagg_site **to)
{
	(void)h;
	*to = &site;
	say("channel ");
	return memory ? 0 : -ENOMEM;
}

static u32 epoch_unlink(const struct gagg_host *h, struct gagg_site **gone)
{
	(void)h;
	assert_true(all && !shard[0]->running && !shard[1]->running);
	gone[0] = &site;
	say("unlink ");
	return 1;
}

static void epoch_give(const struct gagg_host *h, struct gagg_site *which)
{
	(void)h;
	assert_ptr_equal(which, &site);
	assert_false(all);
	say("give ");
}

static enum gagg_session_state epoch_state(const struct gagg_host *h, u32 rank)
{
	(void)h;
	return states[rank];
}

static void epoch_tell_runs(const struct gagg_host *h, u32 rank, u64 number)
{
	(void)h;
	assert_true(shard[0]->running && shard[1]->running && epoch == number);
	states[rank] = GAGG_S_RUNNING;
	say("runs%u ", rank);
}

static void epoch_tell_ended(const struct gagg_host *h, u32 rank, u32 reason)
{
	(void)h;
	assert_true(!epoch && table.spent);
	states[rank] = GAGG_S_ENDED;
	say("ended%u-%u ", rank, reason);
}

static void epoch_trace_begun(const struct gagg_host *h, const struct gagg_step *what,
			      const struct gagg_site *with, const u32 trip[GAGG_NODES])
{
	(void)h;
	assert_true(all && shard[1]->running);
	assert_ptr_equal(with, &site);
	say("trace%u-%u-%u ", (u32)what->epoch, x.g->lanes, !!trip[0]);
}

static void epoch_trace_over(const struct gagg_host *h)
{
	(void)h;
	assert_true(all);
	say("trace ");
}

static void epoch_begun(const struct gagg_host *h, const struct gagg_step *what)
{
	(void)h;
	assert_false(all);
	say("begun%u ", (u32)what->epoch);
}

static void epoch_is_over(const struct gagg_host *h, u64 number, const struct gagg_end *end)
{
	(void)h;
	assert_false(all);
	say("over%u-%u ", (u32)number, end->reason);
}

/* the tested host is @n; its ranks have sessions, and the one that is no worker has not attached */
static void is_host(u32 n)
{
	u32 s;

	host[n].g.room = 400;
	memset(states, 0, sizeof(states));
	memset(&due, 0, sizeof(due));
	memset(&table, 0, sizeof(table));
	memset(&done, 0, sizeof(done));
	epoch = 0;
	epochs = 0;
	joined = false;
	all = false;
	one = false;
	memory = true;
	memset(stats, 0, sizeof(stats));
	memset(sends, 0, sizeof(sends));
	memset(is_said, 0, sizeof(is_said));
	memset(mtus, 0, sizeof(mtus));
	is_said_short = false;
	hello_flags = 0;
	said[0] = 0;
	states[2 * n] = GAGG_S_ATTACHED;
	site.done = blocks;
	for (s = 0; s < SHARDS; s++) {
		free(shard[s]);
		shard[s] = calloc(1, gagg_shard_bytes(&host[n].g));
		assert_non_null(shard[s]);
		gagg_shard_init(shard[s], &host[n].g, s);
	}
	x = (struct gagg_hosted){
		.host.name = 'a', .g = &host[n].g, .join = &host[n].j, .due = &due,
		.table = &table, .epoch = &epoch, .epochs = &epochs,
	};
}

static void follow(bool dead)
{
	memset(&step, 0xff, sizeof(step));
	assert_int_equal(gagg_step_follow(&x, dead, &step), 0);
	assert_false(due.nodes[GAGG_JOIN_EPOCH_START] | due.nodes[GAGG_JOIN_EPOCH_END]);
}

/* an epoch runs on the tested host, and on others */
static void runs_on(u32 nodes_of, u32 n)
{
	started(nodes_of);
	is_host(n);
	follow(false);
	said[0] = 0;
}

static void attach__alone_begins(void **state)
{
	(void)state;
	world(1);
	is_host(0);
	gagg_step_attach(&x, 0);
	/* attached: nothing for others; the timer: it begins, and news of it */
	expect("call0 shard0 shard1 call10 ");
	host[0].j.lanes = 328;
	follow(false);
	expect("channel lock trace1-328-0 unlock runs0 begun1 ");
	assert_true(!step.over && step.epoch == 1);
	assert_true(epoch == 1 && epochs == 1 && done.epoch == 1);
	assert_true(shard[1]->epoch == 1 && shard[1]->cookie == 4711);
	follow(false);
	expect("");
}

/* paths begin with the round trips of HELLO */
static void follow__begins_with_trips(void **state)
{
	(void)state;
	started(2);
	is_host(1);
	host[1].j.peer[0].trip = 3000000;
	follow(false);
	assert_true(shard[0]->told == 1 && shard[1]->told == 1);
}

static void leave__ends(void **state)
{
	(void)state;
	runs_on(1, 0);
	x.g->lanes = 328;
	gagg_step_leave(&x, 0, GAGG_R_BYE);
	expect("call20 ");
	follow(false);
	expect("lock trace unlink unlock ended0-1 give over1-1 ");
	assert_true(step.over && !step.epoch && !epoch && epochs == 1);
	assert_int_equal(x.g->lanes, 400);
	assert_int_equal(states[0], GAGG_S_ENDED);
}

static void follow__ends_and_begins(void **state)
{
	(void)state;
	runs_on(1, 0);
	gagg_step_leave(&x, 0, GAGG_R_BYE);
	gagg_step_attach(&x, 0);
	said[0] = 0;
	follow(false);
	/* its session is the old one's; why that has ended is forgotten */
	expect("lock trace unlink unlock ended0-0 give over1-0 "
	       "channel lock trace2-344-0 unlock begun2 ");
	assert_true(step.over && step.epoch == 2 && epochs == 2);
}

/* without memory for its channel the epoch ends, and only the attached are told */
static void follow__without_memory(void **state)
{
	(void)state;
	world(1);
	is_host(0);
	gagg_step_attach(&x, 0);
	memory = false;
	said[0] = 0;
	assert_int_equal(gagg_step_follow(&x, false, &step), -ENOMEM);
	expect("channel call20 ");
	assert_true(!step.epoch && !epoch && !epochs && !shard[0]->running);
	assert_ended(0, 1, GAGG_R_ADMIN, 0);
	follow(false);
	expect("ended0-7 ");
	assert_int_equal(states[1], GAGG_S_BOUND);
}

/* nobody is attached: channel 0 is still for the next epoch */
static void follow__tells_the_attached(void **state)
{
	(void)state;
	started(1);
	is_host(0);
	states[0] = GAGG_S_BOUND;
	gagg_step_leave(&x, 0, GAGG_R_BYE);
	said[0] = 0;
	follow(false);
	expect("");
	assert_false(table.spent);
}

static void timer__hears_and_tells(void **state)
{
	(void)state;
	runs_on(2, 1);
	shard[1]->heard[0] = now + 5;
	gagg_step_timer(&x);
	assert_int_equal(host[1].j.peer[0].heard, now + 5);
	assert_int_equal(host[1].j.phase, GAGG_PHASE_RUNNING);
	assert_null(strstr(said, "unfit"));
	said[0] = 0;
	gagg_stats_failed(&stats[0], 1, true);
	gagg_step_timer(&x);
	assert_non_null(strstr(said, "shard0 shard1 unfit call"));
	assert_ended(1, 1, GAGG_R_MTU, 2);
}

/* what changes nothing calls nobody: a flood does not wake a host */
static void rx__calls_when_something_changes(void **state)
{
	struct gagg_join_dgram d = { .node = 0 };
	struct datagram hello;

	(void)state;
	world(2);
	is_host(1);
	make(&hello, 0, GAGG_JOIN_SEND_HELLO, 1);
	d.m = &hello.m;
	d.body = &hello.body;
	assert_int_equal(gagg_step_rx(&x, &d), GAGG_DROP_NONE);
	assert_true(d.random == 4711 && d.now == now);
	assert_non_null(strstr(said, "call"));
	said[0] = 0;
	d.node = 7;
	assert_int_equal(gagg_step_rx(&x, &d), GAGG_DROP_SOURCE);
	expect("");
}

/* nothing is to be sent, but the group is to be looked at earlier or later */
static void rx__calls_for_another_deadline(void **state)
{
	struct gagg_join_dgram d = { .node = 0 };
	struct datagram hello;
	u64 at;

	(void)state;
	runs_on(2, 1);
	run(10 * GAGG_SEC);
	host[0].j.pn++;
	make(&hello, 0, GAGG_JOIN_SEND_HELLO, 1);
	d.m = &hello.m;
	d.body = &hello.body;
	/* the peer has been silent for so long that it would be dead at once */
	host[1].j.peer[0].heard = now - 5 * GAGG_SEC + 1;
	at = gagg_join_deadline(&host[1].j, &host[1].g);
	assert_int_equal(gagg_step_rx(&x, &d), GAGG_DROP_NONE);
	assert_true(gagg_join_deadline(&host[1].j, &host[1].g) > at);
	expect("call0 ");
}

/* a datagram of the join object is one of the group's, and told once */
static void timer__tells_what_join_said(void **state)
{
	(void)state;
	runs_on(2, 1);
	due.nodes[GAGG_JOIN_SEND_HELLO] = 1;
	sends[0] = GAGG_FATE_UNFIT;
	gagg_step_speak(&x, GAGG_DUE_SAY);
	expect("hello0-0 ");
	assert_true(stats[0].unfit);
	gagg_step_timer(&x);
	assert_non_null(strstr(said, "shard0 shard1 unfit call"));
	assert_ended(1, 1, GAGG_R_MTU, 2);
	said[0] = 0;
	gagg_step_timer(&x);
	assert_null(strstr(said, "unfit"));
}

/* host 0 of three, which knows the others' MTUs */
static void is_automatic(void)
{
	world(3);
	is_host(0);
	x.g->automatic = true;
	mtus[0] = 68;
	mtus[1] = 1500;
	mtus[2] = gagg_wire_needs(208, false);
	mtus[GAGG_TO_ALL] = gagg_wire_needs(200, false);
}

static void mtu__of_all_others(void **state)
{
	(void)state;
	is_automatic();
	assert_int_equal(gagg_step_mtu(&x), mtus[2]);
	expect("mtu1 mtu2 ");
	mtus[1] = 0;
	assert_int_equal(gagg_step_mtu(&x), mtus[2]);
	mtus[2] = 0;
	assert_int_equal(gagg_step_mtu(&x), 0);
	said[0] = 0;
	host[0].g.heard_by_others = 1;
	assert_int_equal(gagg_step_mtu(&x), mtus[GAGG_TO_ALL]);
	expect("mtu mtu1 mtu2 ");
}

static void limit__is_told(void **state)
{
	(void)state;
	is_automatic();
	due.nodes[GAGG_JOIN_SEND_HELLO] = 2;
	assert_true(gagg_step_limit(&x));
	assert_non_null(strstr(said, "mtu1 mtu2 call"));
	assert_int_equal(host[0].j.limit, 208);
	assert_true(due.nodes[GAGG_JOIN_SEND_HELLO] == 6);
	/* what fits over IPv6 is less */
	x.g->v6 = true;
	assert_true(gagg_step_limit(&x));
	assert_int_equal(host[0].j.limit, 200);
}

/* lanes have a number, no HELLO tells them, or no MTU is known */
static void limit__is_not_looked_for(void **state)
{
	(void)state;
	is_automatic();
	assert_false(gagg_step_limit(&x));
	expect("");
	due.nodes[GAGG_JOIN_SEND_HELLO] = 2;
	x.g->automatic = false;
	assert_false(gagg_step_limit(&x));
	expect("");
	x.g->automatic = true;
	mtus[1] = 0;
	mtus[2] = 0;
	assert_true(gagg_step_limit(&x));
	expect("mtu1 mtu2 ");
	assert_int_equal(host[0].j.limit, 344);
}

/* host 1 is asked for long datagrams on both shards */
static void is_asked(void)
{
	world(3);
	is_host(1);
	host[1].j.peer[0].missed = 3;
	due.nodes[GAGG_JOIN_SEND_WIDE] = 1;
}

/* does HELLO say that the long ones have left? */
static bool claims_sent(void)
{
	due.nodes[GAGG_JOIN_SEND_HELLO] = 1;
	gagg_step_speak(&x, GAGG_DUE_HELLO);
	expect("hello0-0 ");
	return hello_flags & GAGG_HELLO_SENT;
}

static void speak__what_is_due(void **state)
{
	(void)state;
	is_asked();
	due.nodes[GAGG_JOIN_SEND_HELLO] = 5;
	due.nodes[GAGG_JOIN_SEND_START] = 4;
	due.nodes[GAGG_JOIN_NOTIFY] = 4;
	assert_int_equal(gagg_step_speak(&x, GAGG_DUE_HELLO), GAGG_DUE_HELLO);
	expect("hello0-0 hello0-2 ");
	assert_int_equal(gagg_step_speak(&x, GAGG_DUE_SAY | GAGG_DUE_FOLLOW),
			 1 << GAGG_JOIN_SEND_START | 1 << GAGG_JOIN_SEND_WIDE);
	expect("start0-2 wide0-0 wide1-0 ");
	assert_int_equal(gagg_step_speak(&x, GAGG_DUE_ALL), GAGG_DUE_NEWS);
	expect("");
	assert_int_equal(gagg_due_types(&due), 0);
}

static void speak__sent_on_all_shards(void **state)
{
	u32 s;

	(void)state;
	is_asked();
	assert_false(claims_sent());
	gagg_step_speak(&x, GAGG_DUE_SAY);
	expect("wide0-0 wide1-0 ");
	assert_true(claims_sent());
	assert_false(claims_sent());
	for (s = 0; s < SHARDS; s++) {
		is_asked();
		sends[s] = GAGG_FATE_NO_ROOM;
		gagg_step_speak(&x, GAGG_DUE_SAY);
		expect("wide0-0 wide1-0 ");
		assert_false(stats[s].unfit);
		assert_false(claims_sent());
	}
}

static void speak__unfit_does_not_pass(void **state)
{
	u32 s;

	(void)state;
	for (s = 0; s < SHARDS; s++) {
		is_asked();
		sends[s] = GAGG_FATE_UNFIT;
		gagg_step_speak(&x, GAGG_DUE_SAY);
		expect("wide0-0 wide1-0 ");
		assert_true(stats[s].unfit);
		sends[s] = GAGG_FATE_LEFT;
		assert_true(claims_sent());
		/* it is told, whatever leaves before the timer comes */
		assert_true(stats[s].unfit);
	}
}

/* each on its shard; what was said a moment ago, and is not sent, is no error */
static void speak__is_counted(void **state)
{
	const u32 wide = GAGG_WIRE_HDRLEN + 4 * host[1].g.lanes;

	(void)state;
	is_asked();
	sends[1] = GAGG_FATE_NO_ROOM;
	gagg_step_speak(&x, GAGG_DUE_SAY);
	assert_int_equal(stats[0].tx_datagrams, 1);
	assert_int_equal(stats[0].tx_bytes, wide);
	assert_int_equal(stats[0].tx_errors, 0);
	assert_int_equal(stats[1].tx_datagrams, 0);
	assert_int_equal(stats[1].tx_bytes, 0);
	assert_int_equal(stats[1].tx_errors, 1);
	is_asked();
	sends[1] = GAGG_FATE_UNFIT;
	gagg_step_speak(&x, GAGG_DUE_SAY);
	assert_int_equal(stats[1].tx_datagrams, 0);
	assert_int_equal(stats[1].tx_errors, 1);
	is_asked();
	is_said[1] = true;
	gagg_step_speak(&x, GAGG_DUE_SAY);
	assert_int_equal(stats[0].tx_datagrams, 1);
	assert_int_equal(stats[1].tx_errors, 0);
}

/* no datagram waits for the lock of a shard under which others are counted */
static void speak__counts_when_all_is_said(void **state)
{
	(void)state;
	is_asked();
	due.nodes[GAGG_JOIN_SEND_WIDE] = 0;
	due.nodes[GAGG_JOIN_SEND_HELLO] = 5;
	due.nodes[GAGG_JOIN_SEND_START] = 4;
	gagg_step_speak(&x, GAGG_DUE_SAY);
	expect("hello0-0 hello0-2 start0-2 ");
	assert_int_equal(counted, 0);
	assert_int_equal(stats[0].tx_datagrams, 3);
}

/* of a HELLO that is not made the question is still to be asked */
static void speak__not_again(void **state)
{
	(void)state;
	is_asked();
	host[1].j.peer[0].ask = 1;
	due.nodes[GAGG_JOIN_SEND_HELLO] = 1;
	due.nodes[GAGG_JOIN_SEND_START] = 1;
	is_said_short = true;
	gagg_step_speak(&x, GAGG_DUE_HELLO | 1 << GAGG_JOIN_SEND_START);
	expect("said0-0-0 start0-0 ");
	is_said_short = false;
	is_said[1] = true;
	gagg_step_speak(&x, GAGG_DUE_SAY);
	expect("wide0-0 said1-0-1 ");
	assert_false(claims_sent());
	assert_true(hello_flags & GAGG_HELLO_ASK);
}

static void create__begins_to_join(void **state)
{
	static const u8 addr[2][GAGG_ADDR_V4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 } };
	const struct gagg_sync_param sync = { .mode = GAGG_SYNC_BSP_QUORUM, .arg = { 2, 0 } };
	struct gagg_roster roster = { .here = GAGG_BIT(0) };
	u32 r, digest[GAGG_DG_COUNT];
	struct gagg_join j = { .limit = 1 };
	struct gagg_hosted made;
	struct gagg_geom g;
	struct gagg_params v;

	(void)state;
	gagg_params_default(&v);
	for (r = 0; r < 2; r++)
		gagg_roster_enter(&roster, r, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, addr[r],
				  GAGG_ADDR_V4);
	gagg_roster_geom(&roster, &v, &sync, &g);
	made = x;
	made.g = &g;
	made.join = &j;
	gagg_step_create(&made, &roster, &v);
	assert_true(j.enabled);
	assert_int_equal(j.instance & 1, 1);
	assert_int_equal(j.others, GAGG_BIT(1));
	gagg_digest_group(&roster, &v, &sync, digest);
	assert_memory_equal(j.digest, digest, sizeof(digest));
}

static void last_words__are_said_thrice(void **state)
{
	struct gagg_step step;

	(void)state;
	runs_on(3, 1);
	said[0] = 0;
	gagg_step_delete(&x, &step);
	assert_true(step.over);
	expect("call25 lock trace unlink unlock ended2-6 give over1-6 abort0-0 abort0-2 hello0-0 hello0-2 abort0-0 abort0-2 hello0-0 hello0-2 abort0-0 abort0-2 hello0-0 hello0-2 ");
	assert_int_equal(gagg_due_types(&due), 0);
}

/* a rank waits for an epoch that never comes: it is told, and others that it has left */
static void delete__a_group_that_waits(void **state)
{
	struct gagg_step step;

	(void)state;
	world(2);
	is_host(0);
	gagg_step_attach(&x, 0);
	gagg_step_speak(&x, GAGG_DUE_ALL);
	said[0] = 0;
	gagg_step_delete(&x, &step);
	expect("call1 ended0-6 hello0-1 hello0-1 hello0-1 ");
	assert_int_equal(host[0].j.attached, 0);
	assert_int_equal(gagg_join_deadline(&host[0].j, x.g), GAGG_NEVER);
	assert_int_equal(gagg_due_types(&due), 0);
}

/* a rank that waits for the epoch of a group that dies is told */
static void follow__a_dead_group(void **state)
{
	(void)state;
	world(2);
	is_host(0);
	gagg_step_attach(&x, 0);
	said[0] = 0;
	follow(true);
	expect("ended0-6 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attach__alone_begins),
		cmocka_unit_test(follow__begins_with_trips),
		cmocka_unit_test(leave__ends),
		cmocka_unit_test(follow__ends_and_begins),
		cmocka_unit_test(follow__without_memory),
		cmocka_unit_test(follow__tells_the_attached),
		cmocka_unit_test(timer__hears_and_tells),
		cmocka_unit_test(rx__calls_when_something_changes),
		cmocka_unit_test(rx__calls_for_another_deadline),
		cmocka_unit_test(timer__tells_what_join_said),
		cmocka_unit_test(mtu__of_all_others),
		cmocka_unit_test(limit__is_told),
		cmocka_unit_test(limit__is_not_looked_for),
		cmocka_unit_test(speak__what_is_due),
		cmocka_unit_test(speak__sent_on_all_shards),
		cmocka_unit_test(speak__unfit_does_not_pass),
		cmocka_unit_test(speak__is_counted),
		cmocka_unit_test(speak__counts_when_all_is_said),
		cmocka_unit_test(speak__not_again),
		cmocka_unit_test(create__begins_to_join),
		cmocka_unit_test(last_words__are_said_thrice),
		cmocka_unit_test(delete__a_group_that_waits),
		cmocka_unit_test(follow__a_dead_group),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
