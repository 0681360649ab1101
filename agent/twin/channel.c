// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "group.h"
#include "queue.h"
#include "twin.h"
#include "worker.h"

struct gagg_host {
	struct group *group;
};

#include "core/sites.h"

static struct gagg_sites channel_sites(struct group *g)
{
	return (struct gagg_sites){
		.host.group = g,
		.g = &g->geom,
		.table = &g->table,
		.limit = g->cfg.channels,
		.epoch = &g->epoch,
		.wants = &g->wants,
	};
}

static void channel_free(struct channel *ch)
{
	unsigned int i;

	for (i = 0; i < GAGG_LOCALS; i++)
		memory_free(&ch->copy[i]);
	for (i = 0; i < GAGG_SHARED_COUNT; i++)
		memory_free(&ch->memory[i]);
	free(ch);
}

/*
 * Keeps the memory for the next channel.
 *
 * 1. Trainers may hold the files for as long as they like.
 * 2. So memory that is freed may stay, and belongs to nobody.
 * 3. Memory that is used again is no more than was ever in use at one time: a channel is in the
 *    table, or a session has a seat in it.
 * 4. A trainer that still reads it was admitted to the group, and access does not change until the
 *    twin ends.
 */
void channel_put(struct channel *ch)
{
	unsigned int s;

	if (--ch->refs)
		return;
	for (s = 0; s < ch->site.nparts; s++)
		free(ch->site.part[s]);
	ch->next = ch->group->spare;
	ch->group->spare = ch;
}

void channels_free(struct group *g)
{
	struct channel *ch;
	u64 left;

	for (left = g->table.taken; left; left &= left - 1)
		channel_put(g->channel[gagg_lowest(left)]);
	while ((ch = g->spare)) {
		g->spare = ch->next;
		channel_free(ch);
	}
}

/* of a spare channel only the memory is kept */
static struct channel *channel_take(struct group *g)
{
	struct channel *ch = g->spare;
	struct channel was;

	if (!ch)
		return calloc(1, sizeof(*ch));
	g->spare = ch->next;
	was = *ch;
	memset(ch, 0, sizeof(*ch));
	memcpy(ch->memory, was.memory, sizeof(ch->memory));
	memcpy(ch->copy, was.copy, sizeof(ch->copy));
	return ch;
}

struct channel *channel_find(struct group *g, u32 id)
{
	int place = gagg_table_find(&g->table, id);

	return place < 0 ? NULL : g->channel[place];
}

static void channel_lock(const struct gagg_host *h)
{
	workers_lock(h->group);
}

static void channel_unlock(const struct gagg_host *h)
{
	workers_unlock(h->group);
}

static void channel_lock_wants(const struct gagg_host *h)
{
	pthread_mutex_lock(&h->group->join_lock);
}

static void channel_unlock_wants(const struct gagg_host *h)
{
	pthread_mutex_unlock(&h->group->join_lock);
}

static int channel_new(const struct gagg_host *h, struct gagg_site **site)
{
	struct channel *ch = channel_take(h->group);

	if (!ch)
		return -ENOMEM;
	ch->refs = 1;
	ch->group = h->group;
	*site = &ch->site;
	return 0;
}

static int channel_part(const struct gagg_host *h, u64 bytes, void **mem)
{
	(void)h;
	*mem = calloc(1, bytes);
	return *mem ? 0 : -ENOMEM;
}

static int channel_region(const struct gagg_host *h, struct gagg_site *site,
			  enum gagg_shared region, u64 bytes, void *const **blocks)
{
	static const char *const name[GAGG_SHARED_COUNT] = {
		[GAGG_SHARED_RESULT] = "gagg-result",
		[GAGG_SHARED_DONE] = "gagg-done",
		[GAGG_SHARED_ACC] = "gagg-acc",
		[GAGG_SHARED_HELD] = "gagg-held",
	};
	struct memory *m = &channel_of(site)->memory[region];
	int err = memory_zeroed(h->group->twin, m, name[region], bytes);

	*blocks = m->block;
	return err;
}

static void channel_give(const struct gagg_host *h, struct gagg_site *site)
{
	(void)h;
	channel_put(channel_of(site));
}

static struct gagg_site *channel_at(const struct gagg_host *h, u32 place)
{
	struct channel *ch = h->group->channel[place];

	return ch ? &ch->site : NULL;
}

static void channel_enter(const struct gagg_host *h, struct gagg_site *site)
{
	u32 s;

	h->group->channel[site->index] = channel_of(site);
	for (s = 0; s < site->nparts; s++)
		h->group->part[s].channel[site->index] = site->part[s];
}

static void channel_leave(const struct gagg_host *h, struct gagg_site *site)
{
	u32 s;

	h->group->channel[site->index] = NULL;
	for (s = 0; s < site->nparts; s++)
		h->group->part[s].channel[site->index] = NULL;
}

static void channel_left(const struct gagg_host *h)
{
	queues_forget(h->group);
}

static void channel_trace(const struct gagg_host *h, const struct gagg_site *site)
{
	(void)h;
	(void)site;
}

static struct gagg_stats *channel_stats(const struct gagg_host *h)
{
	return &h->group->part[0].stats;
}

int channel_create(struct group *g, u32 id, u64 members, struct gagg_site **site)
{
	const struct gagg_sites sites = channel_sites(g);

	return gagg_sites_create(&sites, id, members, site);
}

u32 channels_unlink(struct group *g, struct gagg_site **gone)
{
	const struct gagg_sites sites = channel_sites(g);

	return gagg_sites_unlink(&sites, gone);
}

int channel_fresh(struct group *g, struct gagg_site **site)
{
	const struct gagg_sites sites = channel_sites(g);

	return gagg_sites_fresh(&sites, site);
}

void channel_trim(struct group *g)
{
	const struct gagg_sites sites = channel_sites(g);

	gagg_sites_trim(&sites);
}

void channel_want(struct group *g, u64 epoch, u32 id, u64 members)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_wants_add(&g->wants, epoch, id, members);
	pthread_mutex_unlock(&g->join_lock);
	twin_call(g->twin);
}

void channels_make(struct group *g)
{
	const struct gagg_sites sites = channel_sites(g);

	gagg_sites_make(&sites);
}
