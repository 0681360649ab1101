// SPDX-License-Identifier: GPL-2.0
#include "cwnd.h"

#define MANY		8	/* one of so many was lost: not at random */
#define OVERFLOWED	4	/* round trips with fewer losses until it is forgotten */
#define TRIP_MAX	8	/* ms of a round trip that growth makes up for */
#define RESULT_BURST	(50 * GAGG_USEC)

static inline u32 cwnd_not_below(u32 n, u32 least)
{
	return n > least ? n : least;
}

static inline u32 cwnd_not_above(u32 n, u32 most)
{
	return n < most ? n : most;
}

void gagg_cwnd_init(struct gagg_path *p, u32 cwnd_max)
{
	p->cwnd_max = cwnd_max;
	p->slow_to = cwnd_not_below(cwnd_max / 2, GAGG_PATH_CWND_MIN);
	p->cwnd = cwnd_not_above(p->slow_to, GAGG_PATH_CWND_START);
	p->floor = cwnd_max;
}

void gagg_cwnd_past(struct gagg_path *p)
{
	p->cut_pn = p->una;
	p->floor = p->cwnd_max;
}

void gagg_cwnd_idle(struct gagg_path *p, u64 last, u64 now)
{
	/* an answer may take a timeout, and is no pause */
	u64 pause = gagg_max64(p->idle_after, gagg_path_rto(p));

	if (!last || now < last + pause)
		return;
	p->slow_to = cwnd_not_below(p->slow_to, p->cwnd * 3 / 4);
	for (; last + pause <= now && p->cwnd > GAGG_PATH_CWND_START; last += pause)
		p->cwnd = cwnd_not_below(p->cwnd / 2, GAGG_PATH_CWND_START);
}

/* round trips have grown by half: datagrams wait in some queue */
static bool cwnd_queues(const struct gagg_path *p)
{
	return p->srtt * 2 > p->rtt_min * 3;
}

/* the queue is longer than a busy link needs */
static bool cwnd_is_long(const struct gagg_path *p, u64 rtt)
{
	return rtt > 2 * p->rtt_min + GAGG_PATH_QUEUE;
}

static bool cwnd_is_long_for_long(const struct gagg_path *p)
{
	return cwnd_is_long(p, gagg_min64(p->srtt, p->rtt));
}

/* what a round trip of losses leaves of the window; below 90 % doubling ends as well */
static void cwnd_set_floor(struct gagg_path *p, u32 percent)
{
	p->floor = cwnd_not_below(p->cut_from * percent / 100, GAGG_PATH_CWND_MIN);
	if (percent < 90)
		p->slow_to = p->floor;
}

void gagg_cwnd_cut(struct gagg_path *p, u32 pn, u32 by)
{
	if (!gagg_pn_before(pn, p->cut_pn)) {
		p->cut_pn = p->next_pn;
		p->cut_from = p->cwnd;
		p->cut_slow = p->slow_to;
		p->cut_overflowed = p->overflowed;
		p->overflowed -= !!p->overflowed;
		p->cuts = 0;
		cwnd_set_floor(p, cwnd_queues(p) ? 70 : 95);
	}
	if (p->cut_from && ++p->cuts == p->cut_from / MANY + 2) {
		cwnd_set_floor(p, 70);
		p->overflowed = OVERFLOWED;
	}
	if (p->cwnd > p->floor)
		p->cwnd = p->cwnd - p->floor > by ? p->cwnd - by : p->floor;
}

void gagg_cwnd_results_lost(struct gagg_path *p, u32 n, u64 now)
{
	u32 pn = p->cut_pn - 1;

	if (p->timeouts > 1)
		return;
	if (now >= p->results_cut_at && !gagg_pn_before(p->una, p->cut_pn)) {
		p->results_cut_at = now + (p->srtt ? p->srtt : gagg_path_rto(p));
		pn = p->una;
	} else if (!p->cut_from || p->floor == p->cwnd_max) {
		return;
	}
	for (n = cwnd_not_above(n, p->cwnd_max); n; n--, pn = p->cut_pn - 1)
		gagg_cwnd_cut(p, pn, GAGG_PATH_LOSS);
}

void gagg_cwnd_collapse(struct gagg_path *p)
{
	p->slow_to =
		cwnd_not_below(cwnd_not_below(p->slow_to, p->cwnd) * 7 / 10,
			       GAGG_PATH_CWND_MIN);
	p->cwnd = GAGG_PATH_CWND_MIN;
	p->floor = GAGG_PATH_CWND_MIN;
	p->cut_pn = p->next_pn;
	p->cut_from = 0;
	p->credit = 0;
}

void gagg_cwnd_answered(struct gagg_path *p, u64 now)
{
	u64 silence = gagg_max64(now - p->silent, gagg_path_rto(p));

	p->results_cut_at = now + gagg_min64(silence, GAGG_PATH_RTO_MAX);
}

void gagg_cwnd_undo(struct gagg_path *p)
{
	p->cwnd = cwnd_not_below(p->cwnd, p->cut_from);
	p->slow_to = cwnd_not_below(p->slow_to, p->cut_slow);
	if (p->cut_from)
		p->overflowed = p->cut_overflowed;
	p->cut_from = 0;
	p->cut_slow = 0;
}

static u32 cwnd_most(const struct gagg_path *p)
{
	return cwnd_is_long_for_long(p) ? cwnd_not_above(GAGG_PATH_CWND_CALM, p->cwnd_max) :
	       cwnd_queues(p) ? p->cwnd_max / 2 : p->cwnd_max;
}

/* doubles towards slow_to; returns datagrams that are left for cwnd_grow_slowly() */
static u32 cwnd_grow_fast(struct gagg_path *p, u32 acked, u32 top)
{
	u32 by;

	if (p->slow_to > p->cwnd && cwnd_is_long(p, p->rtt))
		p->slow_to = p->cwnd;
	if (p->cwnd >= p->slow_to || p->cwnd >= top)
		return acked;
	by = cwnd_not_above(p->slow_to - p->cwnd, acked);
	p->cwnd += by;
	return acked - by;
}

/*
 * Is the link surely busy, without a larger window?
 *
 * 1. A queue has overflowed on this path.
 * 2. Round trips are longer than the least by a quarter, and by more than they vary.
 * 3. Round trips are above GAGG_PATH_QUEUE. Below that any growth is faster than that of flows that
 *    grow with time, so it would not matter.
 */
static bool cwnd_is_busy(const struct gagg_path *p)
{
	return p->overflowed && p->cwnd >= GAGG_PATH_CWND_START && p->srtt > GAGG_PATH_QUEUE &&
	       p->srtt * 4 > p->rtt_min * 5 && p->srtt > p->rtt_min + 3 * p->rttvar;
}

/* datagrams that the window grows by in a round trip */
static u32 cwnd_growth(const struct gagg_path *p)
{
	u32 trip = (u32)gagg_min64(p->srtt / GAGG_MSEC, TRIP_MAX - 1);

	return cwnd_is_busy(p) ? 1 : GAGG_PATH_GROW * (1 + 4 * trip);
}

static void cwnd_grow_slowly(struct gagg_path *p, u32 acked, u32 top)
{
	u32 by;

	if (p->cwnd >= top) {
		p->credit = 0;
		return;
	}
	p->credit += acked * cwnd_growth(p);
	/* cwnd is never 0: each cut leaves GAGG_PATH_CWND_MIN, see gagg_cwnd_past() */
	by = p->credit / p->cwnd;
	p->credit -= by * p->cwnd;
	p->cwnd = cwnd_not_above(p->cwnd + by, p->cwnd_max);
}

static void cwnd_calm(struct gagg_path *p, u32 largest)
{
	if (p->cwnd <= GAGG_PATH_CWND_CALM || gagg_pn_before(largest, p->calm_pn) ||
	    !cwnd_is_long_for_long(p))
		return;
	p->calm_pn = p->next_pn;
	p->cwnd = cwnd_not_below(p->cwnd * 15 / 16, GAGG_PATH_CWND_CALM);
	p->slow_to = p->cwnd;
}

void gagg_cwnd_grow(struct gagg_path *p, u32 acked, u32 largest)
{
	u32 top = cwnd_most(p);

	/* if less than half of the window was in flight, it was not the limit */
	if (2 * (p->flying + acked) >= p->cwnd)
		cwnd_grow_slowly(p, cwnd_grow_fast(p, acked, top), top);
	cwnd_calm(p, largest);
}

void gagg_cwnd_drain(struct gagg_path *p)
{
	p->slow_to = cwnd_not_below(p->slow_to, p->cwnd);
	p->cwnd = GAGG_PATH_CWND_MIN;
}

static u64 cwnd_repair_trip(const struct gagg_path *p)
{
	return p->srtt ? gagg_max64(p->srtt, GAGG_PATH_QUEUE) : GAGG_PATH_RTO_MIN;
}

/* ns until one repair has left the bucket; 500 us / 448 at least */
static u64 cwnd_repair_gap(const struct gagg_path *p)
{
	return cwnd_repair_trip(p) / p->cwnd_max;
}

u64 gagg_cwnd_repair_at(const struct gagg_path *p)
{
	return p->repairs < p->cwnd_max ? 0 : p->repairs_at + cwnd_repair_gap(p);
}

void gagg_cwnd_repair(struct gagg_path *p, u64 now)
{
	u64 left = (now - p->repairs_at) / cwnd_repair_gap(p);

	if (left >= p->repairs) {
		p->repairs = 0;
		p->repairs_at = now;
	} else {
		p->repairs -= (u32)left;
		p->repairs_at += left * cwnd_repair_gap(p);
	}
	p->repairs++;
}

/*
 * results that may leave at once, as time: a quarter of a round trip, and at least what a timer can
 * resolve
 */
static u64 cwnd_result_burst(const struct gagg_path *p)
{
	/* the last round trip counts if it is shorter: the queue has gone since */
	return gagg_max64(gagg_min64(p->srtt, p->rtt) / 4, RESULT_BURST);
}

/*
 * results_at is a clock. Each result sets it forward by its share of a round trip.
 *
 * 1. A share is no more than the burst, and 0 while no round trip is known.
 * 2. So the clock is never more than two bursts ahead, unless round trips were longer before. Then
 *    it is set back: no result waits for a queue that has gone.
 */
u64 gagg_cwnd_result_at(struct gagg_path *p, u64 now)
{
	u64 burst = cwnd_result_burst(p);

	p->results_at = gagg_min64(p->results_at, now + 2 * burst);
	return p->results_at > now + burst ? p->results_at - burst / 2 : 0;
}

void gagg_cwnd_result(struct gagg_path *p, u64 now)
{
	u32 room = cwnd_not_below(cwnd_not_below(p->cwnd, p->slow_to),
				  cwnd_not_above(GAGG_PATH_CWND_CALM, p->cwnd_max));

	p->results_at = gagg_max64(p->results_at, now) + gagg_min64(p->srtt, p->rtt) / room;
}
