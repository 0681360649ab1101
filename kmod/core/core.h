/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core of gagg: read this first.
 *
 * Pure logic. No lock, clock, allocation, sleep, float, skb, log or errno; time
 * is an argument; memory is the caller's and holds indices, not pointers; only
 * the caller, and site for it, touches payload. The same objects run in gagg.ko, in the unit
 * tests, in the model checker and in whatever drives them next, and give the
 * same actions for the same calls. scripts/check-purity proves it.
 *
 *	wire	the header of a datagram, parsed
 *	geom	where a chunk lives: slot, home, shard
 *	reduce	adding lanes
 *	path	packet numbers, acknowledgements, loss, window
 *	chan	a channel in one shard: its ranks, homes and ops
 *	layout	the memory of a channel
 *	site	a channel on a host: its parts, and what is done with lanes in its memory
 *	act, op, trainer, sites, step, rank, receive, send	one program for all hosts, over what
 *		each does itself; not of this header. Actions are carried out; ops begin and end;
 *		trainers' memory is read; channels are made, and go; epochs begin and end; ranks
 *		attach and leave; datagrams arrive, and leave
 *	table	places of channels by their ids
 *	wants	channels that other hosts have asked for
 *	shard	the entrance to the core: receive, commit, refill, timers
 *	burst	datagrams that follow each other, judged by what differs
 *	load	datagrams that leave together
 *	work	a turn of a shard: what is due, which channel is next, when to look again
 *	kind	what each kind of channel, ring or store, implements; stake: this host's share of a
 *		channel
 *	front	how far all shards have come
 *	ledger	the ops of a rank over all shards: which are legal, which are done
 *	session	the states of a trainer's session, and what they allow
 *	ask	what a trainer asks: which arguments are good
 *	out	the outbox: actions, runs of messages
 *	stats	counters
 *	ring/	a channel that works in rounds; ring, submit: its shape, cursors and ops
 *		home, missing: what arrives at the home of a chunk
 *		round, quorum: when a round is complete, and who is in it
 *		result, repair, publish: what leaves it
 *		push, worker, gap, query: what a worker pushes, gets back, misses and asks for
 *	store/	a channel whose chunks persist
 *		home; submit, worker, answer: the worker's side
 *	sync/	policies: when a round is complete, an update is taken, a store may be read
 *		modes: all of them by number; clocks: how far the workers are
 *	group/	what hosts agree on
 *		join: which hosts are there, whether all agree, which epoch runs
 *		follow: what a host sends and does because of that
 *		param: parameters, their ranges and defaults
 *		roster: ranks, their addresses and roles; fit: what of a group does not fit
 *		digest: what hosts must have configured alike
 *		times: how long a rank computes, and waits
 *		state: what administrators read of that
 */
#ifndef GAGG_CORE_H
#define GAGG_CORE_H

#include "types.h"
#include "wire.h"
#include "geom.h"
#include "group/param.h"
#include "group/digest.h"
#include "group/roster.h"
#include "group/fit.h"
#include "reduce.h"
#include "path.h"
#include "sync/sync.h"
#include "chan.h"
#include "layout.h"
#include "table.h"
#include "wants.h"
#include "store/store.h"
#include "shard.h"
#include "site.h"
#include "ledger.h"
#include "session.h"
#include "ask.h"
#include "work.h"
#include "burst.h"
#include "load.h"
#include "ring/publish.h"
#include "ring/ring.h"
#include "stats.h"
#include "group/times.h"
#include "group/join.h"
#include "group/follow.h"
#include "group/state.h"
#include "group/addr.h"
#include "group/name.h"

#endif
