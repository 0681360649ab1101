/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which addresses a group may have. Bytes in the order of the network, 4 of IPv4, 16 of IPv6.
 */
#ifndef GAGG_CORE_ADDR_H
#define GAGG_CORE_ADDR_H

#include "types.h"

#define GAGG_ADDR_V4	4
#define GAGG_ADDR_V6	16

/*
 * Is it one host's? Without an interface, which a group does not name, a link-local address of IPv6
 * is not.
 */
static inline bool gagg_addr_is_host(const u8 *a, u32 len)
{
	static const u8 none[GAGG_ADDR_V6], all[GAGG_ADDR_V4] = { 255, 255, 255, 255 };

	if (!memcmp(a, none, len))
		return false;
	if (len == GAGG_ADDR_V4)
		return a[0] >> 4 != 14 && memcmp(a, all, len);
	return a[0] != 0xff && !(a[0] == 0xfe && a[1] >> 6 == 2);
}

/* is it one of multicast? IPv6's scope 1 does not leave the host */
static inline bool gagg_addr_is_multicast(const u8 *a, u32 len)
{
	if (len == GAGG_ADDR_V4)
		return a[0] >> 4 == 14;
	return a[0] == 0xff && (a[1] & 15) > 1;
}

#endif
