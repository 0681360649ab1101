// SPDX-License-Identifier: GPL-2.0
/*
 * A channel of either kind (kind.h): its ranks and homes, and the calls to its kind.
 */
#include "kind.h"

/*
 * Nodes that chunks of a channel may be divided over, a bit each. Channel 0: all aggregators.
 * Others: the aggregators that have a member of the channel; if there are none, all aggregators.
 * Copies: all nodes with a member.
 */
static u64 chan_choice(const struct gagg_geom *g, u16 id, u64 members)
{
	u64 may = g->copies ? ~0ULL : g->aggregators, own = 0;
	u32 n;

	for (n = 0; n < g->nodes; n++)
		if ((may & GAGG_BIT(n)) && (g->ranks_of[n] & members))
			own |= GAGG_BIT(n);
	return (id || g->copies) && own ? own : g->aggregators;
}

/*
 * The node of those in @choice that is the first home of channel @id. Short operations have
 * chunks at the first homes alone, so those of other channels begin elsewhere.
 *
 * @choice is not empty: hosts make no channel of a group that is not gagg_geom_complete().
 */
static u32 chan_first(u64 choice, u16 id)
{
	u32 before;

	for (before = id % gagg_weight64(choice); before; before--)
		choice &= choice - 1;
	return gagg_lowest(choice);
}

/* the homes of a channel, a bit per node */
static u64 chan_homes(const struct gagg_geom *g, u16 id, u64 members)
{
	u64 choice = chan_choice(g, id, members);

	return g->single ? GAGG_BIT(chan_first(choice, id)) : choice;
}

u32 gagg_chan_choices(const struct gagg_geom *g, u64 members)
{
	return g->single ? gagg_weight64(chan_choice(g, 1, members)) : 1;
}

static struct gagg_stake chan_stake(const struct gagg_geom *g, u16 id, u64 members)
{
	u64 homes = chan_homes(g, id, members);
	u32 nlocals = gagg_weight64(members & g->ranks_of[g->self]);

	return (struct gagg_stake){
		.members = members,
		.nlocals = nlocals < GAGG_LOCALS ? nlocals : GAGG_LOCALS,
		.nhomes = gagg_weight64(homes),
		.home = homes & GAGG_BIT(g->self),
	};
}

u64 gagg_chan_bytes(const struct gagg_geom *g, u64 members)
{
	/* channel 0 and others may have different homes: the larger size counts */
	struct gagg_stake all = chan_stake(g, 0, members), own = chan_stake(g, 1, members);

	/* the id, which says where the only home is, is not known here */
	all.home |= g->single;
	own.home |= g->single;

	return GAGG_CHAN_END + gagg_max64(gagg_kind(g->store, bytes, g, &all),
					  gagg_kind(g->store, bytes, g, &own));
}

static void chan_add_homes(const struct gagg_geom *g, struct gagg_chan *ch, u64 homes)
{
	for (; homes; homes &= homes - 1) {
		if (gagg_lowest(homes) == g->self)
			ch->self_home = ch->nhomes;
		ch->home[ch->nhomes++] = (u8)gagg_lowest(homes);
	}
}

static void chan_init_homes(const struct gagg_geom *g, struct gagg_chan *ch)
{
	u64 homes = chan_homes(g, ch->id, ch->members);
	/* an op names a copy by its place in the order of nodes */
	u64 before = g->copies ? 0 : GAGG_BIT(chan_first(homes, ch->id)) - 1;

	ch->self_home = 0xff;
	chan_add_homes(g, ch, homes & ~before);
	chan_add_homes(g, ch, homes & before);
}

static void chan_init_nodes(const struct gagg_geom *g, struct gagg_chan *ch)
{
	u32 n;

	for (n = 0; n < g->nodes; n++) {
		if (n != g->self && (g->ranks_of[n] & ch->members))
			ch->member_nodes |= GAGG_BIT(n);
	}
}

struct gagg_chan *gagg_chan_init(void *mem, const struct gagg_geom *g, u32 shard,
				 u16 id, u64 members)
{
	const struct gagg_stake stake = chan_stake(g, id, members);
	struct gagg_chan *ch = mem;
	u64 left;

	ch->members = members;
	ch->id = id;
	ch->shard = (u8)shard;
	for (left = members & g->ranks_of[g->self]; ch->nlocals < stake.nlocals; left &= left - 1)
		ch->local[ch->nlocals++].rank = (u8)gagg_lowest(left);
	chan_init_homes(g, ch);
	chan_init_nodes(g, ch);
	ch->store = g->store;
	gagg_kind(ch->store, init, g, ch, &stake);
	return ch;
}

int gagg_chan_local(const struct gagg_chan *ch, u32 rank)
{
	u32 l;

	for (l = 0; l < ch->nlocals; l++)
		if (ch->local[l].rank == rank)
			return (int)l;
	return -1;
}

int gagg_chan_home(const struct gagg_chan *ch, u32 node)
{
	u32 h;

	for (h = 0; h < ch->nhomes; h++)
		if (ch->home[h] == node)
			return (int)h;
	return -1;
}

bool gagg_chan_may_submit(const struct gagg_geom *g, const struct gagg_ioc_submit *arg)
{
	return gagg_kind(g->store, may_submit, g, arg);
}

u64 gagg_chan_submit_arg(const struct gagg_geom *g, struct gagg_chan *ch, u32 local,
			 const struct gagg_ioc_submit *arg)
{
	return gagg_kind(ch->store, submit, g, ch, local, arg);
}

bool gagg_chan_refill(struct gagg_shard *sh, const struct gagg_geom *g,
		      const struct gagg_env *env, struct gagg_chan *ch, u64 now)
{
	const struct gagg_visit vis = { .sh = sh, .g = g, .ch = ch, .now = now };

	return sh->running && gagg_kind(ch->store, refill, &vis, env);
}

bool gagg_chan_timer(struct gagg_shard *sh, const struct gagg_geom *g,
		     struct gagg_chan *ch, u64 now)
{
	const struct gagg_visit vis = { .sh = sh, .g = g, .ch = ch, .now = now };

	if (sh->running)
		gagg_kind(ch->store, timer, &vis);
	return sh->running;
}

u64 gagg_chan_deadline(struct gagg_chan *ch)
{
	return gagg_kind(ch->store, deadline, ch);
}

u64 gagg_chan_missing(const struct gagg_geom *g, struct gagg_chan *ch, u32 local, u64 number)
{
	const struct gagg_local *lo = &ch->local[local];

	if (number <= lo->finished || number > lo->numbers)
		return 0;
	return gagg_kind(ch->store, missing, g, ch, &lo->op[number % GAGG_OPS]);
}
