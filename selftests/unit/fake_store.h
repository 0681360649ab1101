/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store of fake_dev.h, which includes it. An update is added at once. A read is done when a
 * thread waits for it and its rank may read: within fake.bound clocks of the slowest, or behind a
 * fence. With fake.copies every rank has a copy; updates are for one of them, or (ako) divided.
 * Ranks that gossip wait as in the kernel until others have sent or read.
 */
#ifndef FAKE_STORE_H
#define FAKE_STORE_H

#include <linux/gagg_peer.h>

#define FAKE_END	0x7fffffff	/* clock of a rank that has made its last update */
#define FAKE_ALL	((1 << FAKE_RANKS) - 1)

static uint32_t *fake_kept(unsigned int copy, uint64_t chunk)
{
	return &fake.kept[(copy * fake.ring + chunk) * FAKE_LANES];
}

/* partitions of ako; 0: another mode */
static uint32_t fake_parts(void)
{
	return fake.sync && !strncmp(fake.sync, "ako:", 4) ? (uint32_t)atoi(fake.sync + 4) : 0;
}

static void fake_store_sit(struct gagg_geometry *geo)
{
	size_t size = fake.ring * FAKE_LANES * sizeof(*fake.kept) * FAKE_RANKS;

	geo->flags = GAGG_GEO_STORE | (fake.copies ? GAGG_GEO_COPIES : 0) |
		     (fake.wide ? GAGG_GEO_INT64 : 0);
	geo->bound = fake.bound;
	geo->fresh = fake_length(GAGG_REG_CONTRIB);
	if (fake.kept && !fake_channel(0)->seated)
		memset(fake.kept, 0, size);
	if (!fake.kept)
		fake.kept = calloc(1, size);
}

static unsigned int fake_rank_of(const struct fake_seat *s)
{
	return (unsigned int)(s - fake_channel(0)->seat);
}

static unsigned int fake_copy_of(const struct fake_seat *s, const struct gagg_ioc_submit *a)
{
	return !fake.copies ? 0 : a->flags & GAGG_SUBMIT_PEER ? a->root : fake_rank_of(s);
}

/* does an update bring that chunk to that copy? */
static bool fake_sends(const struct fake_seat *s, const struct gagg_ioc_submit *a,
		       unsigned int copy, uint64_t chunk)
{
	uint32_t parts = fake_parts();

	if (!parts)
		return copy == fake_copy_of(s, a);
	return copy != fake_rank_of(s) && (copy + s->clock) % parts == chunk % parts;
}

static void fake_store_add(struct fake_seat *s, unsigned int copy, uint64_t chunk)
{
	const struct gagg_cdesc *d = (void *)((char *)s->mem[GAGG_REG_PUSH] + GAGG_DESC_OFFSET);
	const uint32_t *in = (void *)fake_lanes(s, GAGG_REG_CONTRIB, (uint32_t)chunk);
	uint32_t *kept = fake_kept(copy, chunk);
	uint64_t carry = 0;
	unsigned int k;

	for (k = 0; k < FAKE_LANES && !(d[chunk].flags & GAGG_C_ZERO); k++) {
		carry += (uint64_t)kept[k] + in[k];
		kept[k] = (uint32_t)carry;
		/* from the lower half of a lane to the upper one */
		carry = fake.wide && k % 2 == 0 ? carry >> 32 : 0;
	}
}

static bool fake_store_may(const struct gagg_ioc_submit *a)
{
	uint32_t whose = a->flags & (GAGG_SUBMIT_PEER | GAGG_SUBMIT_OWN);
	bool read = a->kind == GAGG_K_READ;

	if (!fake.copies || (!read && fake_parts()) ? whose != 0 :
	    whose != GAGG_SUBMIT_PEER && whose != GAGG_SUBMIT_OWN)
		return false;
	return (a->kind == GAGG_K_UPDATE || read) && !a->laneop && !a->last_lanes &&
	       a->count <= fake.ring && a->chunks <= fake.ring - a->count &&
	       (!read || a->chunks) && a->root < FAKE_RANKS;
}

static bool fake_mode(const char *name)
{
	return fake.sync && !strncmp(fake.sync, name, strlen(name));
}

/* gossip-pair: has the pair of the last round read what the update replaces? */
static bool fake_was_read(const struct fake_seat *s)
{
	uint32_t pair;

	if (!fake_mode("gossip-pair") || s->clock % 2 || !s->clock)
		return true;
	pair = gagg_peer_pair(FAKE_ALL, fake_rank_of(s), s->clock / 2 - 1);
	return fake_channel(0)->seat[pair].clock >= s->clock;
}

static bool fake_gossip_reads(const struct fake_seat *s, const struct gagg_ioc_submit *a)
{
	const struct fake_seat *seat = fake_channel(0)->seat;
	uint32_t bound = fake_mode("gossip-push:1:") ? (uint32_t)atoi(fake.sync + 14) : 0;
	uint32_t last = s->clock - 1 - bound;

	if (fake_mode("gossip-pair"))
		return seat[fake_copy_of(s, a)].clock >= s->clock;
	if (!fake_mode("gossip-push") && !fake_mode("push-sum"))
		return true;
	return s->clock <= bound ||
	       seat[gagg_peer_from(FAKE_ALL, fake_rank_of(s), last)].clock > last;
}

static int fake_store_submit(struct fake_seat *s, struct gagg_ioc_submit *a)
{
	bool read = a->kind == GAGG_K_READ;

	if (!fake_store_may(a))
		return -EINVAL;
	while (!read && !fake_was_read(s)) {
		pthread_cond_wait(&fake.cond, &fake.lock);
		if (fake.ended == fake.epoch)
			return -EPIPE;
	}
	for (unsigned int r = 0; r < FAKE_RANKS; r++)
		for (uint64_t i = a->count; !read && i < a->count + a->chunks; i++)
			if (fake_sends(s, a, r, i))
				fake_store_add(s, r, i);
	if (!read)
		s->clock = a->flags & GAGG_SUBMIT_LAST ? FAKE_END : s->clock + 1;
	a->op = ++s->ops;
	s->op[a->op % 256].arg = *a;
	pthread_cond_broadcast(&fake.cond);
	return 0;
}

static uint32_t fake_store_least(const struct fake_channel *ch)
{
	uint32_t least = FAKE_END;

	FAKE_EACH(ch, r)
		if (ch->seat[r].clock < least)
			least = ch->seat[r].clock;
	return least;
}

static bool fake_store_done(struct fake_channel *ch, struct fake_seat *s, uint64_t op)
{
	uint32_t *fresh = (void *)((char *)s->mem[GAGG_REG_RESULT] +
				   fake_length(GAGG_REG_CONTRIB));
	uint32_t least = fake_store_least(ch);

	for (; s->done < op; s->done++) {
		const struct gagg_ioc_submit *a = &s->op[(s->done + 1) % 256].arg;
		bool fence = a->flags & GAGG_SUBMIT_FENCE || s->clock == FAKE_END;

		if (a->kind != GAGG_K_READ)
			continue;
		if (least < s->clock && (fence || s->clock - least > fake.bound))
			return false;
		if (fake.copies && !fence && !fake_gossip_reads(s, a))
			return false;
		for (uint32_t i = (uint32_t)a->count; i < a->count + a->chunks; i++) {
			memcpy(fake_lanes(s, GAGG_REG_RESULT, i),
			       fake_kept(fake_copy_of(s, a), i),
			       FAKE_LANES * sizeof(*fake.kept));
			fresh[i] = least;
		}
	}
	return true;
}

#endif
