/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_SKB_H
#define GAGG_COMPAT_SKB_H

#include <linux/skbuff.h>
#ifdef GAGG_HAVE_NET_GSO_H
#include <net/gso.h>
#endif

#endif
