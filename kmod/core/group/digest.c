// SPDX-License-Identifier: GPL-2.0
#include "group/digest.h"
#include "group/param.h"
#include "group/roster.h"
#include "sync/sync.h"

#define SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static inline u32 digest_rol(u32 v, u32 n)
{
	return v << n | v >> (32 - n);
}

static void digest_mix(u32 s[3])
{
	static const u8 by[6] = { 4, 6, 8, 16, 19, 4 };
	u32 i;

	for (i = 0; i < 6; i++) {
		u32 a = i % 3, c = (i + 2) % 3;

		s[a] -= s[c];
		s[a] ^= digest_rol(s[c], by[i]);
		s[c] += s[(i + 1) % 3];
	}
}

static void digest_final(u32 s[3])
{
	static const u8 by[7] = { 14, 11, 25, 16, 4, 14, 24 };
	u32 i;

	for (i = 0; i < 7; i++) {
		u32 to = (i + 2) % 3, from = (i + 1) % 3;

		s[to] ^= s[from];
		s[to] -= digest_rol(s[from], by[i]);
	}
}

/* Bob Jenkins, lookup3.c, 2006 (public domain): hashlittle() */
u32 gagg_hash(const void *bytes, u32 len, u32 seed)
{
	u32 s[3] = { 0xdeadbeef + len + seed };
	const u8 *k = bytes;
	u32 i;

	s[1] = s[0];
	s[2] = s[0];
	for (; len > 12; len -= 12, k += 12) {
		for (i = 0; i < 12; i++)
			s[i / 4] += (u32)k[i] << 8 * (i % 4);
		digest_mix(s);
	}
	if (!len)
		return s[2];
	for (i = 0; i < len; i++)
		s[i / 4] += (u32)k[i] << 8 * (i % 4);
	digest_final(s);
	return s[2];
}

u32 gagg_group_id(const char *name)
{
	u32 len = 0, id;

	while (name[len])
		len++;
	id = gagg_hash(name, len, 0);
	return id ? id : 1;
}

static void digest_addr(u64 digest[GAGG_DG_COUNT], u32 of, const void *addr, u32 len)
{
	u64 *d = &digest[GAGG_DG_ADDRESS];

	*d = gagg_mix64(*d, gagg_mix64(of, gagg_hash(addr, len, len == 16 ? 6 : 4)));
}

/* ranks ascend, and the multicast address is behind them */
static void digest_roster(u64 digest[GAGG_DG_COUNT], const struct gagg_roster *r)
{
	u64 left;

	for (left = r->ranks; left; left &= left - 1) {
		u32 rank = gagg_lowest(left);

		digest[GAGG_DG_MEMBERS]++;
		digest_addr(digest, rank, r->addr[rank], r->len[rank]);
		digest[GAGG_DG_ROLE] = gagg_mix64(digest[GAGG_DG_ROLE], rank * 4 + r->roles[rank]);
	}
	if (r->multicast_len)
		digest_addr(digest, GAGG_RANKS, r->multicast, r->multicast_len);
}

/* how many parameters are compared: of those that may be left out, up to the last that was not */
static u32 digest_sync_args(const struct gagg_sync_param *sync)
{
	const struct gagg_sync_ops *ops = gagg_sync_get(sync->mode);
	u32 n = ops->nargs;

	while (n > ops->nargs - ops->optional && !sync->arg[n - 1])
		n--;
	return n;
}

u32 gagg_digest_sync(const struct gagg_sync_param *sync)
{
	u32 n = digest_sync_args(sync), bits = GAGG_DG_SYNC_BITS(n), v = 0, i;
	bool fits = n <= GAGG_DG_SYNC_ARGS(~0U);
	u64 hash = 0;

	for (i = 0; i < n; i++) {
		fits &= !(sync->arg[i] >> bits);
		v = v << bits | sync->arg[i];
		hash = gagg_mix64(hash, sync->arg[i]);
	}
	v = fits ? n << 21 | v : GAGG_DG_SYNC_HASHED | (u32)(hash >> 41);
	return sync->mode << 24 | v;
}

static void digest_params(u64 digest[GAGG_DG_COUNT], const struct gagg_params *v,
			  const struct gagg_sync_param *sync)
{
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name; p++)
		if (p->digest && !gagg_param_is_apart(p))
			digest[p->digest] = gagg_param_get(p, v);
	digest[GAGG_DG_SYNC] = gagg_digest_sync(sync);
}

u32 gagg_digest_fold(u64 value, u32 field)
{
	return GAGG_DG_NUMBERS >> field & 1 ? (u32)value : (u32)gagg_mix64(value, field);
}

void gagg_digest_group(const struct gagg_roster *r, const struct gagg_params *v,
		       const struct gagg_sync_param *sync, u32 digest[GAGG_DG_COUNT])
{
	u64 value[GAGG_DG_COUNT] = { [GAGG_DG_RULES] = GAGG_RULES };
	u32 i;

	digest_roster(value, r);
	digest_params(value, v, sync);
	for (i = 0; i < GAGG_DG_COUNT; i++)
		digest[i] = gagg_digest_fold(value[i], i);
}

const char *gagg_digest_name(u32 digest)
{
	static const char *const names[] = {
		[GAGG_DG_MEMBERS] = "members",
		[GAGG_DG_ADDRESS] = "address",
		[GAGG_DG_ROLE] = "role",
		[GAGG_DG_RULES] = "version",
		[GAGG_DG_KEY] = "key",
		[GAGG_DG_COUNT] = "version",
	};
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name; p++)
		if (p->digest && p->digest == digest)
			return p->name;
	return digest < SIZE(names) && names[digest] ? names[digest] : "unknown";
}
