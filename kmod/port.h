/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A port at work: what its NAPI context and its timer call.
 */
#ifndef GAGG_PORT_H
#define GAGG_PORT_H

#include <linux/hrtimer.h>
#include <linux/netdevice.h>

int gagg_port_poll(struct napi_struct *napi, int budget);
enum hrtimer_restart gagg_port_timer(struct hrtimer *timer);

#endif
