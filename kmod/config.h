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
	union gagg_addr addr;	/* with the base port */
};

/* the parameters that netlink sets; by value, validated as a whole by gagg_config_check() */
struct gagg_config {
	char name[GAGG_NAME_MAX];
	union gagg_addr local;
	struct gagg_sync_param sync;
	union gagg_addr multicast;	/* with the base port; no family: no multicast */
	struct gagg_member member[GAGG_RANKS];
	/* gagg_config_same_shape() compares bytes up to here */
	kuid_t uid;
	kgid_t gid;
	union {
		struct gagg_params param;
		struct { GAGG_PARAM_FIELDS; };
	};
};

void gagg_config_default(struct gagg_config *cfg, const char *name,
			 struct user_namespace *ns);
/* returns an errno, and sets a sentence, if the configuration as a whole is wrong */
int gagg_config_check(struct gagg_config *cfg, struct netlink_ext_ack *extack);
/* the core's part of the configuration; false: it is incomplete, nothing can run yet */
bool gagg_config_geom(struct gagg_config *cfg, struct gagg_geom *g, struct gagg_node *node);
/* its members, for the core; refers to addresses of @cfg */
void gagg_config_roster(const struct gagg_config *cfg, struct gagg_roster *roster);
/* true if only parameters differ that may change at any time */
bool gagg_config_same_shape(const struct gagg_config *a, const struct gagg_config *b);
/* copies those parameters from @from */
void gagg_config_change(struct gagg_config *cfg, const struct gagg_config *from);

#endif
