/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_SOCK_H
#define GAGG_COMPAT_SOCK_H

#include <net/sock.h>

/* PREEMPT_RT has no busy polling: sockets lack the field */
static inline void gagg_compat_no_busy_poll(struct sock *sk)
{
#ifdef CONFIG_NET_RX_BUSY_POLL
	WRITE_ONCE(sk->sk_ll_usec, 0);
#endif
}

#endif
