/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel behind agent/lib/sys.h: sessions of several ranks in one process, a thread for each, and
 * one that adds. File descriptor FAKE_FD + r is rank r.
 *
 * It does what uapi/linux/gagg.h specifies and nothing more. Results appear only after all members
 * have submitted and filled a chunk. A rank gets no result that it does not want. Memory with
 * unspecified contents has poison. Two of five calls of a thread return -EINTR, as after a signal.
 * With fake.store set its channel is a store (fake_store.h).
 */
#ifndef FAKE_DEV_H
#define FAKE_DEV_H

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/gagg.h>
#include <linux/gagg_wire.h>
#include "call.h"
#include "exponent.h"
#include "quant.h"
#include "agent/conf/sync_text.h"
#include "sys.h"

#define FAKE_FD		100
#define FAKE_RANKS	4
#define FAKE_CHANNELS	8
#define FAKE_OPS	5	/* in flight; small, to meet the limit */
#define FAKE_LANES	8	/* of epochs; FAKE_ROOM: as known before they start */
#define FAKE_ROOM	10
#define FAKE_POISON	0x5a
#define FAKE_HANG_S	300	/* a wait as long as this is a hang, on a busy machine, too */

struct fake_op {
	struct gagg_ioc_submit arg;
	uint64_t start, end;
};

struct fake_seat {
	void *mem[GAGG_REG_COUNT];
	struct fake_op op[256];	/* by number */
	uint64_t ops, cursor;
	uint64_t done;		/* store: ops */
	uint32_t clock;		/* store */
};

struct fake_channel {
	uint32_t id;
	uint64_t members, seated, next;
	struct fake_seat seat[FAKE_RANKS];
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	pthread_t thread;
	bool stop, paused;
	uint32_t ring, window;
	uint32_t homes;			/* placement tensor; 0: another */
	uint32_t newer;			/* by so much than libgagg */
	const char *sync;
	/* a quorum: rank @r comes too late for chunk @v of an all-reduce */
	bool (*late)(unsigned int r, uint64_t v);
	uint64_t epoch, attached, ended;
	struct gagg_ioc_status status;
	struct fake_channel channel[FAKE_CHANNELS];
	unsigned int channels;
	unsigned int calls[FAKE_RANKS];	/* SUBMIT and WAIT */
	bool dead;			/* a process that makes a call exits with 100 */
	uint64_t poor;			/* ranks without memory for a channel */
	bool silent;			/* no answers to sys_look() */
	bool discreet;			/* does not report missing ranks */
	bool patient;			/* no wait for an epoch ends before it has begun */
	uint64_t awaited;		/* of a test: nobody is told that these are missing */
	uint64_t behind;		/* store: ranks that are behind, set by the test */
	unsigned int too_many;		/* SUBMIT refused */
	unsigned int shifts;		/* contributions of a smaller exponent */
	struct gagg_ioc_times times[FAKE_RANKS];	/* as the test wants them */
	uint64_t timeless;		/* ranks whose kernel does not measure */
	bool store;
	bool copies;			/* store: each rank has one */
	bool wide;			/* store: lanes of int64 */
	uint32_t wire;			/* 1, 2: lanes of 16, 8 bits */
	double *sent;			/* floats: sums before they are narrowed; by lane */
	uint32_t bound;			/* store: bound of readers */
	uint32_t *kept;			/* store: the lanes */
	void **old;			/* memory of seats that are gone */
	unsigned int olds;
	void (*waited)(void);		/* called before a WAIT returns */
} fake = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.cond = PTHREAD_COND_INITIALIZER,
};

static size_t fake_length(int region)
{
	switch (region) {
	case GAGG_REG_PUSH:
		return GAGG_DESC_OFFSET + fake.ring * sizeof(struct gagg_cdesc);
	case GAGG_REG_DONE:
		return GAGG_DESC_OFFSET + fake.ring * sizeof(struct gagg_rdesc);
	}
	return (fake.ring + 2) / 3 * 128 +
	       (fake.store && region == GAGG_REG_RESULT ? fake.ring * sizeof(uint32_t) : 0);
}

static int32_t *fake_lanes(struct fake_seat *s, int region, uint32_t slot)
{
	return (int32_t *)((char *)s->mem[region] + slot / 3 * 128 +
			   slot % 3 * 4 * FAKE_ROOM);
}

static struct gagg_done *fake_done(struct fake_seat *s)
{
	return s->mem[GAGG_REG_DONE];
}

static struct fake_channel *fake_channel(uint32_t id)
{
	for (unsigned int i = 0; i < fake.channels; i++)
		if (fake.channel[i].id == id)
			return &fake.channel[i];
	return NULL;
}

static struct fake_op *fake_op(struct fake_seat *s, uint64_t v)
{
	for (uint64_t n = 1; n <= s->ops; n++)
		if (v >= s->op[n].start && v < s->op[n].end)
			return &s->op[n];
	return NULL;
}

#define FAKE_EACH(ch, r) \
	for (unsigned int r = 0; r < FAKE_RANKS; r++) if ((ch)->members >> r & 1)

#include "fake_store.h"

/* lock held; the epoch ends for all ranks */
static void fake_end(uint32_t reason, uint32_t rank, uint32_t other, uint32_t sig,
		     uint32_t other_sig)
{
	if (fake.ended == fake.epoch || !fake.epoch)
		return;
	fake.ended = fake.epoch;
	fake.attached = 0;
	fake.status.reason = reason;
	fake.status.rank = rank;
	fake.status.other = other;
	fake.status.sig = sig;
	fake.status.other_sig = other_sig;
	for (unsigned int i = 0; i < fake.channels; i++)
		FAKE_EACH(&fake.channel[i], r)
			if (fake.channel[i].seat[r].mem[GAGG_REG_DONE])
				__atomic_store_n(&fake_done(&fake.channel[i].seat[r])->failed,
						 reason, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&fake.cond);
}

static void fake_add(uint8_t laneop, int32_t *acc, const int32_t *in, unsigned int n,
		     unsigned int shift)
{
	uint8_t *a = (uint8_t *)acc;
	const uint8_t *b = (const uint8_t *)in;

	for (unsigned int i = 0; laneop >> 4 == GAGG_LANE_U8 && i < 4 * n; i++)
		a[i] = b[i] > a[i] ? b[i] : a[i];
	for (unsigned int i = 0; laneop >> 4 == GAGG_LANE_S64 && i + 1 < n; i += 2) {
		uint64_t x, y;

		memcpy(&x, acc + i, sizeof(x));
		memcpy(&y, in + i, sizeof(y));
		x += y;
		memcpy(acc + i, &x, sizeof(x));
	}
	for (unsigned int i = 0; laneop >> 4 == GAGG_LANE_S32 && i < n; i++)
		switch (laneop & 15) {
		case GAGG_OP_ADD:
			acc[i] = (int32_t)((uint32_t)acc[i] +
					   (uint32_t)quant_shift_rne(in[i], shift));
			break;
		case GAGG_OP_MIN:
			acc[i] = in[i] < acc[i] ? in[i] : acc[i];
			break;
		default:
			acc[i] = in[i] > acc[i] ? in[i] : acc[i];
		}
}

static unsigned int fake_narrow(uint8_t laneop)
{
	return laneop >> 4 == GAGG_LANE_S16 ? 1 : laneop >> 4 == GAGG_LANE_S8 ? 2 : 0;
}

/* adds narrow lanes to sums of 32 bits */
static void fake_add_narrow(unsigned int narrow, int32_t *acc, const void *in, unsigned int n,
			    unsigned int shift)
{
	for (unsigned int i = 0; i < n << narrow; i++)
		acc[i] += quant_shift_rne(narrow == 1 ? ((const int16_t *)in)[i] :
					  ((const int8_t *)in)[i], shift);
}

/* turns sums into narrow lanes; returns the shift */
static uint16_t fake_narrowed(unsigned int narrow, int32_t *acc, unsigned int n)
{
	int32_t limit = narrow == 1 ? INT16_MAX : INT8_MAX, most = 0;
	int16_t *halves = (int16_t *)acc;
	int8_t *bytes = (int8_t *)acc;
	unsigned int i;
	uint16_t s = 0;

	for (i = 0; i < n << narrow; i++)
		most = abs(acc[i]) > most ? abs(acc[i]) : most;
	while (quant_shift_rne(most, s) > limit)
		s++;
	/* from the first on: an element is written after it was read */
	for (i = 0; i < n << narrow; i++) {
		int32_t q = quant_shift_rne(acc[i], s);

		if (narrow == 1)
			halves[i] = (int16_t)q;
		else
			bytes[i] = (int8_t)q;
	}
	return s;
}

/* gagg_call() of the kernel */
static uint32_t fake_call(const struct gagg_ioc_submit *arg)
{
	return (uint32_t)(arg->count & 0x3ffffff) | (arg->root | arg->root >> 8 << 4) << 26;
}

/* lock held; publishes the next chunk of a channel if it is complete */
static bool fake_publish(struct fake_channel *ch)
{
	uint64_t v = ch->next;
	uint32_t slot = v % fake.ring, n = 0;
	uint8_t e = 0, ze = 0;
	uint64_t late = 0;
	struct fake_op *op = NULL;
	struct gagg_rdesc res = { 0 };
	unsigned int narrow;
	int32_t acc[4 * FAKE_LANES];
	bool any = false;

	FAKE_EACH(ch, r) {
		struct fake_seat *s = &ch->seat[r];
		struct gagg_push *push = s->mem[GAGG_REG_PUSH];
		struct fake_op *o = fake_op(s, v);

		if (!o || __atomic_load_n(&push->filled, __ATOMIC_ACQUIRE) <= v)
			return false;
		if (op && call_sig(&op->arg) != call_sig(&o->arg)) {
			fake_end(GAGG_R_DESYNC, r, (uint32_t)__builtin_ctzll(ch->members),
				 call_sig(&o->arg), call_sig(&op->arg));
			fake.status.call = fake_call(&o->arg);
			fake.status.other_call = fake_call(&op->arg);
			return false;
		}
		op = op ? op : o;
	}
	for (unsigned int r = 0; fake.late && op->arg.kind == GAGG_K_ALLREDUCE && r < FAKE_RANKS;
	     r++)
		late |= (uint64_t)fake.late(r, v) << r;
	n = v + 1 == op->end ? op->arg.last_lanes : FAKE_LANES;
	narrow = fake_narrow(op->arg.laneop);
	FAKE_EACH(ch, r) {
		struct gagg_cdesc *d = (struct gagg_cdesc *)((char *)ch->seat[r].mem[0] +
							     GAGG_DESC_OFFSET) + slot;
		uint8_t *max = d->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE) ? &ze : &e;

		if (late >> r & 1)
			continue;
		*max = d->exp > *max ? d->exp : *max;
		res.want = d->want > res.want ? d->want : res.want;
		if (d->flags & GAGG_C_NONFINITE && !(res.flags & GAGG_C_NONFINITE)) {
			res.flags = GAGG_C_NONFINITE;
			res.nonfinite = (uint16_t)r;
		}
		res.contributors++;
	}
	FAKE_EACH(ch, r) {
		struct gagg_cdesc *d = (struct gagg_cdesc *)((char *)ch->seat[r].mem[0] +
							     GAGG_DESC_OFFSET) + slot;
		int32_t *in = fake_lanes(&ch->seat[r], GAGG_REG_CONTRIB, slot);

		if ((late >> r & 1) || (d->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE)))
			continue;
		fake.shifts += !(op->arg.flags & GAGG_SUBMIT_RAW) && d->exp < e;
		if (!any)
			memset(acc, 0, sizeof(acc));
		if (narrow)
			fake_add_narrow(narrow, acc, in, n, e - d->exp);
		else if (!any && op->arg.laneop != GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD))
			memcpy(acc, in, 4 * n);
		else
			fake_add(op->arg.laneop, acc, in, n,
				 op->arg.flags & GAGG_SUBMIT_RAW ? 0 : e - d->exp);
		any = true;
	}
	res.exp = any ? e : ze;
	for (unsigned int i = 0; fake.sent && any && i < n << narrow; i++)
		fake.sent[(v - op->start) * (FAKE_LANES << narrow) + i] +=
			acc[i] * quant_unit(narrow ? 32U >> narrow :
					    31 - headroom_bits(FAKE_RANKS), e);
	if (narrow && any && !res.flags)
		res.nonfinite = fake_narrowed(narrow, acc, n);
	if (!any && !res.flags)
		res.flags = GAGG_C_ZERO;
	if (op->arg.flags & GAGG_SUBMIT_RAW && res.want &&
	    res.want + headroom_bits(FAKE_RANKS) > 31)
		res.flags |= GAGG_C_OVERFLOW;
	FAKE_EACH(ch, r) {
		struct fake_seat *s = &ch->seat[r];
		struct gagg_cdesc *d = (struct gagg_cdesc *)((char *)s->mem[0] +
							     GAGG_DESC_OFFSET) + slot;
		struct gagg_rdesc *rd = (struct gagg_rdesc *)((char *)s->mem[GAGG_REG_DONE] +
							      GAGG_DESC_OFFSET) + slot;
		int32_t *out = fake_lanes(s, GAGG_REG_RESULT, slot);

		memset(out, FAKE_POISON, FAKE_LANES * 4);
		if (!(d->flags & GAGG_C_NORESULT) && !(res.flags & ~GAGG_C_OVERFLOW))
			memcpy(out, acc, 4 * n);
		rd->exp = res.exp;
		rd->want = res.want;
		rd->flags = res.flags | (d->flags & GAGG_C_NORESULT);
		rd->contributors = res.contributors;
		rd->counted = !(late >> r & 1);
		rd->nonfinite = res.nonfinite;
		__atomic_store_n(&rd->published,
				 fake.epoch << 32 | (uint32_t)(v / fake.ring + 1),
				 __ATOMIC_RELEASE);
	}
	ch->next++;
	return true;
}

static void *fake_main(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&fake.lock);
	while (!fake.stop) {
		bool moved = false;

		if (!fake.paused && fake.epoch != fake.ended)
			for (unsigned int i = 0; i < fake.channels; i++)
				if (!fake.store &&
				    fake.channel[i].seated == fake.channel[i].members)
					while (fake_publish(&fake.channel[i]))
						moved = true;
		if (moved)
			pthread_cond_broadcast(&fake.cond);
		pthread_mutex_unlock(&fake.lock);
		usleep(20);
		pthread_mutex_lock(&fake.lock);
	}
	pthread_mutex_unlock(&fake.lock);
	return NULL;
}

/* a seat's memory stays mapped until the end of the test */
static void fake_keep(void *mem)
{
	if (!mem)
		return;
	fake.old = realloc(fake.old, (fake.olds + 1) * sizeof(*fake.old));
	fake.old[fake.olds++] = mem;
}

static void fake_free(void)
{
	for (unsigned int i = 0; i < fake.channels; i++)
		for (unsigned int r = 0; r < FAKE_RANKS; r++)
			for (int m = 0; m < GAGG_REG_COUNT; m++)
				fake_keep(fake.channel[i].seat[r].mem[m]);
	memset(fake.channel, 0, sizeof(fake.channel));
	fake.channels = 0;
}

static const char *fake_mode_text(void)
{
	return fake.sync ? fake.sync : "bsp";
}

static int fake_sit(uint32_t id, uint64_t members, uint32_t rank, struct gagg_geometry *geo)
{
	struct gagg_sync_param sync;
	struct fake_channel *ch = fake_channel(id);

	if (!ch) {
		if (fake.channels == FAKE_CHANNELS)
			return -ENOSPC;
		ch = &fake.channel[fake.channels++];
		ch->id = id;
		ch->members = members;
	}
	if (ch->members != members)
		return -EBUSY;
	if (!sync_text_parse(fake_mode_text(), &sync, NULL, 0))
		return -EINVAL;
	memset(geo, 0, sizeof(*geo));
	geo->channel = id;
	geo->rank = rank;
	geo->members = members;
	geo->ring = fake.ring;
	geo->window = fake.window;
	geo->lanes = id ? FAKE_LANES : FAKE_ROOM;
	geo->stride = 4 * FAKE_ROOM;
	geo->per_block = 3;
	geo->homes = fake.homes ? fake.homes : 1;
	geo->block = 128;
	geo->flags = fake.wire == 1 ? GAGG_GEO_INT16 : fake.wire == 2 ? GAGG_GEO_INT8 : 0;
	if (fake.store)
		fake_store_sit(geo);
	gagg_sync_tell(&sync, geo);
	for (int i = 0; i < GAGG_REG_COUNT; i++) {
		geo->region[i].offset = (uint64_t)(ch - fake.channel) << 32 | (unsigned int)i << 28;
		geo->region[i].length = fake_length(i);
		ch->seat[rank].mem[i] = malloc(fake_length(i));
		memset(ch->seat[rank].mem[i], i == GAGG_REG_PUSH || i == GAGG_REG_DONE ? 0 :
		       FAKE_POISON, fake_length(i));
	}
	ch->seated |= 1ULL << rank;
	return 0;
}

static int fake_attach(uint32_t rank, struct gagg_ioc_attach *a)
{
	if (fake.attached >> rank & 1)
		return -EBUSY;
	if (!fake.attached)
		fake_free();
	fake.attached |= 1ULL << rank;
	if (fake.attached == (1 << FAKE_RANKS) - 1)
		fake.epoch++;
	pthread_cond_broadcast(&fake.cond);
	return fake_sit(0, (1 << FAKE_RANKS) - 1, rank, &a->geo);
}

static int fake_submit(uint32_t rank, struct gagg_ioc_submit *a)
{
	struct fake_channel *ch = fake_channel(a->channel);
	struct fake_seat *s = &ch->seat[rank];
	uint64_t flying = 0;

	if (fake.ended == fake.epoch || !ch)
		return -EPIPE;
	if (fake.store)
		return fake_store_submit(s, a);
	for (uint64_t n = 1; n <= s->ops; n++)
		flying += s->op[n].end > ch->next;
	if (flying >= FAKE_OPS) {
		fake.too_many++;
		return -E2BIG;
	}
	if (!a->chunks || a->last_lanes > FAKE_LANES ||
	    (!a->last_lanes && a->kind != GAGG_K_BARRIER) || s->ops == 255)
		return -EINVAL;
	a->op = ++s->ops;
	s->op[a->op].arg = *a;
	s->op[a->op].start = s->cursor;
	s->cursor += a->chunks;
	s->op[a->op].end = s->cursor;
	return 0;
}

static bool fake_wished(uint32_t rank, const struct gagg_ioc_wait *a)
{
	struct fake_channel *ch;

	if (a->channel == GAGG_WAIT_EPOCH)
		return fake.attached == (1 << FAKE_RANKS) - 1 && fake.epoch != fake.ended;
	ch = fake_channel(a->channel);
	if (fake.store)
		return fake_store_done(ch, &ch->seat[rank], a->op);
	return ch->next >= (a->chunk ? a->chunk : ch->seat[rank].op[a->op].end);
}

static int fake_wait(uint32_t rank, struct gagg_ioc_wait *a)
{
	bool for_ever = a->timeout_ns == UINT64_MAX ||
			(a->channel == GAGG_WAIT_EPOCH &&
			 __atomic_load_n(&fake.patient, __ATOMIC_RELAXED));
	struct timespec until;

	if (!a->chunk && a->channel != GAGG_WAIT_EPOCH && !a->op && !fake.store)
		return -EINVAL;
	clock_gettime(CLOCK_REALTIME, &until);
	if (!for_ever) {
		until.tv_sec += (time_t)(a->timeout_ns / 1000000000);
		until.tv_nsec += (long)(a->timeout_ns % 1000000000);
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
	} else {
		until.tv_sec += FAKE_HANG_S;
	}
	for (;;) {
		/* others may have attached again before this rank has left */
		if (a->channel != GAGG_WAIT_EPOCH && !fake_channel(a->channel))
			return -EPIPE;
		if (fake_wished(rank, a))
			return 0;
		if (a->channel != GAGG_WAIT_EPOCH && fake.ended == fake.epoch)
			return -EPIPE;
		if (a->channel == GAGG_WAIT_EPOCH &&
		    (fake.status.mismatch || fake.status.blocked))
			return -EPROTO;
		if (pthread_cond_timedwait(&fake.cond, &fake.lock, &until))
			return for_ever ? -ENOTRECOVERABLE : -ETIMEDOUT;
	}
}

static int fake_times(uint32_t rank, struct gagg_ioc_times *a)
{
	struct gagg_ioc_times *t = &fake.times[rank];

	if (a->size != sizeof(*a) || a->reserved)
		return -EINVAL;
	if (a->flags & GAGG_TIMES_SHARE) {
		t->share = a->share;
		t->batch = a->batch;
	}
	a->share = t->share;
	a->batch = t->batch;
	a->compute_ns = t->compute_ns;
	a->wait_ns = t->wait_ns;
	return 0;
}

/* ranks that have not filled the next chunk of a channel, if the chunk belongs to that op */
static uint64_t fake_missing(uint32_t id, uint32_t rank, uint64_t n)
{
	struct fake_channel *ch = fake_channel(id);
	const struct fake_op *op = ch && n < 256 ? &ch->seat[rank].op[n] : NULL;
	uint64_t ranks = 0;

	if (fake.store)
		return n ? fake.behind : 0;
	if (!op || ch->next < op->start || ch->next >= op->end || fake.discreet)
		return 0;
	FAKE_EACH(ch, r) {
		struct gagg_push *push = ch->seat[r].mem[GAGG_REG_PUSH];

		if (__atomic_load_n(&push->filled, __ATOMIC_ACQUIRE) <= ch->next)
			ranks |= 1ULL << r;
	}
	return ranks;
}

/*
 * The same, when those that are awaited have filled it: how soon a thread runs is not what a
 * sentence is about. A caller asks when its time is over, which may be before others have begun.
 */
static uint64_t fake_missing_at_last(uint32_t id, uint32_t rank, uint64_t n)
{
	uint64_t awaited = fake.awaited & ~(1ULL << rank);
	unsigned int i;

	for (i = 0; i < FAKE_HANG_S * 1000 && (fake_missing(id, rank, n) & awaited); i++) {
		pthread_mutex_unlock(&fake.lock);
		usleep(1000);
		pthread_mutex_lock(&fake.lock);
	}
	return fake_missing(id, rank, n);
}

/* two in a row: a caller that repeats only once fails, too */
static bool fake_signal(void)
{
	static _Thread_local unsigned int calls;

	return ++calls % 5 == 1 || calls % 5 == 2;
}

int sys_ioctl(int fd, unsigned long request, void *arg)
{
	uint32_t rank = (uint32_t)(fd - FAKE_FD);
	struct gagg_ioc_status *st = arg;
	struct gagg_ioc_channel *c = arg;
	uint64_t missing;
	int ret = 0;

	if (fake.dead)
		_exit(100);
	if (fake_signal())
		return -EINTR;
	pthread_mutex_lock(&fake.lock);
	switch (request) {
	case GAGG_IOC_FEATURES:
		((struct gagg_ioc_features *)arg)->abi = GAGG_ABI + fake.newer;
		break;
	case GAGG_IOC_ATTACH:
		ret = fake_attach(rank, arg);
		break;
	case GAGG_IOC_DETACH:
		if (fake.attached >> rank & 1)
			fake_end(GAGG_R_BYE, rank, 0, 0, 0);
		fake.attached &= ~(1ULL << rank);
		break;
	case GAGG_IOC_CHANNEL:
		ret = fake.poor >> rank & 1 ? -ENOMEM :
		      fake_sit(c->channel, c->members, rank, &c->geo);
		break;
	case GAGG_IOC_CHANNEL_FREE:
		break;
	case GAGG_IOC_SUBMIT:
		fake.calls[rank]++;
		ret = fake_submit(rank, arg);
		break;
	case GAGG_IOC_WAIT:
		fake.calls[rank]++;
		ret = fake_wait(rank, arg);
		break;
	case GAGG_IOC_STATUS:
		/* the lock is released meanwhile, and another rank may ask */
		missing = fake_missing_at_last(st->channel, rank, st->op);
		fake.status.epoch = fake.epoch;
		fake.status.attached = fake.attached;
		fake.status.heard = fake.attached;
		fake.status.lanes = FAKE_LANES;
		fake.status.missing = missing;
		*st = fake.status;
		break;
	case GAGG_IOC_TIMES:
		ret = fake.timeless >> rank & 1 ? -ENOTTY : fake_times(rank, arg);
		break;
	default:
		ret = -ENOTTY;
	}
	pthread_mutex_unlock(&fake.lock);
	if (request == GAGG_IOC_WAIT && fake.waited)
		fake.waited();
	return ret;
}

int sys_look(int fd, unsigned long request, void *arg)
{
	if (fake.silent)
		return -ETIMEDOUT;
	return sys_command(fd, request, arg);
}

int sys_begin(int fd, int timeout_ms)
{
	(void)fd;
	(void)timeout_ms;
	return 0;
}

void sys_leave(int fd)
{
	struct gagg_ioc_detach arg = { .size = sizeof(arg) };

	sys_command(fd, GAGG_IOC_DETACH, &arg);
}

void sys_watch_forks(void)
{
}

void *sys_map(int fd, uint64_t offset, size_t length, bool write)
{
	struct fake_seat *s = &fake.channel[offset >> 32].seat[fd - FAKE_FD];
	int region = (int)(offset >> 28 & 15);

	if (length != fake_length(region) ||
	    write != (region == GAGG_REG_PUSH || region == GAGG_REG_CONTRIB)) {
		errno = EPERM;
		return NULL;
	}
	return s->mem[region];
}

void sys_unmap(void *addr, size_t length)
{
	(void)addr;
	(void)length;
}

void sys_close(int fd)
{
	(void)fd;
}

int sys_event_fd(int fd)
{
	return fd;
}

bool sys_in_kernel(int fd)
{
	(void)fd;
	return true;
}

static void fake_start(uint32_t ring, uint32_t window)
{
	fake.stop = false;
	fake.paused = false;
	fake.ring = ring;
	fake.window = window;
	fake.attached = 0;
	fake.too_many = 0;
	fake.shifts = 0;
	fake.poor = 0;
	fake.timeless = 0;
	memset(fake.times, 0, sizeof(fake.times));
	memset(&fake.status, 0, sizeof(fake.status));
	memset(fake.calls, 0, sizeof(fake.calls));
	pthread_create(&fake.thread, NULL, fake_main, NULL);
}

static void fake_stop(void)
{
	pthread_mutex_lock(&fake.lock);
	fake.stop = true;
	pthread_mutex_unlock(&fake.lock);
	pthread_join(fake.thread, NULL);
	fake_free();
	while (fake.olds)
		free(fake.old[--fake.olds]);
	free(fake.old);
	fake.old = NULL;
	fake.ended = fake.epoch;
	fake.awaited = 0;
}

#endif
