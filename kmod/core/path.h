/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A path: the datagrams from one shard of this host to one shard of a peer.
 * Packet numbers, acknowledgements, loss, round-trip time, congestion window.
 *
 * Every transmission of a CONTRIB or READY takes a fresh packet number, so an
 * acknowledgement is never ambiguous (RFC 9002 section 3) and each may give a
 * sample of the round-trip time. An acknowledgement frees the window and stops
 * the retransmission of that datagram; it never ends a chunk.
 *
 * How many datagrams may be under way: cwnd.h.
 *
 * A lost datagram stays in the log until it is taken with gagg_path_lost().
 * Numbers from una on are in one of two parts, divided by scan:
 *
 *	una <= pn < scan	ACKED or LOST, and una itself is LOST (if una < scan)
 *	scan <= pn < next_pn	ACKED or FLYING
 *
 * This holds because the oldest flying datagram is always the first to be given
 * up. So the oldest loss is found at una, the oldest flying one at or behind
 * scan, and both only move forward: their steps are paid by the sends.
 */
#ifndef GAGG_CORE_PATH_H
#define GAGG_CORE_PATH_H

#include "wire.h"

#ifndef GAGG_PATH_LOG
#define GAGG_PATH_LOG		1024	/* datagrams remembered, power of two */
#endif
#define GAGG_PATH_CWND_MIN	4
#define GAGG_PATH_CWND_START	10	/* RFC 6928 */
#define GAGG_PATH_CWND_CALM	24
#define GAGG_PATH_QUEUE		(500 * GAGG_USEC)
#define GAGG_PATH_SPAN		448	/* most of next_pn - una, see path.c */
#define GAGG_PATH_GROW		2
#define GAGG_PATH_LOSS		6
#define GAGG_PATH_REORDER	3	/* packets; RFC 9002 kPacketThreshold */
#define GAGG_PATH_RTT_WINDOW	(10 * GAGG_SEC)
#define GAGG_PATH_RTO_INIT	(20 * GAGG_MSEC)	/* while nothing is known of any path */
#define GAGG_PATH_RTO_MIN	(2 * GAGG_MSEC)
#define GAGG_PATH_RTO_MAX	(500 * GAGG_MSEC)
#define GAGG_PATH_ASK_MIN	(1 * GAGG_MSEC)
#define GAGG_PATH_QUIET_MIN	(2 * GAGG_MSEC)

/* what a datagram carried: the core asks for it back when it is lost */
struct gagg_sent {
	u64 time;
	u32 slot;
	u32 round;
	u16 channel;
	u16 run;
	u8 local;	/* index of the local rank */
	u8 state;	/* enum gagg_sent_state */
	u8 home;	/* store: index of the home */
	u8 again;	/* what it carries was sent before */
};

enum gagg_sent_state {
	GAGG_SENT_FREE,
	GAGG_SENT_FLYING,
	GAGG_SENT_ACKED,
	GAGG_SENT_LOST,		/* in the queue of losses */
	GAGG_SENT_TAKEN,	/* no longer there; it may be late instead */
};

/**
 * struct gagg_path - state of one path; all zero but for gagg_path_init()
 * @next_pn:	next packet number to send; the first is 1
 * @una:	every smaller packet number was acknowledged, or lost and taken
 * @scan:	no smaller packet number is flying
 * @flying:	datagrams in flight
 * @cwnd:	congestion window, datagrams
 * @cwnd_max:	its bound
 * @idle_after:	pause that halves the window, ns; at least a timeout
 * @credit:	acknowledged datagrams not yet turned into growth
 * @srtt:	smoothed round trip, ns; 0: none yet
 * @rttvar:	its variation
 * @rtt:	the last one
 * @rtt_min:	least one of this window of GAGG_PATH_RTT_WINDOW and the one before
 * @rtt_next:	of this one
 * @rtt_since:	begin of this one
 * @rto_init:	timeout while there is no round trip, ns
 * @calm_pn:	the window was made smaller for a queue; acknowledgements of smaller packet
 *		numbers know nothing of it
 * @cut_pn:	the window was cut; losses of smaller packet numbers are old
 * @cut_from:	the window, before that; 0: that was undone
 * @cut_slow:	and @slow_to
 * @cut_overflowed: and @overflowed
 * @cuts:	losses that have cut it since
 * @floor:	and does not shrink below that for them; @cwnd_max: none is left to be told of
 * @slow_to:	the window doubles until it is there
 * @overflowed:	a queue on the path has overflowed: a loss was no accident
 * @backoff:	probes and timeouts since the last progress
 * @timeouts:	those that are timeouts, at most 2
 * @probes:	datagrams that may leave whatever the window says
 * @repairs:	results that were sent again, and may be in a queue still, as of
 * @repairs_at:	see gagg_cwnd_repair_at()
 * @results_at:	see gagg_cwnd_result_at()
 * @results_cut_at: results that are lost may cut the window again
 * @lost:	datagrams in state LOST
 * @told:	largest number that was acknowledged
 * @taken:	no smaller packet number is TAKEN, and may be acknowledged yet
 * @taken_end:	and none from here on
 * @late:	how long datagrams that were late, and taken for lost, have taken, ns, forgotten by
 *		1 of 256 with each sample, but for @srtt; 0: none was
 * @heard:	gagg_path_heard() was last called; 0: not yet
 * @beat:	longest pause between two calls, forgotten by an eighth with each
 * @silent:	the last progress, or the first flying datagram
 * @armed:	the timer began: progress, the first flying datagram, or it fired
 * @rto_at:	the timer fires; GAGG_NEVER, if and only if nothing flies
 * @rx_base:	every packet number before it was received or forgotten
 * @rx_largest:	largest received
 * @rx_map:	received ones from rx_base on
 * @ack_due:	an acknowledgement is owed
 * @rx_marks:	marks of congestion (CE) that were seen, one at least of each datagram that had
 *		one (more if it came twice); wraps
 * @marks:	the most of them that an acknowledgement has told of what was sent; wraps
 * @rx_fresh:	packet number that arrived last since the last acknowledgement;
 *		0: none
 * @pad:	zero
 * @log:	what was sent, by packet number
 */
struct gagg_path {
	u32 next_pn;
	u32 una;
	u32 scan;
	u32 flying;
	u32 lost;
	u32 cwnd;
	u32 cwnd_max;
	u32 credit;
	u32 cut_pn;
	u32 floor;
	u32 calm_pn;
	u32 told;
	u32 taken;
	u32 taken_end;
	u32 cut_from;
	u32 cut_slow;
	u32 cuts;
	u32 slow_to;
	u32 overflowed;
	u32 cut_overflowed;
	u32 backoff;
	u32 timeouts;
	u32 probes;
	u32 repairs;
	u64 idle_after;
	u64 repairs_at;
	u64 results_at;
	u64 results_cut_at;
	u64 srtt;
	u64 rttvar;
	u64 rtt;
	u64 rtt_min;
	u64 rtt_next;
	u64 rtt_since;
	u64 rto_init;
	u64 late;
	u64 heard;
	u64 beat;
	u64 silent;
	u64 armed;
	u64 rto_at;
	u32 rx_base;
	u32 rx_largest;
	u32 rx_fresh;
	u32 rx_marks;
	u32 marks;
	u8 ack_due;
	u8 pad[3];
	u64 rx_map[GAGG_ACK_WORDS];
	struct gagg_sent log[GAGG_PATH_LOG];
};

/* packet numbers wrap: they compare by the sign of their difference */
static inline bool gagg_pn_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* @cwnd_max: 4 .. GAGG_PATH_SPAN, which is what users may set: more is never under way */
void gagg_path_init(struct gagg_path *p, u32 cwnd_max);

/* how many more datagrams may be sent now (also bounded by GAGG_PATH_SPAN:
 * losses that are not taken end up in no room). While nobody answers, two for each timeout
 */
u32 gagg_path_room(const struct gagg_path *p);

/*
 * gagg_path_send - a datagram leaves; room must be > 0
 * Fills a log entry from @what (slot, round, channel, run, local, home) and returns
 * its packet number.
 */
u32 gagg_path_send(struct gagg_path *p, const struct gagg_sent *what, u64 now);

/* @n datagrams leave, of slots in a row from @what's on; room must be >= @n */
void gagg_path_send_run(struct gagg_path *p, const struct gagg_sent *what, u32 n, u64 now);

/* a CONTRIB or READY arrived; false: that packet number is an old duplicate
 * (still to be processed: the chunk decides). Owes an acknowledgement.
 */
bool gagg_path_rx(struct gagg_path *p, u32 pn, bool ce);

/* write the owed acknowledgement; clears ack_due. Returns its aux; its pn is rx_marks */
u32 gagg_path_ack_build(struct gagg_path *p, struct gagg_ack *ack);

/**
 * struct gagg_receipt - an acknowledgement that has come
 * @ack:	its body
 * @fresh:	packet number that caused it at once (RTT sample), 0: none
 * @marks:	the peer's rx_marks. More than before: the network is congested. Each
 *		acknowledgement says it, so the loss of some hides no mark (RFC 9000, 13.4)
 * @now:	when it came
 */
struct gagg_receipt {
	const struct gagg_ack *ack;
	u32 fresh;
	u32 marks;
	u64 now;
};

/*
 * gagg_path_ack - an acknowledgement has come
 * @acked: called for every datagram newly acknowledged, also for a lost one
 *	   that was not taken yet (then it is lost no more); must not use the
 *	   path
 *
 * Marks losses: a flying datagram whose number is GAGG_PATH_REORDER or more
 * below the largest acknowledged one, or that was sent more than 9/8 round
 * trips before it. Once one that was taken for lost turns out to be late, those are
 * lost that have been under way for longer than it was (RFC 8985 section 6.2). An
 * acknowledgement that makes no sense (of numbers that were never sent) changes nothing.
 */
void gagg_path_ack(struct gagg_path *p, const struct gagg_receipt *r,
		   void (*acked)(void *ctx, const struct gagg_sent *s), void *ctx);

/*
 * gagg_path_timer - the timer, if rto_at has come
 * After gagg_path_rto() without progress gives up the oldest flying datagrams (at most 2,
 * as probes, and none younger than that). Before, after gagg_path_quiet(), the oldest one,
 * if the peer was heard and has fallen silent though nothing waits for room. That is a tail
 * loss probe (RFC 8985 section 7), which does not shrink the window. Both double the
 * timeouts until the next progress.
 */
void gagg_path_timer(struct gagg_path *p, u64 now);

/*
 * gagg_path_forget - forget datagrams whose chunks are done (R31); before gagg_path_timer()
 * @over: true if what the datagram was sent for has come: it requires no acknowledgement, and
 *	  as a probe it would be wasted
 */
void gagg_path_forget(struct gagg_path *p,
		      bool (*over)(void *ctx, const struct gagg_sent *s), void *ctx);

/* take one lost datagram: true and *what, or false when there is none */
bool gagg_path_lost(struct gagg_path *p, struct gagg_sent *what);

/*
 * gagg_path_pause - until what was asked for in vain is asked for again, ns
 * @least: how long an answer takes
 * @silence: since when there was none
 *
 * So a silence ends a sixteenth later than its cause at most, or @least later, and is
 * asked into 16 + 16 ln(silence / (16 least)) times. By doubling (RFC 6298 section 5.5) it is
 * fewer times, and as long as the silence later.
 */
static inline u64 gagg_path_pause(u64 least, u64 silence)
{
	return gagg_max64(least, silence / 16);
}

/*
 * gagg_path_bound - @wait, or at most @max, ns
 * @least: how long an answer takes: no shorter than this, or than @max
 * @when: when it begins
 *
 * Waits of one length have a period, and outages may have the same, or one that divides it:
 * then each question falls into one. So what is bounded is 3/4 of @max up to @max, another
 * part each time.
 */
static inline u64 gagg_path_bound(u64 least, u64 wait, u64 max, u64 when)
{
	u64 bounded = wait < max ? wait : max - gagg_mix64(when, max) % (max / 4);

	return gagg_max64(gagg_min64(least, max), bounded);
}

/*
 * how long an answer takes at most, ns, whatever was late and however long there was none:
 * srtt + 4 rttvar (RFC 6298 section 2)
 */
static inline u64 gagg_path_patience(const struct gagg_path *p)
{
	return p->srtt ? gagg_max64(p->srtt + 4 * p->rttvar, GAGG_PATH_RTO_MIN) : p->rto_init;
}

/*
 * current timeout for silence, ns: gagg_path_patience(), or what was late. After the second
 * one without an answer a round trip and an eighth, GAGG_PATH_ASK_MIN at least; or
 * gagg_path_pause()
 */
u64 gagg_path_rto(const struct gagg_path *p);

/* its timeout while there is no round trip, of what flies already, too */
void gagg_path_hint(struct gagg_path *p, u64 rto);

/* the peer has answered something of ours: progress, a result, a question about it */
void gagg_path_heard(struct gagg_path *p, u64 now);

/*
 * gagg_path_quiet - timeout for silence of a peer that has been heard, ns
 * Twice the longest pause that it has made of late. What was sent together comes back
 * together, whatever queue it has waited in; round trips say how long that was, and are
 * no measure of silence. No more than gagg_path_rto().
 */
u64 gagg_path_quiet(const struct gagg_path *p);

#endif
