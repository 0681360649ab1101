// SPDX-License-Identifier: GPL-2.0
#include "stats.h"

#define SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static const struct {
	u8 from;
	u8 to;
} core_counters[] = {
	{ GAGG_N_CHUNKS, GAGG_SA_CHUNKS },
	{ GAGG_N_CONTRIBUTIONS, GAGG_SA_CONTRIBUTIONS },
	{ GAGG_N_RESULTS, GAGG_SA_RESULTS },
	{ GAGG_N_RETRANSMITS, GAGG_SA_RETRANSMITS },
	{ GAGG_N_REPAIRS, GAGG_SA_REPAIRS },
	{ GAGG_N_QUERIES, GAGG_SA_QUERIES },
	{ GAGG_N_PULLS, GAGG_SA_PULLS },
	{ GAGG_N_ACKS, GAGG_SA_ACKS },
	{ GAGG_N_VOIDS, GAGG_SA_VOIDS },
	{ GAGG_N_DUPLICATES, GAGG_SA_DUPLICATES },
	{ GAGG_N_STALE, GAGG_SA_STALE },
	{ GAGG_N_LATE, GAGG_SA_LATE },
	{ GAGG_N_NONFINITE, GAGG_SA_NONFINITE },
	{ GAGG_N_OVERFLOW, GAGG_SA_OVERFLOW },
};

static const struct {
	u8 from;
	u8 to;
} drop_counters[] = {
	{ GAGG_DROP_SHORT, GAGG_SA_DROP_SHORT },
	{ GAGG_DROP_VERSION, GAGG_SA_DROP_VERSION },
	{ GAGG_DROP_CHECKSUM, GAGG_SA_DROP_CHECKSUM },
	{ GAGG_DROP_TYPE, GAGG_SA_DROP_TYPE },
	{ GAGG_DROP_SOURCE, GAGG_SA_DROP_SOURCE },
	{ GAGG_DROP_EPOCH, GAGG_SA_DROP_EPOCH },
	{ GAGG_DROP_COOKIE, GAGG_SA_DROP_COOKIE },
	{ GAGG_DROP_RANK, GAGG_SA_DROP_RANK },
	{ GAGG_DROP_CHANNEL, GAGG_SA_DROP_CHANNEL },
	{ GAGG_DROP_CHUNK, GAGG_SA_DROP_CHUNK },
	{ GAGG_DROP_ROUND, GAGG_SA_DROP_ROUND },
	{ GAGG_DROP_WINDOW, GAGG_SA_DROP_WINDOW },
	{ GAGG_DROP_OP, GAGG_SA_DROP_OP },
	{ GAGG_DROP_NOMEM, GAGG_SA_DROP_NOMEM },
};

void gagg_stats_add(const struct gagg_stats *st, const struct gagg_shard *sh,
		    u64 value[GAGG_SA_MAX + 1])
{
	u32 i;

	value[GAGG_SA_ROUNDS] += st->rounds;
	value[GAGG_SA_TX_DATAGRAMS] += st->tx_datagrams;
	value[GAGG_SA_TX_BYTES] += st->tx_bytes;
	value[GAGG_SA_RX_DATAGRAMS] += st->rx_datagrams;
	value[GAGG_SA_RX_BYTES] += st->rx_bytes;
	value[GAGG_SA_TX_ERRORS] += st->tx_errors;
	for (i = 0; i < SIZE(core_counters); i++)
		value[core_counters[i].to] += sh->n[core_counters[i].from];
	for (i = 0; i < SIZE(drop_counters); i++)
		value[drop_counters[i].to] += st->drop[drop_counters[i].from];
}
