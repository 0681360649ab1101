/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Datagrams of a shard become bursts (load.h), and leave.
 *
 * Contributions to a node collect in the burst of that node, results in one burst for all of their
 * nodes. A burst leaves when it is complete, when nothing joins it any more, before a control
 * datagram that must not overtake it, and at the end of the batch. So datagrams to a node leave in
 * the order in which the core numbered them, and nothing else needs an order.
 *
 * One source of each host includes this. Before, it defines struct gagg_host, a port that sends,
 * and struct gagg_slot, where a burst collects; after it, the functions that are only declared
 * here: what a host alone can do. The host holds the lock of the shard.
 */
#ifndef GAGG_CORE_SEND_H
#define GAGG_CORE_SEND_H

#include "layout.h"
#include "load.h"
#include "shard.h"
#include "stats.h"

struct gagg_host;
struct gagg_slot;

#define GAGG_SEND_RESULTS	GAGG_NODES	/* number of that burst; others: the node */
#define GAGG_SEND_BURSTS	(GAGG_NODES + 1)

/**
 * struct gagg_send - a batch; begins as zero, and is zero again when it has left
 * @open:	nodes that have a burst of contributions
 */
struct gagg_send {
	u64 open;
};

static struct gagg_send *tx_batch(const struct gagg_host *h);
static const struct gagg_geom *tx_geom(const struct gagg_host *h);
static struct gagg_stats *tx_stats(const struct gagg_host *h);
/* nodes that one message to all reaches; 0: there is none */
static u64 tx_all(const struct gagg_host *h);
/* most datagrams and bytes of a burst */
static u32 tx_segs(const struct gagg_host *h);
static u32 tx_bytes(const struct gagg_host *h);

/* where burst @number collects */
static struct gagg_slot *tx_slot(const struct gagg_host *h, u32 number);
/* what the burst has; NULL: nothing */
static struct gagg_load *tx_load(struct gagg_slot *slot);
/*
 * Room in the burst for @n datagrams of @len bytes, of which it takes all, or for fewer, at least
 * one: then *@n says for how many. It may send what the burst has (gagg_send_close()). NULL: no
 * memory.
 */
static u8 *tx_room(const struct gagg_host *h, struct gagg_slot *slot, u32 len, u32 *n);
/* the datagram whose header is @at gets @bytes of @lanes; returns where the next header is */
static u8 *tx_lanes(struct gagg_slot *slot, u8 *at, void *lanes, u32 bytes);

/* @n messages follow, each of a whole burst, to a node or to all */
static void tx_begin(const struct gagg_host *h, u32 n);
static void tx_to(const struct gagg_host *h, const struct gagg_slot *slot, u32 node);
static void tx_to_all(const struct gagg_host *h, const struct gagg_slot *slot);
/* the burst has left, and has nothing */
static void tx_clear(const struct gagg_host *h, struct gagg_slot *slot);
/* a control datagram, alone */
static void tx_alone(const struct gagg_host *h, const struct gagg_act *a);
/* the next chunk of a run is sent */
static void tx_trace(const struct gagg_host *h, const struct gagg_act *a);

/* the burst leaves. What all want is one message; what one lacks is a burst of its own */
static void gagg_send_close(const struct gagg_host *h, struct gagg_slot *slot)
{
	const struct gagg_load *load = tx_load(slot);
	u64 left = load ? load->nodes : 0;

	if (!left)
		return;
	if (left == tx_all(h)) {
		tx_begin(h, 1);
		tx_to_all(h, slot);
	} else {
		tx_begin(h, gagg_weight64(left));
		for (; left; left &= left - 1)
			tx_to(h, slot, gagg_lowest(left));
	}
	tx_clear(h, slot);
}

/* room in the burst for @n datagrams of @len bytes to @nodes, or for fewer, at least one */
static inline u8 *gagg_send_extend(const struct gagg_host *h, struct gagg_slot *slot, u64 nodes,
				   u32 len, u32 *n)
{
	const struct gagg_load *load = tx_load(slot);
	u32 segs = tx_segs(h), bytes = tx_bytes(h);

	if (load && !gagg_load_takes(load, nodes, len, segs, bytes)) {
		gagg_send_close(h, slot);
		load = NULL;
	}
	*n = gagg_load_room(load, len, *n, segs, bytes);
	return tx_room(h, slot, len, n);
}

static inline bool gagg_send_next(const struct gagg_host *h, struct gagg_act *a)
{
	if (!gagg_act_next(a))
		return false;
	tx_trace(h, a);
	return true;
}

/*
 * The chunks of @a's run join the burst, for @nodes; with their lanes, if any, which are in @mem. A
 * header is made from the one before it as long as they lie side by side.
 */
static void gagg_send_run(const struct gagg_host *h, struct gagg_slot *slot, u64 nodes,
			  struct gagg_act *a, void *const *mem)
{
	u32 bytes = gagg_wire_has_lanes(&a->m) ? a->m.lanes * 4 : 0;
	u32 len = GAGG_WIRE_HDRLEN + bytes, n = 0;
	const struct gagg_geom *g = tx_geom(h);
	const u32 per = gagg_per_block(g);
	const u8 *prev = NULL;
	u8 *at = NULL;
	void *from;

	do {
		if (!n) {
			n = 1 + a->more;
			at = gagg_send_extend(h, slot, nodes, len, &n);
			if (at)
				gagg_load_add(tx_load(slot), nodes, len, n, &a->m);
			prev = NULL;
		}
		if (!at) {
			gagg_stats_failed(tx_stats(h), 1, false);
			n = 0;
			continue;
		}
		if (prev)
			gagg_wire_follow(at, prev, &a->m);
		else
			gagg_wire_build(at, &a->m);
		prev = at;
		from = bytes ? gagg_chunk_in(g, per, mem, a->m.chunk) : NULL;
		at = tx_lanes(slot, at, from, bytes);
		if (!--n && gagg_load_ends(tx_load(slot), len))
			gagg_send_close(h, slot);
	} while (gagg_send_next(h, a));
}

static inline void gagg_send_contrib(const struct gagg_host *h, struct gagg_act *a,
				     void *const *mem)
{
	tx_batch(h)->open |= GAGG_BIT(a->node);
	gagg_send_run(h, tx_slot(h, a->node), GAGG_BIT(a->node), a, mem);
}

static inline void gagg_send_result(const struct gagg_host *h, struct gagg_act *a,
				    void *const *mem)
{
	gagg_send_run(h, tx_slot(h, GAGG_SEND_RESULTS), a->nodes, a, mem);
}

static inline void gagg_send_ctrl(const struct gagg_host *h, const struct gagg_act *a)
{
	struct gagg_slot *slot = tx_slot(h, GAGG_SEND_RESULTS);
	const struct gagg_load *results = tx_load(slot);
	u8 behind = gagg_wire_behind(&a->m);

	if (behind == GAGG_T_CONTRIB)
		gagg_send_close(h, tx_slot(h, a->node));
	else if (behind == GAGG_T_RESULT && results && results->nodes & GAGG_BIT(a->node))
		gagg_send_close(h, slot);
	tx_alone(h, a);
}

/* the end of a batch: all leaves */
static inline void gagg_send_flush(const struct gagg_host *h)
{
	struct gagg_send *send = tx_batch(h);

	for (; send->open; send->open &= send->open - 1)
		gagg_send_close(h, tx_slot(h, gagg_lowest(send->open)));
	gagg_send_close(h, tx_slot(h, GAGG_SEND_RESULTS));
}

#endif
