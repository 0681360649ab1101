/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What trainers ask: which arguments are good, whatever the session, and what a host can do.
 *
 * The length of an argument is the host's affair: the module knows those of several versions, a
 * twin one. GAGG_IOC_OPEN is a call of the module alone.
 */
#ifndef GAGG_CORE_ASK_H
#define GAGG_CORE_ASK_H

#include "ledger.h"
#include "wire.h"
#include "group/times.h"

/**
 * union gagg_ask - the argument of a call, an ioctl or its message to a twin
 * @size:	of the argument; each begins with it
 * @features:	of GAGG_IOC_FEATURES; the others follow in the order of their numbers
 * @open:	binds a session to a rank
 * @attach:	the rank attaches
 * @detach:	it leaves
 * @channel:	it asks for a channel
 * @channel_free: it gives one back
 * @submit:	it starts an op
 * @wait:	it waits
 * @status:	it asks about the epoch
 * @times:	it asks about its times
 */
union gagg_ask {
	u32 size;
	struct gagg_ioc_features features;
	struct gagg_ioc_open open;
	struct gagg_ioc_attach attach;
	struct gagg_ioc_detach detach;
	struct gagg_ioc_channel channel;
	struct gagg_ioc_channel_free channel_free;
	struct gagg_ioc_submit submit;
	struct gagg_ioc_wait wait;
	struct gagg_ioc_status status;
	struct gagg_ioc_times times;
};

/* Are reserved fields and unknown flags zero? @number: GAGG_IOC_*, with the size of today */
static inline bool gagg_ask_is_good(u32 number, const union gagg_ask *arg)
{
	switch (number) {
	case GAGG_IOC_FEATURES:
		return !arg->features.reserved[0] && !arg->features.reserved[1];
	case GAGG_IOC_ATTACH:
		return !arg->attach.flags && !arg->attach.reserved;
	case GAGG_IOC_DETACH:
		return !arg->detach.flags;
	case GAGG_IOC_CHANNEL:
		return !arg->channel.flags && !arg->channel.reserved;
	case GAGG_IOC_STATUS:
		return !arg->status.blocked;
	case GAGG_IOC_TIMES:
		return gagg_times_valid(&arg->times);
	}
	return true;
}

/*
 * gagg_ask_check - is an argument good, as far as that does not depend on the session?
 *
 * Returns NOT or BAD. gagg_ledger_check() judges ops, and gagg_ledger_asks() channels.
 */
static inline enum gagg_refusal gagg_ask_check(u32 number, const union gagg_ask *arg)
{
	return gagg_ask_is_good(number, arg) ? GAGG_REFUSE_NOT : GAGG_REFUSE_BAD;
}

/* GAGG_IOC_FEATURES; @more: GAGG_FEAT_* that only this host has */
static inline void gagg_ask_tell_features(struct gagg_ioc_features *arg, u64 more)
{
	arg->abi = GAGG_ABI;
	arg->features = GAGG_FEAT_BSP | GAGG_FEAT_IPV6 | GAGG_FEAT_CHANNELS | GAGG_FEAT_STORE |
			GAGG_FEAT_TIMES | GAGG_FEAT_COPIES | more;
	arg->wire_min = GAGG_WIRE_OLDEST;
	arg->wire_max = GAGG_WIRE_NEWEST;
}

#endif
