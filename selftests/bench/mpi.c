// SPDX-License-Identifier: GPL-2.0
/*
 * MPI as a system of gagg-bench: OpenMPI or MPICH, whichever compiles it. Takes
 * gagg-bench's words; --algorithm NAME picks one of the library's all-reduce
 * algorithms, without it all are tried for each size and the best is taken.
 *
 * Both libraries let it be changed by MPI_T. OpenMPI looks when a communicator is
 * made (and needs coll_tuned_use_dynamic_rules), MPICH at each call. So each
 * choice makes a communicator.
 */
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/bench/data.h"
#include "agent/bench/run.h"

#define ALGORITHMS_MAX	32
#define ENDING		10	/* seconds for MPI_Finalize() */

static struct {
	struct bench_system sys;
	MPI_Comm comm;
	MPI_T_cvar_handle cvar;
	const char *name[ALGORITHMS_MAX + 1];	/* ends with NULL */
	int value[ALGORITHMS_MAX];
	MPI_Request req;
	char error[MPI_MAX_ERROR_STRING];
} me;

static int failed(int err)
{
	int length;

	if (err == MPI_SUCCESS)
		return 0;
	MPI_Error_string(err, me.error, &length);
	return -1;
}

static const char *error(struct bench_system *sys)
{
	(void)sys;
	return me.error;
}

/* MPICH has numbers only: in the order of its documentation */
static void mpich_algorithms(void)
{
	static const char *const names[] = {
		"auto", "nb", "smp", "recursive_doubling", "reduce_scatter_allgather",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		me.name[i] = names[i];
		me.value[i] = (int)i;
	}
}

/* OpenMPI has words; the first is its own choice */
static bool openmpi_algorithms(MPI_T_enum words)
{
	char item[64];
	int items, length;

	if (words == MPI_T_ENUM_NULL || MPI_T_enum_get_info(words, &items, NULL, NULL))
		return false;
	for (int i = 0; i < items && i < ALGORITHMS_MAX; i++) {
		length = sizeof(item);
		MPI_T_enum_get_item(words, i, &me.value[i], item, &length);
		me.name[i] = strdup(item);
	}
	return true;
}

/* the variable that names the algorithm; -1: none */
static int find_cvar(void)
{
	int n, i, length, verbosity, binding, scope;
	MPI_Datatype type;
	MPI_T_enum words;
	char name[128];

	MPI_T_cvar_get_num(&n);
	for (i = 0; i < n; i++) {
		length = sizeof(name);
		if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &words, NULL,
					NULL, &binding, &scope))
			continue;
		if (!strcmp(name, "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"))
			mpich_algorithms();
		else if (strcmp(name, "coll_tuned_allreduce_algorithm") ||
			 !openmpi_algorithms(words))
			continue;
		return i;
	}
	return -1;
}

static int choose(struct bench_system *sys, int i)
{
	int err;

	(void)sys;
	if (me.comm != MPI_COMM_WORLD)
		MPI_Comm_free(&me.comm);
	if (MPI_T_cvar_write(me.cvar, &me.value[i])) {
		snprintf(me.error, sizeof(me.error), "MPI_T does not let it be changed");
		return -1;
	}
	err = MPI_Comm_dup(MPI_COMM_WORLD, &me.comm);
	if (!err)
		MPI_Comm_set_errhandler(me.comm, MPI_ERRORS_RETURN);
	return failed(err);
}

static MPI_Datatype datatype(enum bench_dtype t)
{
	return t == BENCH_FLOAT32 ? MPI_FLOAT : t == BENCH_INT32 ? MPI_INT32_T : MPI_INT64_T;
}

static MPI_Op operator(enum bench_redop op)
{
	return op == BENCH_MIN ? MPI_MIN : op == BENCH_MAX ? MPI_MAX : MPI_SUM;
}

static int run(struct bench_system *sys, const struct bench_op *op, const void *send,
	       void *recv)
{
	MPI_Datatype type = datatype(op->dtype);
	int count = (int)op->count;

	(void)sys;
	switch (op->kind) {
	case BENCH_REDUCE_SCATTER:
		return failed(MPI_Reduce_scatter_block(send, recv, count, type,
						       operator(op->redop), me.comm));
	case BENCH_ALL_GATHER:
		return failed(MPI_Allgather(send, count, type, recv, count, type, me.comm));
	case BENCH_BROADCAST:
		return failed(MPI_Bcast(recv, count, type, op->root, me.comm));
	case BENCH_ALL_REDUCE:
	case BENCH_OVERLAP:
		break;
	}
	return failed(MPI_Allreduce(send, recv, count, type, operator(op->redop), me.comm));
}

static int start(struct bench_system *sys, const struct bench_op *op, const void *send,
		 void *recv)
{
	(void)sys;
	return failed(MPI_Iallreduce(send, recv, (int)op->count, datatype(op->dtype),
				     operator(op->redop), me.comm, &me.req));
}

static int wait(struct bench_system *sys)
{
	(void)sys;
	return failed(MPI_Wait(&me.req, MPI_STATUS_IGNORE));
}

static int barrier(struct bench_system *sys)
{
	(void)sys;
	return failed(MPI_Barrier(MPI_COMM_WORLD));
}

static int gather(struct bench_system *sys, const void *mine, size_t bytes, void *all)
{
	(void)sys;
	return failed(MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
				    MPI_COMM_WORLD));
}

static const char *library(void)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;

	MPI_Get_library_version(text, &length);
	return strncmp(text, "Open MPI", 8) ? "mpich" : "openmpi";
}

/*
 * MPICH waits for ever in its end in one run of three. All has been told by then, and
 * each rank leaves by itself.
 */
static void leave(int signal)
{
	(void)signal;
	_exit(0);
}

int main(int argc, char **argv)
{
	struct bench_args args;
	enum bench_exit status;
	int provided, index, count;

	/* the names of cvars are known once the library is up */
	MPI_Init(&argc, &argv);
	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	if (!bench_args_parse(&args, argc, argv) || args.dtype == BENCH_FLOAT16 ||
	    args.dtype == BENCH_BFLOAT16 || args.redop == BENCH_MEAN) {
		fprintf(stderr, "mpi: %s\n", args.error[0] ? args.error :
			"float32, int32 or int64, sum, min or max");
		MPI_Abort(MPI_COMM_WORLD, BENCH_USAGE);
	}
	if (usage_init(args.idle_file))
		MPI_Abort(MPI_COMM_WORLD, BENCH_USAGE);
	me.comm = MPI_COMM_WORLD;
	me.sys = (struct bench_system){
		.name = library(), .wire = "float32",
		.run = run, .start = start, .wait = wait,
		.barrier = barrier, .gather = gather, .error = error,
	};
	MPI_Comm_rank(MPI_COMM_WORLD, &me.sys.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &me.sys.size);
	me.sys.bound = bench_bound_ieee(args.dtype, me.sys.size);
	index = find_cvar();
	if (index >= 0 && !MPI_T_cvar_handle_alloc(index, NULL, &me.cvar, &count)) {
		me.sys.algorithms = me.name;
		me.sys.select = choose;
	}
	status = bench_run(&args, &me.sys);
	if (status != BENCH_OK)
		MPI_Abort(MPI_COMM_WORLD, status);
	fflush(stdout);
	signal(SIGALRM, leave);
	alarm(ENDING);
	MPI_T_finalize();
	MPI_Finalize();
	return 0;
}
