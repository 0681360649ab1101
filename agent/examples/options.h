/* SPDX-License-Identifier: GPL-2.0 */
/* What digits was started with. */
#ifndef EXAMPLES_OPTIONS_H
#define EXAMPLES_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "delay.h"

#define SEEDS_MAX	64

/**
 * struct options - how digits trains
 * @path:	the samples
 * @group:	NULL: alone
 * @rank:	-1: any that is free
 * @epochs:	of each training
 * @seed:	a training for each
 * @seeds:	how many
 * @balance:	batches follow the speeds of ranks
 * @cache:	tables are read when the mode makes it necessary
 * @curve:	rank 0 prints how it went
 * @feedback:	error feedback
 * @measure:	how many partitions ako should have
 * @prefetch:	tables are read while a batch is learned from
 * @rate:	of descent; 0: the mode's
 * @momentum:	below 0: the mode's
 * @until:	percent that are enough; 0: no end but @epochs
 * @delay:	how long this rank takes
 */
struct options {
	const char *path;
	const char *group;
	long rank;
	int epochs;
	uint64_t seed[SEEDS_MAX];
	int seeds;
	bool balance;
	bool cache;
	bool curve;
	bool feedback;
	bool measure;
	bool prefetch;
	float rate;
	float momentum;
	double until;
	struct delay delay;
};

/* false: they are not as options_say() says */
bool options_parse(struct options *o, int argc, char **argv);

/* to standard error */
void options_say(void);

#endif
