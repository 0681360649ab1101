/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core of gagg: read this first.
 *
 * Pure logic. No lock, clock, allocation, sleep, float, skb, log or errno; time
 * is an argument; memory is the caller's and holds indices, not pointers; only
 * the caller touches payload. The same objects run in gagg.ko, in the unit
 * tests, in the model checker and in whatever drives them next, and give the
 * same actions for the same calls. scripts/check-purity proves it.
 *
 *	wire	the header of a datagram, parsed
 *	geom	where a chunk lives: slot, home, shard
 *	digest	what hosts must have configured alike
 *	reduce	adding lanes
 *	path	packet numbers, acknowledgements, loss, window
 *	sync	policies: when is a contribution taken, a result complete or read
 *	clocks	how far the workers are
 *	chan	ring, ops and accumulations of a channel in one shard
 *	home	what arrives at the home of a chunk
 *	repair	results that are sent again
 *	worker	what a worker pushes and gets back
 *	store	a channel whose chunks persist: its two sides, home and worker
 *	shard	the door: receive, commit, refill, timers, actions
 *	publish	the lanes and the description of a result
 *	stats	counters
 *	times	how long a rank computes, and waits
 *	join	who is there, do we agree, which epoch is it
 *	state	what administrators read of that
 */
#ifndef GAGG_CORE_H
#define GAGG_CORE_H

#include "types.h"
#include "wire.h"
#include "geom.h"
#include "digest.h"
#include "reduce.h"
#include "path.h"
#include "sync.h"
#include "chan.h"
#include "store.h"
#include "shard.h"
#include "publish.h"
#include "stats.h"
#include "times.h"
#include "join.h"
#include "state.h"

#endif
