/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The states of a group and of its members that administrators read.
 */
#ifndef GAGG_CORE_STATE_H
#define GAGG_CORE_STATE_H

#include "geom.h"
#include <linux/gagg.h>

/* of a group whose configuration is complete */
enum gagg_group_state gagg_state_group(const struct gagg_ioc_status *st);

/*
 * @mismatch:	the host of @rank is configured differently
 * @blocked:	that host is heard, but chunks do not pass (gagg_join_blocked())
 */
enum gagg_member_state gagg_state_member(const struct gagg_ioc_status *st, u32 rank,
					 bool mismatch, bool blocked);

#endif
