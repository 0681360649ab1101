// SPDX-License-Identifier: GPL-2.0
#include "sync.h"

static const struct gagg_sync_ops *const modes[] = {
	&gagg_sync_bsp,
};

#define NMODES	(sizeof(modes) / sizeof(modes[0]))

int gagg_sync_find(const char *name)
{
	u32 i, k;

	for (i = 0; i < NMODES; i++) {
		for (k = 0; modes[i]->name[k] && modes[i]->name[k] == name[k]; k++)
			;
		if (!modes[i]->name[k] && !name[k])
			return (int)i;
	}
	return -1;
}

const struct gagg_sync_ops *gagg_sync_get(u32 index)
{
	return modes[index < NMODES ? index : 0];
}
