/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The channels of a group on a host: which are made, of what, and when they go.
 *
 * One source of each host includes this, as of act.h: it defines struct gagg_host, the group whose
 * channels these are, before, and after it the functions that are only declared here. The host has
 * the memory of a channel, counts who refers to it, and has an array of channels by place.
 *
 * The caller holds the lock under which the group's table is changed. Those of the shards are
 * requested where no shard may look.
 */
#ifndef GAGG_CORE_SITES_H
#define GAGG_CORE_SITES_H

#include "layout.h"
#include "refusal.h"
#include "site.h"
#include "stats.h"
#include "table.h"
#include "wants.h"

/**
 * struct gagg_sites - the channels of a group
 * @host:	whose they are
 * @g:		geometry of the group
 * @table:	their places
 * @limit:	most of them, as of gagg_table_place()
 * @epoch:	the epoch that runs here; 0: none
 * @wants:	those that other hosts have asked for
 */
struct gagg_sites {
	struct gagg_host host;
	const struct gagg_geom *g;
	struct gagg_table *table;
	u32 limit;
	const u64 *epoch;
	struct gagg_wants *wants;
};

/* the locks of all shards; that of @wants */
static void channel_lock(const struct gagg_host *h);
static void channel_unlock(const struct gagg_host *h);
static void channel_lock_wants(const struct gagg_host *h);
static void channel_unlock_wants(const struct gagg_host *h);

/*
 * New makes a channel that is all zero, with one reference. Memory is zeroed: a part, a region.
 * 0 or a negative errno
 */
static int channel_new(const struct gagg_host *h, struct gagg_site **site);
static int channel_part(const struct gagg_host *h, u64 bytes, void **mem);
static int channel_region(const struct gagg_host *h, struct gagg_site *site,
			  enum gagg_shared region, u64 bytes, void *const **blocks);
/* gives the table's reference back */
static void channel_give(const struct gagg_host *h, struct gagg_site *site);

/*
 * the channel at a place, or NULL; shards find it there from now on, or no longer: all are locked
 */
static struct gagg_site *channel_at(const struct gagg_host *h, u32 place);
static void channel_enter(const struct gagg_host *h, struct gagg_site *site);
static void channel_leave(const struct gagg_host *h, struct gagg_site *site);
/* all that leave now have left; shards are locked still */
static void channel_left(const struct gagg_host *h);
/* it was entered in an epoch */
static void channel_trace(const struct gagg_host *h, const struct gagg_site *site);
/* counters of shard 0, which is locked */
static struct gagg_stats *channel_stats(const struct gagg_host *h);

static inline int gagg_sites_parts(const struct gagg_sites *x, struct gagg_site *site, u32 id,
				   u64 members)
{
	u64 bytes = gagg_chan_bytes(x->g, members);
	void *mem;
	int err;
	u32 s;

	for (s = 0; s < x->g->shards; s++) {
		err = channel_part(&x->host, bytes, &mem);
		if (err)
			return err;
		gagg_site_add_part(site, x->g, mem, (u16)id, members);
	}
	return 0;
}

static inline int gagg_sites_regions(const struct gagg_sites *x, struct gagg_site *site)
{
	const struct gagg_host *h = &x->host;
	struct gagg_layout l;
	int err;

	gagg_layout_of(x->g, site->part[0], &l);
	err = channel_region(h, site, GAGG_SHARED_RESULT, l.result, &site->result);
	if (!err)
		err = channel_region(h, site, GAGG_SHARED_DONE, l.done, &site->done);
	if (!err && l.acc)
		err = channel_region(h, site, GAGG_SHARED_ACC, l.acc, &site->acc);
	if (!err && l.held)
		err = channel_region(h, site, GAGG_SHARED_HELD, l.held, &site->held);
	return err;
}

/*
 * Makes a channel that is not in the table, and enters it. Without an epoch it gets the number when
 * one begins. 0 or a negative errno.
 */
static inline int gagg_sites_create(const struct gagg_sites *x, u32 id, u64 members,
				    struct gagg_site **site)
{
	int place = gagg_table_place(x->table, id, x->limit), err;

	if (place < 0)
		return gagg_refusal_error(GAGG_REFUSE_PLACES);
	err = channel_new(&x->host, site);
	if (err)
		return err;
	(*site)->index = (u32)place;
	err = gagg_sites_parts(x, *site, id, members);
	if (!err)
		err = gagg_sites_regions(x, *site);
	if (err) {
		channel_give(&x->host, *site);
		return err;
	}
	if (*x->epoch)
		gagg_site_begin(*site, *x->epoch);
	channel_lock(&x->host);
	channel_enter(&x->host, *site);
	gagg_table_enter(x->table, (u32)place, id);
	if (*x->epoch)
		channel_trace(&x->host, *site);
	channel_unlock(&x->host);
	return 0;
}

/*
 * Empties the table. All shards are locked. The table's references go to @gone, which has room for
 * GAGG_CHANNELS_MAX. Returns how many there are.
 */
static inline u32 gagg_sites_unlink(const struct gagg_sites *x, struct gagg_site **gone)
{
	u32 n = 0;

	while (x->table->taken) {
		gone[n] = channel_at(&x->host, gagg_lowest(x->table->taken));
		channel_leave(&x->host, gone[n]);
		gagg_table_leave(x->table, gone[n++]->index);
	}
	channel_left(&x->host);
	return n;
}

static inline void gagg_sites_drop(const struct gagg_sites *x, struct gagg_site *site)
{
	channel_lock(&x->host);
	channel_leave(&x->host, site);
	gagg_table_leave(x->table, site->index);
	channel_left(&x->host);
	channel_unlock(&x->host);
	channel_give(&x->host, site);
}

/*
 * Channel 0 of the epoch to come: the one in the table, unless that was for an epoch that is over;
 * else a new one. 0 or a negative errno.
 */
static inline int gagg_sites_fresh(const struct gagg_sites *x, struct gagg_site **site)
{
	if (gagg_table_stale(x->table))
		gagg_sites_drop(x, channel_at(&x->host, 0));
	*site = channel_at(&x->host, 0);
	return *site ? 0 : gagg_sites_create(x, 0, x->g->workers, site);
}

/* A rank has left, or cannot attach. Without an epoch channel 0 is there for its ranks only. */
static inline void gagg_sites_trim(const struct gagg_sites *x)
{
	struct gagg_site *site = channel_at(&x->host, 0);

	if (site && !*x->epoch && !gagg_site_is_lent(site))
		gagg_sites_drop(x, site);
}

static inline bool gagg_sites_wanted(const struct gagg_sites *x, struct gagg_want *want)
{
	bool is;

	channel_lock_wants(&x->host);
	is = gagg_wants_next(x->wants, x->table, *x->epoch, want);
	channel_unlock_wants(&x->host);
	return is;
}

/* Makes what other hosts have asked for. Without memory they ask again, and that is counted. */
static inline void gagg_sites_make(const struct gagg_sites *x)
{
	struct gagg_site *site;
	struct gagg_want want;

	while (gagg_sites_wanted(x, &want)) {
		if (!gagg_sites_create(x, want.id, want.members, &site))
			continue;
		channel_lock(&x->host);
		channel_stats(&x->host)->drop[GAGG_DROP_NOMEM]++;
		channel_unlock(&x->host);
	}
}

#endif
