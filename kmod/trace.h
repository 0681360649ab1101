/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The calls into the core objects of a shard, and the actions that come out of them. The same calls
 * give the same actions in the module, in the tests and in any other host.
 * build/selftests/vm/replay carries out a recorded trace and compares.
 *
 *	gagg_start, gagg_stop	an epoch of all shards of a group on this host;
 *				with the geometry
 *	gagg_trip		argument of gagg_shard_trips() for a node, after gagg_start
 *	gagg_channel		a channel that all shards have from now on
 *	gagg_submit		an op, to all shards
 *	gagg_rx			a call of gagg_shard_rx(), and gagg_shard_commit()
 *				if its verdict was ADD or PLACE; or one of
 *				gagg_shard_next(), which is equivalent. The event
 *				shows the datagram before the call. The cookie is a
 *				secret: @ours is true if it is the epoch's.
 *	gagg_filled, gagg_desc	values in the trainer's memory for the next call
 *	gagg_call		call without a datagram (enum gagg_work_call)
 *	gagg_act		an action of the call or datagram before
 *
 * @self (this host's node) and @shard name the object. Events of one shard are in the order in
 * which they happened, if the trace has a clock for all CPUs ("counter").
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gagg

#if !defined(_GAGG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _GAGG_TRACE_H

#include <linux/tracepoint.h>
#include "traced.h"

TRACE_EVENT(gagg_start,
	TP_PROTO(const struct gagg_geom *g, u32 sync, u64 epoch),
	TP_ARGS(g, sync, epoch),
	TP_STRUCT__entry(
		__field(u64, epoch)
		__field(u64, workers)
		__field(u64, aggregators)
		__field(u32, group)
		__field(u32, ring)
		__field(u32, window)
		__field(u32, cwnd)
		__field(u16, lanes)
		__field(u16, stripe)
		__field(u16, shards)
		__field(u8, self)
		__field(u8, nodes)
		__field(u8, sync)
		__field(u8, wide)
		__field(u8, wire)
		__field(u8, single)
		__array(u32, arg, GAGG_SYNC_ARGS)
		__array(u8, node_of, GAGG_RANKS)
	),
	TP_fast_assign(
		__entry->epoch = epoch;
		__entry->workers = g->workers;
		__entry->aggregators = g->aggregators;
		__entry->group = g->group;
		__entry->ring = g->ring;
		__entry->window = g->window;
		__entry->cwnd = g->cwnd;
		__entry->lanes = g->lanes;
		__entry->stripe = g->stripe;
		__entry->shards = g->shards;
		__entry->self = g->self;
		__entry->nodes = g->nodes;
		__entry->sync = sync;
		__entry->wide = g->wide;
		__entry->wire = g->wire;
		__entry->single = g->single;
		memcpy(__entry->arg, g->sync.arg, sizeof(__entry->arg));
		memcpy(__entry->node_of, g->node_of, sizeof(__entry->node_of));
	),
	TP_printk("group=%u self=%u epoch=%llu nodes=%u lanes=%u stripe=%u shards=%u ring=%u window=%u cwnd=%u sync=%u wide=%u wire=%u single=%u args=%s workers=%#llx aggregators=%#llx node_of=%s",
		  __entry->group, __entry->self, __entry->epoch, __entry->nodes,
		  __entry->lanes, __entry->stripe, __entry->shards, __entry->ring,
		  __entry->window, __entry->cwnd, __entry->sync, __entry->wide, __entry->wire,
		  __entry->single,
		  __print_array(__entry->arg, GAGG_SYNC_ARGS, sizeof(u32)),
		  __entry->workers, __entry->aggregators,
		  __print_hex_str(__entry->node_of, GAGG_RANKS))
);

TRACE_EVENT(gagg_trip,
	TP_PROTO(const struct gagg_geom *g, u32 node, u32 ns),
	TP_ARGS(g, node, ns),
	TP_STRUCT__entry(
		__field(u32, group)
		__field(u32, ns)
		__field(u8, self)
		__field(u8, node)
	),
	TP_fast_assign(
		__entry->group = g->group;
		__entry->ns = ns;
		__entry->self = g->self;
		__entry->node = node;
	),
	TP_printk("group=%u self=%u node=%u ns=%u", __entry->group, __entry->self,
		  __entry->node, __entry->ns)
);

TRACE_EVENT(gagg_stop,
	TP_PROTO(const struct gagg_geom *g),
	TP_ARGS(g),
	TP_STRUCT__entry(
		__field(u32, group)
		__field(u8, self)
	),
	TP_fast_assign(
		__entry->group = g->group;
		__entry->self = g->self;
	),
	TP_printk("group=%u self=%u", __entry->group, __entry->self)
);

TRACE_EVENT(gagg_channel,
	TP_PROTO(const struct gagg_geom *g, u32 channel, u64 members),
	TP_ARGS(g, channel, members),
	TP_STRUCT__entry(
		__field(u64, members)
		__field(u32, group)
		__field(u16, channel)
		__field(u8, self)
	),
	TP_fast_assign(
		__entry->members = members;
		__entry->group = g->group;
		__entry->channel = channel;
		__entry->self = g->self;
	),
	TP_printk("group=%u self=%u channel=%u members=%#llx", __entry->group,
		  __entry->self, __entry->channel, __entry->members)
);

TRACE_EVENT(gagg_submit,
	TP_PROTO(const struct gagg_geom *g, u32 channel, u32 local, const struct gagg_op *op),
	TP_ARGS(g, channel, local, op),
	TP_STRUCT__entry(
		__field(u64, first)
		__field(u64, chunks)
		__field(u64, number)
		__field(u32, group)
		__field(u32, sig)
		__field(u32, call)
		__field(u32, clock)
		__field(u16, channel)
		__field(u16, last_lanes)
		__field(u8, self)
		__field(u8, local)
		__field(u8, laneop)
		__field(u8, flags)
	),
	TP_fast_assign(
		__entry->first = op->start;
		__entry->chunks = op->end - op->start;
		__entry->number = op->number;
		__entry->group = g->group;
		__entry->sig = op->sig;
		__entry->call = op->call;
		__entry->clock = op->clock;
		__entry->channel = channel;
		__entry->last_lanes = op->last_lanes;
		__entry->self = g->self;
		__entry->local = local;
		__entry->laneop = op->laneop;
		__entry->flags = op->flags;
	),
	TP_printk("group=%u self=%u channel=%u local=%u number=%llu sig=%#x call=%#x clock=%u laneop=%#x flags=%#x last_lanes=%u first=%llu chunks=%llu",
		  __entry->group, __entry->self, __entry->channel, __entry->local,
		  __entry->number, __entry->sig, __entry->call, __entry->clock, __entry->laneop,
		  __entry->flags, __entry->last_lanes, __entry->first, __entry->chunks)
);

TRACE_EVENT(gagg_filled,
	TP_PROTO(const struct gagg_geom *g, u32 shard, u32 channel, u32 local, u64 filled),
	TP_ARGS(g, shard, channel, local, filled),
	TP_STRUCT__entry(
		__field(u64, filled)
		__field(u32, group)
		__field(u16, channel)
		__field(u8, self)
		__field(u8, shard)
		__field(u8, local)
	),
	TP_fast_assign(
		__entry->filled = filled;
		__entry->group = g->group;
		__entry->channel = channel;
		__entry->self = g->self;
		__entry->shard = shard;
		__entry->local = local;
	),
	TP_printk("group=%u self=%u shard=%u channel=%u local=%u filled=%llu",
		  __entry->group, __entry->self, __entry->shard, __entry->channel,
		  __entry->local, __entry->filled)
);

TRACE_EVENT(gagg_desc,
	TP_PROTO(const struct gagg_geom *g, u32 shard, u32 channel, u32 local, u32 slot,
		 const struct gagg_cdesc *d),
	TP_ARGS(g, shard, channel, local, slot, d),
	TP_STRUCT__entry(
		__field(u32, group)
		__field(u32, slot)
		__field(u16, channel)
		__field(u8, self)
		__field(u8, shard)
		__field(u8, local)
		__field(u8, exp)
		__field(u8, want)
		__field(u8, flags)
	),
	TP_fast_assign(
		__entry->group = g->group;
		__entry->slot = slot;
		__entry->channel = channel;
		__entry->self = g->self;
		__entry->shard = shard;
		__entry->local = local;
		__entry->exp = d->exp;
		__entry->want = d->want;
		__entry->flags = d->flags;
	),
	TP_printk("group=%u self=%u shard=%u channel=%u local=%u slot=%u exp=%u want=%u flags=%#x",
		  __entry->group, __entry->self, __entry->shard, __entry->channel,
		  __entry->local, __entry->slot, __entry->exp, __entry->want,
		  __entry->flags)
);

/* @more: return value of gagg_chan_refill() */
TRACE_EVENT(gagg_call,
	TP_PROTO(const struct gagg_geom *g, u32 shard, u32 call, u32 channel, u64 now,
		 bool more),
	TP_ARGS(g, shard, call, channel, now, more),
	TP_STRUCT__entry(
		__field(u64, now)
		__field(u32, group)
		__field(u16, channel)
		__field(u8, self)
		__field(u8, shard)
		__field(u8, call)
		__field(u8, more)
	),
	TP_fast_assign(
		__entry->now = now;
		__entry->group = g->group;
		__entry->channel = channel;
		__entry->self = g->self;
		__entry->shard = shard;
		__entry->call = call;
		__entry->more = more;
	),
	TP_printk("group=%u self=%u shard=%u call=%u channel=%u now=%llu more=%u",
		  __entry->group, __entry->self, __entry->shard, __entry->call,
		  __entry->channel, __entry->now, __entry->more)
);

TRACE_EVENT(gagg_rx,
	TP_PROTO(const struct gagg_geom *g, const struct gagg_traced_rx *rx,
		 u32 verdict, u32 drop),
	TP_ARGS(g, rx, verdict, drop),
	TP_STRUCT__entry(
		__field(u64, now)
		__field(u32, group)
		__field(u32, epoch)
		__field(u32, sig)
		__field(u32, chunk)
		__field(u32, round)
		__field(u32, pn)
		__field(u32, aux)
		__field(u16, channel)
		__field(u16, src)
		__field(u16, flags)
		__field(u16, run)
		__field(u16, lanes)
		__field(u8, self)
		__field(u8, shard)
		__field(u8, node)
		__field(u8, type)
		__field(u8, laneop)
		__field(u8, exp)
		__field(u8, want)
		__field(u8, ours)
		__field(u8, ce)
		__field(u8, verdict)
		__field(u8, drop)
		__dynamic_array(u8, body, gagg_traced_len(&rx->m))
	),
	TP_fast_assign(
		const struct gagg_msg *m = &rx->m;

		__entry->now = rx->now;
		__entry->group = g->group;
		__entry->epoch = m->epoch;
		__entry->sig = m->sig;
		__entry->chunk = m->chunk;
		__entry->round = m->round;
		__entry->pn = m->pn;
		__entry->aux = m->aux;
		__entry->channel = m->channel;
		__entry->src = m->src;
		__entry->flags = m->flags;
		__entry->run = m->run;
		__entry->lanes = m->lanes;
		__entry->self = g->self;
		__entry->shard = rx->shard;
		__entry->node = rx->node;
		__entry->type = m->type;
		__entry->laneop = m->laneop;
		__entry->exp = m->exp;
		__entry->want = m->want;
		__entry->ours = rx->ours;
		__entry->ce = rx->ce;
		__entry->verdict = verdict;
		__entry->drop = drop;
		memcpy(__get_dynamic_array(body), rx->body, gagg_traced_len(m));
	),
	TP_printk("group=%u self=%u shard=%u node=%u type=%u flags=%#x epoch=%u ours=%u channel=%u src=%u sig=%#x laneop=%#x chunk=%u round=%u run=%u lanes=%u exp=%u want=%u pn=%u aux=%#x ce=%u now=%llu verdict=%u drop=%u body=%s",
		  __entry->group, __entry->self, __entry->shard, __entry->node,
		  __entry->type, __entry->flags, __entry->epoch, __entry->ours,
		  __entry->channel, __entry->src, __entry->sig, __entry->laneop,
		  __entry->chunk, __entry->round, __entry->run, __entry->lanes,
		  __entry->exp, __entry->want, __entry->pn, __entry->aux, __entry->ce,
		  __entry->now, __entry->verdict, __entry->drop,
		  __print_hex_str(__get_dynamic_array(body), __get_dynamic_array_len(body)))
);

/* what the fields mean depends on the action: struct gagg_traced_act */
TRACE_EVENT(gagg_act,
	TP_PROTO(const struct gagg_geom *g, u32 shard, const struct gagg_act *a),
	TP_ARGS(g, shard, a),
	TP_STRUCT__entry(
		__field(u64, nodes)
		__field(u32, group)
		__field(u32, epoch)
		__field(u32, sig)
		__field(u32, slot)
		__field(u32, round)
		__field(u32, pn)
		__field(u32, aux)
		__field(u32, locals)
		__field(u16, channel)
		__field(u16, src)
		__field(u16, flags)
		__field(u16, run)
		__field(u16, lanes)
		__field(u16, weight)
		__field(u8, self)
		__field(u8, shard)
		__field(u8, act)
		__field(u8, type)
		__field(u8, node)
		__field(u8, local)
		__field(u8, laneop)
		__field(u8, exp)
		__field(u8, want)
		__field(u8, from)
		__dynamic_array(u8, body, gagg_traced_len(&a->m))
	),
	TP_fast_assign(
		struct gagg_traced_act t;

		gagg_traced_act(a, &t);
		__entry->nodes = t.nodes;
		__entry->group = g->group;
		__entry->epoch = t.epoch;
		__entry->sig = t.sig;
		__entry->slot = t.slot;
		__entry->round = t.round;
		__entry->pn = t.pn;
		__entry->aux = t.aux;
		__entry->locals = t.locals;
		__entry->channel = a->channel;
		__entry->src = t.src;
		__entry->flags = t.flags;
		__entry->run = t.run;
		__entry->lanes = t.lanes;
		__entry->weight = t.weight;
		__entry->self = g->self;
		__entry->shard = shard;
		__entry->act = a->type;
		__entry->type = t.type;
		__entry->node = a->node;
		__entry->local = a->local;
		__entry->laneop = t.laneop;
		__entry->exp = t.exp;
		__entry->want = t.want;
		__entry->from = t.from;
		memcpy(__get_dynamic_array(body), &a->ack, gagg_traced_len(&a->m));
	),
	TP_printk("group=%u self=%u shard=%u act=%u type=%u flags=%#x epoch=%u channel=%u src=%u sig=%#x laneop=%#x slot=%u round=%u run=%u lanes=%u exp=%u want=%u weight=%u pn=%u aux=%#x node=%u local=%u nodes=%#llx locals=%#x from=%u body=%s",
		  __entry->group, __entry->self, __entry->shard, __entry->act,
		  __entry->type, __entry->flags, __entry->epoch, __entry->channel,
		  __entry->src, __entry->sig, __entry->laneop, __entry->slot,
		  __entry->round, __entry->run, __entry->lanes, __entry->exp,
		  __entry->want, __entry->weight, __entry->pn, __entry->aux,
		  __entry->node, __entry->local, __entry->nodes, __entry->locals,
		  __entry->from,
		  __print_hex_str(__get_dynamic_array(body), __get_dynamic_array_len(body)))
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
