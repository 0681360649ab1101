/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The congestion window of a path: how many datagrams may be under way.
 *
 *	start	GAGG_PATH_CWND_START datagrams (RFC 6928). It doubles in a round trip up to
 *		where it was good last, at first half of the most, and no further once
 *		round trips grow long
 *	growth	by GAGG_PATH_GROW datagrams in a round trip, and four times that for each
 *		ms that one takes: so it hardly depends on how long round trips are, as
 *		in RFC 9438. It grows only if it is used, and with a queue (round trips
 *		above 1.5 times the least) not beyond half of the most. Where a queue has
 *		overflowed and the link is busy, by one (RFC 5681): more is the next loss,
 *		and of others, whose windows grow more slowly (RFC 9438 section 4.3)
 *	delay	what waits for longer than another round trip and GAGG_PATH_QUEUE shrinks
 *		it by a sixteenth in a round trip, down to GAGG_PATH_CWND_CALM: links are
 *		busy, and what is lost is noticed soon. TCP in the same queue does not do
 *		that; hence no further
 *	loss	each lost datagram shrinks it by GAGG_PATH_LOSS. A round trip of losses, or
 *		a mark of congestion, by no more than 5 %: losses at random do not stop it.
 *		With a queue, or if more than an eighth is lost, by 30 % (as RFC 9438 has
 *		it), and doubling has ended. Results that are lost count as contributions:
 *		a node has as many as it contributes to chunks
 *	silence	after two timeouts without an answer it is GAGG_PATH_CWND_MIN (RFC 9002 section
 *		7.6.2), and doubles to seven tenths of what it was, or was to be
 *	idle	nothing was under way for a timeout: half, down to the start (RFC 2861)
 *
 * Constants: those without a source are the best of a sweep over what test_outage and
 * test_loss measure (see Documentation/congestion.md).
 */
#ifndef GAGG_CORE_CWND_H
#define GAGG_CORE_CWND_H

#include "path.h"

void gagg_cwnd_init(struct gagg_path *p, u32 cwnd_max);

/* a datagram leaves, and none is under way; the one before it left at @last, 0: none did */
void gagg_cwnd_idle(struct gagg_path *p, u64 last, u64 now);

/*
 * gagg_cwnd_cut - congestion is learned of from the fate of @pn
 * @by: datagrams by which it shrinks
 *
 * What was sent before the first cut of a round trip knows of nothing later: all of it
 * together cuts no more than to a floor.
 */
void gagg_cwnd_cut(struct gagg_path *p, u32 pn, u32 by);

/*
 * gagg_cwnd_past - everything before una is settled, the last cut with it
 *
 * What is learned of older packet numbers from here on cuts nothing. 1. An acknowledgement may
 * come twice, or late, and say that congestion was marked. 2. Its largest packet number is then
 * below cut_pn, which means that the last cut was made for it. 3. There may have been none: its
 * floor would be 0. So the floor is the most.
 */
void gagg_cwnd_past(struct gagg_path *p);

/*
 * gagg_cwnd_results_lost - @n datagrams with results of contributions to the peer were lost
 *
 * Those that are told of within a round trip cut once. 1. Contributions that were lost in it have
 * cut for them, too. 2. What a silence has lost is none of congestion's, and is told of by and by:
 * nothing is cut for as long as it was (a timeout at least, GAGG_PATH_RTO_MAX at most).
 */
void gagg_cwnd_results_lost(struct gagg_path *p, u32 n, u64 now);

/* a silence of two timeouts, or more, is over */
void gagg_cwnd_answered(struct gagg_path *p, u64 now);

/* two timeouts without an answer, or more */
void gagg_cwnd_collapse(struct gagg_path *p);

/* what the last cut was made for was not lost, but late (RFC 4015) */
void gagg_cwnd_undo(struct gagg_path *p);

/* @acked datagrams were acknowledged, the largest of them being @largest */
void gagg_cwnd_grow(struct gagg_path *p, u32 acked, u32 largest);

/* the least round trip is to be measured anew: our own queue goes away for one */
void gagg_cwnd_drain(struct gagg_path *p);

/*
 * gagg_cwnd_repair_at - from when on a result may be sent to the peer again, ns
 *
 * Repairs are not acknowledged, so that time stands for it: a bucket of cwnd_max, which a
 * round trip empties. So in any round trip no more leave than 2 cwnd_max. Less than
 * GAGG_PATH_QUEUE counts as that: a peer may lie about round trips, and asks again no
 * sooner. Of a peer to which nothing else is sent none is known: GAGG_PATH_RTO_MIN.
 */
u64 gagg_cwnd_repair_at(const struct gagg_path *p);

/* one is sent */
void gagg_cwnd_repair(struct gagg_path *p, u64 now);

/*
 * gagg_cwnd_result_at - when a host may complete another chunk of its own, ns; 0: now
 *
 * A host that comes late completes what all others have sent, and nothing but this says how
 * many results leave at once. They go the way of its contributions to the peer, so they have
 * as much room: what the window is, or doubles to, GAGG_PATH_CWND_CALM at least, in a round
 * trip; a quarter of that at once, and half of this again when they had to wait, so that not
 * each has a timer. Of a peer to which nothing else is sent nothing is known: now.
 */
u64 gagg_cwnd_result_at(struct gagg_path *p, u64 now);

/* it has completed one */
void gagg_cwnd_result(struct gagg_path *p, u64 now);

#endif
