/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An endpoint: (namespace, local address, base port, shards). It has one socket, one NAPI context
 * and one lock per shard, and one more socket per shard for each multicast address. Groups that
 * name it share it.
 *
 * Lock order, outermost first:
 *	gagg_net.lock (mutex)		configuration of a namespace
 *	rtnl_lock, and what is taken under it: mmap_lock
 *	gagg_session.lock (mutex)	system calls of one file; never held over an
 *					access to user memory: mmap() takes it
 *					under mmap_lock
 *	gagg_group.lock (mutex)		sessions, channels, epoch of a group
 *	gagg_port.lock (spin, bh)	core shards of all groups on the port, by
 *					ascending index where several are held
 *	gagg_group.join_lock (spin, bh)	its join object
 *	gagg_opens.lock (spin, bh)	channels asked for
 *	gagg_session.uring_lock (spin, bh), waiters' locks
 */
#ifndef GAGG_ENDPOINT_H
#define GAGG_ENDPOINT_H

#include <linux/netdevice.h>
#include <linux/hrtimer.h>
#include <linux/refcount.h>
#include <linux/rcupdate.h>
#include <net/sock.h>
#include "core/core.h"

struct gagg_batch;
struct gagg_net;
struct gagg_endpoint;
struct gagg_faults;
struct gagg_group;
struct gagg_quota;
struct gagg_tx;

union gagg_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* one shard of an endpoint */
struct gagg_port {
	spinlock_t lock;		/* the groups' shards, channels and counters here */
	struct gagg_endpoint *ep;
	struct socket *sock;
	void (*saved_data_ready)(struct sock *sk);	/* of all its sockets */
	struct napi_struct napi;
	struct hrtimer timer;		/* soft; schedules the NAPI */
	u64 timer_at;			/* GAGG_NEVER: not armed; under lock */
	struct gagg_tx *tx;		/* gagg_tx_init() to gagg_tx_exit() */
	struct gagg_batch *batch;	/* gagg_act_init() to gagg_act_exit() */
	struct gagg_faults *faults;	/* gagg_faults_open() to _close() */
	u16 index;
	/* a datagram that is not contiguous in its skb; under lock */
	u8 bounce[GAGG_WIRE_HDRLEN + 4 * GAGG_WIRE_LANES_MAX] __aligned(8);
};

struct gagg_endpoint {
	struct list_head list;		/* gagg_net.endpoints, if bound; gagg_net.lock */
	struct gagg_net *gn;
	refcount_t refs;		/* groups; gagg_net.lock */
	struct gagg_quota *quota;	/* of the user namespace; or NULL */
	struct mem_cgroup *memcg;	/* the first group's cgroup: sockets, queues, fragments */
	union gagg_addr addr;		/* with the base port */
	u16 nports;
	struct net_device *dummy;	/* carries the NAPI contexts */
	struct hlist_head groups[16];	/* by id; RCU for readers, gagg_net.lock */
	struct list_head multicasts;	/* as groups; none outlives its groups */
	struct gagg_port port[];
};

/*
 * a new endpoint with one reference, and with sockets that have no ports yet; sleeps; gagg_net.lock
 * held
 */
struct gagg_endpoint *gagg_endpoint_create(struct gagg_net *gn, const union gagg_addr *addr,
					   u16 nports, struct netlink_ext_ack *extack);
/*
 * binds the ports, which no other endpoint has. Allocates nothing: fails only if another socket has
 * one of them, or the address is not this host's. After a failure the caller only puts @ep
 */
int gagg_endpoint_bind(struct gagg_endpoint *ep, struct netlink_ext_ack *extack);
/* find, or create and bind; takes a reference; sleeps; gagg_net.lock held */
struct gagg_endpoint *gagg_endpoint_get(struct gagg_net *gn, const union gagg_addr *addr,
					u16 nports, struct netlink_ext_ack *extack);
/*
 * drops a reference; true: it was the last one, and no new call finds the ports. A grace period
 * later the caller calls gagg_endpoint_still(), which ends timers and polls; another grace period
 * later gagg_endpoint_close(), which releases sockets and memory
 */
bool gagg_endpoint_leave(struct gagg_endpoint *ep);
void gagg_endpoint_still(struct gagg_endpoint *ep);
void gagg_endpoint_close(struct gagg_endpoint *ep);
/* all of these steps at once */
void gagg_endpoint_put(struct gagg_endpoint *ep);

/* the group with that wire id, under rcu_read_lock() or gagg_net.lock */
struct gagg_group *gagg_endpoint_group(struct gagg_endpoint *ep, u32 id);

/* calls @fn for all ports, in a work, until one call fails; sleeps */
int gagg_endpoint_each_port(struct gagg_endpoint *ep,
			    int (*fn)(struct gagg_port *port, void *arg), void *arg);

/* creates a socket as a port needs it, without a port number; for works only: see endpoint.c */
int gagg_port_socket(struct gagg_port *port, struct socket **sock);
/*
 * binds the socket to an address, with the port's number in the range from @base on. From here on
 * arrivals run the port's poll; allocates nothing
 */
int gagg_port_listen(struct gagg_port *port, struct socket *sock,
		     const union gagg_addr *base);
/*
 * undoes gagg_port_listen(), if that was called: no new call finds the port; calls that run end
 * before synchronize_net() does
 */
void gagg_port_deafen(const struct gagg_port *port, struct socket *sock);

/* run the port's poll soon; process context or softirq */
void gagg_port_kick(struct gagg_port *port);

/* compares addresses, not ports */
bool gagg_addr_equal(const union gagg_addr *a, const union gagg_addr *b);
u16 gagg_base_port(const union gagg_addr *a);

/* @why: a literal of the core, as NL_SET_ERR_MSG() requires; NULL: there is nothing to say */
static inline void gagg_extack_say(struct netlink_ext_ack *extack, const char *why)
{
	if (extack && why)
		extack->_msg = why;
}

#endif
