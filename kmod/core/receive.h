/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A datagram that has arrived, from its first byte to the shard: what is dropped, why, and where
 * that is counted; and what becomes of its lanes.
 *
 * One source of each host includes this. It defines struct gagg_source before, with a struct
 * gagg_receipts as its member @rx, and after it the functions that are only declared here: what a
 * host alone can do. All are static, so the compiler makes one program of both.
 *
 * Datagrams that arrive together are taken in order, those that follow one another by
 * gagg_receive_run(), others by gagg_receive(). After the last one the host calls
 * gagg_receive_act(). It holds the lock of the shard over all of this.
 */
#ifndef GAGG_CORE_RECEIVE_H
#define GAGG_CORE_RECEIVE_H

#include "burst.h"
#include "site.h"
#include "stats.h"

struct gagg_source;

#define GAGG_NO_NODE	(~0U)

/*
 * The group of that id: sets @rx.stats, and shard and geometry of @rx.burst.in, all of which are
 * NULL before. false: there is none. Then, is the sender of @src that node of it?
 */
static bool rx_group(struct gagg_source *src, u32 id);
static bool rx_is_from(const struct gagg_source *src, u32 node);
/* a datagram of no group here is dropped */
static void rx_drop_alone(struct gagg_source *src);
/* the channel, by its id; NULL: there is none */
static struct gagg_site *rx_site(struct gagg_source *src, u16 id);
/* what the core is to see of trainers, for as long as there is @src */
static void rx_lend(struct gagg_source *src, struct gagg_env *env);
/* lanes are added up */
static void rx_add(struct gagg_source *src, const struct gagg_sum *sum, const void *lanes);
/* lanes are to be placed where no memory is, which cannot be */
static void rx_lacks(struct gagg_source *src);
/* a datagram of the join object; 0: it was taken */
static enum gagg_drop rx_join(struct gagg_source *src, const struct gagg_msg *m,
			      const void *body);
/* the shard has actions: they are carried out */
static void rx_drain(struct gagg_source *src);
/* are verdicts traced, and each action behind its cause? */
static bool rx_traces(void);
/* called before a message is judged, which may shorten it */
static void rx_trace_before(struct gagg_source *src, const struct gagg_msg *m, const void *body);
/* the verdict */
static void rx_trace(struct gagg_source *src, enum gagg_rx rx);

/*
 * Whose datagram it is, by the id in its header; rx->stats is NULL if that is no group's. Members
 * are configured, never learned. A source has one sender, so what was found for the datagram before
 * is true of this one.
 */
static inline void gagg_receive_find(struct gagg_source *src, u32 id)
{
	struct gagg_arrival *in = &src->rx.burst.in;
	u32 n;

	if (in->vis.g && in->vis.g->group == id)
		return;
	src->rx.stats = NULL;
	in->vis.sh = NULL;
	in->vis.g = NULL;
	in->node = GAGG_NO_NODE;
	if (!rx_group(src, id))
		return;
	for (n = 0; n < in->vis.g->nodes; n++)
		if (rx_is_from(src, n))
			in->node = n;
}

/* before the core gets a datagram that does not follow the last one, and at the end */
static inline void gagg_receive_act(struct gagg_source *src)
{
	const struct gagg_shard *sh = src->rx.burst.in.vis.sh;

	if (sh && sh->nacts)
		rx_drain(src);
}

/* of a question, which cost as much as a datagram: each step reads a slot and a bit */
#define GAGG_RECEIVE_STEPS	8

/* the cost of @datagrams, those that @rx counts, in datagrams */
static inline u32 gagg_receive_cost(const struct gagg_receipts *rx, u32 datagrams)
{
	return datagrams + rx->steps / GAGG_RECEIVE_STEPS;
}

/* carries out the core's verdict on a datagram; true: its lanes were taken */
static inline bool gagg_receive_obey(struct gagg_source *src, enum gagg_rx verdict,
				     const void *lanes)
{
	struct gagg_receipts *rx = &src->rx;
	const struct gagg_arrival *in = &rx->burst.in;
	struct gagg_sum sum;

	switch (verdict) {
	case GAGG_RX_ADD:
		sum = gagg_site_sum(rx->site, in->vis.g, in->vis.sh->index, &in->todo);
		rx_add(src, &sum, lanes);
		return true;
	case GAGG_RX_PLACE:
		/* a seat goes only after the shard has stopped, or when it has no ops */
		if (!gagg_site_place(rx->site, in->vis.g, &in->todo, lanes))
			rx_lacks(src);
		return true;
	case GAGG_RX_DROP:
		rx->stats->drop[in->todo.drop]++;
		return false;
	case GAGG_RX_OK:
	case GAGG_RX_AGAIN:
		break;
	}
	return false;
}

/*
 * gagg_receive_run - receive the datagrams that follow the last one: most of a burst does
 *
 * The @left bytes at @at begin with a datagram. Returns how many datagrams of @len bytes were
 * received, dropped ones included.
 */
static inline u32 gagg_receive_run(struct gagg_source *src, const u8 *at, u32 left, u32 len)
{
	struct gagg_receipts *rx = &src->rx;
	struct gagg_arrival *in = &rx->burst.in;
	u32 n = 0;

	for (; left >= len && gagg_burst_follows(&rx->burst, at, len); at += len, left -= len) {
		enum gagg_rx verdict = gagg_burst_next(&rx->burst);

		n++;
		gagg_receive_obey(src, verdict, at + GAGG_WIRE_HDRLEN);
		if (rx_traces()) {
			rx_trace_before(src, &in->todo.m, NULL);
			rx_trace(src, verdict);
			gagg_receive_act(src);
		} else if (gagg_shard_must_act(in->vis.sh, in->vis.g)) {
			gagg_receive_act(src);
		}
	}
	if (!n)
		return 0;
	rx->stats->rx_datagrams += n;
	rx->stats->rx_bytes += (u64)n * len;
	return n;
}

/* @raw: header and body, in memory that only the host writes */
static inline void gagg_receive_judge(struct gagg_source *src, struct gagg_msg *m,
				      const u8 *raw, const void *lanes)
{
	const void *body = raw + GAGG_WIRE_HDRLEN;
	struct gagg_receipts *rx = &src->rx;
	enum gagg_rx verdict;
	struct gagg_env env;
	u32 run = m->run;

	rx->site = rx_site(src, m->channel);
	rx_lend(src, &env);
	do {
		bool traced = rx_traces();

		if (traced)
			rx_trace_before(src, m, body);
		verdict = gagg_burst_rx(&rx->burst, &env, m, body);
		if (traced)
			rx_trace(src, verdict);
		if (gagg_receive_obey(src, verdict, lanes))
			gagg_burst_commit(&rx->burst, raw);
		gagg_receive_act(src);
	} while (verdict == GAGG_RX_AGAIN);
	/* if the core dropped it: as many as it had taken before */
	rx->steps += verdict == GAGG_RX_DROP ? run - m->run : run - 1;
}

/* why the message is dropped, whatever it says; 0: it is not */
static inline enum gagg_drop gagg_receive_check(const struct gagg_receipts *rx, const u8 *raw,
						u32 len, struct gagg_msg *m)
{
	enum gagg_drop why = gagg_wire_parse(raw, len, m);

	if (why)
		return why;
	if (rx->burst.in.node == GAGG_NO_NODE)
		return GAGG_DROP_SOURCE;
	return rx->multicast && !gagg_wire_is_for_all(m) ? GAGG_DROP_TYPE : 0;
}

/* gagg_receive_begin - a datagram of @len bytes comes that does not follow; false: it is dropped */
static inline bool gagg_receive_begin(struct gagg_source *src, u32 len)
{
	gagg_receive_act(src);
	src->rx.burst.len = 0;
	if (len < GAGG_WIRE_HDRLEN)
		rx_drop_alone(src);
	return len >= GAGG_WIRE_HDRLEN;
}

/*
 * gagg_receive - receive the datagram that has begun
 * @raw:	its header and, if it has no lanes, its body; at any address, in memory that only
 *		the host writes
 * @len:	bytes of it
 * @lanes:	in memory that may change
 */
static inline void gagg_receive(struct gagg_source *src, const u8 *raw, u32 len,
				const void *lanes)
{
	struct gagg_receipts *rx = &src->rx;
	enum gagg_drop why;
	struct gagg_msg m;

	gagg_receive_find(src, gagg_wire_group(raw));
	if (!rx->stats) {
		rx_drop_alone(src);
		return;
	}
	rx->stats->rx_datagrams++;
	rx->stats->rx_bytes += len;
	why = gagg_receive_check(rx, raw, len, &m);
	if (!why && gagg_wire_joins(&m))
		why = rx_join(src, &m, raw + GAGG_WIRE_HDRLEN);
	else if (!why)
		gagg_receive_judge(src, &m, raw, lanes);
	if (why)
		rx->stats->drop[why]++;
}

#endif
