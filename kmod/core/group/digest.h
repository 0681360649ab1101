/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What hosts must have configured alike, as numbers that HELLO carries (enum
 * gagg_digest), so that a difference has a name. Collected in words of 64 bits,
 * sent in 32.
 *
 * A field that is one number is sent as it is (GAGG_DG_NUMBERS), so that each side can say both
 * values. That finds every difference: such a number fits 32 bits. (Large parameters of a sync mode
 * do not, and are hashed into 23 of them.) The others are hashed.
 */
#ifndef GAGG_CORE_DIGEST_H
#define GAGG_CORE_DIGEST_H

#include "geom.h"

struct gagg_params;
struct gagg_roster;

/* Jenkins' lookup3 of @len bytes (the kernel's jhash() on a little-endian host) */
u32 gagg_hash(const void *bytes, u32 len, u32 seed);

/* a group's id on the wire, unless it was given one; never 0 */
u32 gagg_group_id(const char *name);

/* of the sync mode and its parameters: see GAGG_DG_SYNC_HASHED */
u32 gagg_digest_sync(const struct gagg_sync_param *sync);

/* what is sent for a field; a number is less than 2^32 */
u32 gagg_digest_fold(u64 value, u32 field);

/* all fields, as they are sent: of ranks, multicast address, parameters and sync mode */
void gagg_digest_group(const struct gagg_roster *r, const struct gagg_params *v,
		       const struct gagg_sync_param *sync, u32 digest[GAGG_DG_COUNT]);

/* can both values be told when field @digest differs? Those of GAGG_DG_COUNT, the versions, can */
static inline bool gagg_digest_is_number(u32 digest)
{
	return digest <= GAGG_DG_COUNT &&
	       (GAGG_DG_NUMBERS | 1U << GAGG_DG_COUNT) >> digest & 1;
}

/* name of a field of enum gagg_digest */
const char *gagg_digest_name(u32 digest);

#endif
