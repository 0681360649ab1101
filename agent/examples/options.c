// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"

#define SEED		0x9e3779b97f4a7c15ULL

void options_say(void)
{
	fprintf(stderr,
		"Usage: digits --single [OPTION]...\n"
		"       digits --group NAME [--rank R] [OPTION]...\n"
		"\n"
		"  --epochs N        30\n"
		"  --data FILE\n"
		"  --seed N[,N]...   of weights, split and order of samples; the same on all ranks.\n"
		"                    Of several each has a training of its own, one after the other\n"
		"  --balance         batches follow the speeds of ranks, in a group with sync bsp,\n"
		"                    localsgd or r2sp\n"
		"  --feedback        what a group with wire int16 or int8 leaves out of a gradient\n"
		"                    is added to the next\n"
		"  --cache           in a group with sync ssp or dssp weights are read only when\n"
		"                    those that were read before have become too old for the mode\n"
		"  --prefetch        in a group with a store weights are read while a batch is\n"
		"                    learned from, for the next one: they lack a clock more of what\n"
		"                    others have learned than without it. With --cache only when\n"
		"                    those that were read before are too old\n"
		"  --measure         prints how many partitions a group with sync ako should have\n"
		"  --slow US         every sample takes so many microseconds longer here\n"
		"  --transient P:F   P percent of the batches take F times that long\n"
		"  --scatter US      begins with a whole second of the host's clock, and up to so many\n"
		"                    microseconds after it, as drawn: what happened before does not\n"
		"                    matter. For ranks that share a clock\n"
		"  --curve           prints, of rank 0, \"curve STEPS MS LOSS ACCURACY\" for each step\n"
		"                    (easgd, easgd-sync: the accuracy of the centre)\n"
		"  --until PERCENT   ends the training of all ranks as soon as rank 0 recognises so\n"
		"                    many of the samples held out. It tries after each step\n"
		"  --rate R          of descent (0.1; hpsgd: 0.2)\n"
		"  --momentum M      (0.9; hpsgd: 0)\n");
}

/* from 0 to 10 */
static bool option_fraction(const char *text, float *out)
{
	char *end;

	*out = strtof(text, &end);
	return end != text && !*end && *out >= 0 && *out <= 10;
}

static bool option_percent(const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && *out > 0 && *out <= 100;
}

static bool option_seeds(struct options *o, const char *text)
{
	char *end;

	for (o->seeds = 0; o->seeds < SEEDS_MAX; text = end + 1) {
		o->seed[o->seeds] = strtoull(text, &end, 0);
		/* xorshift stays at 0 for ever */
		if (end == text || !o->seed[o->seeds++])
			return false;
		if (*end != ',')
			return !*end;
	}
	return false;
}

/* false: that is no such option, or its argument is not as it has to be */
static bool option_take(struct options *o, int option)
{
	switch (option) {
	case 'g':
		o->group = optarg;
		return true;
	case 'r':
		o->rank = atol(optarg);
		return true;
	case 'e':
		o->epochs = atoi(optarg);
		return o->epochs >= 0;
	case 'd':
		o->path = optarg;
		return true;
	case 'i':
		return option_seeds(o, optarg);
	case 'w':
		o->delay.slow = (unsigned int)atoi(optarg);
		return true;
	case 't':
		return delay_parse(&o->delay, optarg);
	case 'c':
		o->delay.scatter = atoi(optarg);
		return o->delay.scatter >= 0;
	case 'u':
		return option_percent(optarg, &o->until);
	case 'a':
		return option_fraction(optarg, &o->rate) && o->rate > 0;
	case 'o':
		return option_fraction(optarg, &o->momentum);
	default:
		return false;
	}
}

bool options_parse(struct options *o, int argc, char **argv)
{
	int single = 0, balance = 0, cache = 0, curve = 0, feedback = 0, measure = 0, prefetch = 0;
	const struct option options[] = {
		{ "single", no_argument, &single, 1 },
		{ "balance", no_argument, &balance, 1 },
		{ "cache", no_argument, &cache, 1 },
		{ "curve", no_argument, &curve, 1 },
		{ "feedback", no_argument, &feedback, 1 },
		{ "measure", no_argument, &measure, 1 },
		{ "prefetch", no_argument, &prefetch, 1 },
		{ "group", required_argument, NULL, 'g' },
		{ "rank", required_argument, NULL, 'r' },
		{ "epochs", required_argument, NULL, 'e' },
		{ "data", required_argument, NULL, 'd' },
		{ "seed", required_argument, NULL, 'i' },
		{ "slow", required_argument, NULL, 'w' },
		{ "transient", required_argument, NULL, 't' },
		{ "scatter", required_argument, NULL, 'c' },
		{ "until", required_argument, NULL, 'u' },
		{ "rate", required_argument, NULL, 'a' },
		{ "momentum", required_argument, NULL, 'o' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	*o = (struct options){
		.path = "agent/examples/data/digits.csv.gz",
		.rank = -1,
		.epochs = 30,
		.seed = { SEED },
		.seeds = 1,
		.momentum = -1,
		.delay = { .scatter = -1 },
	};
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (c && !option_take(o, c))
			return false;
	o->balance = balance;
	o->cache = cache;
	o->curve = curve;
	o->feedback = feedback;
	o->measure = measure;
	o->prefetch = prefetch;
	return optind == argc && single != !!o->group;
}
