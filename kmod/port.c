// SPDX-License-Identifier: GPL-2.0
/*
 * A port at work. Everything happens in its NAPI poll: under the lock receive,
 * let every part go on, collect what is to be sent; without it, with bottom
 * halves still off, send. System calls and timers only schedule the poll. So
 * there is one sender, and bursts leave in the order of their packet numbers:
 * overtaking would be taken for loss.
 *
 * Who owns what: the poll runs under rcu_read_lock(), and a group is unlinked
 * from the endpoint before synchronize_net() and everything else that ends it.
 * The port's own socket goes only after napi_disable(); those of multicast are off the
 * list before synchronize_net(), and then go (multicast.c).
 */
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <net/udp.h>
#include "act.h"
#include "channel.h"
#include "endpoint.h"
#include "faults.h"
#include "group.h"
#include "multicast.h"
#include "port.h"
#include "rx.h"
#include "trace.h"
#include "trainer.h"
#include "tx.h"

#define DATAGRAMS_PER_UNIT	8	/* of the NAPI budget */
#define BYTES_PER_UNIT		65536	/* about a burst */
#define REFILLS_MAX		4	/* of one part and run: GAGG_ACTS actions each, at most */
#define TIMER_SLACK		(4 * NSEC_PER_USEC)
#define TIMER_MIN		(20 * NSEC_PER_USEC)

static bool refill_chan(struct gagg_port *port, struct gagg_group *grp,
			const struct gagg_env *env, struct gagg_chan *chan, u64 now)
{
	bool more = gagg_chan_refill(grp->part[port->index].core, &grp->geom, env, chan, now);

	trace_gagg_call(&grp->geom, port->index, GAGG_TRACED_REFILL, chan->id, now, more);
	return more;
}

/* channels take turns in being first, so that a long one does not starve others */
static bool refill(struct gagg_port *port, struct gagg_group *grp,
		   const struct gagg_env *env, u64 now)
{
	struct gagg_part *part = &grp->part[port->index];
	u32 first = part->turn % GAGG_CHANNELS_MAX, n = 0;
	u64 left = ror64(grp->table.taken, first);
	bool served = false;

	BUILD_BUG_ON(GAGG_CHANNELS_MAX != 64);
	for (; left; left &= left - 1) {
		u32 at = (first + gagg_lowest(left)) % GAGG_CHANNELS_MAX;
		struct gagg_chan *chan = grp->channel[at]->part[port->index];

		if (!served)
			part->turn = at + 1;
		served = true;
		if (gagg_chan_deadline(chan) <= now) {
			gagg_chan_timer(part->core, &grp->geom, chan, now);
			trace_gagg_call(&grp->geom, port->index, GAGG_TRACED_CHAN_TIMER, chan->id,
					now, false);
			gagg_act_drain(port, grp);
		}
		while (refill_chan(port, grp, env, chan, now)) {
			gagg_act_drain(port, grp);
			if (++n == REFILLS_MAX) {
				part->turn = at + 1;
				return true;
			}
		}
		gagg_act_drain(port, grp);
	}
	return false;
}

/* true: there is more to do at once */
static bool run_part(struct gagg_port *port, struct gagg_group *grp, u64 now)
{
	struct gagg_shard *core = grp->part[port->index].core;
	struct gagg_trainers trainers;
	struct gagg_env env;
	bool more;

	if (!core->running)
		return false;
	gagg_trainers_env(&env, &trainers, port, grp);
	if (gagg_shard_deadline(core, &grp->geom) <= now) {
		gagg_shard_timer(core, &grp->geom, &env, now);
		trace_gagg_call(&grp->geom, port->index, GAGG_TRACED_TIMER, 0, now, false);
		gagg_act_drain(port, grp);
	}
	more = refill(port, grp, &env, now);
	gagg_shard_flush(core, &grp->geom);
	trace_gagg_call(&grp->geom, port->index, GAGG_TRACED_FLUSH, 0, now, false);
	gagg_act_drain(port, grp);
	return more;
}

static u64 part_deadline(const struct gagg_port *port, const struct gagg_group *grp)
{
	const struct gagg_shard *core = grp->part[port->index].core;
	u64 at = GAGG_NEVER, left;

	if (!core->running)
		return at;
	at = gagg_shard_deadline(core, &grp->geom);
	for (left = grp->table.taken; left; left &= left - 1) {
		const struct gagg_channel *ch = grp->channel[gagg_lowest(left)];

		at = min(at, gagg_chan_deadline(ch->part[port->index]));
	}
	return at;
}

/* A timer that is armed for an earlier time stays: it costs one idle poll. */
static void arm_timer(struct gagg_port *port, u64 at, u64 now)
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

static struct sk_buff *dequeue(struct sock *sk)
{
	struct sk_buff *skb;
	int err, tries;

	/* a pending socket error comes first, once */
	for (tries = 0; tries < 2; tries++) {
		skb = skb_recv_udp(sk, MSG_DONTWAIT, &err);
		if (skb || err == -EAGAIN)
			return skb;
	}
	return NULL;
}

/* Multicast first: what is said to this host alone may speak of results that were
 * sent to all before it (TOLD), and these would be taken for lost if the poll ended
 * between them.
 */
static struct sk_buff *port_dequeue(struct gagg_port *port)
{
	struct gagg_multicast *mc;
	struct sk_buff *skb;

	list_for_each_entry_rcu(mc, &port->ep->multicasts, list) {
		skb = dequeue(mc->sock[port->index]->sk);
		if (skb)
			return skb;
	}
	return dequeue(port->sock->sk);
}

/* What comes is not verified before the queue; and of IPv4 it may have nothing to verify.
 * All that gagg sends has.
 */
static bool corrupt(struct sk_buff *skb)
{
	return !udp_hdr(skb)->check || udp_lib_checksum_complete(skb);
}

/* returns the number of datagrams, and what questions have cost, as gagg_rx_skb() does */
static u32 port_receive(struct gagg_port *port, struct sk_buff *skb, u64 now)
{
	struct sock *sk = port->sock->sk;
	u32 n;

	if (unlikely(corrupt(skb))) {
		__UDPX_INC_STATS(sk, UDP_MIB_CSUMERRORS);
		__UDPX_INC_STATS(sk, UDP_MIB_INERRORS);
		gagg_rx_corrupt(port, skb);
		skb->dev = NULL;	/* held the queue's notes */
		kfree_skb_reason(skb, SKB_DROP_REASON_UDP_CSUM);
		return 1;
	}
	n = gagg_rx_skb(port, skb, now);
	/* it was taken off the socket's account when it left the queue */
	consume_skb(skb);
	return n;
}

/* one skb, if there is any: what a fault has held back, or the queue's next;
 * returns what it has cost, in datagrams
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
		hlist_for_each_entry_rcu(grp, &ep->groups[i], ep_node) {
			more |= run_part(port, grp, now);
			at = min(at, part_deadline(port, grp));
		}
	gagg_act_settle(port);
	gagg_tx_take(port, &out);
	gagg_faults_tx(port, &out, now);
	arm_timer(port, min(at, gagg_faults_deadline(port)), now);
	spin_unlock(&port->lock);
	work += skb_queue_len(&out);
	gagg_tx_send(port, &out);
	rcu_read_unlock();

	if (more || work >= budget)
		return budget;
	napi_complete_done(napi, work);
	return work;
}
