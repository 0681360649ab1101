// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "channel.h"
#include "group.h"
#include "queue.h"
#include "twin.h"
#include "worker.h"

static void channel_free(struct channel *ch)
{
	unsigned int l;

	for (l = 0; l < GAGG_LOCALS; l++)
		memory_free(&ch->copy[l]);
	memory_free(&ch->acc);
	memory_free(&ch->held);
	memory_free(&ch->done);
	memory_free(&ch->result);
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
	*ch = (struct channel){
		.result = was.result, .done = was.done, .acc = was.acc, .held = was.held,
	};
	memcpy(ch->copy, was.copy, sizeof(ch->copy));
	return ch;
}

struct channel *channel_find(struct group *g, u32 id)
{
	int place = gagg_table_find(&g->table, id);

	return place < 0 ? NULL : g->channel[place];
}

static int channel_parts_new(const struct gagg_geom *g, struct channel *ch)
{
	unsigned int s;

	for (s = 0; s < g->shards; s++) {
		void *mem = calloc(1, gagg_chan_bytes(g, ch->members));

		if (!mem)
			return -ENOMEM;
		gagg_site_add_part(&ch->site, g, mem, (u16)ch->id, ch->members);
	}
	return 0;
}

static int channel_memory_of(struct twin *t, const struct gagg_geom *g, struct channel *ch)
{
	struct gagg_layout l;
	int err;

	gagg_layout_of(g, ch->site.part[0], &l);
	err = memory_zeroed(t, &ch->result, "gagg-result", l.result);
	if (!err)
		err = memory_zeroed(t, &ch->done, "gagg-done", l.done);
	if (!err && l.acc)
		err = memory_zeroed(t, &ch->acc, "gagg-acc", l.acc);
	if (!err && l.held)
		err = memory_zeroed(t, &ch->held, "gagg-held", l.held);
	ch->site.result = ch->result.block;
	ch->site.done = ch->done.block;
	ch->site.acc = ch->acc.block;
	ch->site.held = ch->held.block;
	return err;
}

struct channel *channel_create(struct group *g, u32 id, u64 members)
{
	int index = gagg_table_place(&g->table, id, g->cfg.channels), err;
	struct channel *ch;
	unsigned int i;

	if (index < 0) {
		errno = ENOSPC;
		return NULL;
	}
	ch = channel_take(g);
	if (!ch)
		return NULL;
	ch->refs = 1;
	ch->group = g;
	ch->id = id;
	ch->site.index = (u32)index;
	ch->members = members;
	err = channel_parts_new(&g->geom, ch);
	if (!err)
		err = channel_memory_of(g->twin, &g->geom, ch);
	if (err) {
		channel_put(ch);
		errno = -err;
		return NULL;
	}
	if (g->epoch)
		channel_begin(ch, g->epoch);
	workers_lock(g);
	g->channel[index] = ch;
	for (i = 0; i < ch->site.nparts; i++)
		g->part[i].channel[index] = ch->site.part[i];
	gagg_table_enter(&g->table, ch->site.index, id);
	workers_unlock(g);
	return ch;
}

/* the locks of all workers are held */
static void channel_unlink(struct group *g, struct channel *ch)
{
	unsigned int i;

	g->channel[ch->site.index] = NULL;
	for (i = 0; i < ch->site.nparts; i++)
		g->part[i].channel[ch->site.index] = NULL;
	gagg_table_leave(&g->table, ch->site.index);
}

static void channel_drop(struct group *g, struct channel *ch)
{
	workers_lock(g);
	channel_unlink(g, ch);
	queues_forget(g);
	workers_unlock(g);
	channel_put(ch);
}

unsigned int channels_unlink(struct group *g, struct channel **gone)
{
	unsigned int n = 0;

	while (g->table.taken) {
		gone[n] = g->channel[gagg_lowest(g->table.taken)];
		channel_unlink(g, gone[n++]);
	}
	queues_forget(g);
	return n;
}

struct channel *channel_fresh(struct group *g)
{
	struct channel *ch;

	if (gagg_table_stale(&g->table))
		channel_drop(g, g->channel[0]);
	ch = channel_find(g, 0);
	return ch ? ch : channel_create(g, 0, g->geom.workers);
}

void channel_trim(struct group *g)
{
	struct channel *ch = channel_find(g, 0);
	unsigned int l;

	if (!ch || g->epoch)
		return;
	for (l = 0; l < GAGG_LOCALS; l++)
		if (ch->seat[l])
			return;
	channel_drop(g, ch);
}

void channel_want(struct group *g, u64 epoch, u32 id, u64 members)
{
	pthread_mutex_lock(&g->join_lock);
	gagg_wants_add(&g->wants, epoch, id, members);
	pthread_mutex_unlock(&g->join_lock);
	twin_call(g->twin);
}

static bool channel_wanted(struct group *g, struct gagg_want *want)
{
	bool is;

	pthread_mutex_lock(&g->join_lock);
	is = gagg_wants_next(&g->wants, &g->table, g->epoch, want);
	pthread_mutex_unlock(&g->join_lock);
	return is;
}

void channels_make(struct group *g)
{
	struct gagg_want want;

	while (channel_wanted(g, &want)) {
		/* without memory the other hosts ask again */
		if (channel_create(g, want.id, want.members))
			continue;
		workers_lock(g);
		g->part[0].stats.drop[GAGG_DROP_NOMEM]++;
		workers_unlock(g);
	}
}

void channel_begin(struct channel *ch, u64 epoch)
{
	__atomic_store_n(&gagg_site_done(&ch->site)->epoch, epoch, __ATOMIC_RELEASE);
}
