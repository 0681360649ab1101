// SPDX-License-Identifier: GPL-2.0
#include "group/addr.h"
#include "group/roster.h"
#include "sync/sync.h"

void gagg_roster_enter(struct gagg_roster *r, u32 rank, u8 roles, const void *addr, u8 len)
{
	r->ranks |= GAGG_BIT(rank);
	r->addr[rank] = addr;
	r->len[rank] = len;
	r->roles[rank] = roles;
}

/* ranks with the address of @rank, itself among them */
static u64 roster_beside(const struct gagg_roster *r, u32 rank)
{
	u32 len = r->len[rank];
	u64 left, ranks = 0;

	for (left = r->ranks; left; left &= left - 1) {
		u32 other = gagg_lowest(left);

		if (r->len[other] == len && !(len && memcmp(r->addr[other], r->addr[rank], len)))
			ranks |= GAGG_BIT(other);
	}
	return ranks;
}

static u64 roster_workers(const struct gagg_roster *r)
{
	u64 left, workers = 0;

	for (left = r->ranks; left; left &= left - 1)
		if (r->roles[gagg_lowest(left)] & GAGG_ROLE_WORKER)
			workers |= GAGG_BIT(gagg_lowest(left));
	return workers;
}

/* an address that is missing is of any family */
static u32 roster_odd(const struct gagg_roster *r)
{
	u32 len = r->local_len;
	u64 left;

	for (left = r->ranks; left; left &= left - 1) {
		u32 rank = gagg_lowest(left), of = r->len[rank];

		if (len && of && of != len)
			return rank;
		len = len ? len : of;
	}
	return GAGG_RANKS;
}

u32 gagg_roster_family(const struct gagg_roster *r)
{
	u32 len = r->local_len;

	if (!len && r->ranks)
		len = r->len[gagg_lowest(r->ranks)];
	return len;
}

void gagg_roster_sums(const struct gagg_roster *r, struct gagg_sums *sums)
{
	u64 workers = roster_workers(r), left = r->ranks;

	memset(sums, 0, sizeof(*sums));
	while (left) {
		u64 host = roster_beside(r, gagg_lowest(left));

		sums->hosts++;
		sums->apart += (host & workers) != 0;
		if (gagg_weight64(host) > sums->most)
			sums->most = gagg_weight64(host);
		left &= ~host;
	}
	sums->workers = gagg_weight64(workers);
	sums->odd = roster_odd(r);
}

void gagg_roster_geom(const struct gagg_roster *r, const struct gagg_params *v,
		      const struct gagg_sync_param *sync, struct gagg_geom *g)
{
	u64 left;

	gagg_geom_init(g);
	gagg_params_geom(v, g);
	for (left = r->ranks; left; left &= left - 1) {
		u32 rank = gagg_lowest(left), first = gagg_lowest(roster_beside(r, rank));
		u32 node = first < rank ? g->node_of[first] : g->nodes;

		gagg_geom_rank(g, rank, node, r->roles[rank], v->placement == GAGG_PLACE_ROOT);
		if (r->here & GAGG_BIT(rank))
			g->self = (u8)node;
	}
	g->heard_by_others = r->multicast_len != 0;
	g->v6 = gagg_roster_family(r) == GAGG_ADDR_V6;
	gagg_sync_apply(g, sync);
}
