/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store of fake_dev.h, which includes it. An update is added at once; a read
 * is done when somebody waits for it and its rank may read: within fake.bound
 * clocks of the slowest, or behind a fence.
 */
#ifndef FAKE_STORE_H
#define FAKE_STORE_H

#define FAKE_END	0x7fffffff	/* clock of who has made its last update */

static void fake_store_sit(struct gagg_geometry *geo)
{
	geo->flags = GAGG_GEO_STORE;
	geo->bound = fake.bound;
	geo->fresh = fake_length(GAGG_REG_CONTRIB);
	if (fake.kept && !fake_channel(0)->seated)
		memset(fake.kept, 0, fake.ring * FAKE_LANES * sizeof(*fake.kept));
	if (!fake.kept)
		fake.kept = calloc(fake.ring * FAKE_LANES, sizeof(*fake.kept));
}

static int fake_store_submit(struct fake_seat *s, struct gagg_ioc_submit *a)
{
	bool read = a->kind == GAGG_K_READ;
	const struct gagg_cdesc *d = (void *)((char *)s->mem[GAGG_REG_PUSH] + GAGG_DESC_OFFSET);

	if ((a->kind != GAGG_K_UPDATE && !read) || a->laneop || a->last_lanes ||
	    a->count > fake.ring || a->chunks > fake.ring - a->count || (read && !a->chunks))
		return -EINVAL;
	for (uint64_t i = a->count; !read && i < a->count + a->chunks; i++)
		for (unsigned int k = 0; k < FAKE_LANES && !(d[i].flags & GAGG_C_ZERO); k++)
			fake.kept[i * FAKE_LANES + k] +=
				(uint32_t)fake_lanes(s, GAGG_REG_CONTRIB, (uint32_t)i)[k];
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
		for (uint32_t i = (uint32_t)a->count; i < a->count + a->chunks; i++) {
			memcpy(fake_lanes(s, GAGG_REG_RESULT, i), &fake.kept[i * FAKE_LANES],
			       FAKE_LANES * sizeof(*fake.kept));
			fresh[i] = least;
		}
	}
	return true;
}

#endif
