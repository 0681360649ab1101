/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states of a group and of its members that administrators read.
 */
#ifndef GAGG_CORE_STATE_H
#define GAGG_CORE_STATE_H

#include "group/join.h"
#include <linux/gagg.h>

/* configurations of hosts differ, or chunks do not pass: no epoch starts while that is so */
static inline bool gagg_state_is_stuck(const struct gagg_ioc_status *st)
{
	return st->mismatch || st->blocked;
}

/* of a group whose configuration is complete */
enum gagg_group_state gagg_state_group(const struct gagg_ioc_status *st);

/*
 * @mismatch:	the host of @rank is configured differently
 * @blocked:	that host is heard, but chunks do not pass (gagg_join_blocked())
 */
enum gagg_member_state gagg_state_member(const struct gagg_ioc_status *st, u32 rank,
					 bool mismatch, bool blocked);

/**
 * struct gagg_reach - what is known of a member's host; of this host itself nothing is
 * @other:	it is another host
 * @blocked:	it is heard, but chunks do not pass (gagg_join_blocked())
 * @heard:	it was heard at least once
 * @heard_ms:	time since then, in ms
 * @mismatch:	what it has configured differently
 * @on:		the shards on which chunks do not pass
 */
struct gagg_reach {
	bool other;
	bool blocked;
	bool heard;
	u32 heard_ms;
	struct gagg_mismatch mismatch;
	struct gagg_blocked on;
};

/* of @node, as of @now; under the lock of the join object */
void gagg_state_reach(const struct gagg_join *j, const struct gagg_geom *g, u32 node, u64 now,
		      struct gagg_reach *r);

#endif
