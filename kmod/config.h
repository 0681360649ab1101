/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What netlink sets: the parameters of a group, and what follows from them.
 */
#ifndef GAGG_CONFIG_H
#define GAGG_CONFIG_H

#include <linux/gagg_netlink.h>
#include <linux/uidgid.h>
#include "core/core.h"
#include "endpoint.h"

struct gagg_node;
struct netlink_ext_ack;
struct user_namespace;

struct gagg_member {
	u8 present;
	u8 local;
	u8 node;
	u8 roles;
	u16 weight;
	union gagg_addr addr;	/* with the base port */
};

/* what netlink sets; by value, validated as a whole by gagg_config_check() */
struct gagg_config {
	char name[GAGG_NAME_MAX];
	u32 id;
	union gagg_addr local;
	u16 port;
	u16 lanes;		/* 0: as many as the MTUs of all hosts let through */
	u32 ring;
	u32 window;
	u16 stripe;
	u16 shards;
	u32 cwnd;
	u32 dead_after;		/* ms */
	struct gagg_sync_param sync;
	u8 placement;
	u8 lane_type;
	union gagg_addr multicast;	/* with the base port; no family: none */
	u8 wire;
	struct gagg_member member[GAGG_RANKS];
	/* may change at any time: gagg_config_same_shape() stops here */
	kuid_t uid;
	kgid_t gid;
	u32 mode;
	u16 channels;
};

void gagg_config_default(struct gagg_config *cfg, const char *name,
			 struct user_namespace *ns);
/* sentence and errno for what is wrong with the whole */
int gagg_config_check(struct gagg_config *cfg, struct netlink_ext_ack *extack);
/* what the core needs of it; false: nothing can run yet */
bool gagg_config_geom(struct gagg_config *cfg, struct gagg_geom *g, struct gagg_node *node);
void gagg_config_digest(const struct gagg_config *cfg, u32 digest[GAGG_DG_COUNT]);
/* only uid, gid, mode or the number of channels differ */
bool gagg_config_same_shape(const struct gagg_config *a, const struct gagg_config *b);

#endif
