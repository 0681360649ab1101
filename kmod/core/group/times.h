/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a rank does with its time: an op is in flight, or none is.
 *
 * From the first submission on every moment is one or the other. "Waiting" is
 * from the submission of an op to its end in all shards, "computing" from the
 * end of the last op in flight to the next submission. So the time that a trainer needs to be
 * woken, to read results and to write contributions is computing, and what it computes while an
 * op is in flight is waiting.
 *
 * A time that is earlier than the last one, because it is of another CPU, counts as the last one.
 */
#ifndef GAGG_CORE_TIMES_H
#define GAGG_CORE_TIMES_H

#include "types.h"
#include <linux/gagg.h>

struct gagg_times {
	u64 since;		/* counted up to here; what was in flight then still is */
	u64 compute;		/* ns */
	u64 wait;		/* ns */
	u64 ops;		/* done */
	u32 flying;		/* ops in flight */
	bool begun;		/* there was a submission, and no end */
	u32 share;		/* samples of this rank, as the trainer has said */
	u32 batch;		/* of so many; 0: it has said nothing */
};

/* an op was submitted */
void gagg_times_submit(struct gagg_times *t, u64 now);
/* @n ops are done; ends that come after gagg_times_end() do not matter */
void gagg_times_done(struct gagg_times *t, u64 n, u64 now);
/* the epoch is over: nothing is in flight, nothing is counted any more */
void gagg_times_end(struct gagg_times *t, u64 now);
/* the times up to @now; @t does not change, and has those up to t->since */
void gagg_times_read(const struct gagg_times *t, u64 now, u64 *compute, u64 *wait);

/*
 * GAGG_IOC_TIMES: false if @arg is invalid. gagg_times_tell() takes the share from @arg, if there
 * is one, and fills in the rest.
 */
bool gagg_times_valid(const struct gagg_ioc_times *arg);
void gagg_times_tell(struct gagg_times *t, struct gagg_ioc_times *arg, u64 now);

/* what administrators read; false: there was no op yet, and nothing is to be told */
bool gagg_times_show(const struct gagg_times *t, struct gagg_ioc_times *told, u64 now);

#endif
