/* SPDX-License-Identifier: GPL-2.0 */
/* A group of this host: its configuration, and all that belongs to it. */
#ifndef GAGG_TWIN_GROUP_H
#define GAGG_TWIN_GROUP_H

#include <pthread.h>

#include "port.h"
#include "worker.h"
#include "../conf/config.h"
#include "core/core.h"

struct channel;
struct session;
struct twin;

/* the part of a group that belongs to one worker; under the worker's lock */
struct part {
	struct port *port;
	struct gagg_shard *core;
	struct gagg_stats stats;
	bool lacks;		/* an action asked for what is not there */
	/* by place: the part of each of group.channel; set and cleared with that */
	struct gagg_chan *channel[GAGG_CHANNELS_MAX];
};

struct group {
	struct twin *twin;
	struct nl_group cfg;
	struct gagg_geom geom;			/* @lanes: under the locks of all workers */
	union address node[GAGG_NODES];		/* with the base port */
	union address all;			/* multicast address of results; or no family */
	u64 all_nodes;				/* nodes that it reaches; 0: none */
	pthread_mutex_t join_lock;
	struct gagg_join *join;
	u64 limit_at;		/* when MTUs are read again; control thread */
	struct gagg_due due;	/* what join wants; join_lock */
	struct gagg_wants wants;	/* join_lock */
	struct {
		u64 at[GAGG_NODES];	/* time of the last HELLO */
		u64 wide_at[GAGG_SHARDS_MAX][GAGG_NODES];	/* the same, as long as a chunk */
	} said;			/* HELLO, START, ABORT; control thread */
	struct {
		u64 at;
		u32 least;
	} mtu;			/* the least, and when read; control thread */
	pthread_mutex_t times_lock;		/* a leaf */
	struct gagg_times times[GAGG_RANKS];	/* of local ranks in their last epoch */
	u64 epoch;		/* running here; 0: none */
	u64 epochs;
	struct session *session[GAGG_RANKS];	/* bound to the rank */
	struct session *closed;			/* freed when the loop is done with them */
	int unread[GAGG_RANKS];			/* an earlier session's; -1: none; see link.c */
	struct channel *channel[GAGG_CHANNELS_MAX];	/* by place */
	struct gagg_table table;		/* ids of the places; as channel */
	struct channel *spare;			/* memory of former channels */
	struct part part[GAGG_SHARDS_MAX];
};

/* 0, or -1 after it has logged why */
int group_add(struct twin *t, const struct nl_group *cfg);
struct group *group_find(struct twin *t, const char *name);
void group_free(struct group *g);

#endif
