/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_SKB_H
#define GAGG_COMPAT_SKB_H

#include <linux/skbuff.h>
#if __has_include(<net/gso.h>)
#include <net/gso.h>
#endif

#endif
