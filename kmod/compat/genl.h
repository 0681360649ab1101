/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_GENL_H
#define GAGG_COMPAT_GENL_H

#include <net/genetlink.h>

/* attributes of a dump request */
static inline struct nlattr **gagg_compat_dump_attrs(struct netlink_callback *cb)
{
#ifdef GAGG_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

#endif
