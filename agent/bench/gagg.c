// SPDX-License-Identifier: GPL-2.0
/* libgagg as a system. */
#include <math.h>
#include <stdio.h>

#include <gagg.h>

#include "../nl/nl.h"
#include "data.h"
#include "gagg.h"

static struct {
	struct bench_system sys;
	const struct bench_args *args;
	struct gagg_comm *comm;
	struct gagg_plan *plan;
	struct gagg_request *req;
	struct nl *nl;			/* NULL: no counters */
} me;

static const enum gagg_dtype dtypes[] = {
	[BENCH_FLOAT32]	= GAGG_FLOAT32,
	[BENCH_FLOAT16]	= GAGG_FLOAT16,
	[BENCH_BFLOAT16] = GAGG_BFLOAT16,
	[BENCH_INT32]	= GAGG_INT32,
	[BENCH_INT64]	= GAGG_INT64,
};

static const enum gagg_op redops[] = {
	[BENCH_SUM]	= GAGG_SUM,
	[BENCH_MEAN]	= GAGG_MEAN,
	[BENCH_MIN]	= GAGG_MIN,
	[BENCH_MAX]	= GAGG_MAX,
};

static int system_begin(struct bench_system *sys, const struct bench_op *op)
{
	me.plan = NULL;
	if (!me.args->plan || !bench_reduces(op->kind) || !bench_dtype_float(op->dtype) ||
	    op->redop > BENCH_MEAN)
		return 0;
	return gagg_plan_create(me.comm, bench_send_count(op, sys->size), dtypes[op->dtype],
				&me.plan);
}

static void system_end(struct bench_system *sys)
{
	(void)sys;
	gagg_plan_free(me.plan);
	me.plan = NULL;
}

static int system_run(struct bench_system *sys, const struct bench_op *op, const void *send,
		      void *recv)
{
	size_t bytes = op->count * bench_dtype_size(op->dtype);

	(void)sys;
	switch (op->kind) {
	case BENCH_REDUCE_SCATTER:
		return gagg_reduce_scatter(send, recv, op->count, dtypes[op->dtype],
					   redops[op->redop], me.comm, me.plan);
	case BENCH_ALL_GATHER:
		return gagg_allgather(send, bytes, recv, me.comm);
	case BENCH_BROADCAST:
		return gagg_broadcast(recv, bytes, op->root, me.comm);
	case BENCH_ALL_REDUCE:
	case BENCH_OVERLAP:
		break;
	}
	return gagg_allreduce(send, recv, op->count, dtypes[op->dtype], redops[op->redop],
			      me.comm, me.plan);
}

static int system_start(struct bench_system *sys, const struct bench_op *op, const void *send,
			void *recv)
{
	(void)sys;
	return gagg_iallreduce(send, recv, op->count, dtypes[op->dtype], redops[op->redop],
			       me.comm, me.plan, &me.req);
}

static int system_wait(struct bench_system *sys)
{
	(void)sys;
	return gagg_wait(&me.req, me.args->timeout * 1000);
}

static int system_barrier(struct bench_system *sys)
{
	(void)sys;
	return gagg_barrier(me.comm);
}

static int system_gather(struct bench_system *sys, const void *mine, size_t bytes, void *all)
{
	(void)sys;
	return gagg_allgather(mine, bytes, all, me.comm);
}

static bool system_counters(struct bench_system *sys, struct bench_counters *c)
{
	uint64_t v[NL_STATS];

	(void)sys;
	if (!me.nl || nl_stats_get(me.nl, me.args->group, v))
		return false;
	c->datagrams = (int64_t)v[GAGG_SA_TX_DATAGRAMS];
	c->resent = (int64_t)(v[GAGG_SA_RETRANSMITS] + v[GAGG_SA_REPAIRS]);
	return true;
}

static const char *system_error(struct bench_system *sys)
{
	(void)sys;
	return gagg_last_error(me.comm);
}

/*
 * The bound of errors (Documentation/numerics.md). Ranks that agree on exponents: 2^(2L - 30) of
 * the largest magnitude; with a plan the exponent may be one more than needed. Narrow lanes: 1.5 *
 * 2^(L + 2 - bits).
 */
static double system_bound(int n, bool plan, int bits)
{
	int l = 0;

	while (1 << l < n)
		l++;
	if (bits < 32)
		return 1.5 * ldexp(BENCH_ABSMAX, l + 2 - bits + plan);
	return ldexp(BENCH_ABSMAX, 2 * l - 30 + plan);
}

/* the wire format of what is measured */
static const char *system_wire(const struct bench_args *args)
{
	int bits = gagg_wire(me.comm);

	if (args->dtype == BENCH_INT64)
		return "int64";
	if (args->dtype == BENCH_INT32 || !bench_reduces(args->kind) ||
	    args->redop >= BENCH_MIN || bits == 32)
		return "int32";
	return bits == 16 ? "int16" : "int8";
}

struct bench_system *gagg_system_join(const struct bench_args *args)
{
	struct gagg_config cfg = {
		.size = sizeof(cfg), .group = args->group, .socket = args->socket,
		.rank = args->rank < 0 ? GAGG_RANK_ANY : (uint32_t)args->rank,
		.timeout_ms = args->timeout * 1000,
	};
	int err = gagg_init(&me.comm, &cfg);

	if (err) {
		fprintf(stderr, "gagg-bench: %s\n", gagg_last_error(NULL));
		return NULL;
	}
	me.args = args;
	/* with a twin there is no module to ask */
	me.nl = nl_open();
	me.sys = (struct bench_system){
		.name = "gagg",
		.wire = system_wire(args),
		.rank = gagg_rank(me.comm),
		.size = gagg_size(me.comm),
		.bound = system_bound(gagg_size(me.comm), args->plan,
				      gagg_wire(me.comm)),
		.begin = system_begin,
		.end = system_end,
		.run = system_run,
		.start = system_start,
		.wait = system_wait,
		.barrier = system_barrier,
		.gather = system_gather,
		.counters = system_counters,
		.error = system_error,
	};
	return &me.sys;
}

void gagg_system_leave(struct bench_system *sys, bool ok)
{
	(void)sys;
	if (ok)
		gagg_finalize(me.comm);
	else
		gagg_abort(me.comm);
	if (me.nl)
		nl_free(me.nl);
}
