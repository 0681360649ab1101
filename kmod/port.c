// SPDX-License-Identifier: GPL-2.0
/*
 * A port at work. Everything happens in its NAPI poll. Under the lock the poll receives, lets every
 * part go on, and collects datagrams to be sent. It sends them without the lock, with bottom halves
 * still off. System calls and timers only schedule the poll. So there is one sender, and bursts
 * leave in the order of their packet numbers: the receiver would take overtaking for loss.
 *
 * Lifetime: the poll runs under rcu_read_lock(). A group is unlinked from the endpoint before
 * synchronize_net(), and all other steps of its end come after that. The port's own socket goes
 * only after napi_disable(). Sockets of multicast leave their list before synchronize_net(), and go
 * after it (multicast.c).
 */
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <net/udp.h>
#include "act.h"
#include "endpoint.h"
#include "faults.h"
#include "group.h"
#include "multicast.h"
#include "port.h"
#include "rx.h"
#include "tx.h"

/* of the NAPI budget: a whole one is a turn */
#define DATAGRAMS_PER_UNIT	(GAGG_RECEIVE_TURN / NAPI_POLL_WEIGHT)
#define BYTES_PER_UNIT		65536	/* about a burst */
#define TIMER_SLACK		(4 * NSEC_PER_USEC)
#define TIMER_MIN		(20 * NSEC_PER_USEC)

/* A timer that is armed for an earlier time stays armed: that costs one idle poll. */
static void port_arm_timer(struct gagg_port *port, u64 at, u64 now)
{
	if (at == GAGG_NEVER)
		return;
	at = max(at, now + TIMER_MIN);
	if (port->timer_at > now && port->timer_at <= at)
		return;
	port->timer_at = at;
	hrtimer_start_range_ns(&port->timer, ns_to_ktime(at), TIMER_SLACK,
			       HRTIMER_MODE_ABS_SOFT);
}

enum hrtimer_restart gagg_port_timer(struct hrtimer *timer)
{
	gagg_port_kick(container_of(timer, struct gagg_port, timer));
	return HRTIMER_NORESTART;
}

static struct sk_buff *port_dequeue_socket(struct sock *sk)
{
	struct sk_buff *skb;
	int err, tries;

	/* a pending socket error is returned first, once */
	for (tries = 0; tries < 2; tries++) {
		skb = skb_recv_udp(sk, MSG_DONTWAIT, &err);
		if (skb || err == -EAGAIN)
			return skb;
	}
	return NULL;
}

/*
 * Multicast first. A TOLD to this host alone may name results that were sent to all before it. If
 * the poll ended between them, these results would be taken for lost.
 */
static struct sk_buff *port_dequeue(struct gagg_port *port)
{
	struct gagg_multicast *mc;
	struct sk_buff *skb;

	list_for_each_entry_rcu(mc, &port->ep->multicasts, list) {
		skb = port_dequeue_socket(mc->sock[port->index]->sk);
		if (skb)
			return skb;
	}
	return port_dequeue_socket(port->sock->sk);
}

/*
 * Checksums are not verified before the queue, and a UDP datagram of IPv4 may have none. All
 * datagrams that gagg sends have one.
 */
static bool port_corrupt(struct sk_buff *skb)
{
	return !udp_hdr(skb)->check || udp_lib_checksum_complete(skb);
}

/* returns the number of datagrams plus the cost of questions, as gagg_rx_skb() does */
static u32 port_receive(struct gagg_port *port, struct sk_buff *skb, u64 now)
{
	struct sock *sk = port->sock->sk;
	u32 n;

	if (unlikely(port_corrupt(skb))) {
		__UDPX_INC_STATS(sk, UDP_MIB_CSUMERRORS);
		__UDPX_INC_STATS(sk, UDP_MIB_INERRORS);
		gagg_rx_corrupt(port, skb);
		skb->dev = NULL;	/* held the queue's notes */
		kfree_skb_reason(skb, SKB_DROP_REASON_UDP_CSUM);
		return 1;
	}
	n = gagg_rx_skb(port, skb, now);
	/* the socket's account was settled when the skb left the queue */
	consume_skb(skb);
	return n;
}

/*
 * takes one skb, if there is any: one that a fault has held back, or the queue's next. Returns its
 * cost in datagrams
 */
static u32 port_take(struct gagg_port *port, u64 *now)
{
	struct sk_buff *skb = gagg_faults_due(port, *now);
	bool late = skb;

	if (!late)
		skb = port_dequeue(port);
	if (!skb)
		return 0;
	*now = ktime_get_ns();
	if (!late && gagg_faults_rx(port, skb, *now))
		return 1;
	return port_receive(port, skb, *now);
}

int gagg_port_poll(struct napi_struct *napi, int budget)
{
	struct gagg_port *port = container_of(napi, struct gagg_port, napi);
	struct gagg_endpoint *ep = port->ep;
	struct sk_buff_head out;
	struct gagg_group *grp;
	u64 now, at = GAGG_NEVER;
	bool more = false;
	u32 datagrams = 0;
	int work = 0, i;

	__skb_queue_head_init(&out);
	rcu_read_lock();
	spin_lock(&port->lock);
	now = ktime_get_ns();
	while (work < budget) {
		u32 n = port_take(port, &now);

		if (!n)
			break;
		datagrams += n;
		work = 1 + datagrams / DATAGRAMS_PER_UNIT +
		       gagg_tx_bytes(port) / BYTES_PER_UNIT;
	}
	/* every group: the poll also stands for timers and system calls */
	for (i = 0; i < ARRAY_SIZE(ep->groups); i++)
		hlist_for_each_entry_rcu(grp, &ep->groups[i], ep_node)
			more |= gagg_act_work(port, grp, now, &at);
	gagg_act_settle(port);
	gagg_tx_take(port, &out);
	gagg_faults_tx(port, &out, now);
	port_arm_timer(port, min(at, gagg_faults_deadline(port)), now);
	spin_unlock(&port->lock);
	work += skb_queue_len(&out);
	gagg_tx_send(port, &out);
	rcu_read_unlock();

	if (more || work >= budget)
		return budget;
	napi_complete_done(napi, work);
	return work;
}
