// SPDX-License-Identifier: GPL-2.0
/*
 * Packet numbers wrap: they compare by the sign of their difference (R32).
 *
 * The receiver never claims a datagram that it missed, though its map has 512 bits only.
 * 1. A new largest number x makes it forget some below x. gagg_path_rx() moves the base by whole
 *    words, and no further than to x - 448: so what it forgets, and then claims, is < x - 448.
 * 2. The sender had room for x: next_pn was x, and x - una < GAGG_PATH_SPAN = 448. So what is
 *    < x - 447 was acknowledged by then, or forgotten, or lost and taken.
 * 3. An acknowledgement of that means nothing any more: gagg_path_ack() looks at una and later
 *    only.
 */
#include "cwnd.h"
#include "path.h"

#define MAP_BITS	(64 * GAGG_ACK_WORDS)
#define BACKOFF_MAX	8	/* RTO_MIN << 8 is above RTO_MAX */
#define PROBES		2	/* datagrams that a timeout gives up, and that may leave instead */

_Static_assert(GAGG_PATH_SPAN <= MAP_BITS - 64, "see above");
_Static_assert(GAGG_PATH_SPAN <= GAGG_PATH_LOG, "one log entry for each number");
_Static_assert(!(GAGG_PATH_LOG & (GAGG_PATH_LOG - 1)), "index by mask");
_Static_assert(GAGG_PATH_RTO_MIN << BACKOFF_MAX >= GAGG_PATH_RTO_MAX, "reaches the bound");

static inline struct gagg_sent *path_entry(struct gagg_path *p, u32 pn)
{
	return &p->log[pn % GAGG_PATH_LOG];
}

void gagg_path_init(struct gagg_path *p, u32 cwnd_max)
{
	memset(p, 0, sizeof(*p));
	p->next_pn = 1;
	p->una = 1;
	p->scan = 1;
	p->cut_pn = 1;
	p->calm_pn = 1;
	p->taken = 1;
	p->taken_end = 1;
	p->rx_base = 1;
	gagg_cwnd_init(p, cwnd_max);
	p->rto_at = GAGG_NEVER;
	p->rto_init = GAGG_PATH_RTO_INIT;
}

/* ns: a datagram in flight for longer is lost, as even late ones came sooner */
static u64 path_late(const struct gagg_path *p)
{
	return p->late + p->late / 8;
}

/* The peer does not answer. As soon as it can, it does within about a round trip. */
static u64 path_answer(const struct gagg_path *p)
{
	return gagg_max64(gagg_max64(p->srtt + p->srtt / 8, path_late(p)), GAGG_PATH_ASK_MIN);
}

u64 gagg_path_rto(const struct gagg_path *p)
{
	u64 rto = gagg_path_patience(p), least;

	if (p->srtt)
		rto = gagg_max64(rto, path_late(p));
	if (p->timeouts > 1 && p->srtt)
		rto = gagg_min64(rto, path_answer(p));
	least = rto;
	if (p->backoff)
		rto = gagg_path_pause(rto, p->armed - p->silent);
	return gagg_path_bound(least, rto, GAGG_PATH_RTO_MAX, p->armed);
}

void gagg_path_hint(struct gagg_path *p, u64 rto)
{
	p->rto_init = rto;
	if (p->flying && !p->srtt)
		p->rto_at = gagg_min64(p->rto_at, p->armed + gagg_path_rto(p));
}

u64 gagg_path_quiet(const struct gagg_path *p)
{
	u64 quiet = gagg_max64(2 * p->beat, GAGG_PATH_QUIET_MIN), rto = gagg_path_rto(p);

	/* no pause is known yet */
	return p->beat ? gagg_min64(quiet, rto) : rto;
}

void gagg_path_heard(struct gagg_path *p, u64 now)
{
	u64 pause = now - p->heard;

	if (now <= p->heard)
		return;
	/* a longer pause is a silence */
	if (p->heard && pause < gagg_path_rto(p))
		p->beat = gagg_max64(pause, p->beat - p->beat / 8);
	p->heard = now;
}

/* the timer begins; it ends sooner if the peer was just heard, see path_overdue_at() */
static void path_rearm(struct gagg_path *p, u64 now)
{
	u64 quiet = gagg_path_quiet(p);

	p->armed = now;
	if (!p->backoff)
		p->silent = now;
	p->rto_at = !p->flying ? GAGG_NEVER :
		    now + (now - p->heard < quiet ? quiet : gagg_path_rto(p));
}

u32 gagg_path_room(const struct gagg_path *p)
{
	u32 span = GAGG_PATH_SPAN - (p->next_pn - p->una);
	u32 cwnd = p->timeouts > 1 && p->cwnd > PROBES ? PROBES : p->cwnd;
	u32 room = cwnd > p->flying ? cwnd - p->flying : 0;

	if (room < p->probes)
		room = p->probes;
	return room < span ? room : span;
}

u32 gagg_path_send(struct gagg_path *p, const struct gagg_sent *what, u64 now)
{
	u32 pn;
	struct gagg_sent *s;

	if (!p->flying)
		gagg_cwnd_idle(p, path_entry(p, p->next_pn - 1)->time, now);
	pn = p->next_pn++;
	s = path_entry(p, pn);
	*s = *what;
	s->time = now;
	s->state = GAGG_SENT_FLYING;
	if (p->probes)
		p->probes--;
	if (!p->flying++)
		path_rearm(p, now);
	return pn;
}

void gagg_path_send_run(struct gagg_path *p, const struct gagg_sent *what, u32 n, u64 now)
{
	struct gagg_sent s = *what;

	for (; n; n--, s.slot++)
		gagg_path_send(p, &s, now);
}

/* --- what arrives ------------------------------------------------------ */

bool gagg_path_rx(struct gagg_path *p, u32 pn, bool ce)
{
	u32 ahead = pn - p->rx_base;
	u64 bit;
	u32 i, words;

	p->ack_due = 1;
	p->rx_marks += ce;
	if (gagg_pn_before(pn, p->rx_base))
		return false;
	if (ahead >= MAP_BITS) {
		words = (ahead - MAP_BITS) / 64 + 1;
		for (i = 0; i < GAGG_ACK_WORDS; i++)
			p->rx_map[i] = words < GAGG_ACK_WORDS - i ? p->rx_map[i + words] : 0;
		p->rx_base += words * 64;
		ahead -= words * 64;
	}
	bit = GAGG_BIT(ahead % 64);
	if (p->rx_map[ahead / 64] & bit)
		return false;
	p->rx_map[ahead / 64] |= bit;
	if (gagg_pn_before(p->rx_largest, pn))
		p->rx_largest = pn;
	p->rx_fresh = pn;
	return true;
}

u32 gagg_path_ack_build(struct gagg_path *p, struct gagg_ack *ack)
{
	u32 fresh = p->rx_fresh;
	u32 i;

	ack->base = cpu_to_le32(p->rx_base);
	ack->largest = cpu_to_le32(p->rx_largest);
	for (i = 0; i < GAGG_ACK_WORDS; i++)
		ack->map[i] = cpu_to_le64(p->rx_map[i]);
	p->ack_due = 0;
	p->rx_fresh = 0;
	return fresh;
}

/* --- round trips ------------------------------------------------------- */

/* RFC 6298, section 2 */
static void path_sample(struct gagg_path *p, u64 rtt, u64 now)
{
	u64 off;

	rtt = gagg_max64(rtt, 1);	/* 0 stands for "none yet" */
	p->rtt = rtt;
	if (!p->srtt) {
		p->srtt = rtt;
		p->rttvar = rtt / 2;
		p->rtt_min = rtt;
		p->rtt_next = rtt;
		p->rtt_since = now;
		return;
	}
	off = rtt > p->srtt ? rtt - p->srtt : p->srtt - rtt;
	p->rttvar = p->rttvar - p->rttvar / 4 + off / 4;
	p->srtt = gagg_max64(p->srtt - p->srtt / 8 + rtt / 8, 1);
	if (p->late)
		p->late = gagg_max64(p->late - p->late / 256, p->srtt);
	p->rtt_min = gagg_min64(p->rtt_min, rtt);
	p->rtt_next = gagg_min64(p->rtt_next, rtt);
	if (now - p->rtt_since < GAGG_PATH_RTT_WINDOW)
		return;
	/* a path may have become longer: the least of this window, then that of the next */
	p->rtt_min = p->rtt_next;
	p->rtt_next = rtt;
	p->rtt_since = now;
	p->overflowed = 0;
	gagg_cwnd_drain(p);
}

/* --- acknowledgement and loss ------------------------------------------ */

struct acking {
	struct gagg_path *p;
	void (*acked)(void *ctx, const struct gagg_sent *s);
	void *ctx;
	u64 now;
	u32 fresh;
	u32 count;	/* acknowledged */
	u32 found;	/* of these: datagrams that were taken for lost */
};

/* una <= pn < next_pn */
static void path_ack_one(struct acking *a, u32 pn)
{
	struct gagg_path *p = a->p;
	struct gagg_sent *s = path_entry(p, pn);

	if (s->state == GAGG_SENT_ACKED)
		return;
	if (s->state == GAGG_SENT_LOST)
		p->lost--;
	else
		p->flying--;
	s->state = GAGG_SENT_ACKED;
	a->count++;
	/* it is acknowledged for the first time, so no older acknowledgement was held up */
	if (pn == a->fresh && a->fresh && a->now >= s->time)
		path_sample(p, a->now - s->time, a->now);
	a->acked(a->ctx, s);
}

/* No number that is acknowledged is at or behind next_pn: largest is the highest of them. */
static bool path_sane(const struct gagg_path *p, const struct gagg_ack *ack)
{
	u32 base = le32_to_cpu(ack->base);
	u32 largest = le32_to_cpu(ack->largest);
	u32 count = largest + 1 - base;		/* bits of the map that are valid */
	u32 i;

	if (!gagg_pn_before(largest, p->next_pn) || count > MAP_BITS)
		return false;
	if (count && !(le64_to_cpu(ack->map[(count - 1) / 64]) >> (count - 1) % 64 == 1))
		return false;
	for (i = (count + 63) / 64; i < GAGG_ACK_WORDS; i++)
		if (ack->map[i])
			return false;
	return true;
}

static void path_ack_map(struct acking *a, const struct gagg_ack *ack)
{
	u32 una = a->p->una;
	u32 pn = le32_to_cpu(ack->base);
	u32 i;

	for (i = 0; i < GAGG_ACK_WORDS; i++, pn += 64) {
		u64 word = le64_to_cpu(ack->map[i]);

		if (!gagg_pn_before(una, pn + 64))
			continue;
		if (gagg_pn_before(pn, una))
			word &= ~0ULL << (una - pn);
		for (; word; word &= word - 1)
			path_ack_one(a, pn + gagg_lowest(word));
	}
}

/*
 * A datagram that was taken for lost has arrived. Was it late? It was if
 * 1. it has just come, since it caused this acknowledgement. Then that is a round trip, too: each
 *    datagram has a number of its own (RFC 9002 section 5.1); or
 * 2. an earlier acknowledgement told of datagrams that were sent after it, and not of it, and no
 *    timeout has passed since: after one the time measures the silence, not the way.
 * Else it may have come in time: in an outage acknowledgements are lost, and the next one tells
 * of all.
 */
static void path_learn_late(struct acking *a, u32 pn, const struct gagg_sent *s)
{
	struct gagg_path *p = a->p;
	u64 took = a->now - s->time;
	bool just_now = a->fresh && pn == a->fresh;

	if (a->now < s->time || (!just_now && (p->backoff || !gagg_pn_before(pn, p->told))))
		return;
	if (just_now)
		path_sample(p, took, a->now);
	p->late = gagg_max64(p->late, gagg_min64(took, GAGG_PATH_RTO_MAX));
}

static void path_find_late(struct acking *a, const struct gagg_ack *ack)
{
	struct gagg_path *p = a->p;
	u32 base = le32_to_cpu(ack->base), pn, i;

	/*
	 * the receiver has forgotten all before its base; the log has forgotten all before
	 * GAGG_PATH_LOG
	 */
	if (gagg_pn_before(p->taken, base))
		p->taken = base;
	if (p->next_pn - p->taken > GAGG_PATH_LOG)
		p->taken = p->next_pn - GAGG_PATH_LOG;
	if (!gagg_pn_before(p->taken, p->taken_end))
		p->taken = p->taken_end;
	for (pn = p->taken; gagg_pn_before(pn, p->taken_end) && pn - base < MAP_BITS; pn++) {
		struct gagg_sent *s = path_entry(p, pn);

		i = pn - base;
		if (s->state != GAGG_SENT_TAKEN ||
		    !(le64_to_cpu(ack->map[i / 64]) & GAGG_BIT(i % 64)))
			continue;
		s->state = GAGG_SENT_FREE;
		a->found++;
		path_learn_late(a, pn, s);
		gagg_cwnd_undo(p);
	}
}

/* gives up the oldest flying datagram, which is at scan */
static void path_give_up(struct gagg_path *p)
{
	u32 pn = p->scan++;

	path_entry(p, pn)->state = GAGG_SENT_LOST;
	p->flying--;
	p->lost++;
}

/* gives it up as a sign of congestion */
static void path_lose(struct gagg_path *p)
{
	gagg_cwnd_cut(p, p->scan, GAGG_PATH_LOSS);
	path_give_up(p);
}

/* moves scan to the oldest flying datagram below @end; false: none */
static bool path_find_flying(struct gagg_path *p, u32 end)
{
	while (gagg_pn_before(p->scan, end)) {
		if (path_entry(p, p->scan)->state == GAGG_SENT_FLYING)
			return true;
		p->scan++;
	}
	return false;
}

static void path_find_overdue(struct gagg_path *p, u32 largest, u64 now)
{
	while (path_find_flying(p, largest) && path_entry(p, p->scan)->time + path_late(p) < now)
		path_lose(p);
}

static void path_find_losses(struct gagg_path *p, u32 largest, u64 now)
{
	u64 newest;

	if (p->late) {
		path_find_overdue(p, largest, now);
		return;
	}
	while (path_find_flying(p, largest - GAGG_PATH_REORDER + 1))
		path_lose(p);
	if (!p->srtt || !path_find_flying(p, largest))
		return;
	newest = path_entry(p, largest)->time;	/* una <= scan < largest */
	do {
		if (path_entry(p, p->scan)->time + p->srtt + p->srtt / 8 >= newest)
			break;
		path_lose(p);
	} while (path_find_flying(p, largest));
}

/* settled datagrams at una leave the log */
static void path_settle(struct gagg_path *p)
{
	while (p->una != p->next_pn && path_entry(p, p->una)->state == GAGG_SENT_ACKED)
		path_entry(p, p->una++)->state = GAGG_SENT_FREE;
	if (gagg_pn_before(p->scan, p->una))
		p->scan = p->una;
	/* no loss is older than una: this keeps comparisons with cut_pn in range */
	if (gagg_pn_before(p->cut_pn, p->una))
		gagg_cwnd_past(p);
	if (gagg_pn_before(p->calm_pn, p->una))
		p->calm_pn = p->una;
}

void gagg_path_ack(struct gagg_path *p, const struct gagg_receipt *r,
		   void (*acked)(void *ctx, const struct gagg_sent *s), void *ctx)
{
	struct acking a = {
		.p = p, .acked = acked, .ctx = ctx, .now = r->now, .fresh = r->fresh,
	};
	const struct gagg_ack *ack = r->ack;
	u32 base = le32_to_cpu(ack->base);
	u32 largest = le32_to_cpu(ack->largest);
	u32 pn;

	if (!path_sane(p, ack))
		return;
	for (pn = p->una; gagg_pn_before(pn, base); pn++)
		path_ack_one(&a, pn);
	path_ack_map(&a, ack);
	if (p->taken != p->taken_end)
		path_find_late(&a, ack);
	if (gagg_pn_before(p->told, largest))
		p->told = largest;
	gagg_cwnd_grow(p, a.count, largest);
	/* before path_settle(), which moves cut_pn beyond largest */
	if (gagg_pn_before(p->marks, r->marks)) {
		p->marks = r->marks;
		gagg_cwnd_cut(p, largest, p->cwnd);
	}
	path_find_losses(p, largest, r->now);
	path_settle(p);
	if (a.count || a.found) {
		p->backoff = 0;
		if (p->timeouts > 1)
			gagg_cwnd_answered(p, r->now);
		p->timeouts = 0;
		gagg_path_heard(p, r->now);
		path_rearm(p, r->now);
	} else if (!p->flying) {
		p->rto_at = GAGG_NEVER;
	}
}

void gagg_path_forget(struct gagg_path *p,
		      bool (*over)(void *ctx, const struct gagg_sent *s), void *ctx)
{
	u32 pn;

	for (pn = p->scan; gagg_pn_before(pn, p->next_pn); pn++) {
		struct gagg_sent *s = path_entry(p, pn);

		if (s->state == GAGG_SENT_FLYING && over(ctx, s)) {
			s->state = GAGG_SENT_ACKED;
			p->flying--;
		}
	}
	path_settle(p);
	if (!p->flying)
		p->rto_at = GAGG_NEVER;
}

/*
 * How long the oldest flying datagram takes at least.
 * 1. One that was sent for the first time takes as long as the one that was acknowledged last,
 *    since it waits in the same queue.
 * 2. One that was sent again is not waited for: all round trips may have been spent in queues. Only
 *    after a probe in vain it has the least of them.
 */
static u64 path_trip_of(const struct gagg_path *p, const struct gagg_sent *s)
{
	u64 rtt = !s->again ? p->rtt : p->backoff ? p->rtt_min : 0;

	rtt += gagg_max64(rtt / 8, s->again ? 0 : 2 * p->rttvar);
	return gagg_max64(rtt, path_late(p));
}

/* when it is overdue, before the timeout comes */
static u64 path_overdue_at(struct gagg_path *p, u64 timeout_at)
{
	const struct gagg_sent *s = path_entry(p, p->scan);
	u64 quiet_at = gagg_max64(p->armed, s->time) + gagg_path_quiet(p);

	if (!gagg_path_room(p))
		return timeout_at;
	return gagg_min64(gagg_max64(quiet_at, s->time + path_trip_of(p, s)), timeout_at);
}

/*
 * gives up the oldest flying datagrams, and returns how many
 * 1. The timer has run since the last progress: datagrams that have left later are too young.
 * 2. The first time a few are given up, as probes. These may leave whatever the window says: all
 *    that has filled it may have been lost (RFC 9002 section 6.2.4).
 * 3. The second time all of them are.
 */
static u32 path_expire(struct gagg_path *p, u64 now)
{
	u64 rto = gagg_path_rto(p);
	u32 n = 0;

	while (path_find_flying(p, p->next_pn) && path_entry(p, p->scan)->time + rto <= now) {
		if (!n && p->timeouts < 2 && ++p->timeouts == 2)
			gagg_cwnd_collapse(p);
		if (n == PROBES && p->timeouts < 2)
			break;
		if (p->timeouts < 2)
			path_lose(p);
		else
			path_give_up(p);
		n++;
	}
	return n;
}

void gagg_path_timer(struct gagg_path *p, u64 now)
{
	u64 timeout_at = p->armed + gagg_path_rto(p);
	u32 n = 0;

	if (now < p->rto_at)
		return;
	if (now >= timeout_at) {
		n = path_expire(p, now);
	} else if (path_find_flying(p, p->next_pn)) {
		p->rto_at = path_overdue_at(p, timeout_at);
		if (now < p->rto_at)
			return;
		/* a probe: its fate will show whether there is congestion */
		path_give_up(p);
		n = 1;
	}
	p->probes = n < PROBES ? n : PROBES;
	if (n && p->backoff < BACKOFF_MAX)
		p->backoff++;
	path_rearm(p, now);
}

bool gagg_path_lost(struct gagg_path *p, struct gagg_sent *what)
{
	struct gagg_sent *s = path_entry(p, p->una);

	if (!p->lost)
		return false;
	*what = *s;
	if (p->taken == p->taken_end)
		p->taken = p->una;
	p->taken_end = p->una + 1;
	s->state = GAGG_SENT_TAKEN;
	p->lost--;
	p->una++;
	path_settle(p);
	return true;
}
