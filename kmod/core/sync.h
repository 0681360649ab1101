/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sync mode: when is a contribution taken, when is a result complete. A
 * policy never touches payload; identity of contributions, addition and
 * publication stay with the chunk (chan.c).
 */
#ifndef GAGG_CORE_SYNC_H
#define GAGG_CORE_SYNC_H

#include "types.h"

enum gagg_take {
	GAGG_TAKE_ADD,		/* of the open round: add */
	GAGG_TAKE_OLD,		/* of the round published last */
	GAGG_TAKE_STALE,	/* of an older round */
	GAGG_TAKE_AHEAD,	/* cannot happen within an epoch */
};

/**
 * struct gagg_sync_ops - a policy
 * @name:	as in `gaggctl group create ... sync NAME`
 * @take:	verdict on a contribution that is @ahead rounds ahead of the
 *		open one (serial arithmetic)
 * @complete:	may the open round be published, given who has contributed
 */
struct gagg_sync_ops {
	char name[16];
	enum gagg_take (*take)(s32 ahead);
	bool (*complete)(u64 contributed, u64 members);
};

extern const struct gagg_sync_ops gagg_sync_bsp;

/* index of a mode by name, or -1 */
int gagg_sync_find(const char *name);
const struct gagg_sync_ops *gagg_sync_get(u32 index);

#endif
