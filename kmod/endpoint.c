// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets of an endpoint.
 *
 * Birth: under gagg_net.lock, from a work item. A socket belongs to the cgroup of the task that
 * makes it, and no user's filters and rules are meant for this one. Its memory is charged to the
 * cgroup of the task that made the first group of the endpoint all the same, as is what a port
 * allocates in polls (tx.c).
 *
 * Arrival: sk_data_ready may run under UDP's busylock and on several CPUs at once, so it only
 * schedules the port's NAPI, which drains the queue bounded by its budget: one NAPI, one lock.
 * Sockets of multicast use the same NAPI (multicast.c).
 *
 * Death, when the last group leaves, under gagg_net.lock or at the end of the namespace; several
 * endpoints share the grace periods:
 *	1. sk_data_ready and user data are put back under sk_callback_lock: no
 *	   new call finds the port
 *	2. synchronize_net(): calls that ran in softirq have returned
 *	3. the timer is cancelled; before that it may schedule the NAPI once more
 *	4. napi_disable() waits for a poll that runs; after it no poll runs, and
 *	   a kick by a system call has no effect
 *	5. synchronize_net(): the NAPI contexts are on lists that are read under RCU
 *	6. control datagrams that still wait are sent; the sockets are released with
 *	   what is queued on them
 * A task that kicks or locks a port holds a reference to a group that is alive (session calls check
 * this under the group's lock). gagg_groups_bury() has excluded such tasks before it leaves the
 * endpoint.
 */
#include <linux/memcontrol.h>
#include <linux/net.h>
#include <linux/sched/mm.h>
#include <linux/udp.h>
#include <net/inet_common.h>
#include <net/ipv6.h>
#include <net/udp.h>
#include "act.h"
#include "compat/hrtimer.h"
#include "compat/netdev.h"
#include "compat/sock.h"
#include "compat/workqueue.h"
#include "core/refusal.h"
#include "endpoint.h"
#include "faults.h"
#include "group.h"
#include "netns.h"
#include "port.h"
#include "quota.h"
#include "tx.h"

#define RCVBUF		(16 << 20)	/* a few hundred GSO bursts */

static void endpoint_port_data_ready(struct sock *sk)
{
	struct gagg_port *port;

	rcu_read_lock();
	port = rcu_dereference_sk_user_data(sk);
	if (likely(port))
		napi_schedule(&port->napi);
	rcu_read_unlock();
}

void gagg_port_kick(struct gagg_port *port)
{
	/* enabling bottom halves again runs the softirq that was raised */
	local_bh_disable();
	napi_schedule(&port->napi);
	local_bh_enable();
}

static int endpoint_set_int(struct socket *sock, int level, int name, int value)
{
	if (level == SOL_SOCKET && !gagg_compat_own_options(sock))
		return sock_setsockopt(sock, level, name, KERNEL_SOCKPTR(&value), sizeof(value));
	return sock->ops->setsockopt(sock, level, name, KERNEL_SOCKPTR(&value), sizeof(value));
}

static int endpoint_port_options(struct socket *sock, sa_family_t family)
{
	int err;

	err = endpoint_set_int(sock, SOL_SOCKET, SO_RCVBUFFORCE, RCVBUF);
	if (!err && family == AF_INET6)
		err = endpoint_set_int(sock, SOL_IPV6, IPV6_V6ONLY, 1);
	/* results by multicast are for other hosts */
	if (!err)
		err = family == AF_INET6 ?
			      endpoint_set_int(sock, SOL_IPV6,
					       IPV6_MULTICAST_LOOP, 0) :
			      endpoint_set_int(sock, SOL_IP, IP_MULTICAST_LOOP,
					       0);
	/* ICMP messages about a path's MTU are ignored (route.c) */
	if (!err)
		err = family == AF_INET6 ?
		      endpoint_set_int(sock, SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_INTERFACE) :
		      endpoint_set_int(sock, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_INTERFACE);
	if (!err)
		err = endpoint_set_int(sock, SOL_UDP, UDP_GRO, 1);
	return err;
}

static void endpoint_port_set(union gagg_addr *addr, u32 add)
{
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons(ntohs(addr->in6.sin6_port) + add);
	else
		addr->in.sin_port = htons(ntohs(addr->in.sin_port) + add);
}

int gagg_port_socket(struct gagg_port *port, struct socket **out)
{
	sa_family_t family = port->ep->addr.sa.sa_family;
	struct socket *sock;
	int err;

	err = sock_create_kern(port->ep->gn->net, family, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return err;
	/* our receive never sleeps; if it polled the device, it would enter itself */
	gagg_compat_no_busy_poll(sock->sk);
	gagg_compat_charge(sock->sk, port->ep->memcg);
	sock->sk->sk_allocation = GFP_ATOMIC;
	/* the same function for every socket of a protocol */
	port->saved_data_ready = sock->sk->sk_data_ready;
	err = endpoint_port_options(sock, family);
	if (err)
		sock_release(sock);
	else
		*out = sock;
	return err;
}

/* creates the port's socket, which has no port number yet */
static int endpoint_port_create(struct gagg_port *port, void *unused)
{
	int err;

	err = gagg_tx_init(port);
	if (err)
		return err;
	err = gagg_act_init(port);
	if (err)
		goto out_tx;
	err = gagg_faults_open(port);
	if (err)
		goto out_act;
	err = gagg_port_socket(port, &port->sock);
	if (!err)
		return 0;
	gagg_faults_close(port);
out_act:
	gagg_act_exit(port);
out_tx:
	gagg_tx_exit(port);
	return err;
}

/* allocates nothing: UDP has one table of ports, which exists already */
int gagg_port_listen(struct gagg_port *port, struct socket *sock,
		     const union gagg_addr *base)
{
	union gagg_addr addr = *base;
	struct sock *sk = sock->sk;
	int err;

	endpoint_port_set(&addr, port->index);
	err = gagg_compat_bind(sock, &addr,
			       sk->sk_family == AF_INET6 ? sizeof(addr.in6) : sizeof(addr.in));
	if (err)
		return err;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready = endpoint_port_data_ready;
	rcu_assign_sk_user_data(sk, port);
	write_unlock_bh(&sk->sk_callback_lock);
	return 0;
}

void gagg_port_deafen(const struct gagg_port *port, struct socket *sock)
{
	struct sock *sk = sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_data_ready = port->saved_data_ready;
	rcu_assign_sk_user_data(sk, NULL);
	write_unlock_bh(&sk->sk_callback_lock);
}

static int endpoint_port_bind(struct gagg_port *port, void *unused)
{
	return gagg_port_listen(port, port->sock, &port->ep->addr);
}

static void endpoint_port_close(struct gagg_port *port)
{
	if (!port->sock)
		return;
	gagg_tx_exit(port);
	gagg_act_exit(port);
	gagg_faults_close(port);
	sock_release(port->sock);
}

bool gagg_endpoint_leave(struct gagg_endpoint *ep)
{
	u32 i;

	gagg_net_assert_held(ep->gn);
	if (!refcount_dec_and_test(&ep->refs))
		return false;
	list_del(&ep->list);
	/* after a failure some ports may be missing */
	for (i = 0; i < ep->nports; i++)
		if (ep->port[i].sock)
			gagg_port_deafen(&ep->port[i], ep->port[i].sock);
	return true;
}

void gagg_endpoint_still(struct gagg_endpoint *ep)
{
	u32 i;

	for (i = 0; i < ep->nports; i++) {
		hrtimer_cancel(&ep->port[i].timer);
		napi_disable(&ep->port[i].napi);
		hrtimer_cancel(&ep->port[i].timer);
		__netif_napi_del(&ep->port[i].napi);
	}
}

void gagg_endpoint_close(struct gagg_endpoint *ep)
{
	u32 i;

	for (i = 0; i < ep->nports; i++)
		endpoint_port_close(&ep->port[i]);
	gagg_compat_netdev_free(ep->dummy);
	gagg_quota_give(ep->quota, GAGG_Q_PORTS, ep->nports);
	gagg_quota_put(ep->quota);
	mem_cgroup_put(ep->memcg);
	kvfree(ep);
}

void gagg_endpoint_put(struct gagg_endpoint *ep)
{
	if (!gagg_endpoint_leave(ep))
		return;
	synchronize_net();
	gagg_endpoint_still(ep);
	synchronize_net();
	gagg_endpoint_close(ep);
}

struct ports_work {
	struct work_struct work;
	struct gagg_endpoint *ep;
	int (*fn)(struct gagg_port *port, void *arg);
	void *arg;
	int err;
};

static void endpoint_ports_work_fn(struct work_struct *work)
{
	struct ports_work *w = container_of(work, struct ports_work, work);
	struct mem_cgroup *old = set_active_memcg(w->ep->memcg);
	u32 i;

	gagg_faults_work_begin();
	for (i = 0; i < w->ep->nports && !w->err; i++)
		w->err = w->fn(&w->ep->port[i], w->arg);
	gagg_faults_work_end();
	set_active_memcg(old);
}

int gagg_endpoint_each_port(struct gagg_endpoint *ep,
			    int (*fn)(struct gagg_port *port, void *arg), void *arg)
{
	struct ports_work w = { .ep = ep, .fn = fn, .arg = arg };

	INIT_WORK_ONSTACK(&w.work, endpoint_ports_work_fn);
	queue_work(gagg_compat_unbound_wq(), &w.work);
	flush_work(&w.work);
	destroy_work_on_stack(&w.work);
	return w.err;
}

bool gagg_addr_equal(const union gagg_addr *a, const union gagg_addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET6)
		return ipv6_addr_equal(&a->in6.sin6_addr, &b->in6.sin6_addr);
	return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
}

u16 gagg_base_port(const union gagg_addr *a)
{
	return ntohs(a->sa.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

static struct gagg_endpoint *endpoint_new(struct gagg_net *gn, const union gagg_addr *addr,
					  u16 nports)
{
	struct gagg_endpoint *ep;
	u32 i;

	ep = kvzalloc(struct_size(ep, port, nports), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!ep)
		return NULL;
	ep->dummy = gagg_compat_netdev_alloc();
	if (!ep->dummy) {
		kvfree(ep);
		return NULL;
	}
	INIT_LIST_HEAD(&ep->list);
	ep->gn = gn;
	ep->memcg = get_mem_cgroup_from_mm(current->mm);
	ep->addr = *addr;
	ep->nports = nports;
	refcount_set(&ep->refs, 1);
	INIT_LIST_HEAD(&ep->multicasts);
	for (i = 0; i < ARRAY_SIZE(ep->groups); i++)
		INIT_HLIST_HEAD(&ep->groups[i]);
	for (i = 0; i < nports; i++) {
		struct gagg_port *port = &ep->port[i];

		spin_lock_init(&port->lock);
		port->ep = ep;
		port->index = i;
		port->timer_at = GAGG_NEVER;
		hrtimer_setup(&port->timer, gagg_port_timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_SOFT);
		/* before the NAPI is added: then it gets no id */
		set_bit(NAPI_STATE_NO_BUSY_POLL, &port->napi.state);
		netif_napi_add_weight(ep->dummy, &port->napi, gagg_port_poll,
				      NAPI_POLL_WEIGHT);
		napi_enable(&port->napi);
	}
	return ep;
}

struct gagg_endpoint *gagg_endpoint_create(struct gagg_net *gn, const union gagg_addr *addr,
					   u16 nports, struct netlink_ext_ack *extack)
{
	struct gagg_quota *quota = gagg_quota_of(gn->net->user_ns);
	struct gagg_endpoint *ep;
	int err;

	lockdep_assert_held(&gn->lock);
	if (IS_ERR(quota))
		return ERR_CAST(quota);
	err = gagg_quota_take(quota, GAGG_Q_PORTS, nports, extack);
	if (err) {
		gagg_quota_put(quota);
		return ERR_PTR(err);
	}
	ep = endpoint_new(gn, addr, nports);
	if (!ep) {
		gagg_quota_give(quota, GAGG_Q_PORTS, nports);
		gagg_quota_put(quota);
		return ERR_PTR(-ENOMEM);
	}
	ep->quota = quota;
	err = gagg_endpoint_each_port(ep, endpoint_port_create, NULL);
	if (!err)
		return ep;
	gagg_endpoint_put(ep);
	return ERR_PTR(err);
}

int gagg_endpoint_bind(struct gagg_endpoint *ep, struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&ep->gn->lock);
	err = gagg_endpoint_each_port(ep, endpoint_port_bind, NULL);
	if (err)
		gagg_extack_say(extack, gagg_refused_socket(-err, false));
	else
		list_add(&ep->list, &ep->gn->endpoints);
	return err;
}

static bool endpoint_is_at(const struct gagg_endpoint *ep, const union gagg_addr *addr, u16 nports)
{
	return gagg_addr_equal(&ep->addr, addr) && ep->nports == nports &&
	       gagg_base_port(&ep->addr) == gagg_base_port(addr);
}

struct gagg_endpoint *gagg_endpoint_get(struct gagg_net *gn, const union gagg_addr *addr,
					u16 nports, struct netlink_ext_ack *extack)
{
	struct gagg_endpoint *ep;
	int err;

	lockdep_assert_held(&gn->lock);
	list_for_each_entry(ep, &gn->endpoints, list) {
		if (endpoint_is_at(ep, addr, nports)) {
			refcount_inc(&ep->refs);
			return ep;
		}
	}
	ep = gagg_endpoint_create(gn, addr, nports, extack);
	if (IS_ERR(ep))
		return ep;
	err = gagg_endpoint_bind(ep, extack);
	if (!err)
		return ep;
	gagg_endpoint_put(ep);
	return ERR_PTR(err);
}

struct gagg_group *gagg_endpoint_group(struct gagg_endpoint *ep, u32 id)
{
	struct gagg_group *grp;

	hlist_for_each_entry_rcu(grp, &ep->groups[id % ARRAY_SIZE(ep->groups)], ep_node,
				 lockdep_is_held(&ep->gn->lock))
		if (grp->cfg.id == id)
			return grp;
	return NULL;
}
