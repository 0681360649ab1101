// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"

#define SIZE_LIMIT	(1ULL << 40)

const char bench_args_usage[] =
	"Usage: gagg-bench OPERATION --group GROUP [OPTION...]\n"
	"       gagg-bench OPERATION --local N [OPTION...]\n"
	"\n"
	"Measures a collective operation of a group; started on all of its ranks with the\n"
	"same options. Rank 0 prints. OPERATION: all_reduce, reduce_scatter, all_gather,\n"
	"broadcast, or overlap (a non-blocking all-reduce beside computing).\n"
	"With --local it starts N ranks itself, each with a gagg-twin, on loopback.\n"
	"The options of nccl-tests are understood, too.\n"
	"\n"
	"  -b, --min SIZE       first size, bytes (K, M, G: times 1024, ...) (4K)\n"
	"  -e, --max SIZE       last size (64M)\n"
	"  -f, --factor N       each size is N times the one before (4)\n"
	"  -i, --step SIZE      or so much larger\n"
	"  -s, --sizes SIZE,... or these\n"
	"  -d, --dtype TYPE     float32, float16, bfloat16, int32, int64 (float32)\n"
	"  -o, --redop OP       sum, mean, min, max (sum)\n"
	"  -r, --root RANK      of broadcasts (0)\n"
	"  -n, --iters N        operations of each size (20)\n"
	"  -w, --warmup N       and before them, not timed (2)\n"
	"      --pause MS       before each operation, not timed: as a trainer computes (0)\n"
	"  -t, --budget S       fewer, when they have taken S seconds\n"
	"  -c, --check N        results are checked in any case\n"
	"      --no-plan        without a plan, which keeps exponents between calls\n"
	"      --seed N         of the elements (1)\n"
	"  -j, --json           JSON\n"
	"  -g, --group GROUP    group to join\n"
	"      --rank RANK      rank to be (the lowest that is free)\n"
	"      --socket PATH    where gaggd listens ($GAGG_SOCKET)\n"
	"      --timeout S      to join, and for each operation (60)\n"
	"      --local N        ranks on this machine, of a group of their own\n"
	"  -h, --help\n";

static bool arg_fail(struct bench_args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static bool arg_fail(struct bench_args *a, const char *fmt, ...)
{
	va_list ap;

	/* the first error is kept: the others may follow from it */
	if (!a->error[0]) {
		va_start(ap, fmt);
		vsnprintf(a->error, sizeof(a->error), fmt, ap);
		va_end(ap);
	}
	return false;
}

/* a number up to @max, in decimal; @end receives what follows it */
static bool arg_number(const char *text, uint64_t max, uint64_t *out, char **end)
{
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, end, 10);
	return !errno && *out <= max;
}

static void arg_take_number(struct bench_args *a, const char *what, uint64_t min, uint64_t max,
			    uint64_t *out)
{
	uint64_t v = 0;
	char *end;

	if (!arg_number(optarg, max, &v, &end) || *end || v < min)
		arg_fail(a, "%s: a number from %llu to %llu, not '%s'", what,
			 (unsigned long long)min, (unsigned long long)max, optarg);
	*out = v;
}

static void arg_take_int(struct bench_args *a, const char *what, int min, int max, int *out)
{
	uint64_t v;

	arg_take_number(a, what, (uint64_t)min, (uint64_t)max, &v);
	*out = (int)v;
}

/* bytes, with a suffix; @end receives what follows */
static bool arg_size_of(const char *text, size_t *out, char **end)
{
	static const char suffixes[] = "KMG";
	const char *s;
	uint64_t v;

	if (!arg_number(text, SIZE_LIMIT, &v, end))
		return false;
	s = **end ? strchr(suffixes, **end) : NULL;
	if (s) {
		v <<= 10 * (s - suffixes + 1);
		(*end)++;
	}
	*out = v;
	return v && v <= SIZE_LIMIT;
}

static void arg_take_size(struct bench_args *a, const char *what, size_t *out)
{
	char *end;

	if (!arg_size_of(optarg, out, &end) || *end)
		arg_fail(a, "%s: bytes, such as 4K or 64M, not '%s'", what, optarg);
}

static void arg_take_sizes(struct bench_args *a)
{
	char *at = optarg;

	for (a->nsizes = 0; a->nsizes < BENCH_SIZES; at++) {
		if (!arg_size_of(at, &a->sizes[a->nsizes], &at))
			break;
		a->nsizes++;
		if (!*at)
			return;
		if (*at != ',')
			break;
	}
	arg_fail(a, "--sizes: at most %d, such as 4K,64K,1M, not '%s'", BENCH_SIZES, optarg);
}

static void arg_take_seconds(struct bench_args *a, const char *what, double *out)
{
	char *end;

	*out = strtod(optarg, &end);
	if (end == optarg || *end || !(*out > 0 && *out < 1e6))
		arg_fail(a, "%s: seconds, not '%s'", what, optarg);
}

enum {
	NO_PLAN = 256, PAUSE, SEED, RANK, SOCKET, TIMEOUT, LOCAL, ALGORITHM, IDLE, RANKS,
	RENDEZVOUS,
};

static const struct option options[] = {
	{ "min", 1, NULL, 'b' },
	{ "max", 1, NULL, 'e' },
	{ "factor", 1, NULL, 'f' },
	{ "step", 1, NULL, 'i' },
	{ "sizes", 1, NULL, 's' },
	{ "dtype", 1, NULL, 'd' },
	{ "redop", 1, NULL, 'o' },
	{ "root", 1, NULL, 'r' },
	{ "iters", 1, NULL, 'n' },
	{ "warmup", 1, NULL, 'w' },
	{ "pause", 1, NULL, PAUSE },
	{ "budget", 1, NULL, 't' },
	{ "no-plan", 0, NULL, NO_PLAN },
	{ "seed", 1, NULL, SEED },
	{ "json", 0, NULL, 'j' },
	{ "group", 1, NULL, 'g' },
	{ "rank", 1, NULL, RANK },
	{ "socket", 1, NULL, SOCKET },
	{ "timeout", 1, NULL, TIMEOUT },
	{ "check", 1, NULL, 'c' },
	{ "local", 1, NULL, LOCAL },
	{ "help", 0, NULL, 'h' },
	/* for drivers of other systems, and for counting instructions */
	{ "algorithm", 1, NULL, ALGORITHM },
	{ "idle-file", 1, NULL, IDLE },
	{ "ranks", 1, NULL, RANKS },
	{ "rendezvous", 1, NULL, RENDEZVOUS },
	/* as nccl-tests has them */
	{ "minbytes", 1, NULL, 'b' },
	{ "maxbytes", 1, NULL, 'e' },
	{ "stepfactor", 1, NULL, 'f' },
	{ "stepbytes", 1, NULL, 'i' },
	{ "datatype", 1, NULL, 'd' },
	{ "op", 1, NULL, 'o' },
	{ "warmup_iters", 1, NULL, 'w' },
	{ 0 }
};

static void arg_take_word(struct bench_args *a, int opt)
{
	switch (opt) {
	case 'd':
		if (!bench_dtype_parse(optarg, &a->dtype))
			arg_fail(a, "no element type '%s'; there are: float32, float16, bfloat16, int32, int64",
				 optarg);
		break;
	case 'o':
		if (!bench_redop_parse(optarg, &a->redop))
			arg_fail(a, "no operator '%s'; there are: sum, mean, min, max", optarg);
		break;
	case 'g':
		a->group = optarg;
		break;
	case SOCKET:
		a->socket = optarg;
		break;
	case ALGORITHM:
		a->algorithm = optarg;
		break;
	case IDLE:
		a->idle_file = optarg;
		break;
	case RENDEZVOUS:
		a->rendezvous = optarg;
		break;
	}
}

static void arg_take(struct bench_args *a, int opt)
{
	uint64_t ignored;

	switch (opt) {
	case 'b':
		arg_take_size(a, "--min", &a->min);
		break;
	case 'e':
		arg_take_size(a, "--max", &a->max);
		break;
	case 'f':
		arg_take_number(a, "--factor", 2, 1 << 20, &a->factor);
		a->step = 0;
		break;
	case 'i':
		arg_take_size(a, "--step", &a->step);
		break;
	case 's':
		arg_take_sizes(a);
		break;
	case 'r':
		arg_take_int(a, "--root", 0, BENCH_RANKS - 1, &a->root);
		break;
	case 'n':
		arg_take_int(a, "--iters", 1, 1000000, &a->iters);
		break;
	case 'w':
		arg_take_int(a, "--warmup", 0, 1000000, &a->warmup);
		break;
	case PAUSE:
		arg_take_int(a, "--pause", 0, 600000, &a->pause);
		break;
	case 't':
		arg_take_seconds(a, "--budget", &a->budget);
		break;
	case NO_PLAN:
		a->plan = false;
		break;
	case SEED:
		arg_take_number(a, "--seed", 0, UINT64_MAX, &a->seed);
		break;
	case 'j':
		a->json = true;
		break;
	case RANK:
		arg_take_int(a, "--rank", 0, BENCH_RANKS - 1, &a->rank);
		break;
	case RANKS:
		arg_take_int(a, "--ranks", 1, BENCH_RANKS, &a->ranks);
		break;
	case TIMEOUT:
		arg_take_int(a, "--timeout", 1, 1000000, &a->timeout);
		break;
	case 'c':
		arg_take_number(a, "--check", 1, UINT64_MAX, &ignored);
		break;
	case LOCAL:
		arg_take_int(a, "--local", 1, BENCH_RANKS, &a->local);
		break;
	case 'h':
		a->help = true;
		break;
	default:
		arg_take_word(a, opt);
	}
}

static bool arg_agree(struct bench_args *a)
{
	if (a->error[0])
		return false;
	if (a->max < a->min)
		return arg_fail(a, "--max is less than --min");
	if (bench_reduces(a->kind) && !bench_dtype_float(a->dtype) && a->redop == BENCH_MEAN)
		return arg_fail(a, "there is no mean of %s", bench_dtype_name(a->dtype));
	if (bench_reduces(a->kind) && a->dtype == BENCH_INT64 && a->redop != BENCH_SUM)
		return arg_fail(a, "of int64 there are sums only");
	if (a->kind == BENCH_OVERLAP && a->pause)
		return arg_fail(a, "overlap computes by itself: no --pause");
	if (a->local && (a->group || a->socket || a->rank >= 0))
		return arg_fail(a, "--local has a group of its own: no --group, --rank or --socket");
	return true;
}

bool bench_args_parse(struct bench_args *a, int argc, char **argv)
{
	bool kind = false;
	int opt;

	*a = (struct bench_args){
		.min = 4 << 10, .max = 64 << 20, .factor = 4, .iters = 20, .warmup = 2,
		.seed = 1, .plan = true, .rank = -1, .timeout = 60,
	};
	optind = 0;
	/* '-': a word that is no option comes as option 1; ':': we report errors ourselves */
	while ((opt = getopt_long(argc, argv, "-:b:e:f:i:s:d:o:r:n:w:t:c:jg:h", options,
				  NULL)) != -1) {
		if (opt == '?') {
			arg_fail(a, "no option '%s'; try --help", argv[optind - 1]);
		} else if (opt == ':') {
			arg_fail(a, "%s needs a value", argv[optind - 1]);
		} else if (opt != 1) {
			arg_take(a, opt);
		} else if (kind) {
			arg_fail(a, "'%s' is one word too many", optarg);
		} else {
			kind = bench_kind_parse(optarg, &a->kind);
			if (!kind)
				arg_fail(a, "no operation '%s'; there are: all_reduce, reduce_scatter, all_gather, broadcast, overlap",
					 optarg);
		}
	}
	if (a->help)
		return true;
	if (optind < argc)
		return arg_fail(a, "'%s' is one word too many", argv[optind]);
	if (!kind)
		return arg_fail(a, "which operation? try --help");
	return arg_agree(a);
}

size_t bench_args_next(const struct bench_args *a, size_t size)
{
	size_t next = a->step ? size + a->step : size * a->factor;

	for (int i = 0; i < a->nsizes; i++)
		if (!size || a->sizes[i] == size)
			return !size ? a->sizes[0] : i + 1 < a->nsizes ? a->sizes[i + 1] : 0;
	if (!size)
		return a->min;
	return next > size && next <= a->max ? next : 0;
}

bool bench_args_algorithm(const struct bench_args *a, const char *name)
{
	size_t n = strlen(name);

	if (!a->algorithm)
		return true;
	for (const char *at = a->algorithm; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, n) && (!at[n] || at[n] == ','))
			return true;
	}
	return false;
}
