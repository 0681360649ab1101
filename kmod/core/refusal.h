/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Refusals as system calls say them. The core has no errno: only hosts include this, and what one
 * source of each host includes, after their header of its names.
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

#endif
