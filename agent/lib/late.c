// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Sentences about an operation that does not end.
 */
#include <errno.h>
#include <stdio.h>

#include "call.h"
#include "given_up.h"
#include "request.h"
#include "store.h"
#include "sys.h"

#define WHY_MAX		320	/* most bytes of the part of a sentence that names missing ranks */
#define KNOWN_MS	250	/* missing ranks are not known sooner: struct gagg_ioc_status */

/* an operation in flight; @op is 0 if the kernel does not know it */
struct flight {
	char what[2 * CALL_MAX];
	uint64_t op;
	uint64_t done;
};

/* the oldest op, for which all others wait; false: there is none, or it is an op of a store */
static bool late_describe(struct gagg_comm *c, struct flight *f)
{
	const struct gagg_request *r;

	*f = (struct flight){ .what = "an operation on the store", .op = c->store_op };
	pthread_mutex_lock(&c->lock);
	r = c->first;
	if (r) {
		call_flight(f->what, sizeof(f->what), &r->submit, r->taken);
		f->op = r->submit.op;
		f->done = r->taken;
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

/* The epoch goes on: which ranks does the op wait for? Their contributions may be in flight. */
static void late_say_reason(struct gagg_comm *c, const struct flight *f, char *buf, size_t size)
{
	struct gagg_ioc_status st = {
		.size = sizeof(st), .channel = c->region.geo.channel, .op = f->op,
	};
	uint64_t others = c->region.geo.members & ~(1ULL << c->region.geo.rank);
	int err = sys_look(c->session->fd, GAGG_IOC_STATUS, &st);
	const char *what = store_is(c) ? "come as far yet" :
			   f->done ? "contributed to the rest of it yet" : "contributed to it yet";

	if (err == -ETIMEDOUT)
		snprintf(buf, size, "gagg-twin on this host does not answer");
	else if (!err && st.reason && st.epoch == c->session->epoch)
		error_epoch(buf, size, &st);
	else if (!err && (st.missing & others))
		error_missing(buf, size, st.missing & others, others, what);
	else if (store_is(c))
		snprintf(buf, size, "no rank is known to be dead");
	else
		snprintf(buf, size, "no rank is known to be dead: one has not begun it, or is slow");
}

int comm_fail_late(struct gagg_comm *c)
{
	char why[WHY_MAX];
	struct flight f;

	late_describe(c, &f);
	late_say_reason(c, &f, why, sizeof(why));
	comm_error(c, 0, "no end after %d ms of %s; %s", c->session->timeout_ms, f.what, why);
	given_up_add(c->session);
	return comm_fail(c, GAGG_ERR_TIMEOUT);
}

int comm_wait_late(struct gagg_comm *c, int timeout_ms)
{
	char why[WHY_MAX];
	struct flight f;

	if (timeout_ms < KNOWN_MS || !late_describe(c, &f))
		return comm_error(c, GAGG_ERR_TIMEOUT, "time is over; the operation goes on");
	late_say_reason(c, &f, why, sizeof(why));
	return comm_error(c, GAGG_ERR_TIMEOUT, "time is over; %s goes on; %s", f.what, why);
}

void comm_tell_late(struct gagg_comm *c)
{
	struct session *s = c->session;
	char why[WHY_MAX], all[ERROR_MAX + 64];
	struct flight f;

	if (__atomic_exchange_n(&s->noticed, true, __ATOMIC_RELAXED))
		return;
	late_describe(c, &f);
	late_say_reason(c, &f, why, sizeof(why));
	snprintf(all, sizeof(all), "no end of %s; %s", f.what, why);
	session_tell(s, s->rank, all);
}
