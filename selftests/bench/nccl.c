// SPDX-License-Identifier: GPL-2.0
/*
 * NCCL over sockets as a system of gagg-bench. Takes gagg-bench's words, and --rank,
 * --ranks and --rendezvous FOLDER. --algorithm NAME picks an all-reduce; without it all
 * are tried for each size and the best is taken.
 *
 * Operands are in the GPU's memory: load() and fetch(), which are not timed, copy them.
 * NCCL looks at NCCL_ALGO and NCCL_PROTO when a communicator is made, so each choice has
 * one, which is kept.
 */
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/bench/data.h"
#include "agent/bench/run.h"

#define GATHER_MAX	4096	/* bytes of a rank */

/* the first is NCCL's own choice */
static const char *const names[] = {
	"auto", "ring_simple", "ring_ll", "tree_simple", "tree_ll", NULL
};

#define NAMES		(sizeof(names) / sizeof(names[0]) - 1)

static const struct {
	const char *algorithm;
	const char *protocol;
} choices[NAMES] = {
	{ NULL, NULL },
	{ "Ring", "Simple" }, { "Ring", "LL" }, { "Tree", "Simple" }, { "Tree", "LL" },
};

/* memory of the host, and what stands for it on the GPU */
struct twofold {
	char *host;
	char *gpu;
	size_t bytes;
	size_t room;
};

static struct {
	struct bench_system sys;
	ncclComm_t comms[NAMES];
	ncclComm_t comm;
	cudaStream_t stream;
	struct twofold send;
	struct twofold recv;
	char *mine;			/* GPU, GATHER_MAX bytes */
	char *all;			/* GPU, as much of each rank */
	const char *error;
} me;

static int cuda(cudaError_t err)
{
	if (err == cudaSuccess)
		return 0;
	me.error = cudaGetErrorString(err);
	return -1;
}

static int nccl(ncclResult_t err)
{
	if (err == ncclSuccess)
		return 0;
	me.error = ncclGetErrorString(err);
	return -1;
}

/* what an operation has returned when it was begun */
static int done(ncclResult_t err)
{
	return nccl(err) || cuda(cudaStreamSynchronize(me.stream)) ? -1 : 0;
}

static const char *error(struct bench_system *sys)
{
	(void)sys;
	return me.error;
}

static ncclDataType_t datatype(enum bench_dtype t)
{
	return t == BENCH_FLOAT32 ? ncclFloat32 : t == BENCH_FLOAT16 ? ncclFloat16 :
	       t == BENCH_INT32 ? ncclInt32 : ncclInt64;
}

static ncclRedOp_t operator(enum bench_redop op)
{
	return op == BENCH_MIN ? ncclMin : op == BENCH_MAX ? ncclMax : ncclSum;
}

static char *on_gpu(const struct twofold *t, const void *host)
{
	return t->gpu + ((const char *)host - t->host);
}

static int run(struct bench_system *sys, const struct bench_op *op, const void *send,
	       void *recv)
{
	const char *from = on_gpu(&me.send, send);
	ncclDataType_t type = datatype(op->dtype);
	char *to = on_gpu(&me.recv, recv);

	(void)sys;
	switch (op->kind) {
	case BENCH_REDUCE_SCATTER:
		return done(ncclReduceScatter(from, to, op->count, type, operator(op->redop),
					      me.comm, me.stream));
	case BENCH_ALL_GATHER:
		return done(ncclAllGather(from, to, op->count, type, me.comm, me.stream));
	case BENCH_BROADCAST:
		return done(ncclBroadcast(to, to, op->count, type, op->root, me.comm,
					  me.stream));
	case BENCH_ALL_REDUCE:
	case BENCH_OVERLAP:
		break;
	}
	return done(ncclAllReduce(from, to, op->count, type, operator(op->redop), me.comm,
				  me.stream));
}

static int upload(struct twofold *t, const void *host, size_t bytes)
{
	t->host = (char *)host;
	t->bytes = bytes;
	if (bytes > t->room) {
		cudaFree(t->gpu);
		t->gpu = NULL;
		t->room = 0;
		if (cuda(cudaMalloc((void **)&t->gpu, bytes)))
			return -1;
		t->room = bytes;
	}
	return cuda(cudaMemcpy(t->gpu, host, bytes, cudaMemcpyHostToDevice));
}

static int load(struct bench_system *sys, const void *send, size_t in, void *recv, size_t out)
{
	(void)sys;
	return upload(&me.send, send, in) || upload(&me.recv, recv, out) ? -1 : 0;
}

static int fetch(struct bench_system *sys)
{
	(void)sys;
	return cuda(cudaMemcpy(me.recv.host, me.recv.gpu, me.recv.bytes,
			       cudaMemcpyDeviceToHost));
}

static int barrier(struct bench_system *sys)
{
	(void)sys;
	return done(ncclAllReduce(me.mine, me.mine, 1, ncclInt32, ncclMax, me.comms[0],
				  me.stream));
}

static int gather(struct bench_system *sys, const void *mine, size_t bytes, void *all)
{
	if (bytes > GATHER_MAX) {
		me.error = "too much to gather";
		return -1;
	}
	return cuda(cudaMemcpy(me.mine, mine, bytes, cudaMemcpyHostToDevice)) ||
	       done(ncclAllGather(me.mine, me.all, bytes, ncclInt8, me.comms[0], me.stream)) ||
	       cuda(cudaMemcpy(all, me.all, bytes * (size_t)sys->size,
			       cudaMemcpyDeviceToHost)) ? -1 : 0;
}

/* all ranks together */
static int choose(struct bench_system *sys, int i)
{
	ncclUniqueId id = { 0 }, ids[BENCH_RANKS];

	me.comm = me.comms[i];
	if (me.comm)
		return 0;
	if ((!sys->rank && nccl(ncclGetUniqueId(&id))) || gather(sys, &id, sizeof(id), ids))
		return -1;
	setenv("NCCL_ALGO", choices[i].algorithm, 1);
	setenv("NCCL_PROTO", choices[i].protocol, 1);
	if (nccl(ncclCommInitRank(&me.comms[i], sys->size, ids[0], sys->rank)))
		return -1;
	me.comm = me.comms[i];
	return 0;
}

/* rank 0's is in a file, which is there once it is whole */
static int first_id(const struct bench_args *args, ncclUniqueId *id)
{
	char name[256], part[264];
	FILE *f = NULL;
	size_t n;

	snprintf(name, sizeof(name), "%s/id", args->rendezvous);
	if (!args->rank) {
		snprintf(part, sizeof(part), "%s.part", name);
		if (nccl(ncclGetUniqueId(id)))
			return -1;
		f = fopen(part, "w");
		n = f ? fwrite(id, sizeof(*id), 1, f) : 0;
		if (!f || fclose(f) || !n || rename(part, name)) {
			me.error = "cannot write in the folder of --rendezvous";
			return -1;
		}
		return 0;
	}
	for (int tries = 0; !f && tries < 100 * args->timeout; tries++) {
		usleep(10000);
		f = fopen(name, "r");
	}
	n = f ? fread(id, sizeof(*id), 1, f) : 0;
	if (f)
		fclose(f);
	if (n)
		return 0;
	me.error = "rank 0 does not come";
	return -1;
}

static int join(const struct bench_args *args)
{
	ncclUniqueId id;

	if (cuda(cudaSetDevice(0)) || cuda(cudaStreamCreate(&me.stream)) ||
	    cuda(cudaMalloc((void **)&me.mine, GATHER_MAX)) ||
	    cuda(cudaMalloc((void **)&me.all, (size_t)GATHER_MAX * (size_t)args->ranks)) ||
	    cuda(cudaMemset(me.mine, 0, GATHER_MAX)) || first_id(args, &id) ||
	    nccl(ncclCommInitRank(&me.comms[0], args->ranks, id, args->rank)))
		return -1;
	me.comm = me.comms[0];
	return 0;
}

static bool usable(const struct bench_args *args)
{
	return !args->error[0] && args->rank >= 0 && args->ranks > args->rank &&
	       args->rendezvous && args->redop != BENCH_MEAN && args->kind != BENCH_OVERLAP &&
	       args->dtype != BENCH_BFLOAT16;
}

int main(int argc, char **argv)
{
	struct bench_args args;
	enum bench_exit status;

	if (!bench_args_parse(&args, argc, argv) || !usable(&args)) {
		fprintf(stderr, "nccl: %s\n", args.error[0] ? args.error :
			"--rank, --ranks, --rendezvous; sum, min or max; not bfloat16, not overlap");
		return BENCH_USAGE;
	}
	if (usage_init(args.idle_file))
		return BENCH_USAGE;
	if (join(&args)) {
		fprintf(stderr, "nccl: rank %d: %s\n", args.rank, me.error);
		return BENCH_NO_GROUP;
	}
	me.sys = (struct bench_system){
		.name = "nccl", .wire = "float32", .rank = args.rank, .size = args.ranks,
		.bound = bench_bound_ieee(args.dtype, args.ranks),
		.algorithms = names, .select = choose, .load = load, .run = run,
		.fetch = fetch, .barrier = barrier, .gather = gather, .error = error,
	};
	status = bench_run(&args, &me.sys);
	/* peers may still read: nobody leaves before all are done */
	if (status == BENCH_OK)
		barrier(&me.sys);
	return status;
}
