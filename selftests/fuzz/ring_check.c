// SPDX-License-Identifier: GPL-2.0
/*
 * What a rank contributes is a function of epoch, rank, channel and chunk; what
 * must come of it is computed with plain integers.
 */
#include "ring.h"

u16 ring_lanes(const struct hosts *w, u32 epoch, u32 c, u64 v)
{
	const struct plan *plan = &w->calls->plan[epoch][c];
	u32 i;

	for (i = 0; i < plan->n; i++)
		if (v < plan->op[i].end)
			return v + 1 == plan->op[i].end ? plan->op[i].last : HOSTS_LANES;
	return 0;
}

struct gagg_cdesc ring_contribution(const struct hosts *w, u32 epoch, u32 rank, u32 c, u64 v,
				     s32 *lanes)
{
	u64 x = gagg_mix64(gagg_mix64(v, epoch * 16 + c * 8 + rank), 5);
	struct gagg_cdesc d = { .exp = 0 };
	u32 i;

	/* what the kernel must not take from a trainer is set as well */
	d.flags = (u8)x & ~(GAGG_C_ZERO | GAGG_C_NONFINITE | GAGG_C_NORESULT);
	d.exp = (u8)(100 + (x >> 8) % (w->calls->exps + 1));
	d.want = w->calls->op_flags & GAGG_OP_RAW ? 26 + (x >> 16) % 6 : (u8)(d.exp - (x >> 16) % 3);
	d.flags |= (u8)(x >> 24) < w->calls->zeros ? GAGG_C_ZERO : 0;
	d.flags |= (u8)(x >> 32) < w->calls->nonfinite ? GAGG_C_NONFINITE : 0;
	d.flags |= (u8)(x >> 40) < w->calls->noresult ? GAGG_C_NORESULT : 0;
	for (i = 0; i < HOSTS_LANES; i++) {
		s32 q = (s32)(gagg_mix64(x, i) >> 38) + 64;

		if (i < HOSTS_RANKS)
			lanes[i] = i == rank ? q : 0;
		else
			/* lower halves that are negative carry */
			lanes[i] = (i & 1) == ring_wide(w) ? q : -q;
	}
	return d;
}

/* q / 2^s to nearest, ties to even */
static s64 rounded(s64 q, u32 s)
{
	s64 unit = (s64)1 << s, down = q / unit - (q % unit < 0), rest = q - down * unit;

	if (2 * rest != unit)
		return down + (2 * rest > unit);
	return down + (down & 1);
}

struct reference {
	s64 lanes[HOSTS_LANES];
	u32 exp, want, flags, contributors, nonfinite, shift;
};

static bool is_empty(const struct gagg_cdesc *d)
{
	return d->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE);
}

/* lane @i of narrow ones, which are @bits wide */
static s64 narrow_lane(const s32 *words, u32 bits, u32 i)
{
	s64 v = (u32)words[i * bits / 32] >> i * bits % 32 & ((1U << bits) - 1);

	return v >> (bits - 1) ? v - (1LL << bits) : v;
}

/* sums of narrow lanes, without what is below the least shift that makes all fit */
static void narrow_again(const s64 *sum, u32 bits, u32 n, struct reference *ref)
{
	s64 most = 0;
	u32 i;

	for (i = 0; i < n; i++)
		most = sum[i] > most ? sum[i] : -sum[i] > most ? -sum[i] : most;
	while (rounded(most, ref->shift) >= 1LL << (bits - 1))
		ref->shift++;
	for (i = 0; i < n; i++)
		ref->lanes[i * bits / 32] |= (rounded(sum[i], ref->shift) & ((1LL << bits) - 1))
					     << i * bits % 32;
}

static void compute(const struct hosts *w, u32 epoch, u32 c, u64 v, struct reference *ref)
{
	u32 rank, i, zexp = 0, lanes = ring_lanes(w, epoch, c, v), bits = 0;
	struct gagg_cdesc d[HOSTS_RANKS];
	s32 q[HOSTS_RANKS][HOSTS_LANES];
	bool any = false, raw = w->calls->op_flags & GAGG_OP_RAW;
	u32 narrow = 32 >> ring_narrow(w);
	s64 sum[HOSTS_LANES * 4] = { 0 };

	memset(ref, 0, sizeof(*ref));
	ref->nonfinite = 0xff;
	for (rank = 0; rank < w->ranks; rank++) {
		if (!(w->members[c] & GAGG_BIT(rank)))
			continue;
		d[rank] = ring_contribution(w, epoch, rank, c, v, q[rank]);
		if (raw)
			d[rank].exp = 0;
		if (!lanes)
			d[rank].flags |= GAGG_C_ZERO;
		ref->contributors++;
		if (d[rank].want > ref->want)
			ref->want = d[rank].want;
		if ((d[rank].flags & GAGG_C_NONFINITE) && ref->nonfinite == 0xff)
			ref->nonfinite = rank;
		if (is_empty(&d[rank])) {
			if (d[rank].exp > zexp)
				zexp = d[rank].exp;
			continue;
		}
		any = true;
		if (d[rank].exp > ref->exp)
			ref->exp = d[rank].exp;
	}
	if (!any)
		ref->exp = zexp;
	while ((1U << bits) < ref->contributors)
		bits++;
	if (ref->nonfinite != 0xff)
		ref->flags = GAGG_C_NONFINITE;
	else if (!any)
		ref->flags = GAGG_C_ZERO;
	else if (raw && !ring_wide(w) && ref->want + bits > 31)
		ref->flags = GAGG_C_OVERFLOW;
	for (rank = 0; rank < w->ranks && ring_narrow(w); rank++)
		if ((w->members[c] & GAGG_BIT(rank)) && !is_empty(&d[rank]))
			for (i = 0; i < lanes << ring_narrow(w); i++)
				sum[i] += rounded(narrow_lane(q[rank], narrow, i),
						  ref->exp - d[rank].exp);
	if (ring_narrow(w)) {
		narrow_again(sum, narrow, lanes << ring_narrow(w), ref);
		return;
	}
	for (rank = 0; rank < w->ranks; rank++)
		if ((w->members[c] & GAGG_BIT(rank)) && !is_empty(&d[rank]))
			for (i = 0; i < HOSTS_LANES; i++)
				ref->lanes[i] += ring_wide(w) ? (u32)q[rank][i] :
						 rounded(q[rank][i], ref->exp - d[rank].exp);
	/* what a lower half does not hold */
	for (i = 0; ring_wide(w) && i < HOSTS_LANES; i += 2)
		ref->lanes[i + 1] += ref->lanes[i] >> 32;
}

/* all that the result must be, if no insider took part */
static void check_exact(struct host *h, u32 c, u32 s, u64 v, const struct gagg_publish *p)
{
	const s32 *res = &h->c[c].chunks->result[p->slot * HOSTS_LANES];
	const struct gagg_chan *ch = h->c[c].core[0];
	const struct hosts *w = h->w;
	s32 lanes[HOSTS_LANES];
	struct gagg_rdesc rd;
	struct reference ref;
	u32 l, i;

	compute(w, h->epoch, c, v, &ref);
	if (p->contributors != ref.contributors || p->exp != ref.exp || p->want != ref.want ||
	    (p->flags & ~GAGG_C_NORESULT) != ref.flags ||
	    ((ref.flags & GAGG_C_NONFINITE) && p->nonfinite != ref.nonfinite))
		fuzz_fail("host %u chan %u chunk %llu: %u contributors, exp %u want %u flags %x, not %u %u %u %x",
			  h->g.self, c, (unsigned long long)v, p->contributors, p->exp, p->want, p->flags,
			  ref.contributors, ref.exp, ref.want, ref.flags);
	if (p->flags & GAGG_C_NORESULT) {
		for (l = 0; l < ch->nlocals; l++)
			if (!(ring_contribution(w, h->epoch, ch->local[l].rank, c, v,
						 lanes).flags & GAGG_C_NORESULT))
				fuzz_fail("host %u chunk %llu: withheld", h->g.self, (unsigned long long)v);
	} else if (p->lanes != (ref.flags & (GAGG_C_ZERO | GAGG_C_NONFINITE) ? 0 :
				ring_lanes(w, h->epoch, c, v))) {
		fuzz_fail("host %u chunk %llu: %u lanes", h->g.self, (unsigned long long)v, p->lanes);
	}
	for (i = 0; i < p->lanes; i++)
		if (res[i] != (s32)ref.lanes[i])
			fuzz_fail("host %u chan %u chunk %llu lane %u: %d, not %lld", h->g.self, c,
				  (unsigned long long)v, i, res[i], (long long)ref.lanes[i]);
	gagg_publish_desc(p, h->c[c].core[s], &rd);
	if (ring_narrow(w) && p->lanes && rd.nonfinite != ref.shift)
		fuzz_fail("host %u chunk %llu: shifted by %u, not %u", h->g.self,
			  (unsigned long long)v, rd.nonfinite, ref.shift);
}

/* each rank of an honest host is in the sum once, whatever insiders add */
static void check_honest(struct host *h, u32 c, u64 v, const struct gagg_publish *p)
{
	const s32 *res = &h->c[c].chunks->result[p->slot * HOSTS_LANES];
	const struct hosts *w = h->w;
	u32 rank;

	/* raw lanes have none; with one from an insider the home shifts them */
	if (p->raw && p->exp)
		return;
	/* lanes of ranks do not lie by themselves */
	if (ring_narrow(w))
		return;
	for (rank = 0; rank < w->ranks && rank < p->lanes; rank++) {
		s32 q[HOSTS_LANES];
		struct gagg_cdesc d;
		s64 want = 0;

		if (!(w->members[c] & GAGG_BIT(rank)) ||
		    (w->insiders & GAGG_BIT(h->g.node_of[rank])))
			continue;
		d = ring_contribution(w, h->epoch, rank, c, v, q);
		if (w->calls->op_flags & GAGG_OP_RAW)
			d.exp = 0;
		if (!is_empty(&d)) {
			if (p->exp < d.exp)
				fuzz_fail("host %u chunk %llu: exponent %u with one of %u",
					  h->g.self, (unsigned long long)v, p->exp, d.exp);
			want = p->exp - d.exp > 31 ? 0 : rounded(q[rank], p->exp - d.exp);
		}
		if (res[rank] != (s32)want)
			fuzz_fail("host %u chan %u chunk %llu rank %u: %d, not %lld", h->g.self, c,
				  (unsigned long long)v, rank, res[rank], (long long)want);
	}
}

void check_publish(struct host *h, u32 c, u32 s, u64 v, const struct gagg_publish *p)
{
	const struct gagg_chan *ch = h->c[c].core[s];
	const struct hosts *w = h->w;
	u64 strangers = ch->members & ~w->members[c];
	u32 rank;

	if (!w->insiders) {
		fuzz_assert(v < w->calls->plan[h->epoch][c].total);
		check_exact(h, c, s, v, p);
		return;
	}
	/* an insider may have opened the channel with other members */
	if (gagg_geom_home(&h->g, ch->nhomes, p->slot) != ch->self_home || strangers)
		return;
	for (rank = 0; rank < w->ranks; rank++)
		if ((ch->members & GAGG_BIT(rank)) &&
		    !(w->insiders & GAGG_BIT(h->g.node_of[rank])))
			break;
	/* one honest member is enough to know what the chunk is about */
	if (rank < w->ranks && ch->members == w->members[c]) {
		fuzz_assert(v < w->calls->plan[h->epoch][c].total);
		check_honest(h, c, v, p);
	}
}

/* every local rank has read what the slot holds, so it may be written */
void check_unread(struct host *h, u32 c, u32 slot)
{
	struct chunks *k = h->c[c].chunks;
	u32 l;

	for (l = 0; l < h->c[c].core[0]->nlocals; l++)
		if (k->holds[slot] > k->trainer[l].read)
			fuzz_fail("host %u: slot %u of channel %u overwritten unread", h->g.self,
				  slot, c);
}

void check_read(struct host *h, u32 c, u64 v)
{
	u32 slot = (u32)(v % h->g.ring);
	struct chunks *k = h->c[c].chunks;

	if (memcmp(&k->result[slot * HOSTS_LANES], &k->shadow[slot * HOSTS_LANES],
		   k->lanes[slot] * 4U))
		fuzz_fail("host %u chan %u chunk %llu changed before it was read", h->g.self, c,
			  (unsigned long long)v);
}

/* --- actions ----------------------------------------------------------- */

static void check_disagreement(const struct host *h, const struct gagg_act *a)
{
	u64 both = GAGG_BIT(a->end.rank) | GAGG_BIT(a->end.other);

	fuzz_assert(a->end.rank < h->w->ranks && a->end.other < h->w->ranks);
	fuzz_assert(h->w->insiders || h->w->disagree);
	if (!h->w->insiders)
		fuzz_assert(a->end.sig != a->end.other_sig &&
			    !(both & ~h->w->members[a->channel]));
}

static void check_bounds(const struct host *h, u32 s, const struct gagg_act *a)
{
	const struct gagg_chan *ch = h->c[a->channel].core[s];
	const struct gagg_publish *p = &a->pub;

	if (a->type == GAGG_ACT_OP_DONE) {
		fuzz_assert(a->local < ch->nlocals);
		return;
	}
	fuzz_assert(p->slot < h->g.ring && p->lanes <= HOSTS_LANES);
	fuzz_assert(gagg_geom_shard(&h->g, ch->nhomes, p->slot) == s);
	fuzz_assert(!(p->locals >> ch->nlocals));
	fuzz_assert(!(p->from_acc && p->placed));
	fuzz_assert(!p->from_acc || ch->self_home != 0xff);
	fuzz_assert(!p->lanes || p->locals || p->from_acc || p->placed);
}

void chunks_check_action(const struct host *h, u32 s, const struct gagg_act *a)
{
	switch (a->type) {
	case GAGG_ACT_PUBLISH:
	case GAGG_ACT_OP_DONE:
		check_bounds(h, s, a);
		break;
	case GAGG_ACT_DESYNC:
		check_disagreement(h, a);
		break;
	default:
		fuzz_fail("host %u: action %u", h->g.self, a->type);
	}
}

void chunks_check(struct host *h, u32 c, u32 s)
{
	struct part *k = &h->c[c];
	struct gagg_chan *ch = k->core[s];
	u32 again[GAGG_NODES], home, slot, l;

	fuzz_assert(ch->base >= k->base[s]);
	k->base[s] = ch->base;
	/* of a large ring this takes more time than all else */
	if (h->g.ring > 128)
		return;
	for (l = 0; l < ch->nlocals; l++) {
		fuzz_assert(ch->local[l].finished <= ch->local[l].numbers);
		memset(again, 0, sizeof(again));
		for (slot = 0; slot < h->g.ring; slot++)
			if (gagg_chan_pushed(ch, slot, l)->state & GAGG_AGAIN)
				again[gagg_geom_home(&h->g, ch->nhomes, slot)]++;
		for (home = 0; home < ch->nhomes; home++)
			fuzz_assert(gagg_chan_way(ch, l, home)->nagain == again[home]);
	}
}
