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

/* the source of an skb's segments, and the group of the last one */
struct gagg_source {
	struct gagg_port *port;
	const struct sk_buff *skb;
	struct gagg_group *grp;
	bool simd;		/* between gagg_simd_begin() and _end() */
	struct gagg_receipts rx;
	struct gagg_trainers trainers;
	struct gagg_traced_rx was;	/* of a verdict that is traced */
};

#include "core/receive.h"

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

static void rx_source_init(struct gagg_source *src, struct gagg_port *port,
			   const struct sk_buff *skb, u64 now)
{
	src->port = port;
	src->skb = skb;
	src->grp = NULL;
	src->simd = false;
	src->rx.burst.in.vis.sh = NULL;
	src->rx.burst.in.vis.g = NULL;
	src->rx.burst.in.vis.now = now;
	src->rx.burst.in.ce = rx_congested(skb);
	src->rx.burst.len = 0;
	src->rx.multicast = rx_by_multicast(skb);
	src->rx.stats = NULL;
	src->rx.site = NULL;
	src->rx.steps = 0;
}

static bool rx_group(struct gagg_source *src, u32 id)
{
	struct gagg_arrival *in = &src->rx.burst.in;
	const struct gagg_port *port = src->port;
	struct gagg_group *grp = gagg_endpoint_group(port->ep, id);

	src->grp = grp;
	if (!grp)
		return false;
	src->rx.stats = &grp->part[port->index].stats;
	in->vis.sh = grp->part[port->index].core;
	in->vis.g = &grp->geom;
	return true;
}

static bool rx_is_from(const struct gagg_source *src, u32 node)
{
	return rx_from_node(&src->grp->node[node], src->skb, src->port->index);
}

/* counted at the socket only (ss -m) */
static void rx_drop_alone(struct gagg_source *src)
{
	gagg_compat_drop(src->port->sock->sk);
}

static struct gagg_site *rx_site(struct gagg_source *src, u16 id)
{
	struct gagg_channel *ch = gagg_channel_find(src->grp, id);

	return ch ? &ch->site : NULL;
}

static void rx_lend(struct gagg_source *src, struct gagg_env *env)
{
	gagg_trainers_env(env, &src->trainers, src->port, src->grp);
}

static bool rx_simd_enter(struct gagg_source *src)
{
	if (!src->simd)
		src->simd = gagg_simd_begin();
	return src->simd;
}

/* called before anything that may take a lock */
static void rx_simd_leave(struct gagg_source *src)
{
	if (src->simd)
		gagg_simd_end();
	src->simd = false;
}

static __always_inline void rx_add(struct gagg_source *src, const struct gagg_sum *sum,
				   const void *lanes)
{
	const struct gagg_todo *todo = &src->rx.burst.in.todo;

	if (gagg_simd_can(todo->laneop, sum->from, todo->shift) && rx_simd_enter(src))
		gagg_simd_add(todo->laneop, sum->to, sum->from, lanes, todo->lanes, todo->shift);
	else
		gagg_reduce_chunk(todo->laneop, sum->to, sum->from, lanes, todo->lanes,
				  todo->shift);
}

static void rx_lacks(struct gagg_source *src)
{
	WARN_ON_ONCE(src);
}

static void rx_drain(struct gagg_source *src)
{
	rx_simd_leave(src);
	gagg_act_drain(src->port, src->grp);
}

static bool rx_traces(void)
{
	return trace_gagg_rx_enabled();
}

static void rx_trace_before(struct gagg_source *src, const struct gagg_msg *m, const void *body)
{
	const struct gagg_arrival *in = &src->rx.burst.in;
	struct gagg_traced_rx *t = &src->was;

	t->m = *m;
	t->body = body;
	t->now = in->vis.now;
	t->shard = src->port->index;
	t->node = in->node;
	t->ours = m->cookie == gagg_shard_cookie(in->vis.sh, in->vis.g, m->type);
	t->ce = in->ce;
}

static void rx_trace(struct gagg_source *src, enum gagg_rx rx)
{
	trace_gagg_rx(&src->grp->geom, &src->was, rx, src->rx.burst.in.todo.drop);
}

static enum gagg_drop rx_join(struct gagg_source *src, const struct gagg_msg *m, const void *body)
{
	enum gagg_drop why;

	rx_simd_leave(src);
	why = gagg_epoch_rx(src->grp, src->rx.burst.in.node, src->port->index, m, body);
	if (rx_traces()) {
		rx_trace_before(src, m, NULL);
		trace_gagg_rx(&src->grp->geom, &src->was, why ? GAGG_RX_DROP : GAGG_RX_OK, why);
	}
	return why;
}

/* the bytes of a datagram that are read more than once; @raw: of BODY_MAX */
static void rx_copy(u8 *raw, const u8 *at, u32 len)
{
	memcpy(raw, at, len <= BODY_MAX ? len : HEAD_COPY);
	/* all of a HELLO but its padding */
	if (len > BODY_MAX && ((struct gagg_hdr *)raw)->type == GAGG_T_HELLO)
		memcpy(raw + HEAD_COPY, at + HEAD_COPY,
		       GAGG_WIRE_HDRLEN + sizeof(struct gagg_hello) - HEAD_COPY);
}

/* @at: the datagram, in one piece */
static void rx_datagram(struct gagg_source *src, const u8 *at, u32 len)
{
	u8 raw[BODY_MAX] __aligned(8);

	if (!gagg_receive_begin(src, len))
		return;
	rx_copy(raw, at, len);
	gagg_receive(src, raw, len, at + GAGG_WIRE_HDRLEN);
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
	struct gagg_source src;

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
			taken = gagg_receive_run(&src, datagram, max(left, len), len);
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
	gagg_receive_act(&src);
	rx_simd_leave(&src);
	skb_abort_seq_read(&seq);
	return gagg_receive_cost(&src.rx, n);
}

void gagg_rx_corrupt(struct gagg_port *port, const struct sk_buff *skb)
{
	const struct gagg_hdr *h;
	struct gagg_source src;
	struct gagg_hdr raw;

	rx_source_init(&src, port, skb, 0);
	/* the group's id may be wrong as well: good enough for a counter */
	h = skb_header_pointer(skb, 0, sizeof(raw), &raw);
	if (h)
		gagg_receive_find(&src, le32_to_cpu(h->group));
	if (src.rx.stats)
		src.rx.stats->drop[GAGG_DROP_CHECKSUM]++;
	else
		rx_drop_alone(&src);
}
