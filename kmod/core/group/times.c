// SPDX-License-Identifier: GPL-2.0
#include "group/times.h"

void gagg_times_read(const struct gagg_times *t, u64 now, u64 *compute, u64 *wait)
{
	u64 passed = t->begun && now > t->since ? now - t->since : 0;

	*compute = t->compute + (t->flying ? 0 : passed);
	*wait = t->wait + (t->flying ? passed : 0);
}

static void times_count(struct gagg_times *t, u64 now)
{
	gagg_times_read(t, now, &t->compute, &t->wait);
	t->since = gagg_max64(t->since, now);
}

void gagg_times_submit(struct gagg_times *t, u64 now)
{
	times_count(t, now);
	t->begun = true;
	t->flying++;
}

void gagg_times_done(struct gagg_times *t, u64 n, u64 now)
{
	if (!t->begun)
		return;
	times_count(t, now);
	t->ops += n;
	t->flying -= (u32)gagg_min64(n, t->flying);
}

void gagg_times_end(struct gagg_times *t, u64 now)
{
	times_count(t, now);
	t->begun = false;
	t->flying = 0;
}

bool gagg_times_valid(const struct gagg_ioc_times *arg)
{
	if (arg->flags & ~GAGG_TIMES_SHARE || arg->reserved)
		return false;
	return arg->flags ? arg->batch && arg->share <= arg->batch :
			    !arg->batch && !arg->share;
}

void gagg_times_tell(struct gagg_times *t, struct gagg_ioc_times *arg, u64 now)
{
	u64 compute, wait;

	if (arg->flags & GAGG_TIMES_SHARE) {
		t->share = arg->share;
		t->batch = arg->batch;
	}
	arg->share = t->share;
	arg->batch = t->batch;
	arg->ops = t->ops;
	gagg_times_read(t, now, &compute, &wait);
	arg->compute_ns = compute;
	arg->wait_ns = wait;
}

bool gagg_times_show(const struct gagg_times *t, struct gagg_ioc_times *told, u64 now)
{
	struct gagg_times copy = *t;

	memset(told, 0, sizeof(*told));
	gagg_times_tell(&copy, told, now);
	return t->since;
}
