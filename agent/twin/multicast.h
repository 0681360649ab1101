/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where results for all arrive: a socket of a port that is bound to the multicast address.
 * Groups of the port that name an address share its socket, which goes with the port.
 */
#ifndef GAGG_TWIN_MULTICAST_H
#define GAGG_TWIN_MULTICAST_H

#include "port.h"

struct multicast {
	struct multicast *next;	/* of the port */
	union address addr;	/* with the port's number */
	int fd;
};

/*
 * Can multicast leave by the interface of the local address, and which is it?
 * @local: with port 0
 * @addr: of IPv6, gets it as scope
 */
bool multicast_scope(const union address *local, union address *addr);
/* What @fd sends to multicast addresses leaves by that interface. @addr: with its scope.
 * Returns 0, or -1 and errno
 */
int multicast_leave_by(int fd, const union address *local, const union address *addr);
/* find, or create and join. @addr: with the port's number and scope. 0, or -1 and errno */
int multicast_join(struct port *p, const union address *addr);
/* all of a port */
void multicasts_close(struct port *p);

#endif
