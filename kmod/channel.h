/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel of a group on this host: the core's part for each shard, the result region that all
 * local ranks share, the accumulators.
 *
 * Channel 0 is made when an epoch starts, or at the first attach, which needs its geometry. Others
 * are made by GAGG_IOC_CHANNEL or by OPEN. All live until the epoch ends, since late members may
 * still ask for results.
 *
 * The group's table holds a reference. So does every seat: a waiter that has a seat may read the
 * channel without a lock.
 */
#ifndef GAGG_CHANNEL_H
#define GAGG_CHANNEL_H

#include <linux/kref.h>
#include "core/core.h"
#include "group.h"
#include "memory.h"

struct gagg_channel {
	struct kref ref;
	struct gagg_quota *quota;	/* of the group; a reference */
	u32 id;
	struct gagg_mem mem[GAGG_SHARED_COUNT];
	struct gagg_site site;		/* what the core has of it */
	/* by local index of the core; set and cleared together, with site.lent, under all
	 * port locks and group.lock, read under either
	 */
	struct gagg_seat *seat[GAGG_LOCALS];
	struct gagg_session *session[GAGG_LOCALS];
};

/* group.lock held; sleeps; enters the channel into the table; ENOMEM, ENOSPC, EDQUOT */
int gagg_channel_create(struct gagg_group *grp, u32 id, u64 members, struct gagg_site **site);
/* channel 0 of the next epoch: gagg_sites_fresh(); group.lock held; sleeps; as create */
int gagg_channel_fresh(struct gagg_group *grp, struct gagg_site **site);
/* without an epoch, removes channels that have no seats; group.lock held */
void gagg_channel_trim(struct gagg_group *grp);
/*
 * moves all channels, with the table's references, to @gone, which has room for all; group.lock and
 * all port locks held
 */
u32 gagg_channel_unlink_all(struct gagg_group *grp, struct gagg_site **gone);
void gagg_channel_put(struct gagg_channel *ch);

/* by wire id; under a port lock or group.lock */
static inline struct gagg_channel *gagg_channel_find(struct gagg_group *grp, u32 id)
{
	int place = gagg_table_find(&grp->table, id);

	return place < 0 ? NULL : grp->channel[place];
}

/*
 * init: at birth of a group. Exit: at its death after synchronize_net(), without group.lock, which
 * the work takes: the work stops, the table is emptied
 */
void gagg_channels_init(struct gagg_group *grp);
void gagg_channels_exit(struct gagg_group *grp);
/* an OPEN has arrived; port lock held */
void gagg_channel_want(struct gagg_group *grp, u64 epoch, u32 id, u64 members);

static inline struct gagg_channel *gagg_channel_of(struct gagg_site *site)
{
	return container_of(site, struct gagg_channel, site);
}

#endif
