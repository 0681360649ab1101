/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The members of a group: ranks with their roles and addresses. A host enters them as it has them
 * in its configuration; what follows from all of them together is the same on every host.
 *
 * An address is bytes in network order, 4 or 16 of them. Ranks with equal addresses are on one
 * host.
 */
#ifndef GAGG_CORE_ROSTER_H
#define GAGG_CORE_ROSTER_H

#include "geom.h"
#include "group/param.h"

/**
 * struct gagg_roster - the ranks of a group; begins as zero
 * @ranks:	bit per rank: it is there
 * @here:	bit per rank: it is on this host
 * @addr:	bytes of each rank's address: the caller's, which stay as long as this is used
 * @len:	how many; 0: the address is missing
 * @roles:	of each rank, GAGG_ROLE_*
 * @local_len:	bytes of this host's address; 0: it is not known
 * @multicast_len: bytes of @multicast; 0: there is none
 * @multicast:	the address where results for all go
 */
struct gagg_roster {
	u64 ranks;
	u64 here;
	const void *addr[GAGG_RANKS];
	u8 len[GAGG_RANKS];
	u8 roles[GAGG_RANKS];
	u8 local_len;
	u8 multicast_len;
	const void *multicast;
};

/* a rank is there; in any order */
void gagg_roster_enter(struct gagg_roster *r, u32 rank, u8 roles, const void *addr, u8 len);

/*
 * Bytes of an address of this host's family, or else of the first rank's: with gagg_sums.odd that
 * of all. 0: no address is known
 */
u32 gagg_roster_family(const struct gagg_roster *r);

/**
 * struct gagg_sums - what a group's ranks come to
 * @hosts:	addresses
 * @workers:	ranks that are workers
 * @apart:	addresses with a worker
 * @most:	ranks with one address, at most
 * @odd:	the first rank with an address of another family than this host's, or else than the
 *		first one's; GAGG_RANKS: there is none
 */
struct gagg_sums {
	u32 hosts;
	u32 workers;
	u32 apart;
	u32 most;
	u32 odd;
};

void gagg_roster_sums(const struct gagg_roster *r, struct gagg_sums *sums);

/*
 * gagg_roster_geom - the geometry of a group
 * @v: parameters of the group
 * @sync: one that hosts can carry out (gagg_sync_check())
 * @g: out. Nodes are numbered in the order of their lowest ranks
 */
void gagg_roster_geom(const struct gagg_roster *r, const struct gagg_params *v,
		      const struct gagg_sync_param *sync, struct gagg_geom *g);

#endif
