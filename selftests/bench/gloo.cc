// SPDX-License-Identifier: GPL-2.0
/*
 * Gloo over TCP as a system of gagg-bench: what PyTorch's CPU users run. Takes
 * gagg-bench's words, and --rank, --ranks and --rendezvous FOLDER, on eth0 or
 * $GLOO_SOCKET_IFNAME. --algorithm NAME picks an all-reduce; without it all are
 * tried for each size and the best is taken.
 *
 * All-reduce works in place, as c10d calls it. The older algorithms (classes)
 * keep buffers and connections for an address, so they are made once for each.
 */
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_bcube.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

extern "C" {
#include "agent/bench/data.h"
#include "agent/bench/run.h"
}

namespace {

using Made = std::unique_ptr<gloo::Algorithm>;

enum Choice { RING, BCUBE, RING_CHUNKED, HALVING_DOUBLING, OLD_BCUBE };

const char *const names[] = {
	"ring", "bcube", "ring_chunked", "halving_doubling", "old_bcube", nullptr
};

struct {
	bench_system sys;
	std::shared_ptr<gloo::rendezvous::Context> context;
	int choice;
	std::map<void *, Made> made;	/* of the choice, by address */
	std::thread thread;
	int result;
	std::string error;
} me;

/* what throws becomes what returns -1 */
int guarded(const std::function<void()> &f)
{
	try {
		f();
	} catch (const std::exception &e) {
		me.error = e.what();
		return -1;
	}
	return 0;
}

const char *error(bench_system *)
{
	return me.error.c_str();
}

int choose(bench_system *, int i)
{
	me.made.clear();
	me.choice = i;
	return 0;
}

void end(bench_system *)
{
	me.made.clear();
}

template <typename T>
gloo::Algorithm *old_algorithm(T *at, size_t count)
{
	Made &made = me.made[at];
	std::vector<T *> ptrs{ at };
	int n = static_cast<int>(count);

	if (made)
		return made.get();
	switch (me.choice) {
	case RING_CHUNKED:
		made.reset(new gloo::AllreduceRingChunked<T>(me.context, ptrs, n));
		break;
	case HALVING_DOUBLING:
		made.reset(new gloo::AllreduceHalvingDoubling<T>(me.context, ptrs, n));
		break;
	default:
		made.reset(new gloo::AllreduceBcube<T>(me.context, ptrs, n));
		break;
	}
	return made.get();
}

template <typename T>
void all_reduce(T *at, size_t count)
{
	using Sum = void (*)(void *, const void *, const void *, size_t);
	gloo::AllreduceOptions options(me.context);

	if (me.choice >= RING_CHUNKED) {
		old_algorithm(at, count)->run();
		return;
	}
	options.setAlgorithm(me.choice == BCUBE ? gloo::AllreduceOptions::Algorithm::BCUBE :
						  gloo::AllreduceOptions::Algorithm::RING);
	options.setOutput(at, count);
	options.setReduceFunction(static_cast<Sum>(&gloo::sum<T>));
	gloo::allreduce(options);
}

void all_gather(const void *mine, size_t bytes, void *all)
{
	gloo::AllgatherOptions options(me.context);

	options.setInput(static_cast<char *>(const_cast<void *>(mine)), bytes);
	options.setOutput(static_cast<char *>(all), bytes * me.sys.size);
	gloo::allgather(options);
}

void broadcast(void *buf, size_t bytes, int root)
{
	gloo::BroadcastOptions options(me.context);

	options.setOutput(static_cast<char *>(buf), bytes);
	options.setRoot(root);
	gloo::broadcast(options);
}

int run(bench_system *, const bench_op *op, const void *send, void *recv)
{
	size_t bytes = op->count * bench_dtype_size(op->dtype);

	return guarded([&] {
		if (op->kind == BENCH_ALL_GATHER)
			all_gather(send, bytes, recv);
		else if (op->kind == BENCH_BROADCAST)
			broadcast(recv, bytes, op->root);
		else if (op->dtype == BENCH_FLOAT32)
			all_reduce(static_cast<float *>(recv), op->count);
		else
			all_reduce(static_cast<int32_t *>(recv), op->count);
	});
}

/* there is nothing non-blocking; c10d hands calls to a thread, too */
int start(bench_system *sys, const bench_op *op, const void *send, void *recv)
{
	bench_op copy = *op;

	me.thread = std::thread([=] { me.result = run(sys, &copy, send, recv); });
	return 0;
}

int wait(bench_system *)
{
	me.thread.join();
	return me.result;
}

int barrier(bench_system *)
{
	return guarded([] {
		gloo::BarrierOptions options(me.context);

		gloo::barrier(options);
	});
}

int gather(bench_system *, const void *mine, size_t bytes, void *all)
{
	return guarded([&] { all_gather(mine, bytes, all); });
}

void connect(const bench_args *args)
{
	const char *interface = std::getenv("GLOO_SOCKET_IFNAME");
	gloo::transport::tcp::attr attr;

	attr.iface = interface ? interface : "eth0";
	/* 2: the base of bcube */
	me.context = std::make_shared<gloo::rendezvous::Context>(args->rank, args->ranks, 2);
	me.context->setTimeout(std::chrono::seconds(args->timeout));
	gloo::rendezvous::FileStore store(args->rendezvous);
	auto device = gloo::transport::tcp::CreateDevice(attr);
	me.context->connectFullMesh(store, device);
}

bool usable(const bench_args *args)
{
	return !args->error[0] && args->rank >= 0 && args->ranks > args->rank &&
	       args->rendezvous && args->redop == BENCH_SUM &&
	       (args->dtype == BENCH_FLOAT32 || args->dtype == BENCH_INT32) &&
	       args->kind != BENCH_REDUCE_SCATTER;
}

}

int main(int argc, char **argv)
{
	bench_exit status;
	bench_args args;

	if (!bench_args_parse(&args, argc, argv) || !usable(&args)) {
		std::fprintf(stderr, "gloo: %s\n", args.error[0] ? args.error :
			     "--rank, --ranks, --rendezvous; sums of float32 or int32; not reduce_scatter");
		return BENCH_USAGE;
	}
	if (usage_init(args.idle_file))
		return BENCH_USAGE;
	if (guarded([&] { connect(&args); })) {
		std::fprintf(stderr, "gloo: rank %d: %s\n", args.rank, me.error.c_str());
		return BENCH_NO_GROUP;
	}
	me.sys.name = "gloo";
	me.sys.wire = "float32";
	me.sys.rank = args.rank;
	me.sys.size = args.ranks;
	me.sys.bound = bench_bound_ieee(args.dtype, args.ranks);
	me.sys.in_place = true;
	me.sys.algorithms = names;
	me.sys.select = choose;
	me.sys.end = end;
	me.sys.run = run;
	me.sys.start = start;
	me.sys.wait = wait;
	me.sys.barrier = barrier;
	me.sys.gather = gather;
	me.sys.error = error;
	status = bench_run(&args, &me.sys);
	me.made.clear();
	/* peers may still read: nobody closes before all are done */
	if (status == BENCH_OK)
		barrier(&me.sys);
	return status;
}
