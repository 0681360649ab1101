/* SPDX-License-Identifier: GPL-2.0 */
/* A training: alone, or with others as the group's sync mode says. */
#ifndef EXAMPLES_LEARN_H
#define EXAMPLES_LEARN_H

#include <gagg.h>
#include <gagg_table.h>

#include "curve.h"
#include "net.h"
#include "options.h"
#include "samples.h"

#define BATCH		128
#define ENOUGH		1

/**
 * struct learner - who learns what from what, and how far it has come
 * @how:	options
 * @d:		samples
 * @m:		weights
 * @comm:	NULL: alone
 * @plan:	of gradients; NULL: alone
 * @curve:	NULL: none is wanted, or not of this rank
 * @delay:	how long this rank takes
 *
 * The others are 0 at first:
 *
 * @batch:	NULL: batches do not follow the speeds of ranks
 * @table:	NULL: tables are not what the mode has
 * @replica:	NULL: replicas are not what the mode has
 * @g:		gradient of the last batch, or of this rank's part of it
 * @speed:	of the weights: the last step
 * @begin:	with a table: the first weights,
 * @moved:	and what the others and this rank have added to them, as read last
 * @centre:	with elastic averaging: the centre, as it was looked at last
 * @loss:	sum of this epoch
 * @steps:	so many were made
 */
struct learner {
	const struct options *how;
	struct data *d;
	struct model *m;
	struct gagg_comm *comm;
	struct gagg_plan *plan;
	struct curve *curve;
	struct delay delay;

	struct gagg_batch *batch;
	struct gagg_table *table;
	struct gagg_replica *replica;
	struct gradient g;
	struct model speed;
	struct model begin;
	struct model moved;
	struct model centre;
	float loss;
	int steps;
};

/* ENOUGH: there is, on rank 0, what options want; or an error of gagg */
int learn(struct learner *l);

#endif
