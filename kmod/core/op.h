/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ops of a local rank: they begin, they end, and its times are counted with them. Its trainer is
 * told its times, and the state of the epoch.
 *
 * One source of each host includes this. It defines struct gagg_host, whose rank it is, before, and
 * after it the functions that are only declared here: what a host alone can do.
 */
#ifndef GAGG_CORE_OP_H
#define GAGG_CORE_OP_H

#include "session.h"
#include "site.h"
#include "stats.h"
#include "group/times.h"

/* the rank's times, and their lock, which is the innermost; the time of now, read under it */
static struct gagg_times *op_times_lock(const struct gagg_host *h);
static void op_times_unlock(const struct gagg_host *h);
static u64 op_times_now(void);

/* one of the shards, all of which are locked; the counters of @shard, which is locked */
static const struct gagg_shard *op_shard(const struct gagg_host *h);
static struct gagg_stats *op_stats(const struct gagg_host *h, u32 shard);

/* the lock of a shard */
static void op_shard_lock(const struct gagg_host *h, u32 shard);
static void op_shard_unlock(const struct gagg_host *h, u32 shard);

/* fills in what GAGG_IOC_STATUS tells of the epoch. NOT; IDLE: the session has no group */
static enum gagg_refusal op_tell_epoch(const struct gagg_host *h, struct gagg_ioc_status *st);
/* gagg_op_waits_for() of an op of the rank; 0: it has no such channel */
static u64 op_missing(const struct gagg_host *h, u32 channel, u64 number);

/*
 * gagg_op_begin - gagg_ledger_submit() on a channel of the host
 *
 * The submission is counted under the locks of all shards, so before its end can be counted.
 */
static inline enum gagg_refusal gagg_op_begin(const struct gagg_host *h,
					      const struct gagg_geom *g,
					      const struct gagg_site *site,
					      struct gagg_ledger *led,
					      const struct gagg_ioc_submit *arg)
{
	enum gagg_refusal no = gagg_ledger_submit(op_shard(h), g, site->part, led, arg);
	struct gagg_times *times;

	if (no)
		return no;
	times = op_times_lock(h);
	gagg_times_submit(times, op_times_now());
	op_times_unlock(h);
	return no;
}

/*
 * gagg_op_end - ops up to @number are done in @shard, whose lock is held
 *
 * Returns how many more are now done in all shards: of these the host tells the trainer.
 */
static inline u64 gagg_op_end(const struct gagg_host *h, const struct gagg_site *site,
			      struct gagg_ledger *led, u32 shard, u64 number)
{
	u64 n = gagg_ledger_done(led, site->nparts, shard, number);
	struct gagg_times *times;

	if (!n)
		return 0;
	op_stats(h, shard)->rounds += n;
	times = op_times_lock(h);
	gagg_times_done(times, n, op_times_now());
	op_times_unlock(h);
	return n;
}

/*
 * gagg_op_waits_for - gagg_chan_missing() over all shards
 *
 * Shards are locked one at a time: a trainer may ask in a loop, and the answer is of no common
 * moment.
 */
static inline u64 gagg_op_waits_for(const struct gagg_host *h, const struct gagg_geom *g,
				    const struct gagg_site *site, const struct gagg_ledger *led,
				    u64 number)
{
	u64 ranks = 0;
	u32 s;

	for (s = 0; s < site->nparts; s++) {
		op_shard_lock(h, s);
		ranks |= gagg_chan_missing(g, site->part[s], led->local, number);
		op_shard_unlock(h, s);
	}
	return ranks;
}

/* GAGG_IOC_STATUS: NOT or IDLE. No op has the number 0, which asks for none. */
static inline enum gagg_refusal gagg_op_tell_status(const struct gagg_host *h,
						    struct gagg_ioc_status *arg)
{
	struct gagg_ioc_status st = {
		.size = arg->size, .channel = arg->channel, .op = arg->op,
	};
	enum gagg_refusal no = op_tell_epoch(h, &st);

	if (no)
		return no;
	if (st.op)
		st.missing = op_missing(h, st.channel, st.op);
	*arg = st;
	return no;
}

/*
 * gagg_op_tell_times - GAGG_IOC_TIMES, as of now
 * @arg: gagg_times_valid()
 *
 * NOT; IDLE: the rank has not attached. Times of an epoch that is over can still be read.
 */
static inline enum gagg_refusal gagg_op_tell_times(const struct gagg_host *h,
						   enum gagg_session_state state,
						   struct gagg_ioc_times *arg)
{
	struct gagg_times *times;

	if (state == GAGG_S_BOUND)
		return GAGG_REFUSE_IDLE;
	times = op_times_lock(h);
	gagg_times_tell(times, arg, op_times_now());
	op_times_unlock(h);
	return GAGG_REFUSE_NOT;
}

/* an epoch begins: until now the times of the last one could be read */
static inline void gagg_op_reset_times(const struct gagg_host *h)
{
	struct gagg_times *times = op_times_lock(h);

	memset(times, 0, sizeof(*times));
	op_times_unlock(h);
}

/* the epoch is over */
static inline void gagg_op_stop_times(const struct gagg_host *h)
{
	struct gagg_times *times = op_times_lock(h);

	gagg_times_end(times, op_times_now());
	op_times_unlock(h);
}

#endif
