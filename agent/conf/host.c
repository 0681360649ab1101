// SPDX-License-Identifier: GPL-2.0
/*
 * This host among the members.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>

#include "host.h"

static bool host_take_address(const struct sockaddr *sa, struct nl_ip *out)
{
	memset(out, 0, sizeof(*out));
	if (!sa)
		return false;
	out->family = sa->sa_family;
	if (sa->sa_family == AF_INET)
		memcpy(out->addr, &((const struct sockaddr_in *)sa)->sin_addr, 4);
	else if (sa->sa_family == AF_INET6)
		memcpy(out->addr, &((const struct sockaddr_in6 *)sa)->sin6_addr,
		       16);
	else
		return false;
	return true;
}

int host_addresses(struct nl_ip **out)
{
	struct ifaddrs *list;
	struct nl_ip *ips;
	int n = 0;

	if (getifaddrs(&list))
		return -errno;
	for (struct ifaddrs *i = list; i; i = i->ifa_next)
		n++;
	ips = calloc(n + 1, sizeof(*ips));
	if (!ips) {
		freeifaddrs(list);
		return -ENOMEM;
	}
	n = 0;
	for (struct ifaddrs *i = list; i; i = i->ifa_next)
		if (host_take_address(i->ifa_addr, &ips[n]))
			n++;
	freeifaddrs(list);
	*out = ips;
	return n;
}

static bool host_is_one_of(const struct nl_ip *ip, const struct nl_ip *ips,
			   unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (nl_ip_equal(ip, &ips[i]))
			return true;
	return false;
}

int host_resolve(struct nl_group *g, const struct nl_ip *ips, unsigned int n,
		 char *msg, size_t size)
{
	char a[NL_IP_MAX], b[NL_IP_MAX];

	g->set &= ~NL_SET(GAGG_GA_LOCAL);
	for (unsigned int i = 0; i < g->n_members; i++) {
		struct nl_member *m = &g->members[i];

		m->local = false;
		m->set &= ~NL_SET(GAGG_MA_LOCAL);
		if (!host_is_one_of(&m->addr, ips, n))
			continue;
		if (g->set & NL_SET(GAGG_GA_LOCAL) &&
		    !nl_ip_equal(&g->local, &m->addr)) {
			snprintf(msg, size,
				 "%s and %s are both addresses of this host, and a group has one: say which with local = \"ADDR\" or --local",
				 nl_ip_format(&g->local, a),
				 nl_ip_format(&m->addr, b));
			return -EINVAL;
		}
		g->local = m->addr;
		g->set |= NL_SET(GAGG_GA_LOCAL);
		m->local = true;
		m->set |= NL_SET(GAGG_MA_LOCAL);
	}
	return 0;
}
