// SPDX-License-Identifier: GPL-2.0
/* The modes by number: which there are, and what one of them means to the rest of the core. */
#include "sync/internal.h"

static const struct gagg_sync_ops *const modes[] = {
	[GAGG_SYNC_BSP] = &gagg_sync_bsp,
	[GAGG_SYNC_ASP] = &gagg_sync_asp,
	[GAGG_SYNC_SSP] = &gagg_sync_ssp,
	[GAGG_SYNC_DSSP] = &gagg_sync_dssp,
	[GAGG_SYNC_DSSP_LITERAL] = &gagg_sync_dssp_literal,
	[GAGG_SYNC_R2SP] = &gagg_sync_r2sp,
	[GAGG_SYNC_BSP_QUORUM] = &gagg_sync_bsp_quorum,
	[GAGG_SYNC_BSP_DEADLINE] = &gagg_sync_bsp_deadline,
	[GAGG_SYNC_BSP_ADAPTIVE] = &gagg_sync_bsp_adaptive,
	[GAGG_SYNC_AKO] = &gagg_sync_ako,
	[GAGG_SYNC_GOSSIP_PULL] = &gagg_sync_gossip_pull,
	[GAGG_SYNC_GOSSIP_PUSH] = &gagg_sync_gossip_push,
	[GAGG_SYNC_GOSSIP_PAIR] = &gagg_sync_gossip_pair,
	[GAGG_SYNC_PUSH_SUM] = &gagg_sync_push_sum,
	[GAGG_SYNC_EASGD] = &gagg_sync_easgd,
};

#define NMODES	(sizeof(modes) / sizeof(modes[0]))

_Static_assert(NMODES <= GAGG_SYNC_ROUNDS, "a mode has the number of an algorithm over rounds");

const struct gagg_sync_ops *gagg_sync_get(u32 mode)
{
	if (mode < NMODES)
		return modes[mode];
	return mode >= GAGG_SYNC_ROUNDS && mode <= GAGG_SYNC_ROUNDS_MAX ?
		       &gagg_sync_algorithm : NULL;
}

static const char sync_unknown[] =
	"unknown sync mode: none that hosts carry out, nor an algorithm (128 to 255)";
static const char sync_out_of_range[] =
	"a parameter of the sync mode is out of its range, or there are too many";

const char *gagg_sync_check(const struct gagg_sync_param *p)
{
	const struct gagg_sync_ops *ops = gagg_sync_get(p->mode);
	u32 i;

	if (!ops)
		return sync_unknown;
	for (i = 0; i < GAGG_SYNC_ARGS; i++)
		if (p->arg[i] < ops->arg[i].min || p->arg[i] > ops->arg[i].max)
			return sync_out_of_range;
	if (ops->fits && !ops->fits(p))
		return "the parameters of the sync mode do not fit each other";
	return NULL;
}

const char *gagg_sync_fits(const struct gagg_sync_param *p, u32 workers)
{
	if (gagg_sync_get(p->mode)->quorum && p->arg[0] > workers)
		return "K of the sync mode must be at most the number of workers";
	if (gagg_sync_get(p->mode)->copies && workers < 2)
		return "the sync mode needs at least two workers";
	return NULL;
}

u32 gagg_sync_bound(const struct gagg_sync_param *p)
{
	const struct gagg_sync_ops *ops = gagg_sync_get(p->mode);

	return ops->bounded ? p->arg[ops->nargs - 1] : ~0U;
}

void gagg_sync_apply(struct gagg_geom *g, const struct gagg_sync_param *p)
{
	const struct gagg_sync_ops *ops = gagg_sync_get(p->mode);

	g->sync = *p;
	g->store = ops->store;
	g->copies = ops->copies;
	g->snapshot = ops->snapshot && ops->snapshot(p);
	g->ordered = !!ops->may_update;
	g->admits = g->snapshot || g->ordered;
	g->quorum = ops->quorum;
}

void gagg_sync_tell(const struct gagg_sync_param *p, struct gagg_geometry *geo)
{
	const struct gagg_sync_ops *ops = gagg_sync_get(p->mode);

	geo->mode = p->mode;
	memcpy(geo->arg, p->arg, sizeof(geo->arg));
	if (ops->quorum && p->arg[ops->nargs - 1])
		geo->flags |= GAGG_GEO_CARRY;
}
