// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/join*.c; libs: */
#include "join_net.h"

static void start__one_node_needs_no_message(void **state)
{
	(void)state;
	world(1);
	run(GAGG_SEC);
	assert_int_equal(host[0].j.phase, GAGG_PHASE_IDLE);
	attach(0);
	run(0);
	assert_true(all_run(1));
	assert_int_not_equal(host[0].j.cookie, 0);
	assert_int_equal(sent[GAGG_T_HELLO] + sent[GAGG_T_START], 0);
	leave(0, GAGG_R_BYE);
	assert_ended(0, 1, GAGG_R_BYE, 0);
}

static void start__two_and_three_nodes(void **state)
{
	(void)state;
	started(2);
	started(3);
	assert_int_equal(host[2].starts, 1);
	assert_int_equal(gagg_join_attached(&host[0].j, &host[0].g), 0x15);
	assert_int_equal(gagg_join_heard(&host[0].j, &host[0].g, now), 0x3f);
	assert_true(host[0].notified >= 2);
}

static void start__takes_few_milliseconds(void **state)
{
	(void)state;
	world(3);
	run(GAGG_SEC);
	attach_all();
	run(4 * DELAY);
	assert_true(all_run(1));
}

/* so that paths begin with them; but not for what is lost */
static void start__waits_for_round_trips(void **state)
{
	(void)state;
	world(2);
	run(GAGG_SEC);
	attach(2);
	run(100 * GAGG_MSEC);
	lost = lose_all;
	attach(0);
	run(19 * GAGG_MSEC);
	assert_int_equal(sent[GAGG_T_START], 0);
	run(2 * GAGG_MSEC);
	assert_int_equal(sent[GAGG_T_START], 1);
}

static void start__waits_for_every_worker(void **state)
{
	(void)state;
	world(3);
	attach(0);
	attach(4);
	run(3 * GAGG_SEC);
	assert_int_equal(sent[GAGG_T_START], 0);
	attach(3);	/* no worker */
	run(3 * GAGG_SEC);
	assert_int_equal(sent[GAGG_T_START], 0);
	attach(2);
	run(100 * GAGG_MSEC);
	assert_true(all_run(1));
}

static void start__aggregator_must_be_heard(void **state)
{
	u32 n;

	(void)state;
	world(3);
	for (n = 0; n < nodes; n++)
		host[n].g.workers = 5;
	host[2].up = false;
	attach(0);
	attach(2);
	run(3 * GAGG_SEC);
	assert_int_equal(sent[GAGG_T_START], 0);
	boot(2);
	run(100 * GAGG_MSEC);
	assert_true(all_run(1));
}

static void start__not_before_enabled(void **state)
{
	(void)state;
	world(1);
	host[0].j.enabled = 0;
	attach(0);
	assert_true(gagg_join_deadline(&host[0].j, &host[0].g) == GAGG_NEVER);
	host[0].j.enabled = 1;
	run(GAGG_MSEC);
	assert_true(all_run(1));
}

static void start__lost_is_repeated(void **state)
{
	(void)state;
	world(3);
	lost = lose_start;
	attach_all();
	run(200 * GAGG_MSEC);
	assert_int_equal(host[0].j.phase, GAGG_PHASE_RUNNING);
	assert_int_equal(host[1].j.phase, GAGG_PHASE_IDLE);
	lost = NULL;
	run(GAGG_HELLO_FAST + 2 * DELAY);
	assert_true(all_run(1));
	assert_int_equal(host[1].starts, 1);
}

static void start__twice_is_answered_once_taken(void **state)
{
	u32 hellos;

	(void)state;
	started(2);
	hellos = sent[GAGG_T_HELLO];
	assert_int_equal(deliver(&last[GAGG_T_START]), GAGG_DROP_NONE);
	assert_int_equal(host[1].starts, 1);
	assert_int_equal(sent[GAGG_T_HELLO], hellos + 1);
}

static void start__only_from_the_coordinator(void **state)
{
	struct datagram d;

	(void)state;
	started(3);
	d = last[GAGG_T_START];
	d.to = 2;
	d.from = 1;
	assert_int_equal(deliver(&d), GAGG_DROP_SOURCE);
	d.from = 0;
	d.m.len -= 1;
	assert_int_equal(deliver(&d), GAGG_DROP_SHORT);
	d.m.len += 1;
	d.m.epoch = 2;
	d.body.start.instance[0] ^= 1;
	assert_int_equal(deliver(&d), GAGG_DROP_COOKIE);
	assert_true(all_run(1));
}

static void start__trainer_died_in_the_middle(void **state)
{
	(void)state;
	world(3);
	lost = lose_start;
	attach_all();
	run(10 * GAGG_MSEC);
	leave(2, GAGG_R_DIED);
	assert_int_equal(host[1].j.phase, GAGG_PHASE_IDLE);
	lost = NULL;
	run(200 * GAGG_MSEC);
	assert_ended(0, 1, GAGG_R_DIED, 2);
	assert_ended(1, 1, GAGG_R_DIED, 2);
	assert_int_equal(host[1].starts + host[1].ends, 0);
	/* node 2 may have run it or not; its rank is attached if not */
	assert_int_equal(host[2].j.phase, GAGG_PHASE_IDLE);
	assert_int_equal(host[2].starts, host[2].ends);
	attach_all();
	run(200 * GAGG_MSEC);
	assert_true(all_run(2));
}

static void start__for_an_older_instance(void **state)
{
	(void)state;
	world(2);
	lost = lose_start;
	attach_all();
	run(10 * GAGG_MSEC);
	boot(1);
	lost = NULL;
	run(GAGG_SEC);
	assert_ended(0, 1, GAGG_R_RESTART, 2);
	assert_int_equal(host[1].starts, 0);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(2));
}

static void start__late_one_of_an_ended_epoch(void **state)
{
	struct datagram d;

	(void)state;
	world(2);
	lost = lose_start;
	attach_all();
	run(10 * GAGG_MSEC);
	d = last[GAGG_T_START];
	leave(0, GAGG_R_BYE);
	lost = NULL;
	run(GAGG_SEC);
	assert_int_equal(deliver(&d), GAGG_DROP_EPOCH);
	assert_int_equal(host[1].j.phase, GAGG_PHASE_IDLE);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(2));
	assert_int_equal(deliver(&d), GAGG_DROP_EPOCH);
	assert_true(all_run(2));
}

static void hello__older_one_is_dropped(void **state)
{
	struct datagram d = { .from = 1, .to = 0 };

	(void)state;
	world(2);
	run(GAGG_SEC);
	make(&d, 1, GAGG_JOIN_SEND_HELLO, 0);
	attach(2);
	run(GAGG_SEC);
	assert_int_equal(host[0].j.peer[1].attached, 4);
	assert_int_equal(deliver(&d), GAGG_DROP_WINDOW);
	assert_int_equal(host[0].j.peer[1].attached, 4);
}

static void hello__numbers_wrap(void **state)
{
	(void)state;
	world(2);
	host[0].j.pn = 0xfffffffd;
	host[1].j.pn = 0xfffffffe;
	attach_all();
	run(10 * GAGG_SEC);
	assert_true(all_run(1));
	assert_in_range(host[0].j.pn, 1, 1000);
	leave(2, GAGG_R_BYE);
	run(GAGG_SEC);
	assert_ended(0, 1, GAGG_R_BYE, 2);
}

static void hello__forged(void **state)
{
	struct datagram d = { .from = 1, .to = 0 };

	(void)state;
	started(2);
	make(&d, 1, GAGG_JOIN_SEND_HELLO, 0);
	d.body.hello.instance = cpu_to_le64(666);
	d.body.hello.echo = cpu_to_le64(667);
	deliver(&d);
	assert_int_not_equal(host[0].j.peer[1].instance, 666);
	d.body.hello.instance = cpu_to_le64(host[0].j.instance);
	assert_int_equal(deliver(&d), GAGG_DROP_SOURCE);
	d.m.len--;
	assert_int_equal(deliver(&d), GAGG_DROP_SHORT);
	d.from = 0;
	assert_int_equal(deliver(&d), GAGG_DROP_SOURCE);
	run(10 * GAGG_SEC);
	assert_true(all_run(1));
}

/* a HELLO of node 1 that says that it has been in @epoch */
static enum gagg_drop claim(u64 epoch)
{
	struct datagram d = { .from = 1, .to = 0 };

	host[1].j.pn++;
	make(&d, 1, GAGG_JOIN_SEND_HELLO, 0);
	d.m.epoch = (u32)epoch;
	d.body.hello.epoch_hi = cpu_to_le32((u32)(epoch >> 32));
	return deliver(&d);
}

static void hello__absurd_epochs(void **state)
{
	u64 far = 1ULL << 48;

	(void)state;
	started(2);
	leave(2, GAGG_R_BYE);
	run(GAGG_SEC);
	assert_int_equal(claim(~0ULL), GAGG_DROP_EPOCH);
	assert_int_equal(claim(far + 1), GAGG_DROP_EPOCH);
	run(GAGG_SEC);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(2));
	leave(2, GAGG_R_BYE);
	run(GAGG_SEC);
	/* at the bound, which grows with what was run */
	assert_int_equal(claim(far), GAGG_DROP_NONE);
	run(GAGG_SEC);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(far + 1));
	leave(2, GAGG_R_BYE);
	run(GAGG_SEC);
	assert_int_equal(claim(~0ULL), GAGG_DROP_EPOCH);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(far + 2));
}

/* and those that show that chunks pass: a question, its answer, one on each shard, every
 * 3.75 s
 */
static void hello__two_per_second_and_pair(void **state)
{
	u32 pairs = 3, shown = 2 * pairs * 3 * (2 + SHARDS);

	(void)state;
	started(3);
	run(2 * GAGG_SEC);
	sent[GAGG_T_HELLO] = 0;
	run(10 * GAGG_SEC);
	assert_in_range(sent[GAGG_T_HELLO], 9 * 2 * pairs, 10 * 2 * pairs + shown);
	leave(0, GAGG_R_BYE);
	run(2 * GAGG_SEC);
	memset(sent, 0, sizeof(sent));
	run(10 * GAGG_SEC);
	assert_in_range(sent[GAGG_T_HELLO], 9 * 2 * pairs, 10 * 2 * pairs + shown);
	assert_int_equal(sent[GAGG_T_ABORT], 0);
}

static void hello__a_missing_node_is_not_flooded(void **state)
{
	(void)state;
	world(2);
	host[1].up = false;
	run(10 * GAGG_SEC);
	sent[GAGG_T_HELLO] = 0;
	run(10 * GAGG_SEC);
	assert_in_range(sent[GAGG_T_HELLO], 9, 21);
}

static void differs(u32 at, u32 node, u32 field, u32 here, u32 there)
{
	const struct gagg_mismatch *m = &host[at].j.peer[node].mismatch;

	assert_int_equal(m->field, field);
	assert_int_equal(m->here, here);
	assert_int_equal(m->there, there);
}

static void mismatch__names_the_lowest_field(void **state)
{
	(void)state;
	world(2);
	host[1].j.digest[GAGG_DG_WINDOW] = 77;
	host[1].j.digest[GAGG_DG_LANES] = 77;
	attach_all();
	run(2 * GAGG_SEC);
	assert_int_equal(sent[GAGG_T_START], 0);
	differs(0, 1, 1 + GAGG_DG_LANES, GAGG_DG_LANES, 77);
	differs(1, 0, 1 + GAGG_DG_LANES, 77, GAGG_DG_LANES);
	assert_true(host[0].notified > 0);
	boot(1);	/* re-created as it should be */
	attach(2);
	run(2 * GAGG_SEC);
	differs(0, 1, 0, 0, 0);
	assert_true(all_run(1));
}

static void status_is(u32 node, const struct gagg_ioc_status *as)
{
	struct gagg_ioc_status st = { .reason = 9 };

	gagg_join_tell_mismatch(&host[node].j, &host[node].g, &st);
	assert_int_equal(st.reason, 9);
	assert_int_equal(st.mismatch, as->mismatch);
	assert_int_equal(st.mismatch_node, as->mismatch_node);
	assert_int_equal(st.mismatch_here, as->mismatch_here);
	assert_int_equal(st.mismatch_there, as->mismatch_there);
}

static void mismatch__is_told_of_the_lowest_host(void **state)
{
	const struct gagg_ioc_status agrees = { 0 };
	struct gagg_ioc_status st = { .mismatch = 1 + GAGG_DG_WINDOW };

	(void)state;
	world(3);
	run(2 * GAGG_SEC);
	status_is(0, &agrees);
	for (u32 i = 1; i < 3; i++) {
		boot(i);
		host[i].j.digest[GAGG_DG_WINDOW] = 70 + i;
	}
	run(2 * GAGG_SEC);
	st.mismatch_node = gagg_lowest(host[0].g.ranks_of[1]);
	st.mismatch_here = GAGG_DG_WINDOW;
	st.mismatch_there = 71;
	status_is(0, &st);
	st.mismatch_node = gagg_lowest(host[0].g.ranks_of[0]);
	st.mismatch_here = 72;
	st.mismatch_there = GAGG_DG_WINDOW;
	status_is(2, &st);
}

/* a HELLO of host 1 that speaks versions @min to @max reaches host 0 */
static void hear_versions(u8 min, u8 max)
{
	struct datagram d = { .from = 1, .to = 0 };

	host[1].j.pn++;
	make(&d, 1, GAGG_JOIN_SEND_HELLO, 0);
	d.body.hello.ver_min = min;
	d.body.hello.ver_max = max;
	assert_int_equal(deliver(&d), GAGG_DROP_NONE);
}

static void mismatch__versions(void **state)
{
	const u32 field = 1 + GAGG_DG_COUNT, own = GAGG_WIRE_VERSION;

	(void)state;
	world(2);
	run(GAGG_SEC);
	hear_versions(own + 1, own + 2);
	differs(0, 1, field, own, own + 1);
	hear_versions(own, own - 1);
	differs(0, 1, field, own, own - 1);
	hear_versions(own - 1, own + 1);
	differs(0, 1, 0, 0, 0);
	hear_versions(own + 1, own + 2);
	run(2 * GAGG_SEC);
	differs(0, 1, 0, 0, 0);
}

static void leave__while_idle_is_told(void **state)
{
	(void)state;
	world(2);
	attach(2);
	run(100 * GAGG_MSEC);
	assert_int_equal(gagg_join_attached(&host[0].j, &host[0].g), 4);
	leave(2, GAGG_R_DIED);
	run(DELAY);
	assert_int_equal(gagg_join_attached(&host[0].j, &host[0].g), 0);
	leave(2, GAGG_R_DIED);
	attach(0);
	run(2 * GAGG_SEC);
	assert_int_equal(sent[GAGG_T_START], 0);
	assert_int_equal(host[1].ends, 0);
}

static void attach__of_others_and_while_running(void **state)
{
	(void)state;
	world(2);
	gagg_join_attach(&host[0].j, &host[0].g, 2, now);
	gagg_join_attach(&host[0].j, &host[0].g, 200, now);
	gagg_join_leave(&host[0].j, &host[0].g, 200, GAGG_R_BYE, now);
	assert_int_equal(host[0].j.attached, 0);
	attach_all();
	run(GAGG_SEC);
	attach(1);
	assert_int_equal(host[0].j.attached, 1);
}

/* 64 nodes: the calls that queue most stay within the bound */
static void actions__are_bounded(void **state)
{
	static struct gagg_join j;
	static struct gagg_geom g = { .nodes = 64, .dead_after = GAGG_SEC };
	static u32 digest[GAGG_DG_COUNT];
	u32 n;

	(void)state;
	g.workers = ~0ULL;
	for (n = 0; n < 64; n++) {
		g.ranks_of[n] = GAGG_BIT(n);
		g.node_of[n] = (u8)n;
	}
	gagg_join_init(&j, &g, digest, 5);
	j.enabled = 1;
	j.through = 1;
	for (n = 1; n < 64; n++) {
		j.peer[n].instance = n;
		j.peer[n].heard = 1;
		j.peer[n].knows_me = 1;
		j.peer[n].attached = GAGG_BIT(n);
		j.peer[n].flags = GAGG_HELLO_THROUGH;
	}
	gagg_join_attach(&j, &g, 0, 10);
	assert_in_range(j.nacts, 63, 63);
	j.nacts = 0;
	/* everything at once: alive, periodic HELLO, START */
	for (n = 1; n < 64; n++)
		j.peer[n].trip = 1;
	gagg_join_timer(&j, &g, 3, 20);
	assert_int_equal(j.phase, GAGG_PHASE_RUNNING);
	assert_int_equal(j.nacts, 3 * 63 + 1);
	j.nacts = 0;
	/* all silent: HELLO, ABORT, NOTIFY, the end */
	gagg_join_timer(&j, &g, 3, 10 * GAGG_SEC);
	assert_int_equal(j.end.reason, GAGG_R_SILENT);
	assert_int_equal(j.nacts, 3 * 63 + 1);
	/* a caller that never empties it loses nothing but repetitions */
	for (n = 0; n < 100; n++)
		gagg_join_timer(&j, &g, 3, (20 + n) * GAGG_SEC);
	assert_in_range(j.nacts, 0, GAGG_JOIN_ACTS - 8);
}

static u32 trip_of(u32 n, u32 of)
{
	u32 trip[GAGG_NODES];

	gagg_join_trips(&host[n].j, &host[n].g, trip);
	return trip[of];
}

/* two of three, whatever they are */
static bool lose_most(const struct datagram *d)
{
	static u32 n;

	(void)d;
	return n++ % 3;
}

/* after a lost answer a later HELLO counts as one: too late, never too early */
static void trip__from_a_question_to_its_answer(void **state)
{
	struct datagram d = { .from = 0, .to = 1 };
	bool known = false;
	u32 n, of;

	(void)state;
	started(3);
	for (n = 0; n < 3; n++)
		for (of = 0; of < 3; of++)
			assert_int_equal(trip_of(n, of), n == of ? 0 : 2 * DELAY);

	world(2);
	lost = lose_most;
	for (n = 0; n < 1000; n++) {
		run(100 * GAGG_MSEC);
		if (!trip_of(0, 1))
			continue;
		assert_in_range(trip_of(0, 1), 2 * DELAY, 20 * GAGG_MSEC);
		known = true;
	}
	assert_true(known);

	/* a HELLO that was under way already is no answer */
	world(2);
	run(GAGG_SEC);
	make(&d, 0, GAGG_JOIN_SEND_HELLO, 1);
	d.m.pn++;
	attach(2);
	now += DELAY / 2;
	assert_int_equal(deliver(&d), GAGG_DROP_NONE);
	assert_int_equal(trip_of(1, 0), 0);
	run(2 * DELAY);
	assert_int_equal(trip_of(1, 0), 2 * DELAY);

	/* another instance has its own */
	lost = lose_all;
	boot(1);
	run(GAGG_SEC);
	assert_int_equal(trip_of(1, 0), 0);
}

static void status__runs_when_it_has_begun_here(void **state)
{
	struct gagg_ioc_status st = { .size = 0 };

	(void)state;
	started(2);
	gagg_join_status(&host[1].j, &host[1].g, 0, now, &st);
	assert_int_equal(st.phase, GAGG_PHASE_IDLE);
	assert_int_equal(st.epoch, 1);
	assert_int_equal(st.attached, 5);
	assert_int_equal(st.heard, 15);
	assert_int_equal(st.lanes, 344);
	assert_int_equal(st.reason, GAGG_R_NONE);
	gagg_join_status(&host[1].j, &host[1].g, 1, now, &st);
	assert_int_equal(st.phase, GAGG_PHASE_RUNNING);
}

static void status__says_why_it_ended(void **state)
{
	const struct gagg_end end = { GAGG_R_DESYNC, 2, 1, 3, 4, 5, 6 };
	struct gagg_ioc_status st = { .size = 0 };

	(void)state;
	started(2);
	gagg_join_end(&host[1].j, &host[1].g, &end, now);
	gagg_join_status(&host[1].j, &host[1].g, 1, now, &st);
	assert_int_equal(st.phase, GAGG_PHASE_IDLE);
	assert_int_equal(st.reason, GAGG_R_DESYNC);
	assert_int_equal(st.rank, 2);
	assert_int_equal(st.other, 1);
	assert_int_equal(st.sig, 3);
	assert_int_equal(st.other_sig, 4);
	assert_int_equal(st.call, 5);
	assert_int_equal(st.other_call, 6);
	assert_int_equal(st.attached, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start__one_node_needs_no_message),
		cmocka_unit_test(start__two_and_three_nodes),
		cmocka_unit_test(start__takes_few_milliseconds),
		cmocka_unit_test(start__waits_for_round_trips),
		cmocka_unit_test(start__waits_for_every_worker),
		cmocka_unit_test(start__aggregator_must_be_heard),
		cmocka_unit_test(start__not_before_enabled),
		cmocka_unit_test(start__lost_is_repeated),
		cmocka_unit_test(start__twice_is_answered_once_taken),
		cmocka_unit_test(start__only_from_the_coordinator),
		cmocka_unit_test(start__trainer_died_in_the_middle),
		cmocka_unit_test(start__for_an_older_instance),
		cmocka_unit_test(start__late_one_of_an_ended_epoch),
		cmocka_unit_test(hello__older_one_is_dropped),
		cmocka_unit_test(hello__numbers_wrap),
		cmocka_unit_test(hello__forged),
		cmocka_unit_test(hello__absurd_epochs),
		cmocka_unit_test(hello__two_per_second_and_pair),
		cmocka_unit_test(hello__a_missing_node_is_not_flooded),
		cmocka_unit_test(mismatch__names_the_lowest_field),
		cmocka_unit_test(mismatch__is_told_of_the_lowest_host),
		cmocka_unit_test(mismatch__versions),
		cmocka_unit_test(leave__while_idle_is_told),
		cmocka_unit_test(attach__of_others_and_while_running),
		cmocka_unit_test(actions__are_bounded),
		cmocka_unit_test(trip__from_a_question_to_its_answer),
		cmocka_unit_test(status__runs_when_it_has_begun_here),
		cmocka_unit_test(status__says_why_it_ended),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
