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
};

/* add the counters of a shard to @value, which is indexed by enum gagg_stats_attr */
void gagg_stats_add(const struct gagg_stats *st, const struct gagg_shard *sh,
		    u64 value[GAGG_SA_MAX + 1]);

#endif
