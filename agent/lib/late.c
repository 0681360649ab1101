// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * What is said of an operation that has no end.
 */
#include <errno.h>
#include <stdio.h>

#include "call.h"
#include "given_up.h"
#include "request.h"
#include "sys.h"

/* the oldest operation in flight, for which all others wait */
static void describe(struct gagg_comm *c, char *buf, size_t size)
{
	const struct gagg_request *r;

	pthread_mutex_lock(&c->lock);
	r = c->first;
	if (r)
		call_flight(buf, size, &r->submit, r->taken);
	else
		snprintf(buf, size, "an operation on the store");
	pthread_mutex_unlock(&c->lock);
}

/*
 * The epoch goes on. Who is missing is known where the sum is made, which is another host's
 * for most chunks, and no call tells it.
 */
static const char *reason(const struct gagg_comm *c)
{
	struct gagg_ioc_status st = { .size = sizeof(st) };

	if (sys_look(c->session->fd, GAGG_IOC_STATUS, &st) == -ETIMEDOUT)
		return "gagg-twin on this host does not answer";
	return "no rank is known to be dead: one has not begun it, or is slow";
}

int comm_fail_late(struct gagg_comm *c)
{
	char what[2 * CALL_MAX];

	describe(c, what, sizeof(what));
	comm_error(c, 0, "no end after %d ms of %s; %s", c->session->timeout_ms, what,
		   reason(c));
	given_up_add(c->session);
	return comm_fail(c, GAGG_ERR_TIMEOUT);
}

void comm_tell_late(struct gagg_comm *c)
{
	struct session *s = c->session;
	char what[2 * CALL_MAX], all[ERROR_MAX + 64];

	if (__atomic_exchange_n(&s->noticed, true, __ATOMIC_RELAXED))
		return;
	describe(c, what, sizeof(what));
	snprintf(all, sizeof(all), "no end of %s; %s", what, reason(c));
	session_tell(s, s->rank, all);
}
