// SPDX-License-Identifier: GPL-2.0
#include <limits.h>

#include "limit.h"

#define MEASURE_NS	(10 * GAGG_MSEC)	/* shorter times would measure single buffers */
#define LOOK_NS		(50 * GAGG_USEC)
#define LIMIT_TIMES	8	/* a small datagram counts for so many times its length */
#define STANDS_NS	(4 * LIMIT_NS)		/* a burst would have left since */
#define DEAD_MOST	65536	/* most bytes that may lie there for a link that is down */

void limit_init(struct limit *l, int most)
{
	l->most = most;
	l->bytes = most < LIMIT_LEAST ? most : LIMIT_LEAST;
	l->dead = 0;
	l->was = 0;
	l->since = 0;
}

int limit_most(const struct limit *l)
{
	return l->bytes + l->dead;
}

void limit_idle(struct limit *l)
{
	l->since = 0;
}

static void limit_begin(struct limit *l, int bytes, u64 now)
{
	l->was = bytes;
	l->since = now;
}

void limit_full(struct limit *l, int bytes, u64 now)
{
	if (!l->since)
		limit_begin(l, bytes, now);
}

void limit_sent(struct limit *l, int bytes)
{
	if (l->since && l->was < INT_MAX / 2)
		l->was += bytes;
}

/* bytes that leave in LIMIT_NS, if @bytes leave in @ns */
static int limit_of(const struct limit *l, int bytes, u64 ns)
{
	u64 n = bytes > 0 ? (u64)bytes * LIMIT_NS / (ns ? ns : 1) : 0;

	if (n < LIMIT_LEAST)
		n = LIMIT_LEAST;
	return n < (u64)l->most ? (int)n : l->most;
}

/*
 * Grows by a step at a time. A link with a token bucket looks fast for as long as a burst lasts,
 * and must not get many times that burst.
 */
static void limit_step(struct limit *l, int n)
{
	int step = l->bytes / 4 > LIMIT_LEAST ? l->bytes / 4 : LIMIT_LEAST;

	if (n - l->bytes > step)
		n = l->bytes + step;
	if (n > l->bytes)
		l->bytes = n;
}

/* @n bytes left in LIMIT_NS while more waited */
static void limit_adjust(struct limit *l, int n)
{
	if (n < l->bytes)
		l->bytes = n;
	else
		limit_step(l, n / LIMIT_TIMES);
}

void limit_look(struct limit *l, int bytes, u64 now)
{
	u64 ns = now - l->since;

	if (bytes < l->dead)
		l->dead = bytes;
	if (!l->since)
		return;
	/* at least that much leaves in that time; nobody knows whether more would have left */
	if (bytes == l->dead) {
		limit_step(l, limit_of(l, l->was - bytes, ns));
		l->since = 0;
		return;
	}
	/* the earlier number was an estimate, or a HELLO has come */
	if (bytes > l->was)
		l->was = bytes;
	if (ns < MEASURE_NS || (bytes == l->was && ns < STANDS_NS))
		return;
	limit_adjust(l, limit_of(l, l->was - bytes, ns));
	if (bytes == l->was && bytes <= DEAD_MOST)
		l->dead = bytes;
	limit_begin(l, bytes, now);
}

/*
 * Half of what may lie there leaves in half of LIMIT_NS, or in an eighth of that. At first the time
 * is a moment, since the link may carry a thousand times as much as was seen so far.
 */
u64 limit_at(const struct limit *l, int bytes, u64 now)
{
	int over = bytes - l->dead - l->bytes / 2;
	u64 half = over > 0 ? (u64)over * (LIMIT_NS / LIMIT_TIMES) / (u64)l->bytes : 0;
	u64 soon = l->since ? gagg_max64(now - l->since, LOOK_NS) : LOOK_NS;

	return now + gagg_min64(half, soon);
}
