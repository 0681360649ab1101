/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Quotas: how many groups, ports and channels there may be in a user namespace.
 *
 * A user that may make user namespaces may make many, and is root in each. So all namespaces that
 * one user has made share a quota, with all that were made within them. A namespace that root has
 * made, as for a container, has a quota of its own. The initial user namespace has none.
 */
#ifndef GAGG_QUOTA_H
#define GAGG_QUOTA_H

#include <linux/types.h>

struct netlink_ext_ack;
struct user_namespace;

enum gagg_quota_kind {
	GAGG_Q_GROUPS,
	GAGG_Q_PORTS,		/* sockets; those for multicast as well */
	GAGG_Q_CHANNELS,
	GAGG_Q_COUNT,
};

/* counts; an object that has taken from it holds a reference */
struct gagg_quota;

/**
 * gagg_quota_of - the quota of a user namespace
 * @ns:	the namespace
 *
 * Sleeps.
 *
 * Return: the quota, with a reference; NULL, which all functions below accept, where there is no
 * limit; ERR_PTR(-ENOMEM).
 */
struct gagg_quota *gagg_quota_of(struct user_namespace *ns);
struct gagg_quota *gagg_quota_get(struct gagg_quota *quota);
/* sleeps */
void gagg_quota_put(struct gagg_quota *quota);

/**
 * gagg_quota_take - count @n more of a kind
 * @quota:	the quota, or NULL
 * @kind:	the kind
 * @n:		how many
 * @extack:	NULL, or gets a sentence
 *
 * Return: 0; or -EDQUOT with a sentence that names the parameter, and then nothing is counted.
 */
int gagg_quota_take(struct gagg_quota *quota, enum gagg_quota_kind kind, u32 n,
		    struct netlink_ext_ack *extack);
void gagg_quota_give(struct gagg_quota *quota, enum gagg_quota_kind kind, u32 n);

#endif
