// SPDX-License-Identifier: GPL-2.0
/*
 * Datagrams of the core become bursts, and leave.
 *
 * A burst (core/send.h) is a list of pieces of pages with datagrams of one size in a row. Header
 * and lanes are copied once, and every node's skb refers to the same pages. Each node has an skb of
 * its own, since one with several users must not be transmitted. Pages are not written again until
 * nothing refers to them (skb_page_frag_refill()), so queued bytes stay as they are whatever a
 * trainer does to its memory.
 *
 * Nothing is charged to the socket: a charge would require somebody to wait for room, and a poll
 * cannot wait. The core bounds what is in flight:
 * 1. contributions by the congestion window of each path (at most 448 datagrams)
 * 2. results by the windows of the nodes that contributed
 * 3. repairs by the same windows and by time (core/ring/repair.c)
 *
 * A datagram that a queue drops is a loss like any other.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/sock.h>
#include "faults.h"
#include "group.h"
#include "route.h"
#include "trace.h"
#include "tx.h"

/*
 * Page fragments, used in turn: 1 MiB for what is in flight. A page comes back here when its
 * receiver has read it, or is freed; a page that is allocated instead must be cleared first. The
 * fragments belong to the port, and are charged as the port is.
 */
#define FRAGS		32
#define CONTROL_MAX	1024	/* control datagrams that wait for a poll */

struct piece {
	struct page *page;
	u32 off;
	u32 len;
};

struct gagg_slot {
	struct gagg_load load;
	u32 npieces;
	struct piece piece[MAX_SKB_FRAGS];	/* each has a page reference */
};

struct gagg_host {
	struct gagg_port *port;
};

#include "core/send.h"

struct gagg_tx {
	struct sk_buff_head queue;	/* under port lock */
	u64 bytes;			/* bytes in queue */
	struct sk_buff_head control;	/* own lock */
	struct page_frag frag[FRAGS];	/* a fragment is used again when its skbs are gone */
	u32 turn;			/* index of the fragment in use */
	struct gagg_group *grp;		/* gagg_tx_open() to gagg_tx_close() */
	struct gagg_send send;
	struct gagg_slot slot[GAGG_SEND_BURSTS];
};

int gagg_tx_init(struct gagg_port *port)
{
	struct gagg_tx *tx = kvzalloc(sizeof(*tx), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);

	if (!tx)
		return -ENOMEM;
	__skb_queue_head_init(&tx->queue);
	skb_queue_head_init(&tx->control);
	port->tx = tx;
	return 0;
}

void gagg_tx_exit(struct gagg_port *port)
{
	struct gagg_tx *tx = port->tx;
	u32 i;

	if (!tx)
		return;
	/* the last messages leave: ABORT of a group that is deleted */
	local_bh_disable();
	gagg_tx_send(port, &tx->control);
	local_bh_enable();
	for (i = 0; i < FRAGS; i++)
		if (tx->frag[i].page)
			put_page(tx->frag[i].page);
	kvfree(tx);
	port->tx = NULL;
}

static struct gagg_part *tx_part(const struct gagg_port *port, struct gagg_group *grp)
{
	return &grp->part[port->index];
}

/* an skb with room for @len linear bytes and all headers; takes over @dst */
static struct sk_buff *tx_skb(const struct dst_entry *dst, u32 len)
{
	u32 headroom = gagg_route_headroom(dst);
	struct sk_buff *skb = alloc_skb(headroom + len, GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb_reserve(skb, headroom);
	return skb;
}

static struct sk_buff *tx_burst_skb(struct gagg_port *port, struct gagg_node *to,
				    const struct gagg_slot *b)
{
	struct dst_entry *dst = gagg_route_get(port, to);
	struct sk_buff *skb;
	u32 i;

	if (IS_ERR(dst))
		return NULL;
	skb = tx_skb(dst, 0);
	if (!skb) {
		dst_release(dst);
		return NULL;
	}
	for (i = 0; i < b->npieces; i++) {
		const struct piece *p = &b->piece[i];

		get_page(p->page);
		skb_fill_page_desc(skb, i, p->page, p->off, p->len);
	}
	skb->len += b->load.bytes;
	skb->data_len += b->load.bytes;
	skb->truesize += b->load.bytes;
	if (b->load.segs > 1) {
		skb_shinfo(skb)->gso_size = b->load.seg;
		skb_shinfo(skb)->gso_segs = b->load.segs;
		skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	}
	gagg_route_push(port, to, skb, dst, b->load.reacts);
	return skb;
}

static void tx_queue(struct gagg_port *port, struct gagg_part *part, struct sk_buff *skb,
		     u32 datagrams, u32 bytes)
{
	if (!skb) {
		gagg_stats_failed(&part->stats, datagrams, false);
		return;
	}
	gagg_stats_sent(&part->stats, datagrams, bytes);
	port->tx->bytes += bytes;
	/* the part that takes back what has not left; see gagg_tx_send() */
	skb->dev_scratch = (unsigned long)part;
	__skb_queue_tail(&port->tx->queue, skb);
}

static struct gagg_send *tx_batch(const struct gagg_host *h)
{
	return &h->port->tx->send;
}

static const struct gagg_geom *tx_geom(const struct gagg_host *h)
{
	return &h->port->tx->grp->geom;
}

static struct gagg_stats *tx_stats(const struct gagg_host *h)
{
	return &tx_part(h->port, h->port->tx->grp)->stats;
}

static u64 tx_all(const struct gagg_host *h)
{
	return h->port->tx->grp->all_nodes;
}

static u32 tx_segs(const struct gagg_host *h)
{
	return gagg_faults_segs(GAGG_LOAD_SEGS);
}

static u32 tx_bytes(const struct gagg_host *h)
{
	return GAGG_LOAD_BYTES;
}

static struct gagg_slot *tx_slot(const struct gagg_host *h, u32 number)
{
	return &h->port->tx->slot[number];
}

static struct gagg_load *tx_load(struct gagg_slot *slot)
{
	return &slot->load;
}

/* each node's skb is allocated alone */
static void tx_begin(const struct gagg_host *h, u32 n)
{
}

static void tx_burst_send(struct gagg_port *port, const struct gagg_slot *b, struct gagg_node *to)
{
	tx_queue(port, tx_part(port, port->tx->grp), tx_burst_skb(port, to, b), b->load.segs,
		 b->load.bytes);
}

static void tx_to(const struct gagg_host *h, const struct gagg_slot *slot, u32 node)
{
	tx_burst_send(h->port, slot, &h->port->tx->grp->node[node]);
}

static void tx_to_all(const struct gagg_host *h, const struct gagg_slot *slot)
{
	tx_burst_send(h->port, slot, &h->port->tx->grp->all);
}

static void tx_clear(const struct gagg_host *h, struct gagg_slot *b)
{
	u32 i;

	for (i = 0; i < b->npieces; i++)
		put_page(b->piece[i].page);
	b->load = (struct gagg_load){ };
	b->npieces = 0;
}

/*
 * Refilling would keep this page for ever. It is too small for @len, since there was no larger one;
 * or it is from the emergency reserve, and hosts with this kernel drop what such pages hold.
 */
static bool tx_frag_unfit(const struct page_frag *frag, u32 len)
{
	return frag->page && page_ref_count(frag->page) == 1 &&
	       (frag->size < len || page_is_pfmemalloc(frag->page));
}

/* refills from the current page, or from a new one, which is charged to the endpoint's cgroup */
static bool tx_frag_refill(const struct gagg_port *port, struct page_frag *frag, u32 len)
{
	struct mem_cgroup *old = set_active_memcg(port->ep->memcg);
	bool done = skb_page_frag_refill(len, frag,
					 GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);

	set_active_memcg(old);
	return done;
}

/* a fragment with room for @len bytes; NULL: no memory */
static struct page_frag *tx_frag_for(const struct gagg_port *port, u32 len)
{
	struct gagg_tx *tx = port->tx;
	struct page_frag *frag = &tx->frag[tx->turn];

	/* most often: others use the page, so that it is not begun anew, and there is room */
	if (likely(frag->page && frag->offset + len <= frag->size &&
		   page_ref_count(frag->page) > 1))
		return frag;
	/* on most systems a page that is allocated is cleared as well */
	if (frag->page && frag->offset + len > frag->size) {
		tx->turn = (tx->turn + 1) % FRAGS;
		frag = &tx->frag[tx->turn];
	}
	if (tx_frag_unfit(frag, len)) {
		put_page(frag->page);
		frag->page = NULL;
	}
	/* when memory is fragmented this returns a single page, however many bytes are needed */
	if (!tx_frag_refill(port, frag, len) || frag->offset + len > frag->size)
		return NULL;
	return frag;
}

/* contiguous bytes behind those of the burst */
static u8 *tx_room(const struct gagg_host *h, struct gagg_slot *b, u32 len, u32 *n)
{
	struct page_frag *frag = tx_frag_for(h->port, len);
	struct piece *p;
	u8 *at;

	if (!frag)
		return NULL;
	p = b->npieces ? &b->piece[b->npieces - 1] : NULL;
	if (!p || p->page != frag->page || p->off + p->len != frag->offset) {
		if (b->npieces == MAX_SKB_FRAGS)
			gagg_send_close(h, b);
		p = &b->piece[b->npieces++];
		p->page = frag->page;
		p->off = frag->offset;
		p->len = 0;
		get_page(p->page);
	}
	at = page_address(frag->page) + frag->offset;
	*n = min(*n, (frag->size - frag->offset) / len);
	frag->offset += *n * len;
	p->len += *n * len;
	return at;
}

static u8 *tx_lanes(struct gagg_slot *slot, u8 *at, void *lanes, u32 bytes)
{
	at += GAGG_WIRE_HDRLEN;
	if (bytes)
		memcpy(at, lanes, bytes);
	return at + bytes;
}

/* a trace has each chunk */
static void tx_trace(const struct gagg_host *h, const struct gagg_act *a)
{
	if (trace_gagg_act_enabled())
		trace_gagg_act(tx_geom(h), h->port->index, a);
}

/* @len: bytes of @body; zeros follow up to m->len */
static struct sk_buff *tx_ctrl_skb(const struct gagg_port *port, struct gagg_node *to,
				   const struct gagg_msg *m, const void *body, u32 len)
{
	struct dst_entry *dst = gagg_route_get(port, to);
	struct sk_buff *skb;

	if (IS_ERR(dst))
		return NULL;
	skb = tx_skb(dst, GAGG_WIRE_HDRLEN + m->len);
	if (!skb) {
		dst_release(dst);
		return NULL;
	}
	gagg_wire_build(skb_put(skb, GAGG_WIRE_HDRLEN), m);
	if (len)
		skb_put_data(skb, body, len);
	skb_put_zero(skb, m->len - len);
	gagg_route_push(port, to, skb, dst, gagg_wire_reacts(m));
	return skb;
}

static void tx_alone(const struct gagg_host *h, const struct gagg_act *a)
{
	struct gagg_group *grp = h->port->tx->grp;

	tx_queue(h->port, tx_part(h->port, grp),
		 tx_ctrl_skb(h->port, &grp->node[a->node], &a->m, &a->ack, a->m.len), 1,
		 GAGG_WIRE_HDRLEN + a->m.len);
}

void gagg_tx_contrib(struct gagg_port *port, struct gagg_act *a, void *const *mem)
{
	gagg_send_contrib(&(const struct gagg_host){ port }, a, mem);
}

void gagg_tx_result(struct gagg_port *port, struct gagg_act *a, void *const *mem)
{
	gagg_send_result(&(const struct gagg_host){ port }, a, mem);
}

void gagg_tx_ctrl(struct gagg_port *port, const struct gagg_act *a)
{
	gagg_send_ctrl(&(const struct gagg_host){ port }, a);
}

void gagg_tx_open(struct gagg_port *port, struct gagg_group *grp)
{
	port->tx->grp = grp;
}

void gagg_tx_close(struct gagg_port *port)
{
	gagg_send_flush(&(const struct gagg_host){ port });
	port->tx->grp = NULL;
}

u64 gagg_tx_bytes(const struct gagg_port *port)
{
	return port->tx->bytes;
}

void gagg_tx_take(struct gagg_port *port, struct sk_buff_head *out)
{
	lockdep_assert_held(&port->lock);
	skb_queue_splice_tail_init(&port->tx->queue, out);
	port->tx->bytes = 0;
	if (!skb_queue_empty_lockless(&port->tx->control)) {
		spin_lock(&port->tx->control.lock);
		skb_queue_splice_tail_init(&port->tx->control, out);
		spin_unlock(&port->tx->control.lock);
	}
}

/*
 * No lock, but bottom halves off. rcu_read_lock() is held since gagg_tx_take(): it keeps alive the
 * group whose part the skb names.
 */
void gagg_tx_send(struct gagg_port *port, struct sk_buff_head *out)
{
	struct sk_buff *skb;
	int err;

	while ((skb = __skb_dequeue(out))) {
		struct gagg_part *part = (struct gagg_part *)skb->dev_scratch;
		u32 datagrams = skb_is_gso(skb) ? skb_shinfo(skb)->gso_segs : 1;
		u32 bytes = gagg_route_bytes(skb);

		skb->dev = NULL;
		err = gagg_route_xmit(port, skb);
		if (likely(!err) || !part)
			continue;
		spin_lock(&port->lock);
		gagg_stats_unsent(&part->stats, datagrams, bytes, err == -EMSGSIZE);
		spin_unlock(&port->lock);
	}
}

enum gagg_fate gagg_tx_control(struct gagg_group *grp, u32 shard, u32 node,
			       const struct gagg_word *w)
{
	struct gagg_port *port = &grp->ep->port[shard];
	enum gagg_fate fate = GAGG_FATE_NO_ROOM;
	struct gagg_tx *tx = port->tx;
	struct sk_buff *skb;

	local_bh_disable();
	skb = skb_queue_len_lockless(&tx->control) < CONTROL_MAX ?
	      tx_ctrl_skb(port, &grp->node[node], &w->m, &w->body, w->len) : NULL;
	/* no group is known when it is sent: it counts as sent if the stack refuses it then */
	if (skb)
		fate = gagg_route_fits(skb) ? GAGG_FATE_LEFT : GAGG_FATE_UNFIT;
	local_bh_enable();
	if (fate == GAGG_FATE_UNFIT)
		kfree_skb_reason(skb, SKB_DROP_REASON_PKT_TOO_BIG);
	if (fate != GAGG_FATE_LEFT)
		return fate;
	/* the group may be gone when the skb is sent */
	skb->dev_scratch = 0;
	skb_queue_tail(&tx->control, skb);
	gagg_port_kick(port);
	return fate;
}
