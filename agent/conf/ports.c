// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "ports.h"

#define START	1024	/* as the kernel begins */

const char *ports_sysctl = "/proc/sys/net/ipv4/ip_unprivileged_port_start";

static unsigned int port_first_of_all(void)
{
	FILE *f = fopen(ports_sysctl, "re");
	unsigned int start;

	if (!f)
		return START;
	if (fscanf(f, "%u", &start) != 1)
		start = START;
	fclose(f);
	return start;
}

bool ports_warning(const struct nl_group *g, char *msg, size_t size)
{
	unsigned int last = g->port + g->shards - 1, start = port_first_of_all();
	/* others both read and write: anybody may train */
	bool open = (g->mode & 06) == 06;

	if (open || last < start)
		return false;
	snprintf(msg, size,
		 "anybody on this host may bind UDP port %u while gagg is away, and be the member, whatever uid, gid and mode are: use ports below net.ipv4.ip_unprivileged_port_start, which is %u",
		 last, start);
	return true;
}
