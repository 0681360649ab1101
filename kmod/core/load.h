/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a burst that leaves is made of: datagrams of one length in a row, to the same nodes. A
 * shorter one is the last.
 */
#ifndef GAGG_CORE_LOAD_H
#define GAGG_CORE_LOAD_H

#include "wire.h"

#define GAGG_LOAD_SEGS	64	/* all versions of kernels accept as many */
#define GAGG_LOAD_BYTES	(65535 - 40 - 8)	/* without the headers of IPv6 and UDP */

/**
 * struct gagg_load - the datagrams of a burst; begins as zero
 * @nodes:	the nodes that it goes to
 * @seg:	bytes of a datagram
 * @segs:	datagrams
 * @bytes:	of all of them
 * @reacts:	the window of a path reacts to marks of congestion (gagg_wire_reacts())
 */
struct gagg_load {
	u64 nodes;
	u32 seg;
	u32 segs;
	u32 bytes;
	bool reacts;
};

/* may a datagram of @len bytes to @nodes join it, which may have @segs of @bytes? The first may */
static inline bool gagg_load_takes(const struct gagg_load *l, u64 nodes, u32 len, u32 segs,
				   u32 bytes)
{
	return !l->segs || (l->nodes == nodes && len <= l->seg && l->segs < segs &&
			    l->bytes + len <= bytes);
}

/*
 * How many of @n such datagrams may, of which it takes one; the first may be longer than @bytes.
 * NULL: it is empty
 */
static inline u32 gagg_load_room(const struct gagg_load *l, u32 len, u32 n, u32 segs, u32 bytes)
{
	u32 fit;

	if (l && l->segs) {
		if (len < l->seg)
			return 1;
		segs -= l->segs;
		bytes -= l->bytes;
	}
	fit = bytes / len;
	n = n < segs ? n : segs;
	n = n < fit ? n : fit;
	return n ? n : 1;
}

/* @n of them join it, of which @m is one */
static inline void gagg_load_add(struct gagg_load *l, u64 nodes, u32 len, u32 n,
				 const struct gagg_msg *m)
{
	if (!l->segs) {
		l->nodes = nodes;
		l->seg = len;
		l->reacts = gagg_wire_reacts(m);
	}
	l->segs += n;
	l->bytes += n * len;
}

/* its last datagram has @len bytes: is it complete? */
static inline bool gagg_load_ends(const struct gagg_load *l, u32 len)
{
	return len < l->seg;
}

#endif
