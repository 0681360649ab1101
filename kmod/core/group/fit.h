/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is wrong with a group as a whole: parameters, sync mode and ranks that do not fit. The list
 * is for all that read a configuration, and has a sentence for each. And what is wrong between two
 * groups of one host.
 *
 *	struct gagg_fit fit = { .v = &params, .sync = &sync, .roster = &roster };
 *
 *	while (gagg_fit_next(&fit, &bad))
 *		say it
 */
#ifndef GAGG_CORE_FIT_H
#define GAGG_CORE_FIT_H

#include "group/roster.h"
#include "sync/sync.h"

/* what kind of a fault it is */
enum gagg_misfit_kind {
	GAGG_MISFIT_BAD,
	GAGG_MISFIT_RANGE,	/* a number is too small, or too large */
	GAGG_MISFIT_FAMILY,	/* IPv4 beside IPv6 */
	GAGG_MISFIT_MANY,	/* there is no room for so many */
};

/**
 * struct gagg_misfit - what does not fit
 * @attr:	GAGG_GA_* that is to be changed
 * @kind:	enum gagg_misfit_kind
 * @why:	a sentence, a literal
 * @noun:	what @number is; NULL: there is no number to tell
 * @number:	such as the least value that fits
 */
struct gagg_misfit {
	u16 attr;
	u8 kind;
	const char *why;
	const char *noun;
	u32 number;
};

/**
 * struct gagg_fit - a group that is looked at
 * @v:		each in its range (gagg_params_check())
 * @sync:	one that hosts can carry out (gagg_sync_check())
 * @roster:	its ranks
 *
 * The caller sets these. The others begin as zero.
 */
struct gagg_fit {
	const struct gagg_params *v;
	const struct gagg_sync_param *sync;
	const struct gagg_roster *roster;
	/* private: */
	const struct gagg_sync_ops *ops;
	struct gagg_sums sums;
	u32 turn;
};

/* what does not fit, one after the other; false: nothing else */
bool gagg_fit_next(struct gagg_fit *f, struct gagg_misfit *bad);

/*
 * gagg_fit_workers - can the workers of @r have the sync mode
 * @number: how many they are
 *
 * Returns NULL or a sentence, a literal. NULL, too, as long as there is no worker: groups are made
 * before their members. It is not asked when members are added one by one, which makes several
 * groups on the way, in which a round requires all ranks.
 */
const char *gagg_fit_workers(const struct gagg_sync_param *sync, const struct gagg_roster *r,
			     u32 *number);

/* may two groups be beside each other on one address? */
enum gagg_beside {
	GAGG_BESIDE_FITS,
	GAGG_BESIDE_PORTS,	/* they have some UDP ports in common, and not all */
	GAGG_BESIDE_SAME_ID,	/* they have all, and nothing tells their datagrams apart */
};

enum gagg_beside gagg_fit_beside(const struct gagg_params *v, const struct gagg_params *other);
/* a sentence, a literal; NULL: they fit */
const char *gagg_beside_wrong(enum gagg_beside is);

#endif
