// SPDX-License-Identifier: GPL-2.0
/* links: agent/bench/args.c agent/bench/op.c */
/* The command line of gagg-bench, and the sizes that follow from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "bench/args.h"

#define WORDS	32

/* the command line, split at blanks */
static bool parse(struct bench_args *a, const char *line)
{
	static char words[512];
	char *argv[WORDS + 1] = { "gagg-bench" }, *rest = words;
	int argc = 1;

	snprintf(words, sizeof(words), "%s", line);
	while (rest && argc < WORDS)
		argv[argc++] = strsep(&rest, " ");
	return bench_args_parse(a, argc, argv);
}

static void test_defaults(void **state)
{
	(void)state;
	struct bench_args a;

	assert_true(parse(&a, "all_reduce"));
	assert_int_equal(a.kind, BENCH_ALL_REDUCE);
	assert_int_equal(a.dtype, BENCH_FLOAT32);
	assert_int_equal(a.redop, BENCH_SUM);
	assert_int_equal(a.min, 4096);
	assert_int_equal(a.max, 64 << 20);
	assert_int_equal(a.factor, 4);
	assert_int_equal(a.rank, -1);
	assert_true(a.plan);
	assert_false(a.json);
}

static void test_options(void **state)
{
	(void)state;
	struct bench_args a;

	assert_true(parse(&a, "-b 4K broadcast -e 2M -f 2 -d int32 -o max -r 3 -n 7 -w 0 --pause 20 -j"));
	assert_int_equal(a.kind, BENCH_BROADCAST);
	assert_int_equal(a.min, 4 << 10);
	assert_int_equal(a.max, 2 << 20);
	assert_int_equal(a.factor, 2);
	assert_int_equal(a.dtype, BENCH_INT32);
	assert_int_equal(a.redop, BENCH_MAX);
	assert_int_equal(a.root, 3);
	assert_int_equal(a.iters, 7);
	assert_int_equal(a.warmup, 0);
	assert_int_equal(a.pause, 20);
	assert_true(a.json);
	assert_true(parse(&a, "overlap --group train --rank 2 --socket /s --timeout 9 --no-plan"
			  " --seed 18446744073709551615 -t 0.5 -e 1G"));
	assert_int_equal(a.pause, 0);
	assert_string_equal(a.group, "train");
	assert_string_equal(a.socket, "/s");
	assert_int_equal(a.rank, 2);
	assert_int_equal(a.timeout, 9);
	assert_false(a.plan);
	assert_true(a.seed == UINT64_MAX);
	assert_true(a.budget == 0.5);
	assert_int_equal(a.max, 1 << 30);
	assert_true(parse(&a, "all_reduce --local 4"));
	assert_int_equal(a.local, 4);
	assert_null(a.group);
	assert_true(parse(&a, "--help and what not"));
	assert_true(a.help);
}

/* a command line for nccl-tests */
static void test_nccl(void **state)
{
	(void)state;
	struct bench_args a;

	assert_true(parse(&a, "all_reduce -b 8 -e 128M -f 2 -d float -o avg -c 1 -n 20 -w 5"));
	assert_int_equal(a.dtype, BENCH_FLOAT32);
	assert_int_equal(a.redop, BENCH_MEAN);
	assert_int_equal(a.min, 8);
	assert_int_equal(a.warmup, 5);
	assert_true(parse(&a, "all_reduce --minbytes 1K --maxbytes 2K --stepbytes 512 --op min"
			  " --datatype half --warmup_iters 3 --check 1"));
	assert_int_equal(a.dtype, BENCH_FLOAT16);
	assert_int_equal(a.redop, BENCH_MIN);
	assert_int_equal(a.min, 1 << 10);
	assert_int_equal(a.max, 2 << 10);
	assert_int_equal(a.step, 512);
	assert_int_equal(a.warmup, 3);
	assert_true(parse(&a, "all_reduce --stepfactor 8"));
	assert_int_equal(a.factor, 8);
}

static void refused(const char *line, const char *sentence)
{
	struct bench_args a;

	if (parse(&a, line))
		fail_msg("accepted: %s", line);
	if (!strstr(a.error, sentence))
		fail_msg("%s: says '%s'", line, a.error);
}

static void test_refused(void **state)
{
	(void)state;
	refused("", "no operation ''");
	refused("-n 3", "which operation?");
	refused("all_reduce twice", "'twice' is one word too many");
	refused("all_reduce -- twice", "'twice' is one word too many");
	refused("allreduce", "no operation 'allreduce'; there are: all_reduce");
	refused("all_reduce -b", "-b needs a value");
	refused("all_reduce --frob", "no option '--frob'");
	refused("all_reduce -b 0", "bytes, such as");
	refused("all_reduce -b 4X", "not '4X'");
	refused("all_reduce -b 4KB", "not '4KB'");
	refused("all_reduce -b -4", "not '-4'");
	refused("all_reduce -e 99999999999G", "bytes");
	refused("all_reduce -s 4K,", "--sizes: at most 16");
	refused("all_reduce -s 4K;8K", "not '4K;8K'");
	refused("all_reduce -s 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "--sizes");
	refused("all_reduce -b 2M -e 1M", "--max is less than --min");
	refused("all_reduce -f 1", "from 2 to");
	refused("all_reduce -n 0", "--iters");
	refused("all_reduce --pause 600001", "--pause: a number from 0 to 600000");
	refused("overlap --pause 1", "overlap computes by itself: no --pause");
	refused("all_reduce -n 2x", "--iters");
	refused("all_reduce -r 64", "--root");
	refused("all_reduce -t 0", "--budget");
	refused("all_reduce -t nan", "--budget");
	refused("all_reduce -d double", "no element type 'double'");
	refused("all_reduce -c 0", "--check: a number from 1");
	refused("all_reduce -d avg", "no element type 'avg'");
	refused("all_reduce --local 0", "--local");
	refused("all_reduce --local 65", "--local");
	refused("all_reduce --local 4 --group g", "a group of its own");
	refused("all_reduce --local 4 --rank 0", "a group of its own");
	refused("all_reduce --local 4 --socket /s", "a group of its own");
	refused("all_reduce -o prod", "no operator 'prod'");
	refused("all_reduce -d int32 -o mean", "no mean of int32");
	refused("all_reduce -d int64 -o mean", "no mean of int64");
	refused("reduce_scatter -d int64 -o max", "of int64 there are sums only");
	/* the first is told */
	refused("all_reduce -n 0 -f 1", "--iters");
}

static void test_sizes(void **state)
{
	(void)state;
	struct bench_args a;

	assert_true(parse(&a, "all_reduce -b 4K -e 64K -f 4"));
	assert_int_equal(bench_args_next(&a, 0), 4 << 10);
	assert_int_equal(bench_args_next(&a, 4 << 10), 16 << 10);
	assert_int_equal(bench_args_next(&a, 16 << 10), 64 << 10);
	assert_int_equal(bench_args_next(&a, 64 << 10), 0);
	assert_true(parse(&a, "all_reduce -b 100 -e 250 -i 100"));
	assert_int_equal(bench_args_next(&a, 100), 200);
	assert_int_equal(bench_args_next(&a, 200), 0);
	assert_true(parse(&a, "all_reduce -s 1M,4K,3"));
	assert_int_equal(bench_args_next(&a, 0), 1 << 20);
	assert_int_equal(bench_args_next(&a, 1 << 20), 4 << 10);
	assert_int_equal(bench_args_next(&a, 4 << 10), 3);
	assert_int_equal(bench_args_next(&a, 3), 0);
}

static void test_algorithms(void **state)
{
	struct bench_args a;

	(void)state;
	assert_true(parse(&a, "all_reduce"));
	assert_true(bench_args_algorithm(&a, "ring"));
	assert_true(parse(&a, "all_reduce --algorithm ring_seg,tree"));
	assert_true(bench_args_algorithm(&a, "ring_seg"));
	assert_true(bench_args_algorithm(&a, "tree"));
	assert_false(bench_args_algorithm(&a, "ring"));
	assert_false(bench_args_algorithm(&a, "tre"));
	assert_false(bench_args_algorithm(&a, ""));
}

/* size is that of the larger buffer, as nccl-tests has it */
static void test_counts(void **state)
{
	(void)state;
	static const struct {
		enum bench_kind kind;
		size_t count, send, recv;
		double bus;
	} want[] = {
		{ BENCH_ALL_REDUCE, 1024, 1024, 1024, 1.5 },
		{ BENCH_OVERLAP, 1024, 1024, 1024, 1.5 },
		{ BENCH_REDUCE_SCATTER, 256, 1024, 256, 0.75 },
		{ BENCH_ALL_GATHER, 256, 256, 1024, 0.75 },
		{ BENCH_BROADCAST, 1024, 1024, 1024, 1 },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct bench_op op = { .kind = want[i].kind };

		op.count = bench_count(op.kind, BENCH_FLOAT32, 4, 4096);
		assert_int_equal(op.count, want[i].count);
		assert_int_equal(bench_send_count(&op, 4), want[i].send);
		assert_int_equal(bench_recv_count(&op, 4), want[i].recv);
		assert_int_equal(bench_bytes(&op, 4), 4096);
		assert_true(bench_bus_factor(op.kind, 4) == want[i].bus);
	}
	assert_int_equal(bench_count(BENCH_ALL_GATHER, BENCH_FLOAT16, 4, 8), 1);
	assert_int_equal(bench_count(BENCH_ALL_GATHER, BENCH_FLOAT32, 64, 4), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_nccl),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_algorithms),
		cmocka_unit_test(test_counts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
