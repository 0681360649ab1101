// SPDX-License-Identifier: GPL-2.0
/*
 * Hosts: shape, beginning and end.
 */
#include "hosts.h"

/* legal for gagg_config_check(), but for a window below 64 */
static void init_geom(struct hosts *w, struct input *in, struct gagg_geom *g)
{
	static const u8 windows[] = { 4, 8, 16, 64 };
	u8 a = take8(in), b = take8(in), c = take8(in);
	u32 per_node = 1, n, r;

	w->nodes = 2 + a % 3;
	if (w->nodes == 2 && (a & 4))
		per_node = 2;
	w->ranks = w->nodes * per_node;
	g->group = 1;
	g->nodes = (u8)w->nodes;
	g->lanes = HOSTS_LANES;
	g->stripe = a & 8 ? 2 : 1;
	g->shards = a & 16 ? 2 : 1;
	g->window = (b & 0xe3) == 0xe3 ? 512 : windows[b & 3];
	g->cwnd = 4 + (b >> 2 & 3) * 4;
	g->ring = g->window * (b & 16 ? 2 : 1);
	while (g->ring < 2U * g->stripe * w->nodes * g->shards)
		g->ring += g->window;
	memset(g->node_of, 0xff, sizeof(g->node_of));
	for (r = 0; r < w->ranks; r++) {
		g->node_of[r] = (u8)(r / per_node);
		g->ranks_of[r / per_node] |= GAGG_BIT(r);
	}
	g->workers = GAGG_BIT(w->ranks) - 1;
	/* the last host only aggregates */
	if (c & 1)
		g->workers &= ~g->ranks_of[w->nodes - 1];
	for (n = 0; n < w->nodes; n++)
		if (!(c & 2) || n == w->nodes - 1)
			g->aggregators |= GAGG_BIT(n);
	calls_init(w, g, b, c, in);
}

u64 hosts_cookie(u32 epoch)
{
	return gagg_mix64(epoch, 0xc00c1e);
}

void host_open(struct host *h, u32 c, u64 members)
{
	const struct gagg_geom *g = &h->g;
	struct part *k = &h->c[c];
	u32 s;

	for (s = 0; s < g->shards; s++) {
		k->core[s] = gagg_chan_init(hosts_zalloc(gagg_chan_bytes(g, members)), g, s,
					    (u16)c, members);
		k->base[s] = k->core[s]->base;
	}
	k->chunks = chunks_new(h, c);
}

static void close_all(struct host *h)
{
	u32 c, s;

	for (c = 0; c < HOSTS_CHANS; c++) {
		struct part *k = &h->c[c];

		if (k->chunks)
			chunks_free(k->chunks);
		for (s = 0; s < HOSTS_SHARDS; s++)
			free(k->core[s]);
		memset(k, 0, sizeof(*k));
	}
}

/* as when an epoch begins: all members of it have been told the cookie */
void host_restart(struct host *h, u32 epoch)
{
	u32 s, c;

	close_all(h);
	h->epoch = epoch;
	h->stopped = false;
	for (s = 0; s < h->g.shards; s++)
		gagg_shard_start(h->sh[s], &h->g, epoch + 7, hosts_cookie(epoch));
	/* where it has no rank, a channel is opened when it is used */
	for (c = 0; c < HOSTS_CHANS; c++)
		if (!c || (h->w->members[c] & h->g.ranks_of[h->g.self]))
			host_open(h, c, h->w->members[c]);
}

void hosts_init(struct hosts *w, struct input *in)
{
	struct gagg_geom g = { 0 };
	u32 n, s;

	memset(w, 0, offsetof(struct hosts, pool));
	for (n = 0; n < HOSTS_FLIGHT; n++)
		w->flight[n] = (u8)n;
	w->nflight = 0;
	init_geom(w, in, &g);
	w->members[0] = g.workers;
	w->members[1] = g.workers & 0x5555;
	for (n = 0; n < w->nodes; n++) {
		struct host *h = &w->host[n];

		h->w = w;
		h->g = g;
		h->g.self = (u8)n;
		for (s = 0; s < g.shards; s++) {
			h->sh[s] = hosts_zalloc(gagg_shard_bytes(&h->g));
			gagg_shard_init(h->sh[s], &h->g, s);
		}
		host_restart(h, 0);
	}
}

void hosts_free(struct hosts *w)
{
	u32 n, s;

	for (n = 0; n < w->nodes; n++) {
		close_all(&w->host[n]);
		for (s = 0; s < HOSTS_SHARDS; s++)
			free(w->host[n].sh[s]);
	}
}
