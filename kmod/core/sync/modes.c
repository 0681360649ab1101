// SPDX-License-Identifier: GPL-2.0
/*
 * The modes by name, and their parameters as text.
 */
#include "sync/internal.h"

static const struct gagg_sync_ops *const modes[] = {
	[GAGG_SYNC_BSP] = &gagg_sync_bsp,
	[GAGG_SYNC_ASP] = &gagg_sync_asp,
	[GAGG_SYNC_SSP] = &gagg_sync_ssp,
	[GAGG_SYNC_DSSP] = &gagg_sync_dssp,
	[GAGG_SYNC_DSSP_LITERAL] = &gagg_sync_dssp_literal,
	[GAGG_SYNC_R2SP] = &gagg_sync_r2sp,
	[GAGG_SYNC_LOCALSGD] = &gagg_sync_localsgd,
	[GAGG_SYNC_EASGD_SYNC] = &gagg_sync_easgd_sync,
	[GAGG_SYNC_HPSGD] = &gagg_sync_hpsgd,
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

const struct gagg_sync_ops *gagg_sync_get(u32 index)
{
	return index < NMODES ? modes[index] : NULL;
}

/* the text behind @name if that is what @text begins with, else NULL */
static const char *mode_behind(const char *text, const char *name)
{
	while (*name && *text == *name) {
		text++;
		name++;
	}
	return !*name && (!*text || *text == ':') ? text : NULL;
}

/* decimal digits up to ':' or the end, at most 10^9; NULL: something else */
static const char *mode_number(const char *text, u32 *n)
{
	const char *at = text;

	for (*n = 0; *at >= '0' && *at <= '9' && at - text < 9; at++)
		*n = *n * 10 + (u32)(*at - '0');
	return at > text && (!*at || *at == ':') ? at : NULL;
}

static const char *mode_parse_args(const char *at, const struct gagg_sync_ops *ops,
				   struct gagg_sync_param *p)
{
	u32 i;

	for (i = 0; i < ops->nargs; i++) {
		if (*at != ':')
			return ops->usage;
		at = mode_number(at + 1, &p->arg[i]);
		if (!at || p->arg[i] < ops->arg[i].min || p->arg[i] > ops->arg[i].max)
			return ops->arg[i].wrong;
	}
	if (*at)
		return ops->usage;
	return ops->check ? ops->check(p) : NULL;
}

const char *gagg_sync_parse(const char *text, struct gagg_sync_param *p)
{
	u32 i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < NMODES; i++) {
		const char *at = mode_behind(text, modes[i]->name);

		if (!at)
			continue;
		p->mode = i;
		return mode_parse_args(at, modes[i], p);
	}
	return "unknown sync mode; `gaggctl sync list` shows those there are";
}

static char *mode_put(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

static char *mode_put_number(char *at, u32 n)
{
	char digits[10];
	u32 i = 0;

	do {
		digits[i++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (i)
		*at++ = digits[--i];
	return at;
}

/* 15 characters of a name, GAGG_SYNC_ARGS times 11 of a parameter */
_Static_assert(15 + GAGG_SYNC_ARGS * 11 < GAGG_SYNC_MAX, "a mode does not fit");

void gagg_sync_print(const struct gagg_sync_param *p, char *text)
{
	const struct gagg_sync_ops *ops = gagg_sync_get(p->mode);
	char *at = mode_put(text, ops->name);
	u32 i;

	for (i = 0; i < ops->nargs; i++) {
		*at++ = ':';
		at = mode_put_number(at, p->arg[i]);
	}
	*at = 0;
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
