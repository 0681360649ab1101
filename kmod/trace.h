/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The action stream of the core: the same calls give the same stream in the
 * module, in the tests and in whatever else drives it.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gagg

#if !defined(_GAGG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _GAGG_TRACE_H

#include <linux/tracepoint.h>
#include "core/core.h"

TRACE_EVENT(gagg_rx,
	TP_PROTO(u32 shard, u32 node, const struct gagg_msg *m, u32 verdict, u32 drop),
	TP_ARGS(shard, node, m, verdict, drop),
	TP_STRUCT__entry(
		__field(u32, group)
		__field(u32, epoch)
		__field(u32, chunk)
		__field(u32, round)
		__field(u32, pn)
		__field(u16, channel)
		__field(u16, src)
		__field(u16, flags)
		__field(u16, run)
		__field(u8, shard)
		__field(u8, node)
		__field(u8, type)
		__field(u8, exp)
		__field(u8, verdict)
		__field(u8, drop)
	),
	TP_fast_assign(
		__entry->group = m->group;
		__entry->epoch = m->epoch;
		__entry->chunk = m->chunk;
		__entry->round = m->round;
		__entry->pn = m->pn;
		__entry->channel = m->channel;
		__entry->src = m->src;
		__entry->flags = m->flags;
		__entry->run = m->run;
		__entry->shard = shard;
		__entry->node = node;
		__entry->type = m->type;
		__entry->exp = m->exp;
		__entry->verdict = verdict;
		__entry->drop = drop;
	),
	TP_printk("group=%u shard=%u node=%u type=%u flags=%#x epoch=%u channel=%u src=%u chunk=%u round=%u run=%u exp=%u pn=%u verdict=%u drop=%u",
		  __entry->group, __entry->shard, __entry->node, __entry->type,
		  __entry->flags, __entry->epoch, __entry->channel, __entry->src,
		  __entry->chunk, __entry->round, __entry->run, __entry->exp,
		  __entry->pn, __entry->verdict, __entry->drop)
);

/* what the fields mean depends on the action: struct gagg_act */
TRACE_EVENT(gagg_act,
	TP_PROTO(u32 group, u32 shard, const struct gagg_act *a),
	TP_ARGS(group, shard, a),
	TP_STRUCT__entry(
		__field(u64, nodes)
		__field(u32, group)
		__field(u32, slot)
		__field(u32, round)
		__field(u32, pn)
		__field(u16, channel)
		__field(u16, run)
		__field(u16, flags)
		__field(u8, shard)
		__field(u8, type)
		__field(u8, msg)
		__field(u8, node)
		__field(u8, local)
		__field(u8, exp)
	),
	TP_fast_assign(
		bool pub = a->type == GAGG_ACT_PUBLISH;

		__entry->nodes = a->type == GAGG_ACT_OP_DONE ? a->number :
				 a->type == GAGG_ACT_OPEN ? a->members : a->nodes;
		__entry->group = group;
		__entry->slot = pub ? a->pub.slot : a->m.chunk;
		__entry->round = pub ? a->pub.round : a->m.round;
		__entry->pn = a->m.pn;
		__entry->channel = a->channel;
		__entry->run = a->m.run;
		__entry->flags = pub ? a->pub.flags : a->m.flags;
		__entry->shard = shard;
		__entry->type = a->type;
		__entry->msg = a->m.type;
		__entry->node = a->node;
		__entry->local = a->local;
		__entry->exp = pub ? a->pub.exp : a->m.exp;
	),
	TP_printk("group=%u shard=%u act=%u msg=%u flags=%#x channel=%u slot=%u round=%u run=%u exp=%u pn=%u node=%u local=%u nodes=%#llx",
		  __entry->group, __entry->shard, __entry->type, __entry->msg,
		  __entry->flags, __entry->channel, __entry->slot, __entry->round,
		  __entry->run, __entry->exp, __entry->pn, __entry->node, __entry->local,
		  __entry->nodes)
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
