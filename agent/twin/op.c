// SPDX-License-Identifier: GPL-2.0
/*
 * Ops of a session: starting them, reporting their ends.
 *
 * What a trainer has written is copied before it is checked, and nothing that we have written is
 * read back.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/futex.h>

#include "channel.h"
#include "epoch.h"
#include "group.h"
#include "op.h"
#include "session.h"
#include "twin.h"
#include "worker.h"
#include "core/refusal.h"

void futex_ring(uint32_t *bell)
{
	__atomic_add_fetch(bell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void seat_ring(struct twin_seat *shared)
{
	futex_ring(&shared->bell);
}

/* --- what a trainer asks --------------------------------------------------- */

struct gagg_host {
	struct session *s;
};

#include "core/op.h"

static struct gagg_times *op_times_lock(const struct gagg_host *h)
{
	pthread_mutex_lock(&h->s->group->times_lock);
	return &h->s->group->times[h->s->rank];
}

static void op_times_unlock(const struct gagg_host *h)
{
	pthread_mutex_unlock(&h->s->group->times_lock);
}

static u64 op_times_now(void)
{
	return now_ns();
}

static const struct gagg_shard *op_shard(const struct gagg_host *h)
{
	return h->s->group->part[0].core;
}

static struct gagg_stats *op_stats(const struct gagg_host *h, u32 shard)
{
	return &h->s->group->part[shard].stats;
}

static void op_shard_lock(const struct gagg_host *h, u32 shard)
{
	worker_lock(h->s->group->part[shard].port->worker);
}

static void op_shard_unlock(const struct gagg_host *h, u32 shard)
{
	worker_unlock(h->s->group->part[shard].port->worker);
}

static enum gagg_refusal op_tell_epoch(const struct gagg_host *h, struct gagg_ioc_status *st)
{
	epoch_status(h->s->group, st);
	return GAGG_REFUSE_NOT;
}

static struct seat *op_seat_find(struct session *s, u32 channel)
{
	struct channel *ch = channel_find(s->group, channel);
	unsigned int l;

	for (l = 0; ch && l < GAGG_LOCALS; l++)
		if (ch->seat[l] && ch->seat[l]->session == s)
			return ch->seat[l];
	return NULL;
}

/* this thread alone changes seats */
static u64 op_missing(const struct gagg_host *h, u32 channel, u64 number)
{
	const struct seat *seat = op_seat_find(h->s, channel);

	return seat ? gagg_op_waits_for(h, &h->s->group->geom, &seat->channel->site, &seat->ops,
					number) : 0;
}

int session_status(struct session *s, struct gagg_ioc_status *arg)
{
	const struct gagg_host h = { .s = s };

	return gagg_refusal_error(gagg_op_tell_status(&h, arg));
}

int session_times(struct session *s, struct gagg_ioc_times *arg)
{
	const struct gagg_host h = { .s = s };

	return gagg_refusal_error(gagg_op_tell_times(&h, s->state, arg));
}

void times_begin(struct session *s)
{
	const struct gagg_host h = { .s = s };

	gagg_op_reset_times(&h);
}

void times_end(struct session *s)
{
	const struct gagg_host h = { .s = s };

	gagg_op_stop_times(&h);
}

/* --- ops -------------------------------------------------------------------- */

/* wakes the trainer if what it waits for is there: once a wait */
static void op_fulfil(struct twin_seat *shared, uint64_t *want, u64 there)
{
	u64 wanted = __atomic_load_n(want, __ATOMIC_SEQ_CST);

	if (wanted <= there &&
	    __atomic_compare_exchange_n(want, &wanted, TWIN_NEVER, false, __ATOMIC_SEQ_CST,
					__ATOMIC_RELAXED))
		seat_ring(shared);
}

/*
 * Shows *@from to the trainer. If two workers do so at once, the later one sees the larger value
 * when it looks again.
 */
static u64 op_show(const u64 *from, uint64_t *to)
{
	u64 now = __atomic_load_n(from, __ATOMIC_SEQ_CST), shown;

	do {
		shown = now;
		__atomic_store_n(to, shown, __ATOMIC_SEQ_CST);
		now = __atomic_load_n(from, __ATOMIC_SEQ_CST);
	} while (now != shown);
	return shown;
}

void seat_progress(struct seat *seat)
{
	const struct gagg_done *done = gagg_site_done(&seat->channel->site);

	op_fulfil(seat->shared, &seat->shared->want_chunk,
		  op_show((const u64 *)&done->completed, &seat->shared->chunks));
}

/*
 * A trainer that does not read its messages still has some to read. It learns of the rest with the
 * next message that has room.
 */
void session_tell(struct session *s, u64 n)
{
	n += __atomic_exchange_n(&s->untold, 0, __ATOMIC_RELAXED);
	if (send(s->events, &n, sizeof(n), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		__atomic_add_fetch(&s->untold, n, __ATOMIC_RELAXED);
}

void seat_done(struct seat *seat, unsigned int shard, u64 number)
{
	struct session *s = seat->session;
	const struct gagg_host h = { .s = s };
	u64 n = gagg_op_end(&h, &seat->channel->site, &seat->ops, shard, number);

	if (!n)
		return;
	op_fulfil(seat->shared, &seat->shared->want_op,
		  op_show(&seat->ops.completed, &seat->shared->completed));
	/* the first gagg_fd() asks for it; the end of an epoch is reported to all */
	if (__atomic_load_n(&s->page->events, __ATOMIC_SEQ_CST))
		session_tell(s, n);
}

/* false: libgagg never makes such a submission */
static bool op_take(struct session *s, const struct gagg_ioc_submit *arg)
{
	const struct gagg_host h = { .s = s };
	struct group *g = s->group;
	enum gagg_refusal no;
	struct seat *seat;
	unsigned int i;

	if (!gagg_ledger_open(g->part[0].core))
		return true;
	seat = op_seat_find(s, arg->channel);
	if (!seat)
		return false;
	for (i = 1; i < g->geom.shards; i++)
		worker_lock(g->part[i].port->worker);
	no = gagg_op_begin(&h, &g->geom, &seat->channel->site, &seat->ops, arg);
	for (i = 1; i < g->geom.shards; i++) {
		worker_unlock(g->part[i].port->worker);
		worker_kick(g->part[i].port->worker);
	}
	return !no;
}

/* each word read once, whatever a compiler would like */
static void op_copy_once(struct gagg_ioc_submit *to, const struct gagg_ioc_submit *from)
{
	const u64 *src = (const u64 *)from;
	u64 word;
	size_t i;

	_Static_assert(sizeof(*to) % sizeof(word) == 0, "words");
	for (i = 0; i < sizeof(*to) / sizeof(word); i++) {
		word = __atomic_load_n(src + i, __ATOMIC_RELAXED);
		memcpy((char *)to + i * sizeof(word), &word, sizeof(word));
	}
}

/* the control thread closes it */
static void op_expel(struct session *s)
{
	__atomic_store_n(&s->bad, true, __ATOMIC_RELAXED);
	twin_call(s->group->twin);
}

void session_take(struct session *s)
{
	u64 head = __atomic_load_n(&s->page->head, __ATOMIC_SEQ_CST);

	if (head == s->taken || s->bad)
		return;
	if (head - s->taken > TWIN_SUBMITS) {
		op_expel(s);
		return;
	}
	for (; s->taken != head; s->taken++) {
		struct gagg_ioc_submit arg;

		op_copy_once(&arg, &s->page->submit[s->taken % TWIN_SUBMITS]);
		if (op_take(s, &arg))
			continue;
		op_expel(s);
		return;
	}
	__atomic_store_n(&s->page->taken, s->taken, __ATOMIC_RELEASE);
}
