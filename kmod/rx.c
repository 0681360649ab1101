// SPDX-License-Identifier: GPL-2.0
/*
 * A received skb: segments of gso_size in a row, each a datagram.
 *
 * 1. Headers and bodies of control messages are copied before they are read: pages of an skb may be
 *    somebody's memory (zero-copy senders on this host), and change.
 * 2. Lanes are added in place if they lie in one piece; from a copy if they straddle two fragments.
 * 3. The header of a datagram that follows another one in a burst is read in place, each byte once:
 *    gagg_burst_follows().
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/sock.h>
#include "act.h"
#include "channel.h"
#include "compat/sock.h"
#include "endpoint.h"
#include "epoch.h"
#include "group.h"
#include "rx.h"
#include "simd.h"
#include "simd_add.h"
#include "trainer.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/* each message without lanes fits; START is the longest */
#define BODY_MAX	(GAGG_WIRE_HDRLEN + sizeof(struct gagg_start))
/* of a longer datagram the header is copied, and the bytes that START's length depends on */
#define HEAD_COPY	(GAGG_WIRE_HDRLEN + offsetof(struct gagg_start, instance))

#define NO_NODE		(~0U)

#define STEPS_PER_DATAGRAM	8	/* of a question: each step reads a slot and a bit */

/* the source of an skb's segments, and the group of the last one */
struct source {
	struct gagg_port *port;
	const struct sk_buff *skb;
	struct gagg_group *grp;
	struct gagg_part *part;	/* the group's part on the port */
	u32 steps;		/* chunks and results that messages name beyond their first */
	bool multicast;
	bool simd;		/* between gagg_simd_begin() and _end() */
	struct gagg_burst burst;	/* actions of its shard may wait */
	struct gagg_channel *ch;	/* channel of the burst's last datagram */
};

static bool rx_from_node(const struct gagg_node *node, const struct sk_buff *skb, u32 shard)
{
	const union gagg_addr *a = &node->addr;

	if (skb->protocol == htons(ETH_P_IPV6))
		return a->sa.sa_family == AF_INET6 &&
		       ipv6_addr_equal(&a->in6.sin6_addr, &ipv6_hdr(skb)->saddr) &&
		       ntohs(a->in6.sin6_port) + shard == ntohs(udp_hdr(skb)->source);
	return a->sa.sa_family == AF_INET &&
	       a->in.sin_addr.s_addr == ip_hdr(skb)->saddr &&
	       ntohs(a->in.sin_port) + shard == ntohs(udp_hdr(skb)->source);
}

static bool rx_congested(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IPV6))
		return INET_ECN_is_ce(ipv6_get_dsfield(ipv6_hdr(skb)));
	return INET_ECN_is_ce(ip_hdr(skb)->tos);
}

static bool rx_by_multicast(const struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IPV6))
		return ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr);
	return ipv4_is_multicast(ip_hdr(skb)->daddr);
}

/* other members follow from the group, or from a datagram */
static void rx_source_init(struct source *src, struct gagg_port *port,
			   const struct sk_buff *skb, u64 now)
{
	src->port = port;
	src->skb = skb;
	src->grp = NULL;
	src->part = NULL;
	src->steps = 0;
	src->multicast = rx_by_multicast(skb);
	src->simd = false;
	src->burst.in.vis.sh = NULL;
	src->burst.in.vis.now = now;
	src->burst.in.ce = rx_congested(skb);
	src->burst.len = 0;
}

/* members are configured, never learned */
static void rx_find_source(struct source *src, u32 id)
{
	const struct gagg_port *port = src->port;
	u32 n;

	if (src->grp && src->grp->cfg.id == id)
		return;
	src->burst.in.node = NO_NODE;
	src->grp = gagg_endpoint_group(port->ep, id);
	src->part = src->grp ? &src->grp->part[port->index] : NULL;
	src->burst.in.vis.sh = src->grp ? src->part->core : NULL;
	src->burst.in.vis.g = src->grp ? &src->grp->geom : NULL;
	for (n = 0; src->grp && n < src->grp->geom.nodes; n++)
		if (rx_from_node(&src->grp->node[n], src->skb, port->index))
			src->burst.in.node = n;
}

static void rx_count_drop(const struct source *src, enum gagg_drop why)
{
	/* an unknown group: counted at the socket only (ss -m) */
	if (!src->grp)
		gagg_compat_drop(src->port->sock->sk);
	else
		src->part->stats.drop[why]++;
}

static bool rx_simd_enter(struct source *src)
{
	if (!src->simd)
		src->simd = gagg_simd_begin();
	return src->simd;
}

/* called before anything that may take a lock */
static void rx_simd_leave(struct source *src)
{
	if (src->simd)
		gagg_simd_end();
	src->simd = false;
}

static __always_inline void rx_add_lanes(struct source *src, const void *lanes)
{
	const struct gagg_todo *todo = &src->burst.in.todo;
	struct gagg_sum sum = gagg_site_sum(&src->ch->site, src->burst.in.vis.g,
					    src->port->index, todo);

	if (gagg_simd_can(todo->laneop, sum.from, todo->shift) && rx_simd_enter(src))
		gagg_simd_add(todo->laneop, sum.to, sum.from, lanes, todo->lanes, todo->shift);
	else
		gagg_reduce_chunk(todo->laneop, sum.to, sum.from, lanes, todo->lanes,
				  todo->shift);
}

/* traces the next call, before it can shorten the message */
static void traced_rx(const struct source *src, const struct gagg_msg *m, const void *body,
		      struct gagg_traced_rx *t)
{
	t->m = *m;
	t->body = body;
	t->now = src->burst.in.vis.now;
	t->shard = src->port->index;
	t->node = src->burst.in.node;
	t->ours = m->cookie ==
		  gagg_shard_cookie(src->burst.in.vis.sh, src->burst.in.vis.g, m->type);
	t->ce = src->burst.in.ce;
}

/* carries out actions, before the core gets a datagram that does not follow the last one */
static void rx_act(struct source *src)
{
	if (!src->burst.in.vis.sh || !src->burst.in.vis.sh->nacts)
		return;
	rx_simd_leave(src);
	gagg_act_drain(src->port, src->grp);
}

/* what the core has said of a datagram: it is in burst.in.todo; true: it was taken */
static inline bool rx_obey(struct source *src, enum gagg_rx rx, const void *lanes)
{
	if (rx == GAGG_RX_ADD) {
		rx_add_lanes(src, lanes);
		return true;
	}
	if (rx == GAGG_RX_PLACE) {
		/* a seat goes only after the shard has stopped, or when it has no ops */
		WARN_ON_ONCE(!gagg_site_place(&src->ch->site, src->burst.in.vis.g,
					      &src->burst.in.todo, lanes));
		return true;
	}
	if (rx == GAGG_RX_DROP)
		rx_count_drop(src, src->burst.in.todo.drop);
	return false;
}

/* @raw: header and body, in memory that only we write */
static void rx_shard(struct source *src, struct gagg_msg *m, const u8 *raw, const void *lanes)
{
	const void *body = raw + GAGG_WIRE_HDRLEN;
	struct gagg_group *grp = src->grp;
	struct gagg_traced_rx was;
	struct gagg_trainers trainers;
	struct gagg_env env;
	enum gagg_rx rx;
	bool traced;
	u32 run;

	src->ch = gagg_channel_find(grp, m->channel);
	run = m->run;
	gagg_trainers_env(&env, &trainers, src->port, grp);
	do {
		traced = trace_gagg_rx_enabled();
		if (traced)
			traced_rx(src, m, body, &was);
		rx = gagg_burst_rx(&src->burst, &env, m, body);
		if (traced)
			trace_gagg_rx(&grp->geom, &was, rx, src->burst.in.todo.drop);
		if (rx_obey(src, rx, lanes))
			gagg_burst_commit(&src->burst, raw);
		rx_act(src);
	} while (rx == GAGG_RX_AGAIN);
	/* if the core dropped it: as many as it had taken before */
	src->steps += rx == GAGG_RX_DROP ? run - m->run : run - 1;
}

static void rx_trace_next(const struct source *src, enum gagg_rx rx)
{
	struct gagg_traced_rx was;

	traced_rx(src, &src->burst.in.todo.m, NULL, &was);
	trace_gagg_rx(src->burst.in.vis.g, &was, rx, src->burst.in.todo.drop);
}

/*
 * Receives the datagrams that follow the last one: most of a burst does. If actions are traced they
 * are not left to the end of the burst, so that each follows its cause.
 *
 * The @left bytes at @at begin with a datagram. Returns how many datagrams of @len bytes were
 * received, dropped ones included.
 */
static u32 rx_run(struct source *src, const u8 *at, u32 left, u32 len)
{
	u32 n = 0;

	for (; left >= len && gagg_burst_follows(&src->burst, at, len); at += len, left -= len) {
		enum gagg_rx rx = gagg_burst_next(&src->burst);

		n++;
		rx_obey(src, rx, at + GAGG_WIRE_HDRLEN);
		if (trace_gagg_rx_enabled()) {
			rx_trace_next(src, rx);
			rx_act(src);
		} else if (gagg_shard_must_act(src->burst.in.vis.sh, src->burst.in.vis.g)) {
			rx_act(src);
		}
	}
	if (!n)
		return 0;
	src->part->stats.rx_datagrams += n;
	src->part->stats.rx_bytes += (u64)n * len;
	return n;
}

static void rx_trace_join(const struct source *src, const struct gagg_msg *m, enum gagg_drop why)
{
	struct gagg_traced_rx was;

	if (!trace_gagg_rx_enabled())
		return;
	traced_rx(src, m, NULL, &was);
	trace_gagg_rx(&src->grp->geom, &was, why ? GAGG_RX_DROP : GAGG_RX_OK, why);
}

/* @at: the datagram, in one piece */
static void rx_datagram(struct source *src, const u8 *at, u32 len)
{
	u8 raw[BODY_MAX] __aligned(8);
	struct gagg_stats *stats;
	enum gagg_drop why;
	struct gagg_msg m;

	rx_act(src);
	src->burst.len = 0;
	if (len < GAGG_WIRE_HDRLEN) {
		gagg_compat_drop(src->port->sock->sk);
		return;
	}
	memcpy(raw, at, len <= BODY_MAX ? len : HEAD_COPY);
	rx_find_source(src, le32_to_cpu(((struct gagg_hdr *)raw)->group));
	if (!src->grp) {
		gagg_compat_drop(src->port->sock->sk);
		return;
	}
	stats = &src->part->stats;
	stats->rx_datagrams++;
	stats->rx_bytes += len;
	/* all of a HELLO but its padding */
	if (len > BODY_MAX && ((struct gagg_hdr *)raw)->type == GAGG_T_HELLO)
		memcpy(raw + HEAD_COPY, at + HEAD_COPY,
		       GAGG_WIRE_HDRLEN + sizeof(struct gagg_hello) - HEAD_COPY);
	why = gagg_wire_parse(raw, len, &m);
	if (!why && src->burst.in.node == NO_NODE)
		why = GAGG_DROP_SOURCE;
	if (!why && src->multicast && !gagg_wire_is_for_all(&m))
		why = GAGG_DROP_TYPE;
	if (why) {
		rx_count_drop(src, why);
		return;
	}
	if (gagg_wire_joins(&m)) {
		rx_simd_leave(src);
		why = gagg_epoch_rx(src->grp, src->burst.in.node, src->port->index, &m,
				    raw + GAGG_WIRE_HDRLEN);
		rx_trace_join(src, &m, why);
		if (why)
			rx_count_drop(src, why);
		return;
	}
	rx_shard(src, &m, raw, at + GAGG_WIRE_HDRLEN);
}

/* a copy of a datagram that does not lie in one piece; NULL: there is none */
static const u8 *rx_bounce(struct gagg_port *port, const struct sk_buff *skb, u32 off, u32 len)
{
	if (len <= sizeof(port->bounce) && !skb_copy_bits(skb, off, port->bounce, len))
		return port->bounce;
	gagg_compat_drop(port->sock->sk);
	return NULL;
}

u32 gagg_rx_skb(struct gagg_port *port, struct sk_buff *skb, u64 now)
{
	/* other kinds of GSO are fragments of one datagram (UFO of a guest) */
	bool burst = skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4;
	u32 seg = burst ? skb_shinfo(skb)->gso_size : skb->len;
	u32 off = 0, left = 0, n = 0;
	struct skb_seq_state seq;
	const u8 *at = NULL;
	struct source src;

	/* counts for the budget like any other */
	if (!skb->len) {
		gagg_compat_drop(port->sock->sk);
		return 1;
	}
	rx_source_init(&src, port, skb, now);
	skb_prepare_seq_read(skb, 0, skb->len, &seq);
	/* @at: of @left bytes in one piece */
	while (off < skb->len) {
		u32 len = min(seg, skb->len - off), taken = 1;
		const u8 *datagram;

		if (left < len)
			left = skb_seq_read(off, &at, &seq);
		datagram = left < len ? rx_bounce(port, skb, off, len) : at;
		if (datagram) {
			taken = rx_run(&src, datagram, max(left, len), len);
			if (!taken) {
				rx_datagram(&src, datagram, len);
				taken = 1;
			}
		}
		n += taken;
		off += taken * len;
		at += taken * len;
		left = left < len ? 0 : left - taken * len;
	}
	rx_act(&src);
	rx_simd_leave(&src);
	skb_abort_seq_read(&seq);
	return n + src.steps / STEPS_PER_DATAGRAM;
}

void gagg_rx_corrupt(struct gagg_port *port, const struct sk_buff *skb)
{
	const struct gagg_hdr *h;
	struct gagg_hdr raw;
	struct source src;

	rx_source_init(&src, port, skb, 0);
	/* the group's id may be wrong as well: good enough for a counter */
	h = skb_header_pointer(skb, 0, sizeof(raw), &raw);
	if (h)
		rx_find_source(&src, le32_to_cpu(h->group));
	rx_count_drop(&src, GAGG_DROP_CHECKSUM);
}
