// SPDX-License-Identifier: GPL-2.0
/*
 * What an action may say, what must hold between two calls.
 */
#include "hosts.h"

/* --- actions ----------------------------------------------------------- */

static void check_message(const struct host *h, const struct gagg_msg *m, u32 len)
{
	u8 hdr[GAGG_WIRE_HDRLEN];
	struct gagg_msg again;
	enum gagg_drop bad;

	gagg_wire_build(hdr, m);
	bad = gagg_wire_parse(hdr, GAGG_WIRE_HDRLEN + len, &again);
	if (bad)
		fuzz_fail("host %u sends type %u, which does not parse: %u", h->g.self, m->type,
			  bad);
	fuzz_assert(m->epoch == h->epoch + 7 && m->cookie == hosts_cookie(h->epoch));
}

/* the chunks that a header speaks of */
static void check_run(const struct host *h, u32 s, const struct gagg_msg *m)
{
	const struct gagg_chan *ch = m->channel < HOSTS_CHANS ? h->c[m->channel].core[s] : NULL;
	u32 slot = m->chunk, homes, n;

	if (m->type == GAGG_T_ACK || m->type == GAGG_T_NAK || m->type == GAGG_T_OPEN)
		return;
	fuzz_assert(ch && m->run <= h->g.window);
	if (m->type == GAGG_T_PULL)
		return;
	homes = h->g.store ? ch->spread : ch->nhomes;
	for (n = 0; n < m->run; n++) {
		fuzz_assert(slot < h->g.ring && gagg_geom_shard(&h->g, homes, slot) == s);
		slot = gagg_geom_next(&h->g, homes, slot);
	}
}

static void check_to(const struct host *h, u64 nodes)
{
	fuzz_assert(nodes);
	fuzz_assert(!(nodes & GAGG_BIT(h->g.self)));
	fuzz_assert(!(nodes >> h->g.nodes));
}

static void check_lanes(const struct host *h, const struct gagg_act *a)
{
	fuzz_assert(a->channel < HOSTS_CHANS && h->c[a->channel].chunks);
	fuzz_assert(a->m.chunk < h->g.ring && a->m.lanes <= HOSTS_LANES);
	check_message(h, &a->m, lanes_bytes(&a->m));
}

void check_action(struct host *h, u32 s, const struct gagg_act *a)
{
	switch (a->type) {
	case GAGG_ACT_SEND_CONTRIB:
		check_to(h, GAGG_BIT(a->node));
		check_lanes(h, a);
		fuzz_assert(a->local < h->c[a->channel].core[s]->nlocals);
		break;
	case GAGG_ACT_SEND_RESULT:
		check_to(h, a->nodes);
		check_lanes(h, a);
		break;
	case GAGG_ACT_SEND_CTRL:
		check_to(h, GAGG_BIT(a->node));
		fuzz_assert(a->m.len <= HOSTS_BODY);
		check_message(h, &a->m, a->m.len);
		check_run(h, s, &a->m);
		break;
	case GAGG_ACT_OPEN:
		fuzz_assert(a->members && !(a->members & ~h->g.workers));
		break;
	default:
		fuzz_assert(a->channel < HOSTS_CHANS && h->c[a->channel].core[s]);
		chunks_check_action(h, s, a);
	}
}

/* --- the objects between two calls ------------------------------------- */

static void check_path(const struct gagg_path *p)
{
	u32 pn, flying = 0, lost = 0;

	fuzz_assert(p->next_pn - p->una <= GAGG_PATH_SPAN);
	fuzz_assert(p->scan - p->una <= p->next_pn - p->una);
	for (pn = p->una; pn != p->next_pn; pn++) {
		flying += p->log[pn % GAGG_PATH_LOG].state == GAGG_SENT_FLYING;
		lost += p->log[pn % GAGG_PATH_LOG].state == GAGG_SENT_LOST;
	}
	fuzz_assert(flying == p->flying && lost == p->lost);
	fuzz_assert(!flying == (p->rto_at == GAGG_NEVER));
	fuzz_assert(p->cwnd >= GAGG_PATH_CWND_MIN && p->cwnd <= p->cwnd_max);
}

void check_state(struct host *h)
{
	u32 s, n, c;

	for (s = 0; s < h->g.shards; s++) {
		fuzz_assert(!h->sh[s]->nacts);
		for (n = 0; n < h->g.nodes; n++)
			check_path(&h->sh[s]->path[n]);
		for (c = 0; c < HOSTS_CHANS; c++)
			if (h->c[c].core[s])
				chunks_check(h, c, s);
	}
}
