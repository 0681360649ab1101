/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The congestion window of a path: how many datagrams may be in flight.
 *
 *	start	The window is GAGG_PATH_CWND_START datagrams (RFC 6928). It doubles in each
 *		round trip up to the size that was good last, at first half of the maximum. It
 *		stops doubling when round trips grow long.
 *	growth	After that it grows by GAGG_PATH_GROW datagrams in a round trip, and by four
 *		times that for each ms that the round trip lasts. So growth hardly depends on
 *		the round trip, as in RFC 9438. Three conditions limit it:
 *		1. The window grows only if it is used.
 *		2. With a queue (round trips above 1.5 times the least) it does not grow
 *		   beyond half of the maximum.
 *		3. If a queue has overflowed and the link is busy, it grows by one (RFC 5681).
 *		   More would cause the next loss, and losses of other flows, whose windows
 *		   grow more slowly (RFC 9438 section 4.3).
 *	delay	If round trips are longer than twice the least and GAGG_PATH_QUEUE, the window
 *		shrinks by a sixteenth in a round trip, down to GAGG_PATH_CWND_CALM. At that
 *		size links are busy, and losses are noticed soon. TCP in the same queue does
 *		not shrink like that; hence no further.
 *	loss	Each lost datagram shrinks the window by GAGG_PATH_LOSS. All losses of a round
 *		trip, or a mark of congestion, shrink it by no more than 5 %: losses at random
 *		do not stop a path. With a queue, or if more than an eighth is lost, the limit
 *		is 30 % (as in RFC 9438), and doubling ends. Lost results count as lost
 *		contributions: a node gets as many results as it sends contributions.
 *	silence	After two timeouts without an answer the window is GAGG_PATH_CWND_MIN (RFC 9002
 *		section 7.6.2). It then doubles to seven tenths of what it was, or was to
 *		double to.
 *	idle	If nothing was in flight for a timeout, the window is halved, down to the start
 *		(RFC 2861), or for a longer time (gagg_path.idle_after): where all the network is
 *		the group's, its queues are as empty after a pause as before.
 *
 * Constants without a source are the best of a sweep over what model_outage and model_loss measure
 * (see Documentation/congestion.md).
 */
#ifndef GAGG_CORE_CWND_H
#define GAGG_CORE_CWND_H

#include "path.h"

void gagg_cwnd_init(struct gagg_path *p, u32 cwnd_max);

/*
 * a datagram leaves while none is in flight; the last one before it left at @last; 0: there was
 * none
 */
void gagg_cwnd_idle(struct gagg_path *p, u64 last, u64 now);

/*
 * gagg_cwnd_cut - the fate of datagram @pn shows congestion
 * @by: datagrams to shrink the window by
 *
 * Datagrams that were sent before the first cut of a round trip do not know of that cut. So all of
 * them together cut no deeper than to a floor.
 */
void gagg_cwnd_cut(struct gagg_path *p, u32 pn, u32 by);

/*
 * gagg_cwnd_past - all datagrams before una are settled, and the last cut with them
 *
 * After this, news of older packet numbers must cut nothing:
 *
 * 1. An acknowledgement may come twice, or late, and report a mark of congestion.
 * 2. Its largest packet number is below cut_pn, as if it belonged to the last cut.
 * 3. Perhaps there was no cut yet: the floor would be 0. So the floor becomes the maximum.
 */
void gagg_cwnd_past(struct gagg_path *p);

/*
 * gagg_cwnd_results_lost - @n datagrams with results of contributions to the peer were lost
 *
 * All losses that are reported within a round trip make one cut. They make no cut of their own in
 * two cases:
 *
 * 1. Contributions that were lost in the same round trip have made the cut for both.
 * 2. A silence is no congestion, and what it has lost is reported bit by bit after it. So nothing
 *    is cut for as long as the silence was (a timeout at least, GAGG_PATH_RTO_MAX at most).
 */
void gagg_cwnd_results_lost(struct gagg_path *p, u32 n, u64 now);

/* the peer answers after a silence of two timeouts or more */
void gagg_cwnd_answered(struct gagg_path *p, u64 now);

/* two timeouts or more have passed without an answer */
void gagg_cwnd_collapse(struct gagg_path *p);

/* the datagrams that caused the last cut were not lost, but late (RFC 4015) */
void gagg_cwnd_undo(struct gagg_path *p);

/* @acked datagrams were acknowledged; @largest: the largest packet number among them */
void gagg_cwnd_grow(struct gagg_path *p, u32 acked, u32 largest);

/* the least round trip is to be measured again: for one round trip our own queue drains */
void gagg_cwnd_drain(struct gagg_path *p);

/*
 * gagg_cwnd_repair_at - from when on a result may be sent to the peer again, ns
 *
 * Repairs are not acknowledged. In place of acknowledgements a bucket of cwnd_max repairs empties
 * once in a round trip.
 *
 * 1. So in any round trip no more than 2 cwnd_max repairs leave.
 * 2. A round trip below GAGG_PATH_QUEUE counts as GAGG_PATH_QUEUE: a peer may lie about round
 *    trips, and does not ask again sooner.
 * 3. If only repairs are sent to a peer, no round trip is known: then it is GAGG_PATH_RTO_MIN.
 */
u64 gagg_cwnd_repair_at(const struct gagg_path *p);

/* a repair is sent */
void gagg_cwnd_repair(struct gagg_path *p, u64 now);

/*
 * gagg_cwnd_result_at - when a host may complete another chunk of its own, ns; 0: now
 *
 * A host that comes late completes chunks to which all others have contributed. Only this limits
 * how many results it sends at once.
 *
 * 1. Results take the way of its contributions to the peer. So in a round trip they get as much
 *    room: the window, or the size that it doubles to, and GAGG_PATH_CWND_CALM at least.
 * 2. A quarter of that may leave at once. After a wait it is half of that quarter, so that not each
 *    result needs a timer.
 * 3. If only results are sent to a peer, no round trip is known: then it is now.
 */
u64 gagg_cwnd_result_at(struct gagg_path *p, u64 now);

/* the host has completed a chunk */
void gagg_cwnd_result(struct gagg_path *p, u64 now);

#endif
