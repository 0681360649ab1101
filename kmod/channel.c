// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a channel, publication of its results, channels asked for by others.
 */
#include <linux/err.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "channel.h"
#include "chunk.h"
#include "compat/workqueue.h"
#include "faults.h"
#include "group.h"
#include "memory.h"
#include "quota.h"
#include "trace.h"

static void channel_free(struct gagg_channel *ch)
{
	u32 s;

	for (s = 0; s < ch->nparts; s++)
		vfree(ch->part[s]);
	gagg_mem_free(&ch->acc);
	gagg_mem_free(&ch->held);
	gagg_mem_free(&ch->done);
	gagg_mem_free(&ch->result);
	gagg_quota_give(ch->quota, GAGG_Q_CHANNELS, 1);
	gagg_quota_put(ch->quota);
	kfree(ch);
}

/* sleeps: seats and the table are dropped in process context only */
static void channel_release(struct kref *ref)
{
	channel_free(container_of(ref, struct gagg_channel, ref));
}

void gagg_channel_put(struct gagg_channel *ch)
{
	kref_put(&ch->ref, channel_release);
}

struct gagg_channel *gagg_channel_search(struct gagg_group *grp, u32 id)
{
	u32 i;

	for (i = 1; i < GAGG_CHANNELS_MAX; i++)
		if (grp->channel[i] && grp->channel[i]->id == id)
			return grp->channel[i];
	return NULL;
}

static int free_index(const struct gagg_group *grp, u32 id)
{
	u32 i, n = 0;
	int free = -ENOSPC;

	if (!id)
		return 0;
	for (i = 1; i < GAGG_CHANNELS_MAX; i++) {
		n += !!grp->channel[i];
		if (!grp->channel[i] && free < 0)
			free = i;
	}
	return n + 1 < grp->cfg.channels ? free : -ENOSPC;
}

static int channel_alloc_parts(const struct gagg_geom *g, struct gagg_channel *ch)
{
	u64 bytes = gagg_chan_bytes(g, ch->members);
	u32 s;

	for (s = 0; s < g->shards; s++) {
		void *mem = __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);

		if (!mem)
			return -ENOMEM;
		ch->part[s] = gagg_chan_init(mem, g, s, ch->id, ch->members);
		ch->base[s] = ch->part[s]->base;
		ch->nparts = s + 1;
	}
	return 0;
}

static int channel_alloc(const struct gagg_geom *g, struct gagg_channel *ch)
{
	struct gagg_layout l;
	int err;

	err = channel_alloc_parts(g, ch);
	if (err)
		return err;
	gagg_layout_of(g, ch->part[0], &l);
	err = gagg_mem_alloc(&ch->result, l.result);
	if (!err)
		err = gagg_mem_alloc(&ch->done, l.done);
	if (!err && l.acc)
		err = gagg_mem_alloc(&ch->acc, l.acc);
	if (!err && l.held)
		err = gagg_mem_alloc(&ch->held, l.held);
	return err;
}

struct gagg_channel *gagg_channel_create(struct gagg_group *grp, u32 id, u64 members)
{
	struct gagg_channel *ch;
	int index, err;

	lockdep_assert_held(&grp->lock);
	index = free_index(grp, id);
	if (index < 0)
		return ERR_PTR(index);
	err = gagg_quota_take(grp->quota, GAGG_Q_CHANNELS, 1, NULL);
	if (err)
		return ERR_PTR(err);
	ch = kzalloc(sizeof(*ch), GFP_KERNEL_ACCOUNT);
	if (!ch) {
		gagg_quota_give(grp->quota, GAGG_Q_CHANNELS, 1);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&ch->ref);
	/* a session keeps it for longer than the group is there */
	ch->quota = gagg_quota_get(grp->quota);
	ch->id = id;
	ch->index = index;
	ch->members = members;
	err = channel_alloc(&grp->geom, ch);
	if (err) {
		channel_free(ch);
		return ERR_PTR(err);
	}
	if (grp->epoch)
		gagg_channel_begin(ch, grp->epoch);
	gagg_group_lock_ports(grp);
	grp->channel[index] = ch;
	grp->channels |= GAGG_BIT(index);
	/* without an epoch it is told when that begins */
	if (grp->epoch)
		trace_gagg_channel(&grp->geom, id, members);
	gagg_group_unlock_ports(grp);
	return ch;
}

static void channel_unlink(struct gagg_group *grp, struct gagg_channel *ch)
{
	lockdep_assert_held(&grp->lock);
	gagg_group_lock_ports(grp);
	grp->channel[ch->index] = NULL;
	grp->channels &= ~GAGG_BIT(ch->index);
	gagg_group_unlock_ports(grp);
}

struct gagg_channel *gagg_channel_fresh(struct gagg_group *grp)
{
	struct gagg_channel *ch = gagg_channel_find(grp, 0);

	/* what an old epoch has left belongs to those who were in it */
	if (ch && ch->used) {
		channel_unlink(grp, ch);
		gagg_channel_put(ch);
		ch = NULL;
	}
	return ch ?: gagg_channel_create(grp, 0, grp->geom.workers);
}

void gagg_channel_trim(struct gagg_group *grp)
{
	struct gagg_channel *ch = gagg_channel_find(grp, 0);

	/* a dead group's table is emptied by gagg_channels_exit() */
	if (!ch || grp->epoch || grp->dead || memchr_inv(ch->seat, 0, sizeof(ch->seat)))
		return;
	channel_unlink(grp, ch);
	gagg_channel_put(ch);
}

void gagg_channel_begin(struct gagg_channel *ch, u64 epoch)
{
	ch->used = true;
	WRITE_ONCE(gagg_channel_done(ch)->epoch, epoch);
}

/*
 * The core moves a part's base before the PUBLISH that it has asked for is
 * carried out, so other ports must not look at it. Each port stores a copy of
 * its own when its actions are drained, and then looks at all copies; of two
 * that do so at once at least one sees both, because of the barrier, and the
 * larger minimum wins.
 */
void gagg_channel_progress(struct gagg_channel *ch, u32 shard)
{
	u64 *completed = &gagg_channel_done(ch)->completed;
	u64 base = GAGG_NEVER, old;
	u32 s;

	smp_store_release(&ch->base[shard], ch->part[shard]->base); /* see above */
	smp_mb(); /* see above */
	for (s = 0; s < ch->nparts; s++)
		base = min(base, READ_ONCE(ch->base[s]));
	if (base == GAGG_NEVER)
		return;
	old = READ_ONCE(*completed);
	while (old < base) {
		u64 was = cmpxchg64(completed, old, base);

		if (was == old)
			break;
		old = was;
	}
}

/* an OPEN that came to nothing; group.lock held */
static void count_nomem(struct gagg_group *grp)
{
	gagg_group_lock_ports(grp);
	grp->part[0].stats.drop[GAGG_DROP_NOMEM]++;
	gagg_group_unlock_ports(grp);
}

/*
 * The memory of a channel that only others train on is charged to the cgroup of
 * who made the group.
 */
static void opens_work(struct work_struct *work)
{
	struct gagg_group *grp = container_of(work, struct gagg_group, opens.work);
	struct mem_cgroup *old = set_active_memcg(grp->memcg);
	struct gagg_opens *o = &grp->opens;

	gagg_faults_work_begin();
	mutex_lock(&grp->lock);
	for (;;) {
		u64 epoch, members;
		u32 id;

		spin_lock_bh(&o->lock);
		if (!o->n || READ_ONCE(grp->dead)) {
			spin_unlock_bh(&o->lock);
			break;
		}
		o->n--;
		id = o->id[o->n];
		epoch = o->epoch[o->n];
		members = o->members[o->n];
		spin_unlock_bh(&o->lock);
		/* what belongs to an old epoch is void; without memory they ask again */
		if (grp->epoch == epoch && !gagg_channel_find(grp, id) &&
		    IS_ERR(gagg_channel_create(grp, id, members)))
			count_nomem(grp);
	}
	mutex_unlock(&grp->lock);
	gagg_faults_work_end();
	set_active_memcg(old);
}

void gagg_channel_want(struct gagg_group *grp, u64 epoch, u32 id, u64 members)
{
	struct gagg_opens *o = &grp->opens;
	u32 i;

	spin_lock_bh(&o->lock);
	for (i = 0; i < o->n; i++)
		if (o->id[i] == id && o->epoch[i] == epoch)
			break;
	if (i == o->n && o->n < GAGG_OPENS) {
		o->id[o->n] = id;
		o->epoch[o->n] = epoch;
		o->members[o->n] = members;
		o->n++;
	}
	spin_unlock_bh(&o->lock);
	queue_work(gagg_compat_unbound_wq(), &o->work);
}

void gagg_channels_init(struct gagg_group *grp)
{
	spin_lock_init(&grp->opens.lock);
	INIT_WORK(&grp->opens.work, opens_work);
}

/* no poll sees the group: nothing queues the work any more */
void gagg_channels_exit(struct gagg_group *grp)
{
	u32 i;

	cancel_work_sync(&grp->opens.work);
	mutex_lock(&grp->lock);
	for (i = 0; i < GAGG_CHANNELS_MAX; i++) {
		struct gagg_channel *ch = grp->channel[i];

		if (!ch)
			continue;
		channel_unlink(grp, ch);
		gagg_channel_put(ch);
	}
	mutex_unlock(&grp->lock);
}
