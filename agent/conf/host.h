/* SPDX-License-Identifier: GPL-2.0 */
/* Which members of the cluster's groups are this host. */
#ifndef GAGG_CONF_HOST_H
#define GAGG_CONF_HOST_H

#include "config.h"

/*
 * The addresses of this network namespace, in memory to be freed. Returns
 * their number or -errno. Loopback addresses are among them: several hosts
 * may be played on one.
 */
int host_addresses(struct nl_ip **out);

/**
 * host_resolve() - set local address and flags of a group
 * @g: group of the configuration; its local address and flags are set if it
 *	has a member here, and cleared if not
 * @ips: addresses of this host
 * @n: number of @ips
 * @msg: on error, a sentence
 * @size: bytes of @msg
 *
 * Return: 0; -EINVAL several addresses of the host are members' addresses,
 * and a group has one local address.
 */
int host_resolve(struct nl_group *g, const struct nl_ip *ips, unsigned int n,
		 char *msg, size_t size);

#endif
