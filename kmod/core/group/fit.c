// SPDX-License-Identifier: GPL-2.0
#include "group/fit.h"
#include <linux/gagg_netlink.h>

#define SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static bool fit_not_window(const struct gagg_fit *f, u32 *number)
{
	*number = f->v->window;
	return f->v->ring % f->v->window;
}

static bool fit_not_ports(const struct gagg_fit *f, u32 *number)
{
	*number = 65536 - f->v->shards;
	return f->v->port > *number;
}

static bool fit_not_shards(const struct gagg_fit *f, u32 *number)
{
	*number = f->v->shards;
	return f->ops->whole && *number > 1;
}

static bool fit_not_wide(const struct gagg_fit *f, u32 *number)
{
	(void)number;
	return f->v->lane_type == GAGG_LANE_TYPE_INT64 && !f->ops->store;
}

static bool fit_not_wire(const struct gagg_fit *f, u32 *number)
{
	(void)number;
	return f->v->wire && !f->ops->narrow;
}

/* with the family of the members, if they have one */
static bool fit_not_multicast_family(const struct gagg_fit *f, u32 *number)
{
	const struct gagg_roster *r = f->roster;
	u32 len = gagg_roster_family(r);

	(void)number;
	return r->multicast_len && len && r->multicast_len != len;
}

static bool fit_not_multicast(const struct gagg_fit *f, u32 *number)
{
	(void)number;
	return f->roster->multicast_len && f->ops->store;
}

static bool fit_not_placement(const struct gagg_fit *f, u32 *number)
{
	(void)number;
	return f->v->placement == GAGG_PLACE_TENSOR && f->ops->store;
}

static bool fit_not_family(const struct gagg_fit *f, u32 *number)
{
	*number = f->sums.odd;
	return f->sums.odd < GAGG_RANKS;
}

static bool fit_not_apart(const struct gagg_fit *f, u32 *number)
{
	(void)number;
	return f->ops->copies && f->sums.apart < f->sums.workers;
}

static bool fit_not_locals(const struct gagg_fit *f, u32 *number)
{
	*number = f->sums.most;
	return f->sums.most > GAGG_LOCALS;
}

static bool fit_not_ring(const struct gagg_fit *f, u32 *number)
{
	*number = 2 * f->v->stripe * f->v->shards * f->sums.hosts;
	return f->v->ring < *number;
}

/* without a sentence: the parameter has one (gagg_param.wrong) */
static const struct {
	bool (*is)(const struct gagg_fit *f, u32 *number);
	u16 attr;
	u8 kind;
	const char *noun;
	const char *why;
} rules[] = {
	{ fit_not_window, GAGG_GA_RING, GAGG_MISFIT_RANGE, "window", NULL },
	{ fit_not_ports, GAGG_GA_PORT, GAGG_MISFIT_RANGE, "at most", NULL },
	{ fit_not_shards, GAGG_GA_SHARDS, GAGG_MISFIT_BAD, NULL,
	  "the sync mode requires one shard" },
	{ fit_not_wide, GAGG_GA_LANE_TYPE, GAGG_MISFIT_BAD, NULL,
	  "lane-type int64 requires a sync mode with a store: without one, sums of int64 need no option",
	},
	{ fit_not_wire, GAGG_GA_WIRE, GAGG_MISFIT_BAD, NULL,
	  "wire int16 and int8 require a sync mode that sums gradients in rounds: bsp, or one of bsp-...",
	},
	{ fit_not_multicast_family, GAGG_GA_MULTICAST, GAGG_MISFIT_FAMILY, NULL,
	  "multicast must be an address of the members' family" },
	{ fit_not_multicast, GAGG_GA_MULTICAST, GAGG_MISFIT_BAD, NULL,
	  "multicast requires a sync mode without a store: what ranks read of one goes to each alone",
	},
	{ fit_not_placement, GAGG_GA_PLACEMENT, GAGG_MISFIT_BAD, NULL,
	  "placement tensor requires a sync mode without a store: tables have no channel of their own",
	},
	{ fit_not_family, GAGG_GA_MEMBERS, GAGG_MISFIT_FAMILY, "member",
	  "all addresses of a group must be of one family" },
	{ fit_not_apart, GAGG_GA_SYNC, GAGG_MISFIT_BAD, NULL,
	  "the sync mode requires hosts with one worker each" },
	{ fit_not_locals, GAGG_GA_MEMBERS, GAGG_MISFIT_MANY, "ranks",
	  "at most 16 ranks of a group on one host" },
	{ fit_not_ring, GAGG_GA_RING, GAGG_MISFIT_RANGE, "chunks",
	  "ring must have at least 2 * stripe * shards chunks for every host" },
};

static const char *fit_wrong(u16 attr)
{
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name && p->attr != attr; p++)
		;
	return p->wrong;
}

bool gagg_fit_next(struct gagg_fit *f, struct gagg_misfit *bad)
{
	_Static_assert(GAGG_LOCALS == 16, "a sentence has the number");
	u32 at;

	if (!f->turn) {
		f->ops = gagg_sync_get(f->sync->mode);
		gagg_roster_sums(f->roster, &f->sums);
	}
	while (f->turn < SIZE(rules)) {
		at = f->turn++;
		if (!rules[at].is(f, &bad->number))
			continue;
		bad->attr = rules[at].attr;
		bad->kind = rules[at].kind;
		bad->why = rules[at].why ? rules[at].why : fit_wrong(rules[at].attr);
		bad->noun = rules[at].noun;
		return true;
	}
	return false;
}

const char *gagg_fit_workers(const struct gagg_sync_param *sync, const struct gagg_roster *r,
			     u32 *number)
{
	struct gagg_sums sums;

	gagg_roster_sums(r, &sums);
	*number = sums.workers;
	return sums.workers ? gagg_sync_fits(sync, sums.workers) : NULL;
}

enum gagg_beside gagg_fit_beside(const struct gagg_params *v, const struct gagg_params *other)
{
	if (v->port + v->shards <= other->port || other->port + other->shards <= v->port)
		return GAGG_BESIDE_FITS;
	if (v->port != other->port || v->shards != other->shards)
		return GAGG_BESIDE_PORTS;
	return v->id == other->id ? GAGG_BESIDE_SAME_ID : GAGG_BESIDE_FITS;
}

const char *gagg_beside_wrong(enum gagg_beside is)
{
	static const char *const wrong[] = {
		[GAGG_BESIDE_PORTS] =
		"another group uses these UDP ports with another base port or number of shards: choose a port range that does not overlap",
		[GAGG_BESIDE_SAME_ID] =
		"another group on this address and port has the same id: give one of them another id",
	};

	return wrong[is];
}
