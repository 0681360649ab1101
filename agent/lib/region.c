// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <errno.h>
#include <string.h>

#include "region.h"
#include "sys.h"

bool region_check(const struct gagg_geometry *geo)
{
	uint64_t blocks, chunks, descs;

	/* a chunk has a whole number of lanes of any type */
	if (!geo->ring || !geo->window || !geo->lanes || geo->lanes % 2 || !geo->per_block ||
	    geo->rank >= GAGG_RANKS_MAX || !(geo->members >> geo->rank & 1) ||
	    !geo->homes || geo->homes > GAGG_RANKS_MAX)
		return false;
	if (geo->window > geo->ring || geo->lanes > UINT32_MAX / 4 ||
	    geo->stride < geo->lanes * 4 || geo->stride % 4)
		return false;
	/* products of a 32-bit and another 32-bit number */
	if (geo->block > UINT32_MAX || geo->block % 4 ||
	    (uint64_t)geo->per_block * geo->stride > geo->block)
		return false;
	blocks = ((uint64_t)geo->ring + geo->per_block - 1) / geo->per_block;
	chunks = blocks * geo->block;
	descs = GAGG_DESC_OFFSET;
	if ((geo->flags & GAGG_GEO_STORE) &&
	    (geo->fresh % 4 || geo->fresh > geo->region[GAGG_REG_RESULT].length ||
	     geo->region[GAGG_REG_RESULT].length - geo->fresh < geo->ring * sizeof(uint32_t)))
		return false;
	return geo->region[GAGG_REG_CONTRIB].length >= chunks &&
	       geo->region[GAGG_REG_RESULT].length >= chunks &&
	       geo->region[GAGG_REG_PUSH].length >=
	       descs + geo->ring * sizeof(struct gagg_cdesc) &&
	       geo->region[GAGG_REG_DONE].length >=
	       descs + geo->ring * sizeof(struct gagg_rdesc);
}

int region_map(struct region *r, int fd, const struct gagg_geometry *geo)
{
	unsigned char *push, *done;
	int i;

	memset(r, 0, sizeof(*r));
	if (!region_check(geo))
		return -EPROTO;
	r->geo = *geo;
	for (i = 0; i < GAGG_REG_COUNT; i++) {
		bool write = i == GAGG_REG_PUSH || i == GAGG_REG_CONTRIB;

		r->addr[i] = sys_map(fd, geo->region[i].offset,
				     geo->region[i].length, write);
		if (!r->addr[i]) {
			int err = -errno;

			region_unmap(r);
			return err;
		}
	}
	push = r->addr[GAGG_REG_PUSH];
	done = r->addr[GAGG_REG_DONE];
	r->push = (struct gagg_push *)push;
	r->cdesc = (struct gagg_cdesc *)(push + GAGG_DESC_OFFSET);
	r->contrib = r->addr[GAGG_REG_CONTRIB];
	r->done = (const struct gagg_done *)done;
	r->rdesc = (const struct gagg_rdesc *)(done + GAGG_DESC_OFFSET);
	r->result = r->addr[GAGG_REG_RESULT];
	return 0;
}

void region_unmap(struct region *r)
{
	int i;

	for (i = 0; i < GAGG_REG_COUNT; i++) {
		if (r->addr[i])
			sys_unmap(r->addr[i], r->geo.region[i].length);
		r->addr[i] = NULL;
	}
}

void region_lose(struct region *r)
{
	memset(r->addr, 0, sizeof(r->addr));
}
