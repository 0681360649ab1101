// SPDX-License-Identifier: GPL-2.0
/*
 * The schedule: one byte of the input for what happens, a few for which host and what.
 */
#include "hosts.h"

#define STEPS_MAX	600

static struct host *take_host(struct hosts *w, u8 who)
{
	return &w->host[who % w->nodes];
}

/* a datagram arrives; the network may have another copy of it */
static void deliver(struct hosts *w, u8 which, bool keep, bool batch)
{
	struct packet p;
	struct host *h;

	if (!w->nflight)
		return;
	which %= w->nflight;
	p = keep ? *under_way(w, which) : *arrive(w, which);
	h = &w->host[p.to];
	host_receive(h, &p, true);
	if (batch)
		host_batch(h, p.shard);
	check_state(h);
}

static void lose(struct hosts *w, u8 which)
{
	if (w->nflight)
		arrive(w, which % w->nflight);
}

static void pass_time(struct hosts *w, u8 how)
{
	static const u64 steps[] = {
		0, 50 * GAGG_USEC, GAGG_MSEC, 3 * GAGG_MSEC, 25 * GAGG_MSEC, 300 * GAGG_MSEC,
	};
	u64 at = GAGG_NEVER;
	u32 i;

	w->now += steps[(how & 15) % 6];
	for (i = 0; i < w->nodes; i++)
		at = gagg_min64(at, host_deadline(&w->host[i]));
	if ((how & 15) == 15 && at != GAGG_NEVER)
		w->now = gagg_max64(w->now, at);
	for (i = 0; i < w->nodes; i++)
		if (!(how >> 4 & (1 << i)) && host_deadline(&w->host[i]) <= w->now) {
			host_timers(&w->host[i]);
			check_state(&w->host[i]);
		}
}

/* --- what no host has sent --------------------------------------------- */

/* something that a host could say to @h, for others to spoil */
static void compose(struct hosts *w, struct input *in, struct host *h, struct packet *p)
{
	const struct gagg_geom *g = &h->g;
	u8 type = take8(in), chunk = take8(in), round = take8(in), run = take8(in);
	struct gagg_msg m = {
		.type = type % (GAGG_T_WAITS + 1),
		.group = g->group,
		.channel = chunk >> 7,
		.chunk = chunk % g->ring,
		.run = 1,
		.lanes = HOSTS_LANES,
		.pn = 1 + (round >> 6),
	};
	u32 i;

	m.src = (u16)gagg_lowest(g->ranks_of[p->from]);
	if (m.type == GAGG_T_RESULT || m.type == GAGG_T_DONE || m.type == GAGG_T_TOLD ||
	    m.type == GAGG_T_RESEND || m.type == GAGG_T_WAITS || m.type == GAGG_T_NAK)
		m.src = p->from;
	else if (type & 0x40)		/* a rank that may live elsewhere */
		m.src = run % w->ranks;
	calls_compose(w, h, p->shard, round, &m);
	if (!gagg_wire_has_lanes(&m))
		m.run += run & 0x80 ? run : run % g->window;
	p->len = m.type == GAGG_T_ACK ? sizeof(struct gagg_ack) :
		 m.type == GAGG_T_OPEN ? sizeof(struct gagg_open) :
		 lanes_bytes(&m);
	gagg_wire_build(p->hdr, &m);
	for (i = 0; i < p->len; i++)
		p->body[i] = type & 0x80 ? take8(in) : 0;
}

static void spoil(struct input *in, struct packet *p, u8 times)
{
	while (times--) {
		u8 at = take8(in), with = take8(in);

		if (at < GAGG_WIRE_HDRLEN)
			p->hdr[at] = with;
		else if (at < GAGG_WIRE_HDRLEN + HOSTS_BODY)
			p->body[at - GAGG_WIRE_HDRLEN] = with;
		else
			p->len = with % (HOSTS_BODY + 1);
	}
}

/* (epoch, cookie) as in the header */
static void stamp(struct packet *p, u64 epoch, u64 cookie)
{
	__le32 e = cpu_to_le32((u32)epoch);
	__le64 c = cpu_to_le64(cookie);

	memcpy(p->hdr + offsetof(struct gagg_hdr, epoch), &e, sizeof(e));
	memcpy(p->hdr + offsetof(struct gagg_hdr, tag), &c, sizeof(c));
}

static bool is_stamped(const struct packet *p, u64 epoch, u64 cookie)
{
	struct packet q = *p;

	stamp(&q, epoch, cookie);
	return !memcmp(q.hdr, p->hdr, sizeof(q.hdr));
}

/* all that a datagram could change */
static u8 *snapshot(const struct host *h, size_t *size)
{
	const struct gagg_geom *g = &h->g;
	const void *block;
	u32 s, c, i, pass;
	size_t bytes;
	u8 *to = NULL;

	for (pass = 0; pass < 2; pass++) {
		size_t used = 0;

#define KEEP(from, bytes)						\
do {									\
	if (pass)							\
		memcpy(to + used, from, bytes);				\
	used += bytes;							\
} while (0)
		for (s = 0; s < g->shards; s++) {
			KEEP(h->sh[s], gagg_shard_bytes(g));
			for (c = 0; c < HOSTS_CHANS; c++)
				if (h->c[c].chunks)
					KEEP(h->c[c].core[s],
					     gagg_chan_bytes(g, h->c[c].core[s]->members));
		}
		for (c = 0; c < HOSTS_CHANS; c++)
			for (i = 0; h->c[c].chunks && (block = chunks_block(h, c, i, &bytes)); i++)
				KEEP(block, bytes);
#undef KEEP
		*size = used;
		if (!pass)
			to = hosts_zalloc(used);
	}
	return to;
}

static void receive_unchanged(struct host *h, const struct packet *p)
{
	size_t size, again;
	u8 *was = snapshot(h, &size), *is;

	host_receive(h, p, false);
	is = snapshot(h, &again);
	if (size != again || memcmp(was, is, size))
		fuzz_fail("host %u: a datagram of another epoch or cookie has an effect",
			  h->g.self);
	free(was);
	free(is);
}

static void forge(struct hosts *w, struct input *in, bool insider)
{
	u8 who = take8(in), what = take8(in);
	struct host *h = take_host(w, who);
	u64 epoch = h->epoch + 7, cookie = hosts_cookie(h->epoch);
	struct packet p = { .to = h->g.self };
	u32 s;

	p.from = (u8)((p.to + 1 + (who >> 4) % (w->nodes - 1)) % w->nodes);
	p.shard = what >> 6 & 1 & (h->g.shards - 1);
	if ((what & 0x80) && w->nflight) {
		const struct packet *seen = under_way(w, take8(in) % w->nflight);

		/* what others sent to others has another sender now, too */
		p.len = seen->len;
		memcpy(p.hdr, seen->hdr, sizeof(p.hdr));
		memcpy(p.body, seen->body, sizeof(p.body));
		if ((what & 0x20) && seen->to == p.to) {
			p.from = seen->from;
			p.shard = seen->shard;
		}
	} else {
		compose(w, in, h, &p);
		stamp(&p, epoch, cookie ^ !insider);
	}
	spoil(in, &p, what & 7);
	if (insider) {
		w->insiders |= GAGG_BIT(p.from);
		stamp(&p, epoch, cookie);
		if (p.hdr[offsetof(struct gagg_hdr, type)] == GAGG_T_CONTRIB)
			calls_own_lanes(w, &p);
		host_receive(h, &p, false);
	} else {
		if (is_stamped(&p, epoch, cookie))
			stamp(&p, epoch, cookie ^ GAGG_BIT(what & 63));
		receive_unchanged(h, &p);
	}
	for (s = 0; (what & 8) && s < h->g.shards; s++)
		host_batch(h, s);
	check_state(h);
}

/* --- the schedule ------------------------------------------------------ */

void hosts_play(struct hosts *w, struct input *in)
{
	u32 steps, i, s;
	struct host *h;
	u8 op, arg;

	for (steps = 0; in->left && steps < STEPS_MAX; steps++) {
		op = take8(in);
		switch (op & 15) {
		case 0: case 1: case 2: case 3:
			calls_train(w, in, op);
			break;
		case 4: case 5: case 6:		/* also twice, then it is the same one */
			deliver(w, take8(in), op & 0x10, !(op & 0x20));
			break;
		case 7: case 8:			/* a burst, from the oldest on */
			for (i = 0; i <= op >> 4; i++)
				deliver(w, 0, false, i == op >> 4);
			break;
		case 9:
			lose(w, take8(in));
			break;
		case 10:
			h = take_host(w, op >> 4);
			for (s = 0; s < h->g.shards; s++)
				host_batch(h, s);
			check_state(h);
			break;
		case 11:
			pass_time(w, take8(in));
			break;
		case 12:
			forge(w, in, false);
			break;
		case 13:
			forge(w, in, true);
			break;
		case 14:
			arg = take8(in);
			h = take_host(w, arg);
			/* one in sixteen: an input that only restarts says little */
			if (arg >> 4 == 15 && h->epoch + 1 < HOSTS_EPOCHS)
				host_restart(h, h->epoch + 1);
			break;
		case 15:			/* all that is under way */
			for (i = w->nflight; i; i--)
				deliver(w, 0, false, i == 1 || op & 0x10);
			break;
		}
	}
}

/* of both targets: what hosts do is in ring.c, or in stores.c */
static struct hosts world;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	hosts_init(&world, &in);
	hosts_play(&world, &in);
	hosts_finish(&world);
	hosts_free(&world);
	return 0;
}
