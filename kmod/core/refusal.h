/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refusals as system calls say them, and those of system calls in words. The core has no errno:
 * only hosts include this, and what one source of each host includes, after their header of its
 * names.
 */
#ifndef GAGG_CORE_REFUSAL_H
#define GAGG_CORE_REFUSAL_H

#include "ledger.h"

/* 0 or a negative errno */
static inline int gagg_refusal_error(enum gagg_refusal no)
{
	switch (no) {
	case GAGG_REFUSE_NOT:
		return 0;
	case GAGG_REFUSE_BAD:
		return -EINVAL;
	case GAGG_REFUSE_KIND:
		return -EOPNOTSUPP;
	case GAGG_REFUSE_STOPPED:
		return -EPIPE;
	case GAGG_REFUSE_ROUNDS:
		return -EOVERFLOW;
	case GAGG_REFUSE_FULL:
		return -E2BIG;
	case GAGG_REFUSE_MEMBERS:
	case GAGG_REFUSE_BUSY:
		return -EBUSY;
	case GAGG_REFUSE_AGAIN:
		return -EEXIST;
	case GAGG_REFUSE_PLACES:
		return -ENOSPC;
	case GAGG_REFUSE_NONE:
		return -ENOENT;
	case GAGG_REFUSE_IDLE:
		return -ENOTCONN;
	}
	return -EINVAL;
}

/*
 * Why a group gets no socket: a literal, or NULL, if there is no sentence for it.
 * @err:	a positive errno; ENODEV: no interface has the local address and can multicast
 * @multicast:	it is a socket at the multicast address, not a port's own
 */
static inline const char *gagg_refused_socket(int err, bool multicast)
{
	static const struct {
		int err;
		bool multicast;
		const char *why;
	} row[] = {
		{ EADDRNOTAVAIL, false, "the local address is not an address of this host" },
		{ EADDRINUSE, false,
		  "a UDP port of the range is in use: choose another base port" },
		{ EACCES, false,
		  "CAP_NET_BIND_SERVICE is required below net.ipv4.ip_unprivileged_port_start" },
		{ ENODEV, true,
		  "multicast: no interface with the local address has the flag MULTICAST (ip link): leave the option out",
		},
		{ EADDRINUSE, true,
		  "multicast: a socket of this host has a UDP port of the range at this address to itself: choose another base port or multicast address",
		},
	};
	u32 i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		if (row[i].err == err && row[i].multicast == multicast)
			return row[i].why;
	return NULL;
}

#endif
