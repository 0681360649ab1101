// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Gossip (Jin et al. 2016; push-sum: Kempe et al. 2003, Assran et al. 2019): every TAU steps a rank
 * exchanges its replica with one other rank. Which one is a function of rank and clock
 * (gagg_peer.h). The kernel makes sure that no rank sees a part of a replica
 * (kmod/core/sync/gossip.c).
 *
 * Whole numbers of steps are exchanged. What float32 cannot hold of a weight, and what lies between
 * two steps, stays with the rank, as in easgd-sync.
 *
 *	gossip-pull	x = mean of x and what the peer has shown last, + u
 *	gossip-pair	both take the mean of both: s = a + b, the lower rank s >> 1,
 *			the other s - (s >> 1): their sum stays as it is
 *	gossip-push	x = mean of x and what it was sent, + u; x is sent to the peer
 *	push-sum	x and its weight grow by what they were sent; half of both goes
 *			to the peer, the remainder stays: sums do not change. The
 *			replica is x / weight
 *
 * u is what the rank has learned since its last exchange (Jin et al. 2016: eta times the
 * gradient), and is added after the mean. A mean of what all ranks have learned alike would
 * else halve it: replicas that are the same, and stay so, move as far as one that trains
 * alone. x is therefore what the rank has shown or sent last (@seen, @sent). A peer that has
 * come to the same exchange sooner shows, or sends, its u already: then x includes this
 * rank's u, too. Exchanges are numbered (@exchanges) so that both can be told.
 *
 * A rank's copy in the store is its replica (pull, pair), or what it was sent so far
 * (push): sums that wrap, of which the difference to the last read is exact, since
 * replicas are within gossip_far() steps and at most gossip_pushes() come between two reads. One
 * chunk more than there are weights has the number of the exchange (pull); how many were sent in
 * exchanges of even numbers, the sum of these, and the same of odd numbers (push); or the
 * weight (push-sum).
 */
#include <math.h>
#include <string.h>

#include <linux/gagg_peer.h>
#include "copies.h"
#include "lane.h"
#include "replica.h"
#include "steps.h"

#define UNIT	(1 << 24)	/* push-sum: weight of a rank that has exchanged nothing */

/*
 * Bits of a weight's steps. int32: 24, and 2^24 * (126 + 1) < 2^31. int64: as many as a position
 * may have (replica.h); sums of them are below 2^53, where doubles are exact.
 */
static int gossip_step_bits(const struct gagg_replica *r)
{
	return store_wide(r->comm) ? 30 : 24;
}

static double gossip_far(const struct gagg_replica *r)
{
	return (double)(1 << gossip_step_bits(r));
}

static int64_t gossip_pushes(const struct gagg_replica *r)
{
	return (1 << ((store_wide(r->comm) ? 53 : 31) - gossip_step_bits(r))) - 2;
}

/* the lane behind the weights, in @own, @seen and @spare */
static size_t gossip_extra(const struct gagg_replica *r)
{
	return r->table->count - store_lanes(r->comm);
}

static uint64_t gossip_members(const struct gagg_replica *r)
{
	return r->comm->region.geo.members;
}

static uint32_t gossip_self(const struct gagg_replica *r)
{
	return r->comm->region.geo.rank;
}

static uint32_t gossip_clock_of(const struct gagg_replica *r)
{
	return (uint32_t)r->comm->store_clock;
}

/* rank of the communicator */
static int gossip_local(const struct gagg_replica *r, uint32_t rank)
{
	return (int)gagg_peer_index(gossip_members(r), rank);
}

/* the rank whose copy is used at this clock */
static int gossip_peer(struct gagg_replica *r)
{
	return gossip_local(r, gagg_peer_to(gossip_members(r), gossip_self(r),
					    gossip_clock_of(r)));
}

static int gossip_send_to(struct gagg_replica *r)
{
	return copies_add(r->table, gossip_peer(r));
}

/* the number of the exchange at this step, or of the last one before it */
static uint32_t gossip_number(const struct gagg_replica *r)
{
	return (uint32_t)(r->clock / r->arg[0]);
}

/* in whole steps, and what lies between them */
static int64_t gossip_whole(const struct gagg_replica *r, const float *w, size_t i)
{
	return steps_nearest(replica_settled(replica_at(r, w, i)));
}

static int gossip_too_far(const struct gagg_replica *r, size_t i)
{
	return comm_error(r->comm, GAGG_ERR_INVALID,
			  "weight %zu is not finite, or 2^%d steps and more", i,
			  gossip_step_bits(r));
}

static int gossip_check(const struct gagg_replica *r, const float *w)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		if (!(fabs(replica_at(r, w, i)) < gossip_far(r) - 1))
			return gossip_too_far(r, i);
	return GAGG_OK;
}

/* a weight moves by whole steps */
static void gossip_move(struct gagg_replica *r, float *w, size_t i, int64_t by)
{
	double x = replica_settled(replica_at(r, w, i)) + (double)by;

	w[i] = (float)(x / r->grid);
	r->carry[i] = x - w[i] * r->grid;
}

/* sets this rank's copy to @spare */
static int gossip_show(struct gagg_replica *r)
{
	struct gagg_table *t = r->table;
	size_t i;

	for (i = 0; i < t->count; i++) {
		t->own[i] = t->spare[i] - t->seen[i];
		t->seen[i] = t->spare[i];
	}
	return copies_add(t, r->comm->rank);
}

/* reads what was added to this rank's copy since the last read, into @own */
static int gossip_receive(struct gagg_replica *r, uint32_t flags)
{
	struct gagg_table *t = r->table;
	int err = copies_read(t, r->comm->rank, flags);
	size_t i;

	for (i = 0; !err && i < t->count; i++) {
		t->own[i] = lane_wrap(steps_sub(t->spare[i], t->seen[i]), store_wide(r->comm));
		t->seen[i] = t->spare[i];
	}
	return err;
}

/* the initial copy of this rank, before all begin to train */
static int gossip_start(struct gagg_replica *r, const float *w)
{
	struct gagg_table *t = r->table;
	size_t i;
	int err;

	memset(t->spare, 0, t->count * sizeof(*t->spare));
	for (i = 0; i < r->count; i++) {
		if (r->mode->shows)
			t->spare[i] = gossip_whole(r, w, i);
		if (r->sent)
			r->sent[i] = (int32_t)gossip_whole(r, w, i);
		/* push-sum: what is trained is here */
		if (r->mode->weighs)
			r->carry[i] = w[i] * r->grid;
	}
	r->weight = UNIT;
	r->exchanges = gossip_number(r);
	if (r->mode->shows)
		t->spare[gossip_extra(r)] = r->exchanges;
	err = gossip_show(r);
	return err ? err : store_meet(r->comm);
}

/* the chunk behind the weights, as a table of its own */
static struct gagg_table gossip_behind(const struct gagg_replica *r)
{
	struct gagg_table last = *r->table;

	last.first += last.chunks - 1;
	last.chunks = 1;
	last.count = store_lanes(r->comm);
	last.spare += gossip_extra(r);
	return last;
}

/* each rank shows its resolution, rank 0 its weights as well; as bits */
static int gossip_show_begin(struct gagg_replica *r, const float *w)
{
	struct gagg_table *t = r->table;
	size_t e = gossip_extra(r), i;
	uint64_t grid;

	memset(t->spare, 0, t->count * sizeof(*t->spare));
	memcpy(&grid, &r->grid, sizeof(grid));
	for (i = 0; i < r->count && !r->comm->rank; i++) {
		int32_t bits;

		memcpy(&bits, &w[i], sizeof(bits));
		t->spare[i] = bits;
	}
	t->spare[e] = (int32_t)(uint32_t)grid;
	t->spare[e + 1] = (int32_t)(grid >> 32);
	return gossip_show(r);
}

/*
 * reads those of all others, rank 0's last; @other becomes a rank with another resolution than here
 */
static int gossip_read_begins(struct gagg_replica *r, int *other)
{
	struct gagg_table *t = r->table, last = gossip_behind(r);
	size_t e = gossip_extra(r);
	int err = GAGG_OK, k;

	for (k = r->comm->size - 1; k >= 0 && !err; k--) {
		if (k == r->comm->rank)
			continue;
		err = copies_read(k ? &last : t, k, GAGG_SUBMIT_FENCE);
		if (t->spare[e] != t->seen[e] || t->spare[e + 1] != t->seen[e + 1])
			*other = k;
	}
	return err;
}

/*
 * Takes the weights of rank 0. If not all ranks have the same resolution, each rank finds one with
 * another resolution: so all come to the same conclusion.
 */
static int gossip_begin(struct gagg_replica *r, float *w)
{
	struct gagg_table *t = r->table;
	int err = gossip_show_begin(r, w), other = -1;
	size_t i;

	if (!err)
		err = gossip_read_begins(r, &other);
	for (i = 0; i < r->count && !err; i++) {
		int32_t bits = (int32_t)t->spare[i];

		memcpy(&w[i], &bits, sizeof(w[i]));
	}
	if (!err)
		err = store_meet(r->comm);
	if (!err && other >= 0)
		err = comm_error(r->comm, GAGG_ERR_INVALID,
				 "rank %d has another step than this one, rank %d", other,
				 r->comm->rank);
	return err;
}

static int gossip_init(struct gagg_replica *r, float *w)
{
	size_t lanes = store_lanes(r->comm);
	size_t count = (r->count / lanes + !!(r->count % lanes) + 1) * lanes;
	int err;

	r->carry = replica_alloc(r, sizeof(*r->carry));
	if (r->mode->sends)
		r->sent = replica_alloc(r, sizeof(*r->sent));
	if (!r->carry || (r->mode->sends && !r->sent))
		return GAGG_ERR_NOMEM;
	err = store_table(r->comm, count, GAGG_INT32, 1, &r->table);
	if (!err)
		err = gossip_begin(r, w);
	if (!err)
		err = replica_check_grid(r);
	if (!err)
		err = gossip_check(r, w);
	return err ? err : gossip_start(r, w);
}

/* --- the exchanges ------------------------------------------------------ */

/* to the nearest, half to even: the mean of whole numbers is within their hull */
static int64_t gossip_half(int64_t sum)
{
	return (sum + (sum >> 1 & 1)) >> 1;
}

/* has the peer, whose copy was read, come to a later exchange than this rank has shown? */
static bool gossip_ahead(const struct gagg_replica *r)
{
	return (int32_t)((uint32_t)r->table->spare[gossip_extra(r)] - r->exchanges) > 0;
}

static int gossip_pull(struct gagg_replica *r, float *w)
{
	struct gagg_table *t = r->table;
	int err = gossip_check(r, w);
	bool ahead;
	size_t i;

	if (!err)
		err = copies_read(t, gossip_peer(r), 0);
	if (err)
		return err;
	ahead = gossip_ahead(r);
	for (i = 0; i < r->count; i++) {
		int64_t now = gossip_whole(r, w, i), own = ahead ? now : t->seen[i];
		int64_t by = gossip_half(own + t->spare[i]) - own;

		gossip_move(r, w, i, by);
		t->spare[i] = now + by;
	}
	r->exchanges = gossip_number(r);
	t->spare[gossip_extra(r)] = r->exchanges;
	return gossip_show(r);
}

/* two clocks, see kmod/core/sync/gossip.c */
static int gossip_pair(struct gagg_replica *r, float *w)
{
	uint32_t peer = gagg_peer_pair(gossip_members(r), gossip_self(r), gossip_clock_of(r) / 2);
	struct gagg_table *t = r->table;
	int err = gossip_check(r, w);
	size_t i;

	for (i = 0; i < r->count && !err; i++)
		t->spare[i] = gossip_whole(r, w, i);
	if (!err)
		err = gossip_show(r);
	if (!err && peer != gossip_self(r)) {
		err = copies_read(t, gossip_local(r, peer), 0);
		for (i = 0; i < r->count && !err; i++) {
			int64_t n = t->seen[i], sum = n + t->spare[i], low = sum >> 1;

			gossip_move(r, w, i, (gossip_self(r) < peer ? low : sum - low) - n);
		}
	}
	return err ? err : store_submit(r->comm, &(struct store_op){
		.kind = GAGG_K_UPDATE, .flags = GAGG_SUBMIT_OWN,
	});
}

/*
 * How many of the replicas that were received were sent no later than this rank has sent last?
 * They are counted, and their exchanges' numbers added up, for even and for odd numbers. If one
 * alone came, its number is known. If several of a kind came, it is not: they count as sent
 * later, with which the mean of all is within their hull whenever they were sent.
 */
static int64_t gossip_not_later(const struct gagg_replica *r)
{
	const int64_t *tally = r->table->own + gossip_extra(r);
	int64_t n = 0;
	int odd;

	for (odd = 0; odd < 2; odd++, tally += 2)
		n += tally[0] == 1 && (int32_t)((uint32_t)tally[1] - r->exchanges) <= 0;
	return n;
}

static int gossip_push_receive(struct gagg_replica *r, float *w, uint32_t flags)
{
	struct gagg_table *t = r->table;
	const int64_t *tally = t->own + gossip_extra(r);
	int err = gossip_check(r, w);
	int64_t before, k;
	size_t i;

	if (!err)
		err = gossip_receive(r, flags);
	if (err)
		return err;
	before = gossip_not_later(r);
	k = tally[0] + tally[2];
	if (tally[0] < 0 || tally[2] < 0 || k > gossip_pushes(r))
		return comm_error(r->comm, GAGG_ERR_INVALID,
				  "more than %lld replicas were sent between two exchanges: a smaller S of %s",
				  (long long)gossip_pushes(r), gagg_sync(r->comm));
	for (i = 0; i < r->count && k; i++) {
		int64_t own = before * r->sent[i] + (k - before) * gossip_whole(r, w, i);

		gossip_move(r, w, i,
			    steps_nearest((double)(t->own[i] - own) / (double)(1 + k)));
	}
	return k ? gossip_check(r, w) : GAGG_OK;
}

static int gossip_push(struct gagg_replica *r, float *w)
{
	struct gagg_table *t = r->table;
	int64_t *tally = t->own + gossip_extra(r);
	int err = gossip_push_receive(r, w, 0);
	size_t i;

	if (err)
		return err;
	memset(t->own, 0, t->count * sizeof(*t->own));
	for (i = 0; i < r->count; i++) {
		r->sent[i] = (int32_t)gossip_whole(r, w, i);
		t->own[i] = r->sent[i];
	}
	r->exchanges = gossip_number(r);
	tally += r->exchanges % 2 * 2;
	tally[0] = 1;
	tally[1] = r->exchanges;
	return gossip_send_to(r);
}

/* push-sum: calculates the replica from this rank's part and weight */
static int gossip_weigh(struct gagg_replica *r, float *w)
{
	size_t i;

	for (i = 0; i < r->count; i++) {
		if (!(fabs(r->carry[i]) < gossip_far(r) - 1))
			return gossip_too_far(r, i);
		w[i] = (float)(r->carry[i] * UNIT / (double)r->weight / r->grid);
	}
	return GAGG_OK;
}

static int gossip_sum_receive(struct gagg_replica *r, float *w, uint32_t flags)
{
	struct gagg_table *t = r->table;
	int err = gossip_receive(r, flags);
	size_t i;

	if (err)
		return err;
	for (i = 0; i < r->count; i++)
		r->carry[i] = replica_settled(r->carry[i]) + (double)t->own[i];
	r->weight += t->own[gossip_extra(r)];
	return gossip_weigh(r, w);
}

static int gossip_push_sum(struct gagg_replica *r, float *w)
{
	struct gagg_table *t = r->table;
	int err = gossip_sum_receive(r, w, 0);
	size_t i;

	if (err)
		return err;
	memset(t->own, 0, t->count * sizeof(*t->own));
	for (i = 0; i < r->count; i++) {
		t->own[i] = steps_nearest(r->carry[i]) >> 1;
		r->carry[i] -= (double)t->own[i];
	}
	t->own[gossip_extra(r)] = r->weight >> 1;
	r->weight -= t->own[gossip_extra(r)];
	err = gossip_weigh(r, w);
	return err ? err : gossip_send_to(r);
}

/* --- steps, and the end -------------------------------------------------- */

static int gossip_step(struct gagg_replica *r, float *w, const float *update)
{
	size_t i;
	int err;

	if (r->mode->weighs) {
		for (i = 0; i < r->count; i++)
			r->carry[i] += update[i] * r->grid;
		err = gossip_weigh(r, w);
		if (err)
			return err;
	}
	return r->clock % r->arg[0] ? GAGG_OK : r->mode->exchange(r, w);
}

/* receives all that was sent; then each rank shows what it has */
static int gossip_gather(struct gagg_replica *r, float *w)
{
	struct gagg_table *t = r->table;
	int err = GAGG_OK, k;
	size_t i;

	if (r->mode->receive)
		err = r->mode->receive(r, w, GAGG_SUBMIT_FENCE);
	if (!err && !r->mode->weighs)
		err = gossip_check(r, w);
	if (err)
		return err;
	memset(t->spare, 0, t->count * sizeof(*t->spare));
	for (i = 0; i < r->count; i++)
		t->spare[i] = r->mode->weighs ? steps_nearest(r->carry[i]) : gossip_whole(r, w, i);
	t->spare[gossip_extra(r)] = r->weight;
	err = gossip_show(r);
	if (!err)
		err = store_settle(r->comm);
	memcpy(t->own, t->seen, t->count * sizeof(*t->own));
	for (k = 0; k < r->comm->size && !err; k++) {
		if (k == r->comm->rank)
			continue;
		err = copies_read(t, k, GAGG_SUBMIT_FENCE);
		for (i = 0; i < t->count; i++)
			t->own[i] += t->spare[i];
	}
	return err;
}

static int gossip_finish(struct gagg_replica *r, float *w)
{
	const struct gagg_table *t = r->table;
	int err = gossip_gather(r, w);
	double all;
	size_t i;

	if (err)
		return err;
	/* weight of all ranks; except in push-sum UNIT each */
	all = (double)t->own[gossip_extra(r)] / UNIT;
	for (i = 0; i < r->count; i++) {
		w[i] = (float)((double)t->own[i] / all / r->grid);
		r->carry[i] = 0;
	}
	err = store_meet(r->comm);
	return err ? err : gossip_start(r, w);
}

const struct replica_mode replica_gossip_pull = {
	.number = GAGG_SYNC_GOSSIP_PULL,
	.store = true,
	.shows = true,
	.init = gossip_init,
	.step = gossip_step,
	.exchange = gossip_pull,
	.finish = gossip_finish,
};

const struct replica_mode replica_gossip_pair = {
	.number = GAGG_SYNC_GOSSIP_PAIR,
	.store = true,
	.shows = true,
	.init = gossip_init,
	.step = gossip_step,
	.exchange = gossip_pair,
	.finish = gossip_finish,
};

const struct replica_mode replica_gossip_push = {
	.number = GAGG_SYNC_GOSSIP_PUSH,
	.store = true,
	.sends = true,
	.init = gossip_init,
	.step = gossip_step,
	.exchange = gossip_push,
	.receive = gossip_push_receive,
	.finish = gossip_finish,
};

const struct replica_mode replica_push_sum = {
	.number = GAGG_SYNC_PUSH_SUM,
	.store = true,
	.weighs = true,
	.init = gossip_init,
	.step = gossip_step,
	.exchange = gossip_push_sum,
	.receive = gossip_sum_receive,
	.finish = gossip_finish,
};
