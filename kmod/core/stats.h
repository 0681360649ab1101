/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of a group: the core's own (enum gagg_count), and those of the host that moves its
 * datagrams.
 */
#ifndef GAGG_CORE_STATS_H
#define GAGG_CORE_STATS_H

#include "shard.h"
#include <linux/gagg_netlink.h>

/* counters of one shard that the core does not keep; under the shard's lock */
struct gagg_stats {
	u64 tx_datagrams;
	u64 tx_bytes;
	u64 rx_datagrams;
	u64 rx_bytes;
	u64 rounds;
	u64 tx_errors;
	u64 drop[GAGG_DROP_COUNT];
	bool unfit;	/* no counter: a datagram was too long, see gagg_stats_take_unfit() */
};

/* datagrams have left, of @bytes behind the UDP header */
static inline void gagg_stats_sent(struct gagg_stats *st, u32 datagrams, u64 bytes)
{
	st->tx_datagrams += datagrams;
	st->tx_bytes += bytes;
}

/* datagrams have not left, and never will; @unfit: they are longer than the interface may send */
static inline void gagg_stats_failed(struct gagg_stats *st, u32 datagrams, bool unfit)
{
	st->tx_errors += datagrams;
	st->unfit |= unfit;
}

/* the same of what has counted as sent when it was queued */
static inline void gagg_stats_unsent(struct gagg_stats *st, u32 datagrams, u64 bytes, bool unfit)
{
	st->tx_datagrams -= datagrams;
	st->tx_bytes -= bytes;
	gagg_stats_failed(st, datagrams, unfit);
}

/* was a datagram too long since the last call? */
static inline bool gagg_stats_take_unfit(struct gagg_stats *st)
{
	bool unfit = st->unfit;

	st->unfit = false;
	return unfit;
}

/* add the counters of a shard to @value, which is indexed by enum gagg_stats_attr */
void gagg_stats_add(const struct gagg_stats *st, const struct gagg_shard *sh,
		    u64 value[GAGG_SA_MAX + 1]);

#endif
