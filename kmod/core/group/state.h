/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What administrators read of a group and of its members.
 */
#ifndef GAGG_CORE_STATE_H
#define GAGG_CORE_STATE_H

#include "path.h"
#include "group/join.h"
#include "group/times.h"
#include <linux/gagg.h>
#include <linux/gagg_netlink.h>

/* configurations of hosts differ, or chunks do not pass: no epoch starts while that is so */
static inline bool gagg_state_is_stuck(const struct gagg_ioc_status *st)
{
	return st->mismatch || st->blocked;
}

/**
 * struct gagg_facts - what administrators are told of a member, by its attributes of netlink
 * @set:	GAGG_BIT() of those of @number that are told
 * @number:	attributes that are a u32, by enum gagg_member_attr
 * @mismatch:	GAGG_MA_MISMATCH; NULL: its host is configured alike
 * @timed:	GAGG_MA_TIMES is told
 * @other:	its host is another one; of this one neither path nor silence is known
 * @blocked:	that host is heard, but chunks do not pass (gagg_join_blocked())
 * @times:	if @timed
 */
struct gagg_facts {
	u64 set;
	u32 number[GAGG_MA_MAX + 1];
	const char *mismatch;
	bool timed;
	bool other;
	bool blocked;
	struct gagg_ioc_times times;
};

/**
 * struct gagg_group_facts - the same of a group
 * @set:	GAGG_BIT() of those of @number that are told
 * @number:	attributes that are a u32, by enum gagg_group_attr
 * @epoch:	GAGG_GA_EPOCH
 * @mismatch:	GAGG_GA_MISMATCH; NULL: nobody is known to be configured differently
 */
struct gagg_group_facts {
	u64 set;
	u32 number[GAGG_GA_MAX + 1];
	u64 epoch;
	const char *mismatch;
};

/**
 * gagg_facts_group - what is told of a group
 * @f:		is filled in
 * @g:		its geometry
 * @st:		what is known of it; NULL: it lacks members, and its hosts do not talk yet
 * @mtu:	the least of the interfaces to other hosts; 0: it is not known
 */
void gagg_facts_group(struct gagg_group_facts *f, const struct gagg_geom *g,
		      const struct gagg_ioc_status *st, u32 mtu);

/*
 * Each adds to facts that are zero at first. gagg_facts_host() is first, and says what is known of
 * @node as of @now, under the lock of the join object; gagg_facts_path() of the way there, under
 * the lock of the path; gagg_facts_times() what the rank does, under the lock of its times. With
 * them gagg_facts_state() says in which state @rank is; without them it is GAGG_MS_UNHEARD.
 */
void gagg_facts_host(struct gagg_facts *f, const struct gagg_join *j, const struct gagg_geom *g,
		     u32 node, u64 now);
void gagg_facts_path(struct gagg_facts *f, const struct gagg_path *path);
void gagg_facts_times(struct gagg_facts *f, const struct gagg_times *times, u64 now);
void gagg_facts_state(struct gagg_facts *f, const struct gagg_ioc_status *st, u32 rank);

/* what is configured differently, with both values if it is a number; nothing, if nothing is */
void gagg_facts_mismatch(struct gagg_facts *f, const struct gagg_mismatch *bad);

#endif
