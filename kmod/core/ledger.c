// SPDX-License-Identifier: GPL-2.0
#include "ledger.h"
#include "kind.h"

enum gagg_refusal gagg_ledger_asks(const struct gagg_geom *g, u32 rank, u32 id, u64 members)
{
	if (!id || id > 0xffff || !(members & GAGG_BIT(rank)) || (members & ~g->workers))
		return GAGG_REFUSE_BAD;
	return GAGG_REFUSE_NOT;
}

enum gagg_refusal gagg_ledger_admits(const struct gagg_chan *ch, u32 rank, u64 members, bool has)
{
	int local = gagg_chan_local(ch, rank);

	if (ch->members != members)
		return GAGG_REFUSE_MEMBERS;
	if (local < 0)
		return GAGG_REFUSE_BAD;
	return has || ch->local[local].numbers ? GAGG_REFUSE_AGAIN : GAGG_REFUSE_NOT;
}

bool gagg_ledger_init(struct gagg_ledger *led, const struct gagg_chan *ch, u32 rank)
{
	int local = gagg_chan_local(ch, rank);

	memset(led, 0, sizeof(*led));
	led->local = (u32)local;
	return local >= 0;
}

/* collectives and ops of a store exclude each other */
enum gagg_refusal gagg_ledger_check(const struct gagg_geom *g, const struct gagg_ioc_submit *arg)
{
	if (!gagg_ring_ops.knows(arg->kind) && !gagg_store_ops.knows(arg->kind))
		return GAGG_REFUSE_BAD;
	if (!gagg_kind(g->store, knows, arg->kind))
		return GAGG_REFUSE_KIND;
	if (!gagg_chan_may_submit(g, arg))
		return GAGG_REFUSE_BAD;
	return GAGG_REFUSE_NOT;
}

static enum gagg_refusal ledger_may_in(const struct gagg_geom *g, const struct gagg_chan *ch,
				       const struct gagg_ledger *led,
				       const struct gagg_ioc_submit *arg)
{
	const struct gagg_local *lo = &ch->local[led->local];
	enum gagg_refusal no = gagg_kind(g->store, may_begin, g, ch, led, arg);

	/* last: it is refused for now, and not for good */
	if (!no && lo->numbers - lo->finished >= GAGG_OPS)
		no = GAGG_REFUSE_FULL;
	return no;
}

static enum gagg_refusal ledger_may(const struct gagg_geom *g, struct gagg_chan *const *part,
				    const struct gagg_ledger *led,
				    const struct gagg_ioc_submit *arg)
{
	enum gagg_refusal no = GAGG_REFUSE_NOT;
	u32 s;

	for (s = 0; s < g->shards && !no; s++)
		no = ledger_may_in(g, part[s], led, arg);
	return no;
}

enum gagg_refusal gagg_ledger_submit(const struct gagg_shard *sh, const struct gagg_geom *g,
				     struct gagg_chan *const *part, struct gagg_ledger *led,
				     const struct gagg_ioc_submit *arg)
{
	enum gagg_refusal no = gagg_ledger_check(g, arg);
	u32 s;

	if (!no && !gagg_ledger_open(sh))
		no = GAGG_REFUSE_STOPPED;
	if (!no)
		no = ledger_may(g, part, led, arg);
	if (no)
		return no;
	for (s = 0; s < g->shards; s++)
		gagg_chan_submit_arg(g, part[s], led->local, arg);
	led->cursor += gagg_kind(g->store, moves, arg);
	led->submitted++;
	return GAGG_REFUSE_NOT;
}
