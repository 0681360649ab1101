/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_SOCK_H
#define GAGG_COMPAT_SOCK_H

#include <linux/cgroup.h>
#include <linux/memcontrol.h>
#include <linux/net.h>
#include <net/sock.h>

/* PREEMPT_RT has no busy polling: sockets lack the field */
static inline void gagg_compat_no_busy_poll(struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_ll_usec, 0);
#endif
}

/* the protocol is to be asked for options of SOL_SOCKET, too */
static inline bool gagg_compat_own_options(const struct socket *sock)
{
#ifdef GAGG_HAVE_SOCK_CUSTOM_SOCKOPT
	return test_bit(SOCK_CUSTOM_SOCKOPT, &sock->flags);
#else
	return false;
#endif
}

/*
 * What waits in its queue is charged to @memcg, as the kernel does where a task makes a
 * socket: of the second version, which alone charges a UDP socket. Before anything waits.
 */
static inline void gagg_compat_charge(struct sock *sk, struct mem_cgroup *memcg)
{
#ifdef CONFIG_MEMCG
	if (!mem_cgroup_sockets_enabled || !cgroup_subsys_on_dfl(memory_cgrp_subsys) ||
	    sk->sk_memcg || !memcg || !parent_mem_cgroup(memcg))
		return;
	css_get(&memcg->css);
	sk->sk_memcg = memcg;
#endif
}

/* the address is a sockaddr, or a sockaddr_unsized */
static inline int gagg_compat_bind(struct socket *sock, void *addr, int len)
{
	return kernel_bind(sock, addr, len);
}

/* one more datagram that the socket has dropped: ss -m, /proc/net/udp */
static inline void gagg_compat_drop(struct sock *sk)
{
#ifdef GAGG_HAVE_SK_DROPS_INC
	sk_drops_inc(sk);
#else
	atomic_inc(&sk->sk_drops);
#endif
}

#endif
