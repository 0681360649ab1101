/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel of a group on this host, and the seats of its sessions.
 *
 * Channel 0 is made when an epoch starts, or at the first attach, which needs its geometry. Others
 * are made by a session or by OPEN. All live until the epoch ends. A session that still has a seat
 * then holds a reference, so that its trainer can read published results.
 */
#ifndef GAGG_TWIN_CHANNEL_H
#define GAGG_TWIN_CHANNEL_H

#include "memory.h"
#include "twin_proto.h"
#include "worker.h"
#include "core/core.h"

struct group;
struct session;

/* a session's own part of a channel */
struct seat {
	struct session *session;
	struct channel *channel;	/* holds a reference */
	struct twin_seat *shared;	/* in the session's page */
	struct memory push;		/* struct gagg_push, struct gagg_cdesc[] */
	struct memory contrib;
	struct gagg_ledger ops;
};

struct channel {
	unsigned int refs;		/* control thread */
	struct group *group;
	struct channel *next;		/* next in group.spare, when there are no references */
	struct memory memory[GAGG_SHARED_COUNT];
	struct memory copy[GAGG_LOCALS];	/* of a store: what a local rank has read */
	struct gagg_site site;		/* what the core has of it */
	struct seat *seat[GAGG_LOCALS];	/* set and cleared with site.lent */
};

/* control thread; enters the channel into the table; 0 or a negative errno */
int channel_create(struct group *g, u32 id, u64 members, struct gagg_site **site);
/* channel 0 of the epoch to come: gagg_sites_fresh() */
int channel_fresh(struct group *g, struct gagg_site **site);
/* without an epoch, removes channels that have no seats */
void channel_trim(struct group *g);
/*
 * moves all channels, with the table's references, to @gone, which has room for all; the locks of
 * all workers are held
 */
u32 channels_unlink(struct group *g, struct gagg_site **gone);
void channel_put(struct channel *ch);
/* OPEN has arrived; a worker */
void channel_want(struct group *g, u64 epoch, u32 id, u64 members);
/* makes the channels that were asked for; control thread */
void channels_make(struct group *g);
/* the end of the group: no session is left */
void channels_free(struct group *g);

/* by id; under a worker's lock, or by the control thread */
struct channel *channel_find(struct group *g, u32 id);

static inline struct channel *channel_of(struct gagg_site *site)
{
	return (struct channel *)((char *)site - offsetof(struct channel, site));
}

#endif
